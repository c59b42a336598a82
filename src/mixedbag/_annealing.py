"""Deterministic annealing: soft choices that harden as a temperature falls.

At temperature T a choice has the probabilities that minimise its expected loss less T times their
entropy. High temperatures spread the choice over everything, which makes problems of choice nearly
convex; at zero only the best remains.
"""

import numpy as np
from scipy.special import expit

from mixedbag.pooling import bag_logsumexp, bag_sum, spread

_COLDEST = 1e-3  # times the first temperature: by then choices are hard
_HALVINGS = 60


def temperatures(first, cooling):
    """The first temperature, and each a factor `cooling` below the one before."""
    while_warm = np.ceil(np.log(_COLDEST) / np.log(cooling))
    return first * cooling ** np.arange(while_warm + 1)


def soft_witnesses(loss, offsets, temperature):
    """How probable each instance is as its bag's witness: ``p ∝ exp(−loss/T)``, one in total."""
    logits = -loss / temperature
    return np.exp(logits - spread(bag_logsumexp(logits, offsets), offsets))


def soft_labels(gain, offsets, temperature):
    """How probable each instance of a positive bag is positive, at least one being expected.

    Minimises ``Σ_j −gain_j p_j − T H(p_j)`` subject to ``Σ_j p_j ≥ 1`` in every bag, where the gain
    is how much lower the loss of a positive label is: ``p_j = σ(gain_j/T + λ)`` with the smallest
    ``λ ≥ 0`` that will do.
    """
    logits = gain / temperature
    probable = expit(logits)
    # Most bags have enough, and nothing to look for.
    short = np.flatnonzero(bag_sum(probable, offsets) < 1.0)
    sizes = np.diff(offsets)[short]
    starts = np.cumsum(sizes) - sizes
    rows = np.arange(sizes.sum()) + np.repeat(offsets[short] - starts, sizes)
    bag_of, logits = np.repeat(np.arange(len(short)), sizes), logits[rows]
    if len(short):
        # At the upper end the best instance alone is as good as certain.
        low, high = np.zeros(len(short)), 40.0 - np.maximum.reduceat(logits, starts)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            reached = np.add.reduceat(expit(logits + middle[bag_of]), starts) >= 1.0
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        probable[rows] = expit(logits + high[bag_of])
    return probable
