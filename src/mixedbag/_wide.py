"""Single-precision tables in double-precision arithmetic, a piece at a time.

Wide tables of embeddings come in single precision. NumPy would copy the whole table to multiply it
with a vector in double precision; here a piece is copied, used while it is in the cache, and
forgotten. Sums are those of double precision.
"""

import numpy as np
from scipy import sparse

from mixedbag._pairs import cut

_PIECE = 2**19  # values a piece: 4 MB in double precision


def is_single(X):
    """Whether `X` is an ordinary array in single precision."""
    return not sparse.issparse(X) and X.dtype == np.float32


def times(X, weights):
    """``X @ weights`` in double precision."""
    if not is_single(X):
        return X @ weights
    result = np.empty((len(X), *weights.shape[1:]))
    for rows, piece in pieces(X):
        result[rows] = piece @ weights
    return result


def transposed_times(X, values):
    """``X.T @ values`` in double precision."""
    if not is_single(X):
        return X.T @ values
    return sum(piece.T @ values[rows] for rows, piece in pieces(X))


def averaged(average, X):
    """``average @ X`` in double precision, for a sparse matrix whose rows have few entries."""
    if not is_single(X):
        return average @ X
    result, columns = np.zeros((average.shape[0], X.shape[1])), average.tocsc()
    for rows, piece in pieces(X):
        part = columns[:, rows].tocsr()
        touched = np.flatnonzero(np.diff(part.indptr))
        result[touched] += part[touched] @ piece
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
