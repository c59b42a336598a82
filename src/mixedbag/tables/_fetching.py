"""All rows and bags of a table, in the order of the engine, as arrays."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from mixedbag.tables._arrays import as_array
from mixedbag.tables._ordering import Ordering, selected, whole_ids

_BATCH = 500_000  # values fetched at a time


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

    def piece(self, bags, rows):
        """Some bags, given the slices of bags and of rows."""
        of_rows = ("X", "rows", "instance")
        values = {name: value for name, value in vars(self).items() if value is not None}
        return Block(**{n: v[rows if n in of_rows else bags] for n, v in values.items()})


def fetch_bags(relation, features, ordering, instance):
    """All bags as one block. Exactly the rows that the bags count must come."""
    values = {"ids": whole_ids(relation, "key", "bags"), "sizes": "n"}
    for role in ordering.agreed:
        column = f'"{role}"'
        values[role] = whole_ids(relation, column, "bags") if role == "group" else column
    bags = relation.con.sql(
        f"select {selected(values)} from memory.main.bags order by first"
    ).to_arrow_table()
    found = {name: as_array(bags[name].combine_chunks()) for name in values}
    return replace(_rows(relation, features, ordering, instance), **found)


def fetch_matrix(relation, features, label):
    """All rows in their order, with the value of SQL `label` for each."""
    block = _rows(relation, features, Ordering("from rows"), label)
    return replace(block, label=block.instance, instance=None)


def _rows(relation, features, ordering, instance):
    """All rows, in the order of the columns that the ordering has for keys."""
    named = {"row": "row", **({} if instance is None else {"instance": instance})}
    numbers, dtype = feature_values(features)
    order = f" order by {', '.join(ordering.keys)}" if ordering.keys else ""
    query = f"select {selected({**named, **numbers})} {ordering.sql}{order}"
    X, n_rows = np.empty((relation.n_rows, len(numbers)), dtype), 0
    parts: dict = {name: [] for name in named}
    batches = relation.con.sql(query).to_arrow_reader(max(2048, _BATCH // len(numbers)))
    for batch in batches if ordering.keys else in_order(relation, batches):
        start, n_rows = n_rows, n_rows + batch.num_rows
        if n_rows > relation.n_rows:
            raise relation.error(f"more rows than {relation.n_rows}")
        for j, name in enumerate(numbers):
            X[start:n_rows, j] = as_array(batch[name])
        for name, arrays in parts.items():
            arrays.append(as_array(batch[name]))
    if n_rows < relation.n_rows:
        raise relation.error(f"{n_rows} rows read of {relation.n_rows}")
    found = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    return Block(X, found["row"], instance=found.get("instance"))


def in_order(relation, batches):
    """The batches of all rows in the order of the table, checked to be all.

    The threads of the engine overtake each other, by a group of rows at most: where the rows of a
    table that it has read from text lie in groups of several sizes, it takes some for one.
    """
    n_rows = 0
    early: dict = {}  # by their first rows
    for batch in batches:
        row = as_array(batch["row"])
        starts = [0, *(np.flatnonzero(np.diff(row) != 1) + 1).tolist(), len(row)]
        for start, stop in pairwise(starts):
            early[int(row[start])] = batch.slice(start, stop - start)
        while n_rows in early:
            piece = early.pop(n_rows)
            n_rows += piece.num_rows
            yield piece
    if early or n_rows != relation.n_rows:
        raise relation.error(f"{n_rows} rows read of {relation.n_rows}")


def feature_values(features):
    """SQL for the features by names of columns, and their common type."""
    single = all(feature.single for feature in features)
    real = "float" if single else "double"
    values = {f"x{j}": f"coalesce({f.sql}, cast('nan' as {real}))" for j, f in enumerate(features)}
    return values, np.float32 if single else np.float64
