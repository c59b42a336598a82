"""`mixedbag predict`: a saved model's answers about the bags of a table, or their instances."""

import csv
import json
import sys
from collections import Counter
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from mixedbag._files import cell, printable
from mixedbag.cli._edge import load_model
from mixedbag.cli._terminal import say
from mixedbag.exceptions import InputError

if TYPE_CHECKING:
    from mixedbag.datasets import BagData

_FORMULA = r"^[=+\-@\t\r\n＝＋－＠]"  # how texts begin that `cell` looks at
_CONTROLS = r"^[=+\-@＝＋－＠]|[^ -~]"  # what `printable` looks at, too
_CELLS = 200_000  # of a block: large enough to compute with, small enough to be few megabytes


def command(
    model: Annotated[Path, typer.Argument(help="A model that compare or fit has saved.")],
    table: Annotated[str, typer.Argument(help="A file of any length, or a folder of bags.")],
    bag: Annotated[str | None, typer.Option(help="Column with the bag of each row.")] = None,
    time: Annotated[str | None, typer.Option(help="Column that orders the rows.")] = None,
    query: Annotated[str | None, typer.Option(help="SQL that selects from the table data.")] = None,
    instances: Annotated[
        bool, typer.Option("--instances", "--instance", help="Predict instances.")
    ] = False,
    amount: Annotated[
        str | None,
        typer.Option(help="Column with the bag's known count or total, for --instances."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="CSV or Parquet file for the result.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Predict bags, or with --instances their instances, of a table of any length.

    The model remembers the columns it learned from. The rows of a bag need not be adjacent. The
    column "outside" names features that are far from all that was learned from: by more than a
    quarter of their range. With --amount, the amounts of instances add up to the known one of their
    bag.
    """
    import pyarrow as pa
    from joblib import cpu_count

    from mixedbag.cli._answers import asking, needed_features, remembered
    from mixedbag.cli._overlap import ahead, behind, side_by_side
    from mixedbag.cli.tables import stream_bags

    # The system's allocator gives memory back sooner than that of Arrow.
    pa.set_memory_pool(pa.system_memory_pool())
    fitted = load_model(model)
    with asking(model):
        features = needed_features(fitted)
        bag, time = remembered(fitted, "bag", bag), remembered(fitted, "time", time)
    n_features = getattr(fitted, "n_features_in_", 20) if features is None else len(features)
    rows = max(2_000, _CELLS // max(1, n_features))
    if amount is not None and not instances:
        raise InputError("--amount is about instances: add --instances")
    known = partial(instance_columns, known=amount is not None)
    columns_of = known if instances else bag_columns

    def answer(block):
        with asking(model):
            return columns_of(fitted, block)

    blocks = ahead(stream_bags(table, bag, features, time, rows, query, amount))
    told = _Told("instances" if instances else "bags")
    with _output(out, as_json) as write, behind(write) as give:
        for columns in side_by_side(answer, blocks, cpu_count()):
            told.add(columns)
            give(columns)
    told.say(out)


class _Told:
    """What was written, to be said at the end."""

    def __init__(self, what):
        self._what = what
        self._n = self._n_outside = 0
        self._answers: Counter = Counter()

    def add(self, columns):
        self._n += len(columns["bag"])
        if "predicted" in columns:
            for found in columns["predicted"].value_counts():
                self._answers[str(found["values"])] += found["counts"].as_py()
        if "outside" in columns:
            filled = (found["counts"].as_py() for found in columns["outside"].value_counts()
                      if found["values"].as_py())  # fmt: skip
            self._n_outside += sum(filled)

    def say(self, out):
        shares = ", ".join(f"{n} {label}" for label, n in self._answers.most_common(8))
        text = f"{self._n} {self._what}" + (f": {shares}" if shares else "")
        if out is not None:
            text += f"; written to {out}"
        if self._n_outside:
            text += f"; {self._n_outside} far outside of what the model learned from"
        say(text, error=True)


def write_answers(fitted: Any, data: "BagData", path: Path) -> None:
    """The answers about the bags of `data` as a file."""
    with _output(path, as_json=False) as write:
        write(bag_columns(fitted, data))


def bag_columns(fitted: Any, data: "BagData") -> dict[str, Any]:
    """The answers about bags, with their ids."""
    import pyarrow as pa

    from mixedbag.cli._answers import bag_answers, outside

    bags = data.bags
    answers = bag_answers(fitted, bags) | outside(fitted, bags)
    return {"bag": pa.array(_ids(bags)), **{name: _arrow(v) for name, v in answers.items()}}


def instance_columns(fitted: Any, data: "BagData", known: bool = False) -> dict[str, Any]:
    """The answers about instances, with their bags' ids, their numbers there, and places.

    Where the amounts of bags are `known`, they are the labels of `data`.
    """
    import pyarrow as pa

    from mixedbag.cli._answers import instance_answers, outside

    bags = data.bags
    places = {} if data.coords is None else dict(zip("xy", data.coords.T))
    amounts = _numbers(data.y) if known else None
    answers = places | instance_answers(fitted, bags, amounts) | outside(fitted, bags.singletons())
    return {
        "bag": pa.array(_ids(bags)).take(pa.array(bags.bag_of)),
        "instance": pa.array(np.arange(bags.n_instances) - bags.spread(bags.offsets[:-1])),
        **{name: _arrow(values) for name, values in answers.items()},
    }


def _numbers(amounts):
    """Known amounts, NaN where there is none."""
    try:
        return np.array([np.nan if a is None else a for a in amounts.tolist()], dtype=np.float64)
    except ValueError as error:
        raise InputError(f"amounts must be numbers; {error}") from error


def _ids(bags):
    return np.arange(len(bags)) if bags.ids is None else bags.ids


def _arrow(values):
    """An array as an Arrow array; text by its few distinct values, which is much faster."""
    import pyarrow as pa

    if values.dtype.kind not in "OU":
        return pa.array(np.ascontiguousarray(values))
    distinct, codes = np.unique(values.astype(str), return_inverse=True)
    return pa.array(distinct.tolist(), pa.string()).take(pa.array(codes))


@contextmanager
def _output(path, as_json):
    """A function that writes columns to standard output, or to a file: complete or not there."""
    if path is None:
        screen = getattr(sys.stdout, "buffer", None) or _Encoded(sys.stdout)
        yield _json_writer(screen) if as_json else _csv_writer(screen)
        screen.flush()
        return
    from mixedbag._files import written_whole

    with written_whole(path) as file:
        if as_json:
            yield _json_writer(file)
        elif path.suffix.lower() == ".parquet":
            with _parquet_writer(file) as write:
                yield write
        else:
            yield _csv_writer(file)


class _Encoded:
    """Bytes written to a stream of text, such as a notebook's standard output."""

    def __init__(self, stream):
        self._stream = stream
        self.flush = stream.flush

    def write(self, content):
        self._stream.write(str(content, "utf-8"))


def _csv_writer(file):
    import io

    import pyarrow as pa
    from pyarrow import compute
    from pyarrow import csv as arrow_csv

    begun = False
    is_screen = getattr(file, "isatty", lambda: False)()

    def show(value):
        return printable(cell(value)) if is_screen else cell(value)

    def harmless(column):
        if not pa.types.is_string(column.type):
            return column
        suspicious = _CONTROLS if is_screen else _FORMULA
        if not compute.any(compute.match_substring_regex(column, suspicious)).as_py():
            return column
        return pa.array([show(value) for value in column.to_pylist()], pa.string())

    def write(columns):
        nonlocal begun
        columns = {name: harmless(column) for name, column in columns.items()}
        if not begun:
            header = io.StringIO()
            csv.writer(header, lineterminator="\n").writerow(map(show, columns))
            file.write(header.getvalue().encode())
            begun = True
        texts = [c for c in columns.values() if pa.types.is_string(c.type)]
        special = any(
            compute.any(compute.match_substring_regex(c, '[",\r\n]')).as_py() for c in texts
        )
        options = arrow_csv.WriteOptions(
            include_header=False, quoting_style="needed" if special else "none"
        )
        content = pa.BufferOutputStream()
        arrow_csv.write_csv(pa.table(columns), content, options)
        file.write(content.getvalue())

    return write


@contextmanager
def _parquet_writer(file):
    import pyarrow as pa
    from pyarrow import parquet

    writer = None

    def write(columns):
        nonlocal writer
        table = pa.table(columns)
        if writer is None:
            writer = parquet.ParquetWriter(file, table.schema)
        writer.write_table(table)

    yield write
    if writer is not None:
        writer.close()


def _json_writer(file):
    def write(columns):
        names = list(columns)
        for row in zip(*(column.to_pylist() for column in columns.values())):
            file.write(json.dumps(dict(zip(names, row)), default=str).encode() + b"\n")

    return write
