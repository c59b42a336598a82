"""Rows of two tables by number: what linear solvers read.

A row is an instance or the centroid of a bag: numbers from `n` on mean centroids. Both tables come
as `(data, indices, indptr)`; a dense table is its own `data` and leaves the other two empty. Rows
are read where they lie, so choosing other rows costs nothing.

A weight vector `w` scores a row by `⟨w, x − centre⟩ + b`, `b` being its last entry: about the
middle of the instances, the intercept has little to do with the other weights, wherever they lie.
"""

import numpy as np
from numba import njit
from scipy import sparse

from mixedbag._prefetch import AHEAD, prefetch
from mixedbag._tables import frozen
from mixedbag._wide import add_four, four_dots, times

_NO_INDEX = frozen(np.empty(0, dtype=np.int32))
_SOME = 200  # rows that tell where the others lie
_FAST = {"reassoc", "contract", "nsz"}  # lets sums use vector instructions


# Kernels get the arrays they fill, and fill them in plain loops: anything else would be most of
# what they take to compile.


@njit(cache=True, nogil=True, fastmath=_FAST)
def dot(data, indices, indptr, i, w):
    total = 0.0
    if data.ndim == 2:  # settled when compiling
        for k in range(data.shape[1]):
            total += data[i, k] * w[k]
    else:
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p] * w[indices[p]]
    return total


@njit(cache=True, nogil=True)
def add(data, indices, indptr, i, step, w):
    if data.ndim == 2:
        for k in range(data.shape[1]):
            w[k] += step * data[i, k]
    else:
        for p in range(indptr[i], indptr[i + 1]):
            w[indices[p]] += step * data[p]


@njit(cache=True, nogil=True)
def _all_below(n, rows, s):
    """Whether the four rows from `rows[s]` are instances."""
    return max(rows[s], rows[s + 1], rows[s + 2], rows[s + 3]) < n


@njit(cache=True, nogil=True)
def row_scores(data, indices, indptr, c_data, c_indices, c_indptr, n, rows, w, scores):
    """`⟨w, x⟩` for every row of `rows`, into `scores`."""
    s = 0
    while s < len(rows):
        i = rows[s]
        if data.ndim == 2 and s + 4 <= len(rows) and _all_below(n, rows, s):
            first, second, third, fourth = four_dots(data, rows, s, w)
            scores[s], scores[s + 1], scores[s + 2], scores[s + 3] = first, second, third, fourth
            s += 4
            continue
        if i < n:
            scores[s] = dot(data, indices, indptr, i, w)
        else:
            scores[s] = dot(c_data, c_indices, c_indptr, i - n, w)
        s += 1


@njit(cache=True, nogil=True)
def row_sum(data, indices, indptr, c_data, c_indices, c_indptr, n, rows, coef, w):
    """Add `Σ_s coef_s x_s` to `w`, in place."""
    s = 0
    while s < len(rows):
        i = rows[s]
        if data.ndim == 2 and s + 4 <= len(rows) and _all_below(n, rows, s):
            add_four(data, rows, s, coef, w)
            s += 4
            continue
        if i < n:
            add(data, indices, indptr, i, coef[s], w)
        else:
            add(c_data, c_indices, c_indptr, i - n, coef[s], w)
        s += 1


@njit(cache=True, nogil=True, fastmath=_FAST)
def squares(data, indptr, i):
    total = 0.0
    if data.ndim == 2:
        for k in range(data.shape[1]):
            total += np.float64(data[i, k]) ** 2
    else:
        for p in range(indptr[i], indptr[i + 1]):
            total += np.float64(data[p]) ** 2
    return total


@njit(cache=True, nogil=True)
def row_norms(data, indices, indptr, c_data, c_indices, c_indptr, n, rows, norms):
    """`|x|²` for every row of `rows`, into `norms`."""
    for s in range(len(rows)):
        i = rows[s]
        norms[s] = squares(data, indptr, i) if i < n else squares(c_data, c_indptr, i - n)


@njit(cache=True, nogil=True)
def dense_rows(data, indices, indptr, c_data, c_indices, c_indptr, n, rows, scale, centre, table):
    """`scale_s [x_s − centre, 1]` for every row of `rows`, into `table`."""
    d = len(centre)
    for s in range(len(rows)):
        i, row = rows[s], table[s]
        prefetch(data, rows[min(s + AHEAD, len(rows) - 1)], 0, d)
        for k in range(d):
            row[k] = -centre[k]
        row[d] = 1.0
        if i < n:
            add(data, indices, indptr, i, 1.0, row)
        else:
            add(c_data, c_indices, c_indptr, i - n, 1.0, row)
        for k in range(d + 1):
            row[k] *= scale[s]


class NumberedRows:
    """Instances and, numbered after them, centroids of bags; `along` places all on a line."""

    def __init__(self, instances, centroids):
        self.tables = instances, centroids
        self.n_instances, self.n_features = instances.shape
        direction = np.random.default_rng(0).standard_normal(self.n_features)
        self.along = np.concatenate([times(table, direction) for table in self.tables])
        self.centre = _centre(instances, self.along[: self.n_instances])
        self.buffers = (*_buffers(instances), *_buffers(centroids), self.n_instances)

    @property
    def is_dense(self):
        return not sparse.issparse(self.tables[0])

    def weights(self, coef, intercept):
        """The weight vector of `⟨coef, x⟩ + intercept`."""
        return np.append(coef, intercept + coef @ self.centre)

    def intercept(self, w):
        """The intercept of a weight vector where the rows lie, rather than about their centre."""
        return float(w[-1] - w[:-1] @ self.centre)

    def scores(self, rows, w):
        """`⟨w, x − centre⟩ + b` for every row."""
        return self._products(rows, w[:-1]) + self.intercept(w)

    def total(self, rows, coef):
        """`Σ coef (x − centre)`, and `Σ coef` in the last entry."""
        weight = coef.sum()
        return np.append(self.sum(rows, coef) - weight * self.centre, weight)

    def sum(self, rows, coef):
        """`Σ coef x`."""
        total, used = np.zeros(self.n_features), np.flatnonzero(coef != 0.0)  # of bools: quicker
        row_sum(*self.buffers, rows[used], coef[used], total)
        return total

    def dense(self, rows, scale):
        """The rows `scale·[x − centre, 1]` as a dense table."""
        table = np.empty((len(rows), self.n_features + 1))
        dense_rows(*self.buffers, rows, scale, self.centre, table)
        return table

    def along_centre(self, rows):
        """`⟨x, centre⟩` for every row."""
        return self._products(rows, self.centre)

    def _products(self, rows, w):
        scores = np.empty(len(rows))
        row_scores(*self.buffers, rows, w, scores)
        return scores

    def squared_norms(self, rows):
        """`|x − centre|²` for every row."""
        norms = np.empty(len(rows))
        row_norms(*self.buffers, rows, norms)
        away = norms - 2.0 * self.along_centre(rows) + self.centre @ self.centre
        return np.maximum(away, 1e-12 * norms)


def _centre(instances, along):
    """The middle of the instances, by and large; one huge value leaves it where it is.

    That of some of them, which lie evenly `along` a fixed direction: the same in whatever order.
    """
    if sparse.issparse(instances):
        return np.asarray(instances.mean(axis=0), dtype=float).ravel()
    some = np.argsort(along)[:: 1 + len(instances) // _SOME]
    return np.median(instances[some], axis=0).astype(float)


def _buffers(table):
    """What kernels read, always of the same kind: they are compiled once for all tables."""
    if not sparse.issparse(table):
        return frozen(table), _NO_INDEX, _NO_INDEX
    short = np.int32 if len(table.data) <= np.iinfo(np.int32).max else np.int64
    index = (table.indices.astype(short, copy=False), table.indptr.astype(short, copy=False))
    return tuple(frozen(part) for part in (table.data, *index))
