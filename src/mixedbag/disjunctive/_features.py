"""The basis functions h_k of the disjunctive program (thesis sections 6.1.3 and 6.3.1).

A feature map is a small object with `n_features` and `transform(X)`. Maps with centres also have
`select(index)`, which keeps only some of the features: the 1-norm leaves few of them in a model.
"""

import numpy as np
from scipy.sparse import csr_array, hstack, issparse
from sklearn.metrics.pairwise import euclidean_distances

from mixedbag._kernels import settled_gamma


class LinearFeatures:
    """h_k(x) = x_k."""

    def __init__(self, n_inputs, index=None):
        self.n_inputs = n_inputs
        self.index = index

    @property
    def n_features(self):
        return self.n_inputs if self.index is None else len(self.index)

    def transform(self, X):
        return X if self.index is None else X[:, self.index]

    def spread(self, weights):
        """Weights of these features as weights of all inputs."""
        if self.index is None:
            return weights
        full = np.zeros(self.n_inputs)
        full[self.index] = weights
        return full


class RBFFeatures:
    """h_k(x) = exp(-gamma ||x - c_k||²), one feature for every centre."""

    def __init__(self, centers, gamma):
        self.centers = centers
        self.gamma = gamma

    @property
    def n_features(self):
        return self.centers.shape[0]

    def transform(self, X):
        values = euclidean_distances(X, self.centers, squared=True)
        values *= -self.gamma
        return np.exp(values, out=values)

    def select(self, index):
        return RBFFeatures(self.centers[index], self.gamma)


class ThresholdedRBFFeatures:
    """h_k(x) = +1 within distance r_k of the centre c_k, else -1: balls as weak hypotheses.

    `radii_squared[k]` stands for the threshold t of sgn(exp(-gamma ||x - c||²) - t): the logarithm
    of the threshold spares the exponential. A centre appears once for each of its radii.
    """

    def __init__(self, centers, owner, radii_squared):
        self.centers = centers
        self.owner = owner
        self.radii_squared = radii_squared

    @property
    def n_features(self):
        return len(self.owner)

    def transform(self, X):
        squared = euclidean_distances(X, self.centers, squared=True)
        return np.where(squared[:, self.owner] <= self.radii_squared, 1.0, -1.0)

    def select(self, index):
        used, owner = np.unique(self.owner[index], return_inverse=True)
        return ThresholdedRBFFeatures(self.centers[used], owner, self.radii_squared[index])


class WithConstant:
    """Another feature map and one constant feature: a bias that costs like any other weight."""

    def __init__(self, features, constant):
        self.features = features
        self.constant = constant

    @property
    def n_features(self):
        return self.features.n_features + 1

    def transform(self, X):
        values = self.features.transform(X)
        column = np.full((values.shape[0], 1), self.constant)
        if issparse(values):
            return hstack([values, csr_array(column)], format="csr")
        return np.hstack([values, column])


def make_features(kind, X, weight, gamma="scale", n_thresholds=5):
    """The feature map of a training set: kind is "linear", "rbf" or "thresholded".

    gamma="scale" is 1 / (n_inputs · variance of X), as in scikit-learn, with instances weighted; on
    standardised inputs this is the thesis's sigma = sqrt(d), since gamma = 1 / sigma². Thresholds
    are spaced evenly between kernel values 0 and 1.
    """
    if kind == "linear":
        # In sparse data most columns of the vocabulary may be empty: they need not exist here.
        return LinearFeatures(X.shape[1], np.unique(X.indices) if issparse(X) else None)
    gamma = settled_gamma(gamma, X, weight)
    if kind == "rbf":
        return RBFFeatures(X, gamma)
    thresholds = np.arange(1, n_thresholds + 1) / (n_thresholds + 1)
    n = X.shape[0]
    return ThresholdedRBFFeatures(
        X, np.repeat(np.arange(n), n_thresholds), np.tile(-np.log(thresholds) / gamma, n)
    )
