"""Nearest neighbours that carry the mean of their bag."""

from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from mixedbag._parameters import one_of, whole
from mixedbag.base import BagRegressor
from mixedbag.counts import SharpenedCounts

__all__ = ["AggregateKNeighborsClassifier", "AggregateKNeighborsRegressor"]

_BLOCK = 4096  # rows whose neighbours are gathered at a time


class _BagNeighbors:
    """The mean of the bag's label, averaged over the nearest `n_neighbors` training instances.

    Bags of weight w count as w equal bags: neighbours are taken until their weights sum to
    `n_neighbors`, the last one in part.
    """

    _needs_scaling = True
    _accepts_sparse = True
    _search_space = {"n_neighbors": [1, 5, 15]}
    _parameter_constraints = {
        "n_neighbors": [whole(1)],
        "weights": [one_of("uniform", "distance")],
        "metric": [str, callable],
    }

    n_neighbors: int
    weights: str
    metric: Any
    n_jobs: int | None

    def _remember(self, bags, means, weight):
        self.index_ = NearestNeighbors(metric=self.metric, n_jobs=self.n_jobs).fit(bags.instances)
        self.neighbor_mean_ = bags.spread(means)
        self.neighbor_weight_ = bags.spread(weight)
        # However light the nearest ones are, so many are enough.
        lightest = np.cumsum(np.sort(self.neighbor_weight_))
        enough = int(np.searchsorted(lightest, self.n_neighbors * (1.0 - 1e-12))) + 1
        self.n_asked_ = min(bags.n_instances, enough)

    def _averages(self, bags):
        X = bags.instances
        blocks = [self._average(X[i : i + _BLOCK]) for i in range(0, X.shape[0], _BLOCK)]
        return np.concatenate(blocks)

    def _average(self, X):
        distance, neighbor = self.index_.kneighbors(X, n_neighbors=self.n_asked_)
        weight = self.neighbor_weight_[neighbor]
        before = np.cumsum(weight, axis=1) - weight
        share = np.clip(self.n_neighbors - before, 0.0, weight)
        if self.weights == "distance":
            share = share * _closeness(distance)
        share /= share.sum(axis=1, keepdims=True)
        return np.einsum("ij,ij...->i...", share, self.neighbor_mean_[neighbor])


def _closeness(distance):
    """One over the distance; where some neighbours coincide with the row, only they count."""
    same = distance == 0.0
    inverse = 1.0 / np.where(same, 1.0, distance)
    return np.where(same.any(axis=1, keepdims=True), same, inverse)


class AggregateKNeighborsClassifier(_BagNeighbors, SharpenedCounts):
    """Nearest neighbours from counts: a neighbour votes with the proportions of its bag.

    An instance's share of a class is the average, over the nearest training instances, of the
    class's share in their bags. The instances of a bag are not told apart: this is the baseline
    that the other aggregate learners must beat (section 4.1 of the aggregate-outputs paper). Such
    averages are all much alike; probabilities are their odds to a power and with a factor for each
    class that suit the known counts best. With bags of one it is
    :class:`sklearn.neighbors.KNeighborsClassifier`.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of training instances that are asked.
    weights : {"uniform", "distance"}, default="uniform"
        Whether closer neighbours count more.
    metric : str or callable, default="minkowski"
        Any distance of :class:`sklearn.neighbors.NearestNeighbors`.
    aggregate : {"sum", "mean"}, default="sum"
        Whether a one-dimensional `y` holds counts of positives or shares.
    n_jobs : int or None, default=None
        Threads of the neighbour search.

    Attributes
    ----------
    index_ : NearestNeighbors
    neighbor_mean_ : array (n_instances, n_classes)
        Proportions of the bag of each training instance.
    sharpening_ : array (1 + n_classes,)
        Power and factors (their logarithms); not for bags of one.
    classes_ : array

    See Also
    --------
    AggregateKNeighborsRegressor : The same for totals.
    AggregateTreeClassifier : Tells the instances of a bag apart, by a few cuts of features.
    AggregateLogisticRegression : Tells them apart by one linear rule for all bags.

    References
    ----------
    D. R. Musicant, R. Atlas, J. M. Christensen, J. F. Olson, J. M. Rzeszotarski, E. R. D. Turetsky,
    "Supervised learning by training on aggregate outputs".

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.aggregate import AggregateKNeighborsClassifier
    >>> bags = Bags(np.array([[0.0], [1.0], [1.5], [5.0], [6.0]]), [0, 3, 5])
    >>> model = AggregateKNeighborsClassifier(n_neighbors=2).fit(bags, [1, 2])
    >>> model.predict_instances([[[0.2]], [[3.4]], [[5.8]]])
    array([0, 1, 1])
    """

    _own_proba = True

    def __init__(
        self, n_neighbors=5, *, weights="uniform", metric="minkowski", aggregate="sum", n_jobs=None
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.aggregate = aggregate
        self.n_jobs = n_jobs

    def _fit(self, bags, counts, weight):
        self._remember(bags, counts / bags.sizes[:, None], weight)
        self._sharpen(bags, counts, weight)

    def _timid_scores(self, bags):
        return self._averages(bags)


class AggregateKNeighborsRegressor(_BagNeighbors, BagRegressor):
    """Nearest neighbours from totals: a neighbour brings the mean of its bag.

    The value of an instance is the average, over the nearest training instances, of their bags'
    means (section 4.2 of the aggregate-outputs paper). The instances of a bag are not told apart:
    this is the baseline that the other aggregate learners must beat. With bags of one it is
    :class:`sklearn.neighbors.KNeighborsRegressor`.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of training instances that are asked.
    weights : {"uniform", "distance"}, default="uniform"
        Whether closer neighbours count more.
    metric : str or callable, default="minkowski"
        Any distance of :class:`sklearn.neighbors.NearestNeighbors`.
    aggregate : {"sum", "mean"}, default="sum"
        What `y` holds and `predict` returns: totals or means of bags.
    n_jobs : int or None, default=None
        Threads of the neighbour search.

    Attributes
    ----------
    index_ : NearestNeighbors
    neighbor_mean_ : array (n_instances,)
        Mean of the bag of each training instance.

    See Also
    --------
    AggregateKNeighborsClassifier : The same for counts of classes.
    AggregateTreeRegressor : Tells the instances of a bag apart, by a few cuts of features.
    AggregateRidgeRegressor : Tells them apart by one linear rule for all bags.

    References
    ----------
    D. R. Musicant, R. Atlas, J. M. Christensen, J. F. Olson, J. M. Rzeszotarski, E. R. D. Turetsky,
    "Supervised learning by training on aggregate outputs".

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.aggregate import AggregateKNeighborsRegressor
    >>> bags = Bags(np.array([[0.0], [1.0], [1.5], [5.0], [6.0]]), [0, 3, 5])
    >>> model = AggregateKNeighborsRegressor(n_neighbors=1).fit(bags, [6.0, 20.0])
    >>> model.predict(bags)
    array([ 6., 20.])
    """

    def __init__(
        self, n_neighbors=5, *, weights="uniform", metric="minkowski", aggregate="sum", n_jobs=None
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.aggregate = aggregate
        self.n_jobs = n_jobs

    def _fit(self, bags, total, weight):
        self._remember(bags, total / bags.sizes, weight)

    def _score_instances(self, bags):
        return self._averages(bags)
