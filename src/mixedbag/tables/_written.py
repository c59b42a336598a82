"""How a column of text is written: kinds of values and, of numbers, the decimal mark."""

from dataclasses import dataclass

from mixedbag.datasets._formats.source import shown
from mixedbag.tables import _kinds as kinds

_MARKS = {",": "commas", ".": "points"}


@dataclass(frozen=True)
class Written:
    """Kinds of the values of a column: the first, its row, and how many values differ."""

    kinds: dict
    decimal: str
    doubt: str = ""  # why numbers with another mark than the table's are not taken for such


def written(relation, j, missing=kinds.MISSING):
    """How column `j` is written.

    Numbers may have another decimal mark than the rest of the table: where all values are numbers
    with it, and one could not be a number whose thousands it parts. A note says so.
    """
    found = _kinds_of(relation, j, missing, relation.decimal)
    if kinds.TEXT not in found or not found.keys() <= {kinds.TEXT, kinds.NUMBER}:
        return Written(found, relation.decimal)
    mark = "." if relation.decimal == "," else ","
    if not kinds.number_with(mark).fullmatch(found[kinds.TEXT][0]):
        return Written(found, relation.decimal)  # which the first text tells
    others = _kinds_of(relation, j, missing, mark)
    if others.keys() != {kinds.NUMBER}:
        return Written(found, relation.decimal)
    doubt = _doubt(relation, j, missing, mark)
    if doubt:
        return Written(found, relation.decimal, doubt)
    note = f"column {relation.names[j]!r} is written with decimal {_MARKS[mark]}"
    if note not in relation.notes:
        relation.notes.append(note)
    return Written(others, mark)


def _kinds_of(relation, j, missing, decimal):
    value = kinds.known(kinds.stripped(f"c{j}"), missing)
    found = relation.ask(
        f"select kind, arg_min(v, first), min(first), count(*) from "
        f"(select v, min(row) as first, {kinds.kind_of('v', decimal)} as kind from "
        f"(select {value} as v, row from rows) "
        "where v is not null group by v) group by kind order by min(first)"
    )
    return {kind: (text, row, n_values) for kind, text, row, n_values in found}


def _doubt(relation, j, missing, mark):
    """Why a mark in numbers may be no decimal one, if so."""
    value = kinds.known(kinds.stripped(f"c{j}"), missing)
    ((row, text, sure),) = relation.ask(
        "select min(row), arg_min(v, row), "
        f"bool_or(not regexp_full_match(v, '{kinds.thousands_with(mark)}')) from "
        f"(select {value} as v, row from rows) where contains(v, '{mark}')"
    )
    example = f"{relation.place(row)} has {shown(text)}"
    if mark == "," and relation.parted_by_commas:
        return f"decimal commas are not understood where commas part the columns ({example})"
    return "" if sure else f"its {_MARKS[mark]} may part thousands ({example})"
