"""Values of a column of text that no feature stands for, as those that a model has never met."""

from mixedbag._frames import UNKNOWN
from mixedbag.datasets._formats.source import shown
from mixedbag.tables import _kinds as kinds
from mixedbag.tables._coding import EMPTY
from mixedbag.tables._engine import literal

_SHOWN = 3


def unknown_values(asked):
    """SQL by the position of a column: its value where no feature stands for it, else null.

    `asked` are pairs of a column's position and the value of it that is asked for, or None, by the
    names of features.
    """
    values: dict[int, list[str]] = {}
    for j, value in asked.values():
        if value is not None:
            values.setdefault(j, []).append(value)
    return {j: _other_than(kinds.stripped(f"c{j}"), known) for j, known in values.items()}


def _other_than(text, values):
    known = ", ".join(map(literal, values))
    return f"case when {text} in ({known}) then null else {kinds.known(text)} end"


def on_unknown(relation, columns):
    """A note a column that has such values, given their SQL by the names of columns."""
    notes = []
    for name, sql in columns.items():
        found = relation.ask(
            "select v, sum(count(*)) over (), count(*) over () from "
            f"(select {sql} as v, row from rows) where v is not null "
            f"group by v order by min(row) limit {_SHOWN}"
        )
        if found:
            notes.append(_on_values(name, [value for value, _, _ in found], *found[0][1:]))
    return notes


def about_unknown(notes):
    """Those of the notes on a table that tell of such values, or of a column that has none."""
    return [note for note in notes if UNKNOWN in note or note.endswith(EMPTY)]


def _on_values(name, some, n_rows, n_values):
    more = f" and {n_values - len(some)} more" if n_values > len(some) else ""
    what = "a value" if n_values == 1 else "values"
    where = "1 row has" if n_rows == 1 else f"{n_rows} rows have"
    told = ", ".join(map(shown, some))
    which = f"{where} {what} that {UNKNOWN} ({told}{more})"
    return f"column {name!r}: {which}: all of its features are 0 there"
