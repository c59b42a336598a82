"""Whole bags of rows in any order, in bounded memory: no table of bags, no sort of all rows.

Where the rows of each bag are adjacent, a bag ends where the id changes. Else rows go to buckets on
disk by a hash of their bag. A bucket has all rows of its bags and fits in memory, where numbering
the bags and a stable sort of these numbers bring them together.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from mixedbag._overlap import side_by_side
from mixedbag.tables._arrays import as_array, as_arrow
from mixedbag.tables._buckets import MOST, Rows, joined, parted
from mixedbag.tables._engine import cores
from mixedbag.tables._fetching import Block, feature_values, in_order
from mixedbag.tables._ordering import AGREED, arrange, role_values, selected, whole_ids

_BATCH = 500_000  # values fetched at a time, at most: pieces of this size stay in the cache
_BUCKET = 1_000_000  # values: a table of fewer stays in memory
_MAY_MISS = ("label", "instance")  # all else is refused where it is missing


@dataclass(frozen=True)
class Gathering:
    """How the rows of a table become bags."""

    roles: dict  # positions of columns
    values: dict  # SQL a role
    n_runs: int | None  # of rows of one bag: as many as bags, or None where bags are scattered

    @property
    def adjacent(self):
        """Whether the rows of each bag are."""
        return self.n_runs is not None


def survey(relation, roles):
    """Look at all ids once: the `Gathering` of a table, given the positions of roles."""
    values = role_values(relation, roles)
    ids = "(select bag, lag(bag) over () as before from keyed)"
    ((ascending, n_runs, about),) = relation.ask(
        "select coalesce(bool_and(bag >= before), true), count_if(bag is distinct from before), "
        f"approx_count_distinct(bag) from {ids}"
    )
    adjacent = ascending
    if not ascending and n_runs <= 2 * about:
        ((n_bags,),) = relation.ask(
            f"select count(distinct bag) from {ids} where bag is distinct from before"
        )
        adjacent = n_runs == n_bags
    for role in {"bag", "group"} & values.keys():
        values[role] = whole_ids(relation, values[role], "rows")
    return Gathering(roles, values, n_runs if adjacent else None)


def gathered(relation, features, gathering, instance, rows, folder):
    """Blocks of whole bags with at least `rows` rows each, but for the last.

    Exactly the rows of the table must come, in their order.
    """
    columns = {**gathering.values, "row": "row"}
    if instance is not None:
        columns["instance"] = instance
    numbers, dtype = feature_values(features)
    width = len(columns) + len(numbers)
    n_buckets = min(MOST, relation.n_rows * width // max(_BUCKET, rows * width) + 1)
    in_buckets = n_buckets > 1 and not gathering.adjacent
    if in_buckets:
        columns["bucket"] = f"cast(hash({columns['bag']}) % {n_buckets} as usmallint)"
    query = f"select {selected({**columns, **numbers})} from rows"
    # Large pieces have few parts in buckets; else a piece is best a block, and need not be joined.
    at_once = _BUCKET // 2 // width if in_buckets else min(_BATCH // width, rows + rows // 4)
    reader = relation.con.sql(query).to_arrow_reader(max(2048, at_once))
    batches = in_order(relation, reader)
    rows_of = partial(_rows_of, names=[*columns], features=[*numbers], dtype=dtype)
    if in_buckets:
        parts = parted((rows_of([batch]) for batch in batches), n_buckets, folder, _MAY_MISS)
    else:
        parts = map(rows_of, _cut(batches) if gathering.adjacent else [[*batches]])
    try:
        yield from _of_rows(_together(relation, gathering, parts), rows)
    except _DifferenceError:
        reader.close()
        arrange(relation, gathering.roles)  # names the bag, and rows of it
        raise


class _DifferenceError(Exception):
    """Rows of a bag differ in what they must agree on."""


def _cut(batches):
    """Lists of batches that end where a bag does."""
    waiting: list = []
    for batch in batches:
        starts = _starts(batch["bag"])
        if len(starts) > 1:
            last = int(starts[-1])
            yield [*waiting, batch.slice(0, last)]
            waiting = [batch.slice(last)]
            continue
        if waiting and waiting[-1]["bag"][-1] != batch["bag"][0]:
            yield waiting
            waiting = []
        waiting.append(batch)
    yield waiting


def _starts(ids):
    """Where runs of equal ids begin."""
    from pyarrow import compute

    changes = compute.indices_nonzero(compute.not_equal(ids[1:], ids[:-1]))
    return np.concatenate([[0], as_array(changes).astype(np.int64) + 1])


def _rows_of(batches, names, features, dtype):
    """Batches as `Rows`, the features as one table."""
    X = np.empty((sum(batch.num_rows for batch in batches), len(features)), dtype)
    start = 0
    for batch in batches:
        for j, name in enumerate(features):
            X[start : start + batch.num_rows, j] = as_array(batch[name])
        start += batch.num_rows
    return Rows(joined([batch.select(names) for batch in batches]), X)


def _together(relation, gathering, parts):
    """A block a part, which has all rows of its bags; several at a time."""
    n_bags = 0
    for block in side_by_side(partial(_block, gathering=gathering), parts, cores()):
        n_bags += len(block.ids)
        yield block
    if gathering.adjacent and n_bags != gathering.n_runs:
        raise relation.error(f"{n_bags} bags read of {gathering.n_runs}")


def _block(part, gathering):
    about, X = part
    sizes, ids, order = _grouped(about, gathering)
    found = {
        role: _agreed(about[role], order, sizes) for role in AGREED if role in gathering.values
    }
    if "instance" in about.schema.names:
        found["instance"] = as_array(about["instance"])[order]
    if not isinstance(order, slice):
        X = X.take(order, axis=0)  # ten times quicker than an index
    return Block(X, as_array(about["row"])[order], sizes, ids, **found)


def _grouped(about, gathering):
    """Sizes and ids of the bags of rows, by their first rows, and the order of the rows."""
    timed = "time" in gathering.values
    if gathering.adjacent:
        starts = _starts(about["bag"])
        sizes = np.diff(starts, append=about.num_rows)
        ids = as_array(about["bag"].take(as_arrow(starts)))
        if not timed:
            return sizes, ids, slice(None)
        number = np.repeat(np.arange(len(ids)), sizes)
    else:
        bags = about["bag"].dictionary_encode()  # numbered by their first rows
        number, ids = as_array(bags.indices), as_array(bags.dictionary)
        sizes = np.bincount(number, minlength=len(ids))
    if len(ids) <= 2**16:
        number = number.astype(np.uint16)  # which are sorted in linear time
    if not timed:
        return sizes, ids, np.argsort(number, kind="stable")
    by_time = np.argsort(as_array(about["time"]), kind="stable")
    return sizes, ids, by_time[np.argsort(number[by_time], kind="stable")]


def _agreed(column, order, sizes):
    """The value of each bag in a column of rows."""
    values = column.dictionary_encode("encode")
    codes = as_array(values.indices)[order]
    first = codes[np.cumsum(sizes) - sizes]
    if (codes != np.repeat(first, sizes)).any():
        raise _DifferenceError
    return as_array(values.dictionary)[first]


def _of_rows(blocks, rows):
    """The same bags in blocks of at least so many rows each, but for the last."""
    waiting, n_rows = [], 0
    for block in blocks:
        waiting.append(block)
        n_rows += len(block.X)
        if n_rows >= rows:
            yield from _pieces(_one(waiting), rows)
            waiting, n_rows = [], 0
    if waiting:
        yield _one(waiting)


def _one(blocks):
    if len(blocks) == 1:
        return blocks[0]
    parts: dict = {name: [getattr(block, name) for block in blocks] for name in vars(blocks[0])}
    whole: dict = {n: None if v[0] is None else np.concatenate(v) for n, v in parts.items()}
    return Block(**whole)


def _pieces(block, rows):
    """A block cut into some of at least so many rows."""
    ends = np.cumsum(block.sizes)
    begin = row = 0
    while begin < len(ends):
        stop = int(np.searchsorted(ends, row + rows)) + 1
        if ends[-1] - ends[stop - 1] < rows:
            stop = len(ends)
        yield block.piece(slice(begin, stop), slice(row, int(ends[stop - 1])))
        begin, row = stop, int(ends[stop - 1])
