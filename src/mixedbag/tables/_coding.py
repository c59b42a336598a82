"""What becomes of each column: numbers stay, dates are days, text of few values is 0 and 1."""

import re
from dataclasses import dataclass

from mixedbag.datasets._formats.source import shown
from mixedbag.tables import _kinds as kinds
from mixedbag.tables._engine import literal
from mixedbag.tables._written import written

_NO_VALUE = "no row has a value"
EMPTY = f"is empty: {_NO_VALUE}"  # of a column that is asked for
_MOST_VALUES = 30  # of a column of text that is coded
_MOST_LETTERS = 200  # of each of them
# What a column that nobody named is called: here, by pandas (in CSV, in Parquet) and by readr.
_UNNAMED = re.compile(r"\s*|unnamed:? \d+(\.\d+)?|__index_level_\d+__|\.\.\.\d+", re.IGNORECASE)


@dataclass(frozen=True)
class Feature:
    """A feature: its name and the SQL that computes it from the columns of ``rows``."""

    name: str
    sql: str
    column: str  # where it comes from
    single: bool = False  # whether it holds float32


def code(relation, asked, required):
    """The features that columns make, and what to tell of them.

    Parameters
    ----------
    relation : Relation
    asked : dict
        Name of a feature to the position of its column, and the value of it that is asked for.
    required : bool
        Whether the features were asked for by name: one that cannot be had is an error then.

    Returns
    -------
    features : list of Feature
    notes : list of str
    """
    features: list[Feature] = []
    notes, seen = [], set()
    for name, (j, value) in asked.items():
        if value is not None and not kinds.is_nested(relation.types[j]):
            found, reason, more = [indicator(name, name, j, value)], None, []
        else:
            found, reason, more = _code_column(relation, name, j)
            plain = found and not more  # of dates, and of text, there is something to tell
            unnamed = not required and _UNNAMED.fullmatch(name)
            if unnamed and plain and _numbers_rows(relation, found[0].sql):
                reason = "it only numbers the rows"
        if reason == _NO_VALUE and required:
            found, reason = [Feature(name, "cast(null as double)", name)], None
            more = [f"column {name!r} {EMPTY}"]
        if reason is not None:
            if required:
                raise relation.error(f"column {name!r} cannot be a feature: {reason}")
            notes.append(f"column {name!r} left out: {reason}")
            continue
        notes += more
        for feature in found:
            if feature.name in seen:
                raise relation.header_error(f"two columns are called {shown(feature.name)}")
            seen.add(feature.name)
        features += found
    if not features:
        raise relation.error("no column of numbers is left to be a feature: " + "; ".join(notes))
    return features, notes


def _code_column(relation, name, j):
    """The features of a column, why it makes none (or None), and what to tell of it."""
    kind, column = relation.types[j], f"c{j}"
    if kinds.is_numeric(kind):
        single = kind == "FLOAT"
        number = column if kind in ("FLOAT", "DOUBLE") else f"cast({column} as double)"
        return [Feature(name, number, name, single)], None, []
    if kinds.is_date(kind):
        sql = kinds.as_days(column, kinds.is_zoned(kind))
        return [Feature(name, sql, name)], None, [_on_dates(name)]
    if kinds.is_duration(kind):
        note = f"column {name!r} holds durations: they are read as days"
        return [Feature(name, kinds.duration_as_days(column), name)], None, [note]
    if kind == '"NULL"':
        return [], _NO_VALUE, []
    if not kinds.is_text(kind):
        return [], f"its values are of type {kind.lower()[:40]}", []
    return _code_text(relation, name, j)


def _code_text(relation, name, j):
    column = written(relation, j)
    found = column.kinds
    if not found:
        return [], _NO_VALUE, []
    if kinds.INFINITE in found:
        text, row = found[kinds.INFINITE][:2]
        raise relation.error(f"column {name!r}: value {shown(text)} is not finite", row)
    if len(found) > 1:
        raise _mixed(relation, name, found, column.doubt)
    ((kind, (text, row, n_values)),) = found.items()
    known = kinds.known(kinds.stripped(f"c{j}"))
    if kind == kinds.NUMBER:  # or a word that it is missing, which is no number either
        value = kinds.as_number(kinds.stripped(f"c{j}"), column.decimal)
        return [Feature(name, value, name)], None, []
    if kind == kinds.FLAG:
        sql = f"cast(lower({known}) = 'true' as double)"
        return [Feature(name, sql, name)], None, []
    if kind in (kinds.DATE, kinds.ZONED):
        sql = kinds.as_days(known, kind == kinds.ZONED)
        return [Feature(name, sql, name)], None, [_on_dates(name)]
    if n_values > _MOST_VALUES or 2 * n_values > relation.n_rows:
        many = f"more than {_MOST_VALUES}" if n_values > _MOST_VALUES else n_values
        what = f"text of {many} values in {relation.n_rows} rows"
        reason = f"it is {what} ({relation.place(row)} has {shown(text)})"
        return [], f"{reason}; {column.doubt}" if column.doubt else reason, []
    ((longest,),) = relation.ask(f"select max(length({known})) from rows")
    if longest > _MOST_LETTERS:
        what = f"text of up to {longest} letters"
        return [], f"it is {what} ({relation.place(row)} has {shown(text)})", []
    if n_values == 1:
        return [], f"it has no other value than {shown(text)}", []
    values = relation.ask(f"select distinct {known} as v from rows where {known} is not null")
    features = [indicator(f"{name}={v}", name, j, v) for (v,) in sorted(values)]
    notes = [f"column {name!r} is text: {', '.join(f.name for f in features)} say which"]
    ((missing,),) = relation.ask(f"select count(*) from rows where {known} is null")
    if missing:
        notes.append(on_missing(name, missing, "none of these"))
    return features, None, notes


def _numbers_rows(relation, value):
    """Whether a value is another whole number in each row, whatever their order."""
    ((whole, n_values),) = relation.ask(
        f"select bool_and(v = floor(v)), count(distinct v) from (select {value} as v from rows)"
    )
    return whole and n_values == relation.n_rows > 2


def indicator(name, column, j, value):
    """The feature that says where a column of text has a value."""
    sql = f"cast(coalesce({kinds.stripped(f'c{j}')} = {literal(value)}, false) as double)"
    return Feature(name, sql, column)


def _mixed(relation, name, found, doubt):
    told = ", ".join(
        f"{kind} ({relation.place(row)} has {shown(text)})"
        for kind, (text, row, _) in found.items()
    )
    return relation.error(
        f"column {name!r} mixes {told}; " + (f"{doubt}; " if doubt else "") + "repair it, or leave "
        "the column out",
        max(row for _, row, _ in found.values()),
    )


def _on_dates(name):
    return f"column {name!r} holds dates: they are read as days since 1970-01-01"


def on_missing(name, missing, read_as="NaN"):
    return f"column {name!r}: {missing} missing values read as {read_as}"
