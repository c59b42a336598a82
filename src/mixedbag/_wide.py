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
    for rows in _slices(X):
        result[rows] = X[rows].astype(np.float64) @ weights
    return result


def transposed_times(X, values):
    """``X.T @ values`` in double precision."""
    if not is_single(X):
        return X.T @ values
    return sum(X[rows].astype(np.float64).T @ values[rows] for rows in _slices(X))


def in_double(bags):
    """Pairs of a slice and its bags in double precision; all at once where they are already."""
    if not is_single(bags.instances):
        yield slice(0, len(bags)), bags
        return
    for part in cut(bags, max(1, _PIECE // bags.n_features)):
        piece = bags[part]
        yield part, piece.with_instances(piece.instances.astype(np.float64))


def _slices(X):
    step = max(1, _PIECE // X.shape[1])
    return [slice(start, start + step) for start in range(0, len(X), step)]
