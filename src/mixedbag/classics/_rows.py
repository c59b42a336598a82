"""Facts about the instances of all bags that several classics need: spread, and a fair sample."""

from itertools import pairwise

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from mixedbag._wide import pieces, times, transposed_times


def feature_moments(bags, weight):
    """Mean and variance of each feature over instances, every instance weighted like its bag."""
    weight = bags.spread(weight)
    if bags.is_sparse:
        return mean_variance_axis(bags.instances, axis=0, weights=weight)
    share = weight / weight.sum()
    mean = transposed_times(bags.instances, share)
    return mean, sum(share[rows] @ (X - mean) ** 2 for rows, X in pieces(bags.instances))


def sample_rows(instances, n_rows, rng, among=None):
    """Indices of at most `n_rows` rows, all of them (or all `among` them) if there are no more.

    The sample does not depend on the order of the rows, and copies of a row count once: rows are
    drawn by their place on a random line.
    """
    rows = np.arange(instances.shape[0]) if among is None else among
    if len(rows) <= n_rows:
        return rows
    place = times(instances, rng.normal(size=instances.shape[1]))[rows]
    distinct = rows[np.unique(place, return_index=True)[1]]
    if len(distinct) <= n_rows:
        return distinct
    return np.sort(rng.choice(distinct, n_rows, replace=False))


def dense_rows(instances, rows):
    """The given rows as an ordinary array."""
    return instances[rows].toarray() if sparse.issparse(instances) else instances[rows]


def distinct_bags(bags, sign, weight):
    """Each different bag of either sign once, with its weights added up.

    For learners that take something from every bag: a bag of weight two is the same as two bags.
    """
    line = np.random.default_rng(0).standard_normal(bags.n_features)
    place = np.asarray(times(bags.instances, line), dtype=np.float64)
    # Copies may differ in the last digits, which depend on where in memory a row lies.
    digits = (place / (np.abs(place).max() or 1.0)).astype(np.float32)
    first: dict[tuple, int] = {}
    total = np.zeros(len(bags))
    for i, (a, b) in enumerate(pairwise(bags.offsets)):
        total[first.setdefault((sign[i], np.sort(digits[a:b]).tobytes()), i)] += weight[i]
    kept = np.flatnonzero(total)
    return bags[kept], sign[kept], total[kept]
