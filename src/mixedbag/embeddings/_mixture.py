"""A small mixture of Gaussians with diagonal covariance, fitted to weighted rows by EM."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from mixedbag._clusters import cluster

_STEPS = 50


@dataclass(frozen=True)
class Mixture:
    """Shares, means and variances of the components.

    scikit-learn's `GaussianMixture` takes no weights of rows, and a bag of weight two must count
    like two bags: hence this one.
    """

    share: np.ndarray
    mean: np.ndarray
    variance: np.ndarray

    @classmethod
    def fit(cls, X, weight, n_components, rng):
        """EM from clusters of the rows; variances stay above a thousandth of the whole."""
        weight = weight / weight.sum()
        centre = weight @ X
        whole = weight @ (X - centre) ** 2
        floor = 1e-3 * whole + 1e-12 * max(float(whole.max()), 1e-12)
        found, rows, row_weight = cluster(X, weight, n_components, rng)
        belongs = np.eye(len(found.cluster_centers_))[found.labels_]
        mixture, before = cls._of(rows, row_weight, belongs, floor), -np.inf
        for _ in range(_STEPS):
            log_joint = mixture._log_joint(rows)
            log_row = logsumexp(log_joint, axis=1)
            mixture = cls._of(rows, row_weight, np.exp(log_joint - log_row[:, None]), floor)
            likelihood = float(row_weight @ log_row)
            if likelihood - before < 1e-6:
                break
            before = likelihood
        return mixture

    @classmethod
    def _of(cls, X, weight, belongs, floor):
        mass = weight[:, None] * belongs
        share = np.maximum(mass.sum(axis=0), 1e-12)
        mean = (mass.T @ X) / share[:, None]
        square = (mass.T @ X**2) / share[:, None]
        return cls(share / share.sum(), mean, np.maximum(square - mean**2, floor))

    def responsibilities(self, X):
        """The probability of every component for every row."""
        log_joint = self._log_joint(X)
        return np.exp(log_joint - logsumexp(log_joint, axis=1, keepdims=True))

    def _log_joint(self, X):
        inverse = 1.0 / self.variance
        squares = (
            (X**2) @ inverse.T - 2.0 * X @ (self.mean * inverse).T + (self.mean**2 * inverse).sum(1)
        )
        return np.log(self.share) - 0.5 * (squares + np.log(2 * np.pi * self.variance).sum(axis=1))
