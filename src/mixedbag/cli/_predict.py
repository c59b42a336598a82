"""`mixedbag predict`: a saved model's answers about the bags of a table, or their instances."""

import warnings
from collections import Counter
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from mixedbag.cli._edge import load_model
from mixedbag.cli._runs import refuse_out
from mixedbag.cli._terminal import say
from mixedbag.cli._writers import output, refuse_ending
from mixedbag.exceptions import InputError

if TYPE_CHECKING:
    from mixedbag.datasets import BagData
    from mixedbag.tables._pooled import PooledBags

_CELLS = 250_000  # of a block: large enough to compute with, small enough to be few megabytes


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
        typer.Option(help="Column with a known count, share or total; yes/voters; no,yes."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="CSV or Parquet file for the result.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Predict bags, or with --instances their instances, of a table of any length.

    The model remembers the columns it learned from. The rows of a bag need not be adjacent. The
    column "outside" names features that are far from all that was learned from: by more than a
    quarter of their range. With --amount, the amounts of instances add up to the known one of their
    bag; from counts and shares, "predicted" are the labels that suit them best.
    """
    import pyarrow as pa
    from joblib import cpu_count

    from mixedbag._linear_scores import linear_answers
    from mixedbag._overlap import ahead, behind, side_by_side
    from mixedbag._threads import one_thread
    from mixedbag.cli._answers import (
        asking,
        needed_features,
        of_parts,
        remembered,
        scaled_amounts,
        span,
    )
    from mixedbag.cli._known_amounts import stream_amounts
    from mixedbag.cli._tables import stream_pooled
    from mixedbag.tables._pooled import NotPooledError

    if out is not None:
        refuse_out(out, model, table)
        refuse_ending(out, as_json)
    # The system's allocator gives memory back sooner than that of Arrow.
    pa.set_memory_pool(pa.system_memory_pool())
    fitted = load_model(model)
    with asking(model):
        features = needed_features(fitted)
        bag, time = remembered(fitted, "bag", bag), remembered(fitted, "time", time)
        names = remembered(fitted, "instance") if instances else None
    n_features = getattr(fitted, "n_features_in_", 20) if features is None else len(features)
    rows = max(2_000, _CELLS // max(1, n_features))
    if amount is not None and not instances:
        raise InputError("--amount is about instances: add --instances")
    known = partial(instance_columns, known=amount is not None)
    columns_of = known if instances else bag_columns
    linear: Any = None if instances or time or features is None else linear_answers(fitted)

    told = _Told("instances" if instances else "bags")

    def questions():
        """One a block of bags, each to be asked without arguments."""
        if linear is not None:
            with suppress(NotPooledError):
                asked = linear.scores, span(fitted), rows, query
                for pooled in stream_pooled(table, bag, features, *asked):
                    told.note(pooled.notes)
                    yield partial(pooled_columns, fitted, linear.twin, pooled)
                return
        asked = table, bag, features, time, rows, query, amount, names, of_parts(fitted)
        for data in stream_amounts(*asked):
            told.note(data.notes)
            if amount is not None:
                told.scaled += scaled_amounts(fitted, data)
            yield partial(columns_of, fitted, data)

    with (
        one_thread(),  # the cores have blocks of their own
        warnings.catch_warnings(),
        output(out, as_json) as writer,
        behind(writer.write) as give,
        closing(ahead(questions())) as asked_ahead,
    ):
        # Said once in the end, not by every block.
        warnings.filterwarnings("ignore", message=".* known amounts that do not add up")

        def answer(question):
            with asking(model):
                columns = question()
            return _counted(columns), writer.form(columns)

        with closing(side_by_side(answer, asked_ahead, cpu_count())) as answers:
            for counted, formed in answers:
                told.add(*counted)
                give(formed)
    told.say(out)


def _counted(columns):
    """How many answers there are, of each kind, and how many far outside."""
    kinds: Counter = Counter()
    if "predicted" in columns:
        for found in columns["predicted"].value_counts():
            kinds[str(found["values"])] += found["counts"].as_py()
    n_outside = 0
    if "outside" in columns:
        for found in columns["outside"].value_counts():
            n_outside += found["counts"].as_py() if found["values"].as_py() else 0
    return len(columns["bag"]), kinds, n_outside


class _Told:
    """What was written, to be said at the end."""

    def __init__(self, what):
        self._what = what
        self._n = self._n_outside = 0
        self._answers: Counter = Counter()
        self._notes: dict[str, None] = {}  # once each, in their order
        self.scaled: list[str] = []  # bags whose known amounts do not add up

    def note(self, notes):
        """Remember what was not there to learn from, or not read, of the notes on the table."""
        from mixedbag.datasets._bag_files import UNREAD
        from mixedbag.tables._unknown import about_unknown

        unread = [note for note in notes if note.endswith(UNREAD)]
        self._notes.update(dict.fromkeys([*about_unknown(notes), *unread]))

    def add(self, n, kinds, n_outside):
        self._n += n
        self._answers.update(kinds)
        self._n_outside += n_outside

    def say(self, out):
        for note in self._notes:
            say(note, error=True)
        if self.scaled:
            from mixedbag.comparison._models import about_scaled

            say(about_scaled(self.scaled), error=True)
        shares = ", ".join(f"{n} {label}" for label, n in self._answers.most_common(8))
        text = f"{self._n} {self._what}" + (f": {shares}" if shares else "")
        if out is not None:
            text += f"; written to {out}"
        if self._n_outside:
            text += f"; {self._n_outside} far outside of what the model learned from"
        say(text, error=True)


def write_answers(fitted: Any, data: "BagData", path: Path) -> None:
    """The answers about the bags of `data` as a file."""
    with output(path) as writer:
        writer.write(writer.form(bag_columns(fitted, data)))


def bag_columns(fitted: Any, data: "BagData") -> dict[str, Any]:
    """The answers about bags, with their ids."""
    from mixedbag.cli._answers import bag_answers, outside

    bags = data.bags
    return _bag_columns(_ids(bags), bag_answers(fitted, bags) | outside(fitted, bags))


def pooled_columns(fitted: Any, twin: Any, pooled: "PooledBags") -> dict[str, Any]:
    """The answers about bags by their pooled scores, which the twin of a model is asked about."""
    from mixedbag.bags import Bags
    from mixedbag.cli._answers import bag_answers, outside_by_bits

    bags = Bags(pooled.scores, np.arange(len(pooled.ids) + 1))
    answers = bag_answers(twin, bags) | outside_by_bits(fitted, pooled.far)
    return _bag_columns(pooled.ids, answers)


def _bag_columns(ids, answers):
    from mixedbag.tables._arrays import as_arrow

    return {"bag": as_arrow(ids), **{name: _arrow(v) for name, v in answers.items()}}


def instance_columns(fitted: Any, data: "BagData", known: bool = False) -> dict[str, Any]:
    """The answers about instances, with their bags' ids, their names or numbers there, and places.

    Where the amounts of bags are `known`, they are the labels of `data`.
    """
    from mixedbag.cli._answers import instance_answers, outside
    from mixedbag.cli._tables import as_numbers
    from mixedbag.tables._arrays import as_arrow

    bags = data.bags
    places = {} if data.coords is None else dict(zip("xy", data.coords.T))
    amounts = as_numbers(data.y) if known else None
    answers = places | instance_answers(fitted, bags, amounts) | outside(fitted, bags.singletons())
    names = data.instance_ids
    if names is None:
        names = np.arange(bags.n_instances) - bags.spread(bags.offsets[:-1])
    return {
        "bag": as_arrow(_ids(bags)).take(as_arrow(bags.bag_of)),
        "instance": as_arrow(names),
        **{name: _arrow(values) for name, values in answers.items()},
    }


def _ids(bags):
    return np.arange(len(bags)) if bags.ids is None else bags.ids


def _arrow(values):
    """An array as an Arrow array, without NaN; text by its few distinct values, which is faster."""
    from pyarrow import compute

    from mixedbag.tables._arrays import as_arrow

    if values.dtype.kind == "f" and np.isnan(values).any():
        known = as_arrow(values)
        return compute.if_else(compute.is_nan(known), None, known)
    if values.dtype.kind not in "OU":
        return as_arrow(values)
    distinct, codes = np.unique(values.astype(str), return_inverse=True)
    return as_arrow(distinct).take(as_arrow(codes))
