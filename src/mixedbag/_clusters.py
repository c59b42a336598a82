"""Clusters of instances that depend on the instances alone: not on their order, nor on copies."""

from itertools import pairwise

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans

from mixedbag._once import once

_PIECE = 2**16  # values of rows that are compared at a time


def cluster(X, weight, n_clusters, random_state, n_init=1, max_iter=100):
    """k-means over weighted rows: the fitted `KMeans`, and the distinct rows with their weights."""
    X, weight = once(lambda: distinct_rows(X, weight), "distinct rows", X, weight)
    # Run to a standstill (tol=0): the default tolerance looks at the unweighted spread. These rows
    # are a copy already.
    found = KMeans(
        min(n_clusters, X.shape[0]),
        n_init=n_init,
        tol=0.0,
        max_iter=max_iter,
        random_state=random_state,
        copy_x=False,
    ).fit(X, sample_weight=weight)
    return found, X, weight


def centres_and_width(X, weight, n_clusters, random_state):
    """The centres of clusters, and how far rows typically are from the nearest (never zero)."""
    found, _, weight = cluster(X, weight, n_clusters, random_state)
    return found.cluster_centers_, float(np.sqrt(found.inertia_ / weight.sum())) or 1.0


def distinct_rows(X, weight):
    """Each different row once, with its weights added up, in an order that only values decide.

    Clustering draws rows at random: so the order of the data does not matter, and a bag of weight
    two is the same as two bags.
    """
    if sparse.issparse(X):
        return _distinct_sparse_rows(X, weight)
    order = np.argsort(X[:, 0], kind="stable")
    if (np.diff(X[order, 0]) != 0).all():
        return X[order], weight[order]
    order = np.lexsort(X.T[::-1])
    first = np.flatnonzero(_differ_from_the_last(X, order))
    return X[order[first]], np.add.reduceat(weight[order], first)


def _differ_from_the_last(X, order):
    """Whether each row, taken in order, is another than the one before; a piece at a time."""
    new, step = np.ones(len(order), dtype=bool), max(1, _PIECE // X.shape[1])
    for start in range(1, len(order), step):
        rows = X[order[start - 1 : start + step]]
        new[start : start + step] = (rows[1:] != rows[:-1]).any(axis=1)
    return new


def _distinct_sparse_rows(X, weight):
    """The same rows in the same order as of the dense table, from the entries that are there."""
    X = X.tocsr().sorted_indices()
    keys = [
        _place(X.indices[start:stop].tolist(), X.data[start:stop].tolist())
        for start, stop in pairwise(X.indptr.tolist())
    ]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    new = [True, *(keys[a] != keys[b] for a, b in pairwise(order))]
    first = np.flatnonzero(new)
    return X[np.array(order)[first]], np.add.reduceat(weight[order], first)


def _place(columns, values):
    """A key that sorts sparse rows as their dense forms: an entry counts where the other has 0."""
    key = [(1, -c, v) if v > 0 else (-1, c, v) for c, v in zip(columns, values) if v != 0]
    return *key, (0, 0, 0.0)
