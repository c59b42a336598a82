"""Rows of two tables by number: what linear solvers read.

A row is an instance or the centroid of a bag: numbers from `n` on mean centroids. Both tables come
as `(data, indices, indptr)`; a dense table is its own `data` and leaves the other two empty. Rows
are read where they lie, so choosing other rows costs nothing. The last entry of a weight vector
belongs to a constant feature of value `bias`.
"""

import numpy as np
from numba import njit
from scipy import sparse

_NO_INDEX = np.empty(0, dtype=np.int32)
_FAST = {"reassoc", "contract", "nsz"}  # lets sums use vector instructions


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
def row_scores(data, indices, indptr, c_data, c_indices, c_indptr, n, bias, rows, w):
    """`w·x` for every row of `rows`."""
    scores = np.empty(len(rows))
    for s in range(len(rows)):
        i = rows[s]
        if i < n:
            scores[s] = dot(data, indices, indptr, i, w) + bias * w[-1]
        else:
            scores[s] = dot(c_data, c_indices, c_indptr, i - n, w) + bias * w[-1]
    return scores


@njit(cache=True, nogil=True)
def row_sum(data, indices, indptr, c_data, c_indices, c_indptr, n, bias, rows, coef, w):
    """Add `Σ_s coef_s x_s` to `w`, in place."""
    for s in range(len(rows)):
        if coef[s] != 0.0:
            i = rows[s]
            if i < n:
                add(data, indices, indptr, i, coef[s], w)
            else:
                add(c_data, c_indices, c_indptr, i - n, coef[s], w)
            w[-1] += coef[s] * bias


class Rows:
    """Instances and, numbered after them, centroids of bags; with a constant feature `bias`."""

    def __init__(self, instances, centroids, bias=1.0):
        self.tables = instances, centroids
        self.n_instances, self.n_features = instances.shape
        self.bias = float(bias)
        self.buffers = (*_buffers(instances), *_buffers(centroids), self.n_instances, self.bias)

    def scores(self, rows, w):
        """`w·x` for every row."""
        return row_scores(*self.buffers, rows, w)

    def total(self, rows, coef):
        """`Σ coef x`, as a weight vector."""
        w = np.zeros(self.n_features + 1)
        row_sum(*self.buffers, rows, coef, w)
        return w

    def dense(self, rows):
        """The given rows as a dense table, the constant feature last."""
        table = np.empty((len(rows), self.n_features + 1))
        table[:, -1] = self.bias
        is_instance = rows < self.n_instances
        for source, chosen, first in zip(
            self.tables, (is_instance, ~is_instance), (0, self.n_instances)
        ):
            if chosen.any():
                part = source[rows[chosen] - first]
                table[chosen, :-1] = part.toarray() if sparse.issparse(part) else part
        return table

    def squared_norms(self, rows):
        norms = np.concatenate([_squared_norms(table) for table in self.tables])
        return norms[rows] + self.bias**2


def _buffers(table):
    if sparse.issparse(table):
        return table.data, table.indices, table.indptr
    return table, _NO_INDEX, _NO_INDEX


def _squared_norms(table):
    if sparse.issparse(table):
        return np.asarray(table.multiply(table).sum(axis=1), dtype=float).ravel()
    return np.einsum("ij,ij->i", table, table, dtype=float)
