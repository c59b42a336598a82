"""Rows and bags fetched from the engine side by side, as arrays."""

from dataclasses import dataclass

import numpy as np

from mixedbag.tables._ordering import whole_ids

_CELLS = 2_000_000  # of numbers fetched at a time
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


def fetch_blocks(relation, features, ordering, instance, rows):
    """Blocks of whole bags with at least `rows` rows each, but for the last.

    Bags and rows come from two cursors. Exactly the rows that the bags count must come.
    """
    values = {"ids": whole_ids(relation, "key", "bags"), "sizes": "n"}
    for role in ordering.agreed:
        column = f'"{role}"'
        values[role] = whole_ids(relation, column, "bags") if role == "group" else column
    # A query of a connection ends the one before: bags have a cursor of their own.
    with relation.con.cursor() as cursor:
        bags = _Feed(cursor, values, "from memory.main.bags order by first", _BAGS)
        feed = _rows(relation, features, ordering.sql, instance)
        for taken in _bags_of_rows(bags, rows):
            n_rows = int(taken["sizes"].sum())
            part = feed.take(n_rows)
            if len(part["row"]) != n_rows:
                raise relation.error(f"{relation.n_rows - n_rows + len(part['row'])} rows read of "
                                     f"{relation.n_rows}")  # fmt: skip
            X = part["X"]
            if ordering.adjacent and not ordering.timed and (np.diff(part["row"]) != 1).any():
                raise relation.error("the rows came out of order")
            yield Block(X, part["row"], instance=part.get("instance"), **taken)
        if len(feed.take(1)["row"]):
            raise relation.error(f"more rows than {relation.n_rows}")


def fetch_matrix(relation, features, label):
    """All rows in their order, with the value of SQL `label` for each."""
    feed = _rows(relation, features, "from rows", label)
    part = feed.take(relation.n_rows)
    return Block(part["X"], part["row"], label=part["instance"])


def _rows(relation, features, sql, instance):
    single = all(feature.single for feature in features)
    values = {"row": "row", **({} if instance is None else {"instance": instance})}
    real = "float" if single else "double"
    values |= {f"x{j}": f"coalesce({f.sql}, cast('nan' as {real}))" for j, f in enumerate(features)}
    batch = max(2048, _CELLS // len(values))
    return _Feed(relation.con, values, sql, batch, np.float32 if single else np.float64)


class _Feed:
    """The answer to a query, taken as many rows at a time as are wanted."""

    def __init__(self, con, values, sql, batch, dtype=None):
        selected = ", ".join(f'{value} as "{name}"' for name, value in values.items())
        self._reader = con.sql(f"select {selected} {sql}").to_arrow_reader(batch)
        self._names = [name for name in values if dtype is None or not _is_feature(name)]
        self._n_features = len(values) - len(self._names)
        self._dtype = dtype
        self._rest = None

    def take(self, n_rows):
        """The next rows, fewer at the end: an array a value, the features as one table ``X``."""
        batches, n_found = [], 0
        table = np.empty((n_rows, self._n_features), self._dtype) if self._dtype else None
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
        for j, name in enumerate(self._names):
            arrays = [as_array(batch.column(j)) for batch in batches]
            found[name] = np.concatenate(arrays) if arrays else np.empty(0)
        if table is not None:
            found["X"] = table[:n_found]
        return found

    def _next(self):
        if self._rest is not None:
            batch, self._rest = self._rest, None
            return batch
        return next(self._reader, None)

    def _fill(self, table, batch):
        for j in range(self._n_features):
            table[:, j] = as_array(batch.column(len(self._names) + j))


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


def _is_feature(name):
    return name[0] == "x"


def as_array(column):
    """An Arrow column as an array: whole and other numbers as they lie there, text as objects.

    So is a column with missing values, which are None.
    """
    dtype = _DTYPES.get(str(column.type))
    if dtype is None or column.null_count:
        values = column.to_pylist()
        if str(column.type) == "bool" and not column.null_count:
            return np.array(values, dtype=bool)
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array
    # Not by `to_numpy`, which imports pandas.
    return np.frombuffer(column.buffers()[1], dtype)[column.offset : column.offset + len(column)]


_DTYPES = {"int64": np.int64, "double": np.float64, "float": np.float32}
