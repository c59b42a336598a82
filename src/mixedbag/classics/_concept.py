"""The concept of diverse density: a point and a scale, and how badly it explains the bags."""

import numpy as np
from scipy import sparse
from scipy.special import expit

from mixedbag._wide import pieces
from mixedbag.pooling import spread

# Distances below this count as this: no instance is more certain than one in a million.
_NEAREST = 1e-6
_BLOCK = 100  # concepts whose distances to all instances of a part are in memory


def log_odds(distance):
    """Log-odds of the probability ``exp(−distance)``."""
    return _log_odds_and_slope(distance)[0]


def _log_odds_and_slope(distance):
    distance = np.maximum(distance, _NEAREST)
    negative = -np.expm1(-distance)  # probability of being negative
    return -distance - np.log(negative), -1.0 / negative


def concept_distance(instances, centre, scale):
    """``Σ_k s_k² (x_k − c_k)²`` of every instance, dense or sparse."""
    precision = scale**2
    parts = [X**2 @ precision - 2.0 * (X @ (precision * centre)) for _, X in pieces(instances)]
    return np.maximum(np.concatenate(parts) + precision @ centre**2, 0.0)


class ConceptObjective:
    """Negative log-likelihood of bag labels under a batch of concepts.

    A concept is a row ``(c, s)``: an instance ``x`` is positive with probability ``exp(−d)``,
    ``d = Σ_k s_k² (x_k − c_k)²``, and `pooling` turns the instances' log-odds into the bag's. Both
    the distances of all instances to all concepts and the gradient are one matrix product with
    ``[X, X²]``, which stays sparse when `X` is. Scales cost ``½ penalty Σ_k s_k²``.

    `parts` are functions that give some of the bags as a `ConceptPart`: what is wide is made anew
    every time, a part at a time.
    """

    def __init__(self, parts, penalty=0.0):
        self._parts, self._penalty = parts, penalty

    def __call__(self, concepts):
        """Values and gradients, a row a concept."""
        scale = _halves(concepts)[1]
        values = 0.5 * self._penalty * (scale**2).sum(axis=1)
        gradients = np.hstack([np.zeros_like(scale), self._penalty * scale])
        for part in self._parts:
            more = part()(concepts)
            values, gradients = values + more[0], gradients + more[1]
        return values, gradients

    def misfits(self, concepts):
        """Values alone of many concepts, without the penalty: less than half the work."""
        values = np.zeros(len(concepts))
        blocks = np.array_split(concepts, np.ceil(len(concepts) / _BLOCK))
        for make in self._parts:
            part = make()
            values += np.concatenate([part.values(block) for block in blocks])
        return values


class ConceptPart:
    """What the bags of a part add to the objective and its gradient; features in a `unit`."""

    def __init__(self, instances, unit, offsets, sign, weight, pooling):
        self._table = _with_squares(instances, unit)
        self._transposed = self._table.T.tocsr() if sparse.issparse(instances) else self._table.T
        self._offsets, self._pooling = offsets, pooling
        self._sign, self._weight = sign[:, None], weight[:, None]

    def __call__(self, concepts):
        """Values and gradients, a row a concept."""
        scores, slope = _log_odds_and_slope(self._distances(concepts))
        # Together: value and weights have most of their work in common.
        pooled, pull, *_ = self._pooling.derivatives(scores, self._offsets)
        margin = self._sign * pooled
        values = self._loss(margin)
        by_bag = -self._weight * self._sign * expit(-margin)
        # Chain rule: loss → bag → instance → distance.
        pull *= spread(by_bag, self._offsets)
        pull *= slope
        return values, self._gradient(concepts, pull)

    def values(self, concepts):
        """Values, one a concept."""
        pooled = self._pooling.value(log_odds(self._distances(concepts)), self._offsets)
        return self._loss(self._sign * pooled)

    def _loss(self, margin):
        return (self._weight * np.logaddexp(0.0, -margin)).sum(axis=0)

    def _distances(self, concepts):
        centre, scale = _halves(concepts)
        precision = scale**2
        if len(concepts) > 1 and (precision == precision[0]).all():  # all scales are alike at first
            first, second = _halves(self._table)
            distance = first @ (-2.0 * precision * centre).T + (second @ precision[0])[:, None]
        else:
            distance = self._table @ np.hstack([-2.0 * precision * centre, precision]).T
        return distance + (precision * centre**2).sum(axis=1)

    def _gradient(self, concepts, pull):
        centre, scale = _halves(concepts)
        first, second = _halves((self._transposed @ pull).T)
        total = pull.sum(axis=0)[:, None]
        by_centre = 2.0 * scale**2 * (total * centre - first)
        by_scale = 2.0 * scale * (second - 2.0 * centre * first + total * centre**2)
        return np.hstack([by_centre, by_scale])


def _halves(rows):
    middle = rows.shape[1] // 2
    return rows[:, :middle], rows[:, middle:]


def _with_squares(instances, unit):
    """``[X / unit, (X / unit)²]`` in double precision, without a table in between."""
    if sparse.issparse(instances):
        scaled = instances / unit
        return sparse.hstack([scaled, scaled**2], format="csr")
    table = np.empty((len(instances), 2 * instances.shape[1]))
    scaled, squares = _halves(table)
    np.divide(instances, unit, out=scaled, dtype=np.float64)
    np.square(scaled, out=squares)
    return table
