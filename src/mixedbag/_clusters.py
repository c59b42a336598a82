"""Clusters of instances that depend on the instances alone: not on their order, nor on copies."""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import euclidean_distances

from mixedbag._once import once


def cluster(X, weight, n_clusters, random_state, n_init=1, max_iter=100):
    """k-means over weighted rows: the fitted `KMeans`, and the distinct rows with their weights."""
    X, weight = once(lambda: distinct_rows(X, weight), "distinct rows", X, weight)
    # Run to a standstill (tol=0): the default tolerance looks at the unweighted spread.
    found = KMeans(
        min(n_clusters, len(X)),
        n_init=n_init,
        tol=0.0,
        max_iter=max_iter,
        random_state=random_state,
    ).fit(X, sample_weight=weight)
    return found, X, weight


def centres_and_width(X, weight, n_clusters, random_state):
    """The centres of clusters, and how far rows typically are from the nearest (never zero)."""
    found, rows, weight = cluster(X, weight, n_clusters, random_state)
    nearest = euclidean_distances(rows, found.cluster_centers_, squared=True).min(axis=1)
    return found.cluster_centers_, float(np.sqrt(weight @ nearest / weight.sum())) or 1.0


def distinct_rows(X, weight):
    """Each different row once, with its weights added up, in an order that only values decide.

    Clustering draws rows at random: so the order of the data does not matter, and a bag of weight
    two is the same as two bags.
    """
    order = np.argsort(X[:, 0], kind="stable")
    if (np.diff(X[order, 0]) != 0).all():
        return X[order], weight[order]
    order = np.lexsort(X.T[::-1])
    X, weight = X[order], weight[order]
    first = np.flatnonzero(np.r_[True, (np.diff(X, axis=0) != 0).any(axis=1)])
    return X[first], np.add.reduceat(weight, first)
