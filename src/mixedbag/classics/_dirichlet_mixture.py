"""A Dirichlet-process mixture of diagonal Gaussians over weighted rows, by variational Bayes.

scikit-learn's `BayesianGaussianMixture` takes no weights of rows, and here rows belong to a mixture
with a probability.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, logsumexp

_ROWS = 1.0  # how many rows the prior counts like, for means and for variances


@dataclass(frozen=True)
class Prior:
    """What is believed of a component before any row: around the whole, as wide as the whole."""

    mean: np.ndarray
    variance: np.ndarray
    concentration: float


@dataclass(frozen=True)
class DirichletMixture:
    """Expected log-shares of components, and the Normal-Gamma posterior of each and feature."""

    log_share: np.ndarray
    mean: np.ndarray
    precision: np.ndarray  # of the mean, in rows
    shape: np.ndarray
    rate: np.ndarray

    @classmethod
    def of(cls, X, mass, prior):
        """The posterior given the mass of every row in every component."""
        count = mass.sum(axis=0)
        order = np.argsort(-count, kind="stable")  # sticks are broken from the largest
        mass, count = mass[:, order], count[order]
        safe = np.maximum(count, np.finfo(float).tiny)[:, None]
        centre = (mass.T @ X) / safe
        scatter = np.maximum(mass.T @ X**2 - count[:, None] * centre**2, 0.0)
        precision = _ROWS + count
        pull = (_ROWS * count / precision)[:, None] * (centre - prior.mean) ** 2
        rate = 0.5 * (_ROWS * prior.variance + scatter + pull)
        mean = (_ROWS * prior.mean + count[:, None] * centre) / precision[:, None]
        left = np.cumsum(count[::-1])[::-1] - count
        first, second = 1.0 + count, prior.concentration + left
        both = digamma(first + second)
        passed = np.cumsum(digamma(second) - both)
        log_share = digamma(first) - both + np.concatenate([[0.0], passed[:-1]])
        return cls(log_share, mean, precision, 0.5 * (_ROWS + count), rate)

    def log_joint(self, X):
        """Expected log of share times density, for every row and component."""
        expected = self.shape[:, None] / self.rate
        squares = X**2 @ expected.T - 2.0 * X @ (self.mean * expected).T
        squares += (self.mean**2 * expected).sum(axis=1)
        log_precision = digamma(self.shape)[:, None] - np.log(self.rate) - np.log(2 * np.pi)
        spread = log_precision.sum(axis=1) - X.shape[1] / self.precision
        return self.log_share + 0.5 * (spread - np.maximum(squares, 0.0))

    def log_density(self, X):
        """How likely the mixture holds each row."""
        return logsumexp(self.log_joint(X), axis=1)

    def updated(self, X, weight, prior):
        """The posterior after one step, each row counting so much."""
        log_joint = self.log_joint(X)
        belongs = np.exp(log_joint - logsumexp(log_joint, axis=1, keepdims=True))
        return self.of(X, weight[:, None] * belongs, prior)
