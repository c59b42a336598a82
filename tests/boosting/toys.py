"""Small problems and slow, plain oracles for the tests of boosting."""

import numpy as np

from mixedbag import Bags
from mixedbag.boosting import ExponentialLoss, LogisticLoss
from mixedbag.pooling import ISR, OWA, LogMeanExp, LogSumExp, Mean, MeanProbability, NoisyOr

POOLINGS = [
    LogMeanExp(0.01),
    LogMeanExp(0.1),
    LogMeanExp(1.0),
    LogMeanExp(10.0),
    LogSumExp(0.5),
    ISR(),
    NoisyOr(),
    OWA(0.5),
    OWA(2.0),
    Mean(),
    MeanProbability(),
    MeanProbability(0.5, 2.0),
]
LOSSES = [ExponentialLoss(), LogisticLoss()]


def random_bags(n_bags=12, n_features=4, largest=6, seed=0, values=None):
    """Bags of 1 to `largest` instances, signs of both kinds, and weights."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, largest + 1, size=n_bags)
    shape = sizes.sum(), n_features
    X = rng.normal(size=shape) if values is None else rng.choice(values, size=shape)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    sign = np.where(np.arange(n_bags) % 2 == 0, 1.0, -1.0)
    # Make the labels learnable: positive bags are a little higher in the first feature.
    X[:, 0] += 0.8 * np.repeat(sign, sizes) * (values is None)
    return Bags(X, offsets), sign, rng.uniform(0.5, 2.0, size=n_bags)


def total_loss(scores, offsets, sign, weight, pooling, loss):
    """The loss, by its definition."""
    margin = sign * pooling.value(scores, offsets)
    return loss.derivatives(margin)[0] @ weight


def hessian(here, bag):
    """The block of the Hessian that belongs to one bag, as a full matrix."""
    rows = slice(here.at.offsets[bag], here.at.offsets[bag + 1])
    q = here.weights[rows]
    return here.slope[bag] * np.diag(here.bend[rows]) + here.cross[bag] * np.outer(q, q)


def side_values(column, threshold, missing_left):
    """1 where an instance goes left."""
    return np.where(np.isnan(column), missing_left, column <= threshold).astype(float)


def best_sign_stump(X, target, size):
    """Brute force over all thresholds: the ±1 stump with the largest weighted edge."""
    best = (-np.inf,)
    for f in range(X.shape[1]):
        values = np.unique(X[:, f])
        for threshold in (values[1:] + values[:-1]) / 2:
            left = X[:, f] <= threshold
            below, above = (target * size)[left].sum(), (target * size)[~left].sum()
            edge = abs(below) + abs(above)
            if edge > best[0] * (1 + 1e-9):
                stump = np.where(left, np.where(below < 0, -1, 1), np.where(above < 0, -1, 1))
                best = edge, f, threshold, stump
    return best
