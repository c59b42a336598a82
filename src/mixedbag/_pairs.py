"""All pairs of bags: tables of instance pairs, a block of whole bags at a time, reduced at once.

Memory is that of a block, or the square of the largest bag where that is more.
"""

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse

from mixedbag._once import once
from mixedbag.bags import as_bags

_BLOCK_ROWS = 512  # instances on each side of a block: tables of 2 MB stay in the cache
SELF_ROWS = 128  # for pairs within a bag, where most of a table goes unused
_COMPARED = 4096  # rows at a time


def cut(bags, n_rows):
    """Slices of adjacent bags that hold about `n_rows` instances each; no bag is split."""
    block_of = bags.offsets[:-1] // n_rows
    starts = np.flatnonzero(np.diff(block_of, prepend=-1))
    return [slice(a, b) for a, b in zip(starts, [*starts[1:], len(bags)])]


def all_pairs(left, right, compare, n_jobs=None):
    """A table with a row for each bag of `left` and a column for each of `right`.

    ``compare(a, b)`` gives the part for the bags ``left[a]`` and ``right[b]``, two slices. Threads
    share the parts, and only as many as there are threads are in memory. Of bags with themselves
    it gives one half, which is the other half as well.
    """
    result = np.empty((len(left), len(right)))

    def fill(a, b):
        result[a, b] = compare(a, b)
        if left is right and a != b:
            result[b, a] = result[a, b].T

    _visit_blocks(left, right, fill, n_jobs)
    return result


def _visit_blocks(left, right, visit, n_jobs):
    """``visit(a, b)`` for slices of bags; of bags with themselves only for ``a <= b``."""
    blocks = [
        (a, b)
        for a in cut(left, _BLOCK_ROWS)
        for b in cut(right, _BLOCK_ROWS)
        if left is not right or a.start <= b.start
    ]
    if len(blocks) == 1:
        visit(*blocks[0])
    else:
        Parallel(n_jobs=n_jobs, prefer="threads")(delayed(visit)(*block) for block in blocks)


def within_bags(bags, visit):
    """``visit(block, same)`` for blocks of whole bags; `same` marks pairs of rows of one bag."""
    parts = []
    for part in cut(bags, SELF_ROWS):
        block = bags[part]
        parts.append(visit(block, block.bag_of[:, None] == block.bag_of))
    return np.concatenate(parts)


def squared_distances(X, Z):
    """Squared Euclidean distances of all pairs of rows; zero where only rounding tells them apart.

    One matrix product, which for sparse rows stays sparse until the end. Stacks of tables give a
    stack.
    """
    table = (-2.0 * X) @ (Z.T if Z.ndim == 2 else Z.swapaxes(-1, -2))
    if sparse.issparse(table):
        table = table.toarray()
    left, right = (X**2).sum(axis=-1), (Z**2).sum(axis=-1)
    table += left[..., None]
    table += right[..., None, :]
    limit = left.max(axis=-1) + right.max(axis=-1)
    table[table < 1e-12 * limit[..., None, None]] = 0.0
    return table


def reduce_pairs(ufunc, table, left, right):
    """`ufunc` over the instance pairs of every pair of bags, in double precision."""
    rows = ufunc.reduceat(table, left.offsets[:-1], axis=0, dtype=np.float64)
    return ufunc.reduceat(rows, right.offsets[:-1], axis=1)


def nearest_squared(left, right, n_jobs=None):
    """Squared distance of the two nearest instances of every pair of bags."""

    def compare(a, b):
        rows, columns = left[a], right[b]
        table = squared_distances(rows.instances, columns.instances)
        return reduce_pairs(np.minimum, table, rows, columns)

    return once(lambda: all_pairs(left, right, compare, n_jobs), "nearest", left, right)


def rows_to_nearest(rows, bags, n_jobs=None):
    """Squared distance of every row to the nearest instance of each bag, a column a bag."""
    if same_rows(rows, bags.instances):
        return once(lambda: _own_to_nearest(bags, n_jobs), "own to nearest", bags)
    alone = as_bags(rows)

    def compare(a, b):
        columns = bags[b]
        table = squared_distances(alone[a].instances, columns.instances)
        return np.minimum.reduceat(table, columns.offsets[:-1], axis=1, dtype=np.float64)

    return once(lambda: all_pairs(alone, bags, compare, n_jobs), "rows to nearest", alone, bags)


def same_rows(X, Z):
    """Whether two tables have the same rows; of sparse ones, whether they are one table."""
    if X is Z or sparse.issparse(X) or sparse.issparse(Z):
        return X is Z
    parts = (slice(i, i + _COMPARED) for i in range(0, len(X), _COMPARED))
    return X.shape == Z.shape and all(np.array_equal(X[part], Z[part]) for part in parts)


def _own_to_nearest(bags, n_jobs):
    """Of the bags' own instances: a table of pairs serves either side."""
    result = np.empty((bags.n_instances, len(bags)))

    def fill(a, b):
        left, right = bags[a], bags[b]
        table = squared_distances(left.instances, right.instances)
        for one, part, other, axis in ((a, b, right, 1), (b, a, left, 0)):
            rows = slice(bags.offsets[one.start], bags.offsets[one.stop])
            nearest = np.minimum.reduceat(table, other.offsets[:-1], axis, dtype=np.float64)
            result[rows, part] = nearest if axis else nearest.T

    _visit_blocks(bags, bags, fill, n_jobs)
    return result
