"""`mixedbag predict`: a saved model's answers about the bags of a table, or their instances."""

import csv
import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from mixedbag._files import cell, printable
from mixedbag.cli._edge import load_model


def command(
    model: Annotated[Path, typer.Argument(help="A model that compare or fit has saved.")],
    table: Annotated[Path, typer.Argument(help="A file; CSV and Parquet are streamed.")],
    bag: Annotated[str | None, typer.Option(help="Column with the bag of each row.")] = None,
    time: Annotated[str | None, typer.Option(help="Column that orders the rows.")] = None,
    instances: Annotated[bool, typer.Option("--instances", help="Predict instances.")] = False,
    out: Annotated[Path | None, typer.Option(help="CSV file for the result.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
):
    """Predict bags, or with --instances their instances, of a table of any length.

    Rows of a bag must be adjacent in CSV and Parquet tables, which are read block by block.
    """
    from mixedbag.cli._answers import asking, bag_answers, instance_answers, needed_features
    from mixedbag.cli.tables import stream_bags

    fitted = load_model(model)
    with asking(model):
        features = needed_features(fitted)
    with _output(out) as file:
        write = _json_writer(file) if as_json else _csv_writer(file)
        for block in stream_bags(table, bag, features, time):
            ids = range(len(block)) if block.ids is None else block.ids.tolist()
            if instances:
                with asking(model):
                    names, rows = instance_answers(fitted, block)
                owners = ((ids[i], k) for i, n in enumerate(block.sizes) for k in range(n))
                names = ["bag", "instance", *names]
                rows = ([*owner, *row] for owner, row in zip(owners, rows))
            else:
                with asking(model):
                    names, rows = bag_answers(fitted, block)
                names = ["bag", *names]
                rows = ([owner, *row] for owner, row in zip(ids, rows))
            write(names, rows)


@contextmanager
def _output(path):
    """Standard output, or a file that is complete or not there."""
    if path is None:
        yield sys.stdout
        return
    import io

    from mixedbag._files import written_whole

    with written_whole(path) as binary:
        text = io.TextIOWrapper(binary, encoding="utf-8", newline="")
        yield text
        text.flush()
        text.detach()


def _csv_writer(file):
    writer = csv.writer(file)
    begun = False
    is_screen = file.isatty()

    def show(value):
        return printable(cell(value)) if is_screen else cell(value)

    def write(names, rows):
        nonlocal begun
        if not begun:
            writer.writerow([show(name) for name in names])
            begun = True
        writer.writerows([show(value) for value in row] for row in rows)

    return write


def _json_writer(file):
    def write(names, rows):
        for row in rows:
            file.write(json.dumps(dict(zip(names, row)), default=str) + "\n")

    return write
