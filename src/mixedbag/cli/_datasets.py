"""`mixedbag datasets`: the public data sets, and where their files are."""

import json
from typing import Annotated

import typer

from mixedbag.cli._edge import at_the_edge
from mixedbag.cli._terminal import say

app = typer.Typer(help="The public data sets that load by name.", no_args_is_help=True)
_Name = Annotated[str, typer.Argument(help="Name of the data set.")]
_Json = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]


@app.command("list")
def list_sets(as_json: _Json = False):
    """All data sets, and whether their files are here."""
    from mixedbag.datasets import info, list_names

    entries = [{"name": n, "size": info(n).summary, "here": _is_here(n)} for n in list_names()]
    if as_json:
        typer.echo(json.dumps(entries, indent=2))
        return
    width = max(len(entry["name"]) for entry in entries)
    for entry in entries:
        mark = "✓" if entry["here"] else " "
        say(f"{mark} {entry['name']:<{width}}  {entry['size']}")


@app.command("show")
def show(name: _Name, as_json: _Json = False):
    """What a data set is and where it is published."""
    from mixedbag.datasets import info

    entry = at_the_edge(info)(name)
    facts = {
        "name": entry.name,
        "description": entry.description,
        "size": entry.summary,
        "published": entry.published,
        "url": entry.url,
        "files": list(entry.files),
        "here": _is_here(name),
    }
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
        return
    for key, value in facts.items():
        say(f"{key}: {', '.join(value) if isinstance(value, list) else value}")


@app.command("path")
def path(name: _Name):
    """Where the files of a data set are on this machine."""
    from mixedbag.datasets import paths

    for file in at_the_edge(paths)(name):
        say(file)


def _is_here(name):
    from mixedbag.datasets import paths

    try:
        return bool(paths(name))
    except FileNotFoundError:
        return False
