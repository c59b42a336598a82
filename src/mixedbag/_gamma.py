"""The width of a kernel: what ``gamma`` means, for every learner that has one."""

import numpy as np
from scipy import sparse


def settled_gamma(gamma, instances, weight):
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
    mean = share @ (instances @ np.full(instances.shape[1], 1.0 / instances.shape[1]))
    if sparse.issparse(instances):
        squares = instances.multiply(instances)
        return share @ np.asarray(squares.mean(axis=1)).ravel() - mean**2
    return share @ np.mean((instances - mean) ** 2, axis=1)
