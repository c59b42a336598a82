"""A Dirichlet-process mixture of diagonal Gaussians over weighted rows, by variational Bayes.

scikit-learn's `BayesianGaussianMixture` takes no weights of rows, and here rows belong to a mixture
with a probability.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import digamma

from mixedbag._wide import is_single, pieces

_ROWS = 1.0  # how many rows the prior counts like, for means and for variances


class SquaredRows(NamedTuple):
    """Rows with their squares, which every step needs again.

    Those of single precision are squared where they are needed: a table of squares in double
    precision would be twice as large.
    """

    values: np.ndarray
    squares: np.ndarray | None

    @classmethod
    def of(cls, X):
        return cls(X, None if is_single(X) else X**2)

    def totals(self, mass):
        """`Σ mass x` and `Σ mass x²` of every component."""
        totals = np.zeros((2, mass.shape[1], self.values.shape[1]))
        for at, rows, squares in self._pieces():
            totals += mass[at].T @ rows, mass[at].T @ squares
        return totals

    def products(self, linear, square):
        """`⟨linear, x⟩ + ⟨square, x²⟩` of every row and component."""
        result = np.empty((len(self.values), len(linear)))
        for at, rows, squares in self._pieces():
            result[at] = squares @ square.T + rows @ linear.T
        return result

    def _pieces(self):
        """Slices of rows in double precision, with their squares."""
        for at, rows in pieces(self.values):
            yield at, rows, rows**2 if self.squares is None else self.squares


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
    def of(cls, rows, mass, prior):
        """The posterior given the mass of every row in every component."""
        count = mass.sum(axis=0)
        order = np.argsort(-count, kind="stable")  # sticks are broken from the largest
        mass, count = mass[:, order], count[order]
        safe = np.maximum(count, np.finfo(float).tiny)[:, None]
        total, squares = rows.totals(mass)
        centre = total / safe
        scatter = np.maximum(squares - count[:, None] * centre**2, 0.0)
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

    def log_joint(self, rows):
        """Expected log of share times density, for every row and component."""
        expected = self.shape[:, None] / self.rate
        squares = rows.products(-2.0 * self.mean * expected, expected)
        squares += (self.mean**2 * expected).sum(axis=1)
        log_precision = digamma(self.shape)[:, None] - np.log(self.rate) - np.log(2 * np.pi)
        spread = log_precision.sum(axis=1) - rows.values.shape[1] / self.precision
        return self.log_share + 0.5 * (spread - np.maximum(squares, 0.0))

    def log_density(self, rows):
        """How likely the mixture holds each row."""
        return log_sum(self.log_joint(rows))

    @classmethod
    def updated(cls, rows, log_joint, weight, prior):
        """The posterior after one step from where `log_joint` is, each row counting so much."""
        belongs = np.exp(log_joint - log_sum(log_joint)[:, None])
        return cls.of(rows, weight[:, None] * belongs, prior)


def log_sum(log_joint):
    """The logarithm of the sum over components."""
    top = log_joint.max(axis=1)
    return top + np.log(np.exp(log_joint - top[:, None]).sum(axis=1))
