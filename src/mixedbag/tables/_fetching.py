"""Rows and bags fetched from the engine side by side, as arrays."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from mixedbag.tables._arrays import as_array
from mixedbag.tables._buckets import edges_of, in_order
from mixedbag.tables._ordering import Ordering, whole_ids

_CELLS = 500_000  # of numbers fetched at a time
_BAGS = 65_536


@dataclass(frozen=True)
class Block:
    """Whole bags: their rows and features, sizes, ids, and what the rows of a bag agree on."""

    X: np.ndarray
    rows: np.ndarray
    sizes: np.ndarray | None = None
    ids: np.ndarray | None = None
    label: np.ndarray | None = None
    weight: np.ndarray | None = None
    group: np.ndarray | None = None
    instance: np.ndarray | None = None


def fetch_blocks(relation, features, ordering, instance, rows, folder):
    """Blocks of whole bags with at least `rows` rows each, but for the last.

    Bags and rows come side by side. Exactly the rows that the bags count must come.
    """
    if rows >= relation.n_rows:
        sort = _by_the_engine
    else:
        sort = partial(_in_buckets, edges=edges_of(relation, rows), folder=folder)
    # A query of a connection ends the one before: bags have a cursor of their own.
    with relation.con.cursor() as cursor:
        bags = _bags(relation, ordering, sort, cursor)
        feed = _rows(relation, features, ordering, instance, sort)
        for taken in _bags_of_rows(bags, rows):
            n_rows = int(taken["sizes"].sum())
            part = feed.take(n_rows)
            if len(part["row"]) != n_rows:
                raise relation.error(f"{relation.n_rows - n_rows + len(part['row'])} rows read of "
                                     f"{relation.n_rows}")  # fmt: skip
            X = part["X"]
            if not ordering.keys and (np.diff(part["row"]) != 1).any():
                raise relation.error("the rows came out of order")
            yield Block(X, part["row"], instance=part.get("instance"), **taken)
        if len(feed.take(1)["row"]):
            raise relation.error(f"more rows than {relation.n_rows}")


def _by_the_engine(con, query, keys, batch):
    """The answer to a query in the order of some of its columns, sorted in memory."""
    order = f" order by {', '.join(keys)}" if keys else ""
    return con.sql(query + order).to_arrow_reader(batch)


def _in_buckets(con, query, keys, batch, edges, folder):
    """The same in bounded memory."""
    reader = con.sql(query).to_arrow_reader(batch)
    return in_order(reader, keys, edges, folder) if keys else reader


def _bags(relation, ordering, sort, cursor):
    values = {"first": "first", "ids": whole_ids(relation, "key", "bags"), "sizes": "n"}
    for role in ordering.agreed:
        column = f'"{role}"'
        values[role] = whole_ids(relation, column, "bags") if role == "group" else column
    query = f"select {_selected(values)} from memory.main.bags"
    return _Feed(sort(cursor, query, ("first",), _BAGS), [*values][1:])


def fetch_matrix(relation, features, label):
    """All rows in their order, with the value of SQL `label` for each."""
    feed = _rows(relation, features, Ordering("from rows"), label, _by_the_engine)
    part = feed.take(relation.n_rows)
    return Block(part["X"], part["row"], label=part["instance"])


def _rows(relation, features, ordering, instance, sort):
    single = all(feature.single for feature in features)
    named = {"row": "row", **({} if instance is None else {"instance": instance})}
    real = "float" if single else "double"
    values = {f"x{j}": f"coalesce({f.sql}, cast('nan' as {real}))" for j, f in enumerate(features)}
    further = {key: key for key in ordering.keys if key != "row"}
    query = f"select {_selected({**further, **named, **values})} {ordering.sql}"
    batch = max(2048, _CELLS // len(values))
    reader = sort(relation.con, query, ordering.keys, batch)
    return _Feed(reader, [*named], [*values], np.float32 if single else np.float64)


def _selected(values):
    return ", ".join(f'{value} as "{name}"' for name, value in values.items())


class _Feed:
    """Batches of rows, taken as many rows at a time as are wanted.

    `names` are columns that become an array each; `features` become one table of type `dtype`.
    """

    def __init__(self, batches, names, features=(), dtype=None):
        self._batches = iter(batches)
        self._names, self._features, self._dtype = names, features, dtype
        self._rest = None

    def take(self, n_rows):
        """The next rows, fewer at the end: an array a value, the features as one table ``X``."""
        batches, n_found = [], 0
        table = np.empty((n_rows, len(self._features)), self._dtype) if self._dtype else None
        while n_found < n_rows:
            batch = self._next()
            if batch is None:
                break
            if batch.num_rows > n_rows - n_found:
                self._rest = batch.slice(n_rows - n_found)
                batch = batch.slice(0, n_rows - n_found)
            if table is not None:
                self._fill(table[n_found : n_found + batch.num_rows], batch)
            batches.append(batch)
            n_found += batch.num_rows
        found = {}
        for name in self._names:
            arrays = [as_array(batch[name]) for batch in batches]
            found[name] = np.concatenate(arrays) if arrays else np.empty(0)
        if table is not None:
            found["X"] = table[:n_found]
        return found

    def _next(self):
        if self._rest is not None:
            batch, self._rest = self._rest, None
            return batch
        return next(self._batches, None)

    def _fill(self, table, batch):
        for j, name in enumerate(self._features):
            table[:, j] = as_array(batch[name])


def _bags_of_rows(bags, rows):
    """Runs of bags that have at least `rows` rows together."""
    waiting, n_rows = [], 0
    while len((some := bags.take(_BAGS))["sizes"]):
        start, ends = 0, np.cumsum(some["sizes"])
        done = 0
        while n_rows + ends[-1] - done >= rows:
            stop = int(np.searchsorted(ends, rows - n_rows + done)) + 1
            waiting.append({name: values[start:stop] for name, values in some.items()})
            yield _joined(waiting)
            waiting, n_rows, start, done = [], 0, stop, ends[stop - 1]
        if start < len(ends):
            waiting.append({name: values[start:] for name, values in some.items()})
            n_rows += int(ends[-1] - done)
    if waiting:
        yield _joined(waiting)


def _joined(parts):
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
