"""Kernels between rows and between bags, and what ``gamma``, ``degree`` and ``coef0`` mean.

For every learner that has them, as for scikit-learn::

    "rbf"      exp(−gamma ‖x − z‖²)
    "poly"     (gamma ⟨x, z⟩ + coef0) ** degree
    "sigmoid"  tanh(gamma ⟨x, z⟩ + coef0)
    "linear"   ⟨x, z⟩
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import config_context

from mixedbag._pairs import same_rows, squared_distances
from mixedbag._parameters import above, number, one_of, whole
from mixedbag._wide import in_double, is_single, pieces, times
from mixedbag.bags import Bags
from mixedbag.pooling import bag_sum

_TILE = 2**18  # pairs of rows at a time: their kernel values stay in the cache
_WIDTH = 512  # of a tile, at most
_PLAIN = 10.0  # an exponent's terms of more lose digits in single precision

KERNEL_PARAMETERS: dict[str, list] = {
    "gamma": [above(0), one_of("scale", "auto")],
    "degree": [whole(1)],
    "coef0": [number()],
}


def settled_gamma(gamma: float | str, instances: Any, weight: np.ndarray) -> float:
    """`gamma` as a number, as scikit-learn reads it; an instance of weight two counts twice.

    "scale" is one over the number of features times the variance of all entries of the table (one,
    if they are all the same), "auto" one over the number of features.
    """
    n_features = instances.shape[1]
    if gamma == "scale":
        spread = _variance(instances, weight / weight.sum())
        return float(1.0 / (n_features * spread)) if spread > 0 else 1.0
    return 1.0 / n_features if gamma == "auto" else float(gamma)


def _variance(instances, share):
    """Variance of all entries of the table, rows weighted by `share`."""
    mean = share @ times(instances, np.full(instances.shape[1], 1.0 / instances.shape[1]))
    if sparse.issparse(instances):
        squares = instances.multiply(instances)
        return share @ np.asarray(squares.mean(axis=1)).ravel() - mean**2
    return sum(share[rows] @ np.mean((X - mean) ** 2, axis=1) for rows, X in pieces(instances))


class Kernel:
    """A kernel function with its parameters settled; `of(A, B)` is a table of pairs."""

    def __init__(
        self, kernel: str | Callable, gamma: float = 1.0, degree: int = 2, coef0: float = 1.0
    ):
        self.kernel = kernel
        self.parameters = {"gamma": gamma, "degree": degree, "coef0": coef0}

    def of(self, A, B) -> np.ndarray:
        """The kernel of every row of `A` with every row of `B`."""
        if callable(self.kernel):
            return np.asarray(self.kernel(A, B), dtype=float)
        if self.kernel == "rbf" and _is_plain(A) and _is_plain(B):
            table = squared_distances(A, B)
            table *= -self.parameters["gamma"]
            return np.exp(table, out=table)
        if self.kernel == "rbf" and is_single(A) and is_single(B):
            return self.pairs(A, B)(slice(None), slice(None))
        # Imported here, for it takes half a second, which `predict` of other kernels is spared.
        from sklearn.metrics.pairwise import pairwise_kernels

        # Called for every few rows: looking at them and at the parameters would take longer.
        with config_context(assume_finite=True, skip_parameter_validation=True):
            return pairwise_kernels(A, B, self.kernel, filter_params=True, **self.parameters)

    def from_norms(self, A, B, norms) -> np.ndarray:
        """The same, given the squared norms of the rows of both.

        Columns come a few rows at a time, always against the same many.
        """
        if self.kernel != "rbf":
            return self.of(A, B)
        gamma = self.parameters["gamma"]
        table = (2.0 * gamma * A) @ B.T
        table = table.toarray() if sparse.issparse(table) else table
        table -= gamma * norms[1]
        table -= gamma * norms[0][:, None]
        np.minimum(table, 0.0, out=table)  # rounding may leave more
        return np.exp(table, out=table)

    def diagonal(self, X) -> np.ndarray:
        """The kernel of every row with itself."""
        if self.kernel == "rbf":
            return np.ones(X.shape[0])
        blocks = [X[i : i + 128] for i in range(0, X.shape[0], 128)]
        return np.concatenate([np.diag(self.of(block, block)) for block in blocks])

    def pairs(self, X, Z) -> Callable[[slice, slice], np.ndarray]:
        """`of` for slices of the rows of both: what it needs of single rows is computed once."""
        if self.kernel == "rbf" and is_single(X) and is_single(Z):
            return _rbf_in_single(X, Z, self.parameters["gamma"])
        return lambda rows, columns: self.of(X[rows], Z[columns])

    def expand(self, X, support, weights: np.ndarray) -> np.ndarray:
        """`Σ_k weights_k kernel(x, support_k)` for every row of `X`, a tile of pairs at a time."""
        total = np.zeros(X.shape[0])
        own = same_rows(X, support)
        values_of = self.pairs(X, support)
        for rows, columns in tiles(X.shape[0], len(weights), own):
            values = values_of(rows, columns)
            total[rows] += values @ weights[columns]
            if own and rows != columns:
                total[columns] += weights[rows] @ values
        return total

    def between_bags(self, bags: Bags) -> np.ndarray:
        """Mean kernel value over the pairs of instances of two bags, for all pairs of bags."""
        if self.kernel == "linear":
            means = bag_means(bags)
            return means @ means.T
        gram = np.empty((len(bags), len(bags)))
        per_block = max(1, int(_TILE / bags.n_instances / bags.sizes.mean()))
        for first in range(0, len(bags), per_block):
            block = bags[first : first + per_block]
            rows = np.add.reduceat(
                self.of(block.instances, bags.instances), block.offsets[:-1], axis=0
            )
            gram[first : first + len(block)] = np.add.reduceat(rows, bags.offsets[:-1], axis=1)
        return gram / np.outer(bags.sizes, bags.sizes)

    def landmark_features(self, instances, n_landmarks: int, rng: np.random.RandomState):
        """Nyström: random rows, a projection, and the features of all rows, a block at a time.

        The features of a row are its kernels with the landmarks times the projection; their inner
        products are the kernel wherever the landmarks span it.
        """
        n = instances.shape[0]
        landmarks = instances[np.sort(rng.choice(n, min(n, n_landmarks), replace=False))]
        values, vectors = np.linalg.eigh(self.of(landmarks, landmarks))
        keep = values > values[-1] * 1e-12
        projection = vectors[:, keep] / np.sqrt(values[keep])
        features = np.empty((n, keep.sum()))
        step = 10_000
        for i in range(0, n, step):
            features[i : i + step] = self.of(instances[i : i + step], landmarks) @ projection
        return landmarks, projection, features


def _is_plain(X):
    """Whether a product of such rows is in double precision; single precision takes care."""
    return isinstance(X, np.ndarray) and X.dtype == np.float64


def _rbf_in_single(X, Z, gamma):
    """The kernel of slices of rows by products in single precision, where no digit is lost.

    Exponents are differences of squared lengths and products, of which each has seven digits.
    """
    left, right = (gamma * np.einsum("ij,ij->i", A, A, dtype=np.float64) for A in (X, Z))

    def values(rows, columns):
        if left[rows].max() + right[columns].max() > _PLAIN:
            table = squared_distances(*(A.astype(np.float64) for A in (X[rows], Z[columns])))
            table *= -gamma
        else:
            table = X[rows] @ Z[columns].T
            table *= np.float32(2.0 * gamma)
            table -= left[rows, None].astype(np.float32)
            table -= right[columns].astype(np.float32)
            np.minimum(table, np.float32(0.0), out=table)  # rounding may leave more
        return np.exp(table, out=table)

    return values


def tiles(n, m, own=False):
    """Slices of `n` rows and of `m` columns; of rows with themselves (`own`) one of either half."""
    # Tiles of few rows would look at all of a large table for each of them.
    width = max(1, min(m, _WIDTH))
    height = width if own else _TILE // width
    for i in range(0, n, height):
        for j in range(i if own else 0, m, width):
            yield slice(i, min(i + height, n)), slice(j, min(j + width, m))


def bag_means(bags: Bags) -> np.ndarray:
    """Mean of the instances of each bag, dense."""
    if not bags.is_sparse:
        parts = [bag_sum(piece.instances, piece.offsets) for _, piece in in_double(bags)]
        return np.vstack(parts) / bags.sizes[:, None]
    n = bags.n_instances
    average = sparse.csr_array(
        (np.repeat(1.0 / bags.sizes, bags.sizes), np.arange(n), bags.offsets), (len(bags), n)
    )
    return (average @ bags.instances).toarray()
