"""Ridge regression of ±1 labels on bag totals: the first guess at labels that counts leave open."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from mixedbag._kernels import bag_means
from mixedbag._wide import times
from mixedbag.engines.sums import Sums


@dataclass(frozen=True)
class Totals(Sums):
    """Weighted sums over bags, of which least squares on bag totals is made.

    The columns of `square` are those of the totals, then the size, then the target.
    """

    weight: float
    first: np.ndarray
    square: np.ndarray

    @classmethod
    def of(cls, bags, positives, weight):
        columns = _columns(bags, positives)
        return cls(weight.sum(), weight @ columns, columns.T @ (weight[:, None] * columns))

    def ridge(self, C):
        """Weights of the features."""
        d = len(self.first) - 2
        square = _centred(_centred(self.square, self.first).T, self.first)
        price = self.first[d] / (self.weight * C)
        return linalg.solve(square[:d, :d] + price * np.eye(d), square[:d, d + 1], assume_a="pos")


def ridge_scores(bags, positives, weight, C):
    """Scores of the instances; with more features than bags, by way of the similarities of bags."""
    if bags.n_features <= len(bags):
        return times(bags.instances, Totals.of(bags, positives, weight).ridge(C))
    columns = _columns(bags, positives)
    first = weight @ columns
    columns = _centred(columns, first)
    totals, target = columns[:, :-2], columns[:, -1]
    price = first[-2] / (weight.sum() * C)
    gram = totals @ totals.T + np.diag(price / weight)
    return times(bags.instances, totals.T @ linalg.solve(gram, target, assume_a="pos"))


def _columns(bags, positives):
    """A bag's totals, its size, and the sum of its labels."""
    sizes = bags.sizes[:, None].astype(float)
    return np.hstack([sizes * bag_means(bags), sizes, 2.0 * positives[:, None] - sizes])


def _centred(columns, first):
    """Columns as they are when the instances and their labels have mean zero."""
    return columns - columns[:, -2:-1] * (first / first[-2])
