"""`mixedbag explain`: why a bag got its label: its instances, ranked."""

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from mixedbag._tables import plain
from mixedbag.cli._edge import load_model
from mixedbag.exceptions import InputError

_FEATURES = 5


def command(
    model: Annotated[Path, typer.Argument(help="A model that compare or fit has saved.")],
    table: Annotated[Path, typer.Argument(help="The table with the bag.")],
    name: Annotated[str, typer.Argument(metavar="BAG", help="The bag's id.")],
    bag: Annotated[str | None, typer.Option(help="Column with the bag of each row.")] = None,
    time: Annotated[str | None, typer.Option(help="Column that orders the rows.")] = None,
    top: Annotated[int, typer.Option(min=1, help="How many instances to show.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
):
    """Show what the model says of one bag, and which instances made it say so."""
    from mixedbag.cli._answers import asking, bag_answers, instance_answers, needed_features
    from mixedbag.cli.tables import stream_bags

    fitted = load_model(model)
    with asking(model):
        features = needed_features(fitted)
    found = find_bag(stream_bags(table, bag, features, time), name, table)
    with asking(model):
        verdict = {name: plain(values[0]) for name, values in bag_answers(fitted, found).items()}
        answers = instance_answers(fitted, found)
    *_, score = answers.values()
    order = np.argsort(-score, kind="stable")
    ranked = [
        {
            "instance": int(i),
            **{name: plain(values[i]) for name, values in answers.items()},
            "stands out": standing_out(found, i),
        }
        for i in order
    ]
    explanation = {"bag": name, **verdict, "instances": ranked}
    if as_json:
        typer.echo(json.dumps(explanation, indent=2, default=str))
    else:
        _show(explanation, top)


def find_bag(blocks, name, table):
    """The one bag of that id, as bags of their own."""
    n_bags = 0
    for block in blocks:
        ids = np.arange(n_bags, n_bags + len(block)) if block.ids is None else block.ids
        for i, candidate in enumerate(ids.tolist()):
            if str(candidate) == name:
                return block[i : i + 1]
        n_bags += len(block)
    raise InputError(f"{table} has no bag {name!r} among its {n_bags} bags")


def standing_out(bags, i):
    """The features in which an instance differs most from the others of its bag."""
    X = bags.instances.toarray() if bags.is_sparse else bags.instances
    spread = np.nanstd(X, axis=0)
    with np.errstate(all="ignore"):
        z = np.nan_to_num((X[i] - np.nanmean(X, axis=0)) / np.where(spread > 0, spread, np.inf))
    names = bags.feature_names or [f"feature {j}" for j in range(bags.n_features)]
    best = [j for j in np.argsort(-np.abs(z), kind="stable")[:_FEATURES] if z[j] != 0]
    return {names[j]: float(f"{X[i, j]:.4g}") for j in best}


def _show(explanation, top):
    from rich.table import Table

    from mixedbag.cli._terminal import shown, wide

    console = wide()
    facts = {k: v for k, v in explanation.items() if k not in ("instances", "bag")}
    verdict = ", ".join(f"{k} {_value(v)}" for k, v in facts.items())
    console.print(shown(f"bag {explanation['bag']}: {verdict}"))
    ranked = explanation["instances"]
    table = Table(box=None, header_style="bold")
    for column in ranked[0]:
        table.add_column(shown(column), justify="left" if column == "stands out" else "right")
    for row in ranked[:top]:
        told = {**row, "stands out": ", ".join(f"{k} {v:g}" for k, v in row["stands out"].items())}
        table.add_row(*(shown(_value(value)) for value in told.values()))
    console.print(table)
    if len(ranked) > top:
        console.print(f"… and {len(ranked) - top} more; --top shows them", markup=False)


def _value(value):
    return f"{value:.3f}" if isinstance(value, float) else str(value)
