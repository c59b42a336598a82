"""Pooled scores of bags as one grouped query: no row leaves the engine, and none is sorted.

The linear score of a row is a sum in SQL, and what a bag's scores are pooled to is an aggregate. Of
a text, only ids and scores are spooled.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from mixedbag.tables import _kinds as kinds
from mixedbag.tables._arrays import as_array
from mixedbag.tables._coding import code, indicator
from mixedbag.tables._engine import literal
from mixedbag.tables._gathering import survey
from mixedbag.tables._ordering import selected
from mixedbag.tables._planning import engine_on
from mixedbag.tables._roles import Roles
from mixedbag.tables._sizes import engine_limits
from mixedbag.tables._sources import open_relation
from mixedbag.tables._unknown import on_unknown, unknown_values

_MEMORY = 120  # megabytes of the engine, which holds as much again beside bags that spill
_LONG = 1_000_000  # values
_LONGEST = 20_000_000  # rows: bags of more spill, and where they are adjacent, blocks are quicker
_LARGEST = 1e15  # a value that every learner takes, in any precision
_MOST = 63  # features: marks of far ones are bits of a whole number
_MARK, _UNKNOWN = "\0", "\1"  # begin names of columns that no table has


class NotPooledError(Exception):
    """Rows must be looked at: some have no score here, or blocks are better."""


class PooledBags(NamedTuple):
    """Bags by their ids, a column a score, and bits of the features that are far in some row."""

    ids: np.ndarray
    scores: np.ndarray
    far: np.ndarray
    notes: tuple = ()  # on the table, with the first of them


def read_pooled(
    source: Any,
    roles: Roles,
    scores: Sequence[Any],
    span: tuple[np.ndarray, np.ndarray] | None,
    n_bags: int,
    query: str | None = None,
) -> Iterator[PooledBags]:
    """Pooled scores of the bags of a table, some at a time.

    Bags come in the order in which they first appear; but those of a long table whose rows are not
    adjacent in that of their ids, since to remember first rows takes half as long again.

    `roles` asks for features by name. `scores` are of the form of `LinearScore`. Values of a
    feature are far outside of its `span`. Blocks have `n_bags` bags, about. A `NotPooledError`
    comes before anything else does.
    """
    import duckdb
    import pyarrow as pa

    if roles.features is None or len(roles.features) > _MOST:
        raise NotPooledError
    begun = False
    try:
        with engine_on(source, engine_limits(source, _MEMORY)[0]) as (con, folder):
            query, notes = _grouped(con, folder, source, roles, scores, span, query)
            try:
                for batch in con.sql(query).to_arrow_reader(n_bags):
                    begun = True
                    table = [as_array(batch[f"s{k}"]) for k in range(len(scores))]
                    ids, far = as_array(batch["bag"]), as_array(batch["far"])
                    yield PooledBags(ids, np.column_stack(table), far, notes)
                    notes = ()
            except (duckdb.Error, pa.ArrowException) as error:
                if begun:
                    raise
                raise NotPooledError from error
    except MemoryError as error:
        if begun:
            raise
        raise NotPooledError from error


def _grouped(con, folder, source, roles, scores, span, query):
    """The query for ids of bags, ``s0``, ``s1``, … and ``far``; and notes."""
    scored = partial(_scored, scores=scores, span=span)
    kept = None if query is not None else partial(_kept, roles=roles, scored=scored)
    relation = open_relation(con, folder, source, roles, query, kept=kept)
    positions = roles.positions(relation.names, relation.header_error)
    bags = survey(relation, {"bag": positions["bag"]})
    if bags.adjacent and relation.n_rows > _LONGEST:
        raise NotPooledError
    found, notes = _found(relation, roles, scored)
    values = {**bags.values, "row": "row"} | found
    aggregates = {f"s{k}": score.pooled.format(f"s{k}") for k, score in enumerate(scores)}
    aggregates["far"] = "cast(0 as usmallint)" if span is None else "bit_or(far)"
    in_order = bags.adjacent or relation.n_rows * len(roles.features) < _LONG
    query = (
        f"select bag, {selected(aggregates)} from (select {selected(values)} from rows) "
        f"group by bag order by {'min(row)' if in_order else 'bag'}"
    )
    return query, (*notes, *on_unknown(relation, _unknown(relation, roles)))


def _kept(names, types, roles, scored):
    """What to spool of a text, or None where some feature is no column of numbers."""
    positions, asked = _asked(roles, names)
    features = []
    for name, (j, value) in asked.items():
        if value is None and types[j] != "DOUBLE":
            return None
        features.append(f"c{j}" if value is None else indicator(name, name, j, value).sql)
    marked = {_MARK + name: sql for name, sql in scored(features).items()}
    unknown = {_UNKNOWN + names[j]: sql for j, sql in unknown_values(asked).items()}
    return {names[positions["bag"]]: f"c{positions['bag']}", **marked, **unknown}


def _found(relation, roles, scored):
    """SQL for scores, and what else is pooled, from the columns of a relation; and notes."""
    spooled = _beginning(_MARK, relation)
    if spooled:
        return spooled, []
    _, asked = _asked(roles, relation.names, relation.header_error)
    features, notes = code(relation, asked, required=True)
    if all(f.single for f in features) and any(s.stepped for s in scored.keywords["scores"]):
        raise NotPooledError  # the steps would have rounded otherwise
    return scored([f"cast({f.sql} as double)" for f in features]), notes


def _unknown(relation, roles):
    """SQL for values that no feature stands for, by the names of their columns."""
    if _beginning(_MARK, relation):
        return _beginning(_UNKNOWN, relation)
    _, asked = _asked(roles, relation.names, relation.header_error)
    return {relation.names[j]: sql for j, sql in unknown_values(asked).items()}


def _beginning(mark, relation):
    """Columns whose names begin so, by the rest of them."""
    columns = {name: f"c{j}" for j, name in enumerate(relation.names)}
    return {n.removeprefix(mark): sql for n, sql in columns.items() if n.startswith(mark)}


def _asked(roles, names, error=ValueError):
    positions = roles.positions(names, error)
    return positions, roles.feature_positions(names, positions.values(), error)


def _scored(features, scores, span):
    """SQL for all that is pooled, by names, from that of the features."""
    if any(np.isfinite(score.fill).any() for score in scores):
        features = [kinds.unless_nan(x) for x in features]
    values = {f"s{k}": _score(features, score) for k, score in enumerate(scores)}
    if span is not None:
        values["far"] = _far(features, *span)
    return values


def _score(features, score):
    """SQL for the score of a row; it fails at values that are missing, infinite or huge."""
    filled = [
        f"coalesce({x}, {_number(value)})" if np.isfinite(value) else x
        for x, value in zip(features, score.fill)
    ]
    size = " + ".join(f"abs({x})" for x in filled)
    terms = [
        f"{_number(weight)} * ({x} - {_number(centre)})" if centre else f"{_number(weight)} * {x}"
        for x, weight, centre in zip(filled, score.coef, score.centre)
    ]
    total = " + ".join([*terms, _number(score.intercept)])
    # Not by a comparison alone: see `unless_nan`.
    usable = f"isfinite({size}) and {size} <= {_number(_LARGEST)}"
    return f"case when {usable} then {total} else error('no score') end"


def _far(features, low, high):
    """SQL for a bit a feature: whether it is outside of its span."""
    kind = "usmallint" if len(features) <= 16 else "bigint"  # less to hold while bags are pooled
    marks = [
        f"(case when {x} < {_number(low[j])} or {x} > {_number(high[j])} "
        f"then cast({1 << j} as {kind}) else 0 end)"
        for j, x in enumerate(features)
        if np.isfinite(low[j]) and np.isfinite(high[j])
    ]
    return f"cast({' | '.join(marks or '0')} as {kind})"


def _number(value):
    """A number as it is written in SQL, to the last bit."""
    return f"cast({literal(repr(float(value)))} as double)"
