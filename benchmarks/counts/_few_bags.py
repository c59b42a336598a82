"""Further development tables for intervals with fewer bags than features, of different rules."""

import numpy as np
from sklearn.datasets import (
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_classification,
    make_friedman1,
    make_gaussian_quantiles,
    make_hastie_10_2,
)
from sklearn.preprocessing import StandardScaler

_ROWS = 1000


def rows_of(name, seed):
    """Standardised features and a label 0 or 1 of every row, in random order."""
    X, y = TABLES[name](seed)
    kept = np.random.default_rng(seed).permutation(len(y))[:_ROWS]
    return StandardScaler().fit_transform(X[kept]), np.asarray(y)[kept].astype(int)


def _halves(X, y):
    return X, y > np.mean(y)  # a median of -1 and 1 may be either


def _weighed(seed, weights):
    """Forty features, the chance by their weighted sum."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(_ROWS, 40))
    return X, rng.random(_ROWS) < 1 / (1 + np.exp(-X @ weights(rng)))


def _large_digits(seed):
    X, y = load_digits(return_X_y=True)
    return X, y >= 5


def _blobs(seed):
    X, y = make_blobs(_ROWS, n_features=40, centers=6, cluster_std=6, random_state=seed)
    return X, y % 2


def _virginica(seed):
    X, y = load_iris(return_X_y=True)
    return X, y == 2


def _second_wine(seed):
    X, y = load_wine(return_X_y=True)
    return X, y == 1


TABLES = {
    "wine": _second_wine,
    "iris": _virginica,
    "large digits": _large_digits,
    "diabetes": lambda seed: _halves(*load_diabetes(return_X_y=True)),
    "friedman": lambda seed: _halves(*make_friedman1(_ROWS, 10, noise=1.0, random_state=seed)),
    "hastie": lambda seed: _halves(*make_hastie_10_2(_ROWS, random_state=seed)),
    "rings": lambda seed: make_gaussian_quantiles(
        n_samples=_ROWS, n_features=4, n_classes=2, random_state=seed
    ),
    "mixture": lambda seed: make_classification(
        _ROWS, 40, n_informative=5, n_redundant=10, flip_y=0.05, random_state=seed
    ),
    "rare": lambda seed: make_classification(
        _ROWS, 20, n_informative=3, n_redundant=0, weights=[0.85], random_state=seed
    ),
    "blobs": _blobs,
    "one feature": lambda seed: _weighed(seed, lambda rng: 2.0 * np.eye(40)[0]),
    "all features": lambda seed: _weighed(seed, lambda rng: 0.35 * rng.normal(size=40)),
}
