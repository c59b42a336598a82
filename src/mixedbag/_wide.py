"""Single-precision tables in double-precision arithmetic, a piece at a time.

Wide tables of embeddings come in single precision. NumPy would copy the whole table to multiply it
with a vector in double precision; here a value is converted where it is used, or a piece is
copied, used while it is in the cache, and forgotten. Sums are those of double precision.
"""

import numpy as np
from numba import njit
from scipy import sparse

from mixedbag._pairs import cut
from mixedbag._prefetch import AHEAD, prefetch
from mixedbag._tables import frozen

_PIECE = 2**19  # values a piece: 4 MB in double precision
_COLUMNS = 64  # of four rows, beside which as many are fetched
_FAST = {"reassoc", "contract", "nsz"}  # lets sums use vector instructions


def is_single(X):
    """Whether `X` is an ordinary array in single precision."""
    return not sparse.issparse(X) and X.dtype == np.float32


def times(X, weights):
    """``X @ weights`` in double precision."""
    if not is_single(X):
        return X @ weights
    if _one_by_one(X, weights):
        result = np.empty(len(X))
        _row_products(frozen(X), frozen(np.arange(len(X))), _plain(weights), result)
        return result.reshape(len(X), *weights.shape[1:])
    result = np.empty((len(X), *weights.shape[1:]))
    for rows, piece in pieces(X):
        result[rows] = piece @ weights
    return result


def transposed_times(X, values):
    """``X.T @ values`` in double precision."""
    if not is_single(X):
        return X.T @ values
    if _one_by_one(X, values):
        total = np.zeros(X.shape[1])
        _add_rows(frozen(X), frozen(np.arange(len(X))), _plain(values), total)
        return total.reshape(X.shape[1], *values.shape[1:])
    return sum(piece.T @ values[rows] for rows, piece in pieces(X))


def _one_by_one(X, values):
    """Whether rows may be used where they lie: a product with one vector has no use for pieces."""
    return values.shape[1:] in ((), (1,)) and X.flags.c_contiguous


def _plain(values):
    """Of the one kind that the kernels below are compiled for."""
    return frozen(np.ascontiguousarray(values.ravel(), dtype=np.float64))


@njit(cache=True, nogil=True)
def _piece(X):
    """Columns of a piece: all are as wide, or nearly."""
    return -(-X.shape[1] // max(1, X.shape[1] // _COLUMNS))


@njit(cache=True, nogil=True)
def fetch_four(X, rows, s, start, end):
    """Ask for these columns of the rows that are needed soon."""
    for later in range(s + AHEAD, s + AHEAD + 4):
        prefetch(X, rows[min(later, len(rows) - 1)], start, end)


@njit(cache=True, nogil=True, fastmath=_FAST)
def four_dots(X, rows, s, w):
    """Products of the four rows from `rows[s]` with `w`: together, they wait for memory once."""
    a, b, c, d = rows[s], rows[s + 1], rows[s + 2], rows[s + 3]
    first = second = third = fourth = 0.0
    if X.ndim == 2:  # settled when compiling
        step = _piece(X)
        for start in range(0, X.shape[1], step):
            end = min(start + step, X.shape[1])
            fetch_four(X, rows, s, start, end)
            for k in range(np.uintp(start), np.uintp(end)):  # never from the end: asked nothing
                first += X[a, k] * w[k]
                second += X[b, k] * w[k]
                third += X[c, k] * w[k]
                fourth += X[d, k] * w[k]
    return first, second, third, fourth


@njit(cache=True, nogil=True, fastmath=_FAST)
def add_four(X, rows, s, values, w):
    """Add the four rows from `rows[s]`, times their values, to `w`: it is read and written once."""
    a, b, c, d = rows[s], rows[s + 1], rows[s + 2], rows[s + 3]
    p, q, r, t = values[s], values[s + 1], values[s + 2], values[s + 3]
    if X.ndim == 2:
        step = _piece(X)
        for start in range(0, X.shape[1], step):
            end = min(start + step, X.shape[1])
            fetch_four(X, rows, s, start, end)
            for k in range(np.uintp(start), np.uintp(end)):
                w[k] += (p * X[a, k] + q * X[b, k]) + (r * X[c, k] + t * X[d, k])


@njit(cache=True, nogil=True, fastmath=_FAST)
def _row_products(X, rows, weights, result):
    n = len(rows) - len(rows) % 4
    for s in range(0, n, 4):
        first, second, third, fourth = four_dots(X, rows, s, weights)
        result[s], result[s + 1], result[s + 2], result[s + 3] = first, second, third, fourth
    for s in range(n, len(rows)):
        i, total = rows[s], 0.0
        for j in range(X.shape[1]):
            total += X[i, j] * weights[j]
        result[s] = total


@njit(cache=True, nogil=True)
def _add_rows(X, rows, values, total):
    n = len(rows) - len(rows) % 4
    for s in range(0, n, 4):
        add_four(X, rows, s, values, total)
    for s in range(n, len(rows)):
        i, value = rows[s], values[s]  # once: for all the compiler knows, sums change them
        for j in range(X.shape[1]):
            total[j] += value * X[i, j]


def averaged(average, X):
    """``average @ X`` in double precision, for a sparse matrix."""
    if not is_single(X):
        return average @ X
    result = np.zeros((average.shape[0], X.shape[1]))
    for i, total in enumerate(result):
        part = slice(*average.indptr[i : i + 2])
        rows = frozen(average.indices[part].astype(np.int64))
        _add_rows(frozen(X), rows, _plain(average.data[part]), total)
    return result


def pieces(X):
    """Pairs of a slice and its rows in double precision; all at once where they are already."""
    step = max(1, _PIECE // X.shape[1]) if is_single(X) else X.shape[0]
    for start in range(0, X.shape[0], step):
        rows = slice(start, start + step)
        yield rows, X[rows].astype(np.float64) if is_single(X) else X


def in_double(bags):
    """Pairs of a slice and its bags in double precision; all at once where they are already."""
    if not is_single(bags.instances):
        yield slice(0, len(bags)), bags
        return
    for part in cut(bags, max(1, _PIECE // bags.n_features)):
        piece = bags[part]
        yield part, piece.with_instances(piece.instances.astype(np.float64))
