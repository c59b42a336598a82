"""Counts and totals: what is said of instances adds up to what is said of the bag."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_softmax

from mixedbag.pooling import bag_max, bag_sum, spread

_CERTAIN = 1e-12  # answers are never surer than this, so that log-odds stay finite
_STEPS = 200


def shift_to_counts(z, offsets, counts):
    """The shift of every bag after which its instances' probabilities add up to its count."""
    z = np.asarray(z, dtype=np.float64)
    sizes = np.diff(offsets)
    share = np.clip(np.asarray(counts) / sizes, _CERTAIN, 1.0 - _CERTAIN)
    odds = np.log(share) - np.log1p(-share)
    # Were all z equal to the least (largest) of the bag, this shift would be exact.
    low = odds - bag_max(z, offsets)
    high = odds - np.minimum.reduceat(z, offsets[:-1])
    shift = (low + high) / 2
    for _ in range(_STEPS):
        q = expit(z + spread(shift, offsets))
        mean = bag_sum(q, offsets) / sizes
        excess = mean - share
        high = np.where(excess >= 0, shift, high)
        low = np.where(excess <= 0, shift, low)
        if (np.abs(excess) <= 1e-14 + 1e-12 * np.minimum(share, 1 - share)).all():
            break
        slope = bag_sum(q * (1 - q), offsets) / sizes
        with np.errstate(divide="ignore", invalid="ignore"):
            step = shift - excess / slope
        inside = np.isfinite(step) & (step > low) & (step < high)
        shift = np.where(excess == 0, shift, np.where(inside, step, (low + high) / 2))
    return shift


def scale_to_counts(probability, offsets, counts):
    """Class probabilities of instances whose columns add up to the counts of each bag.

    Rows and columns are scaled in turn (iterative proportional fitting): of all tables with these
    margins, the limit is the nearest to the given one in relative entropy.

    Parameters
    ----------
    probability : array of shape (n_instances, n_classes)
    offsets : array of shape (n_bags + 1,)
    counts : array of shape (n_bags, n_classes)
        Each row adds up to the size of its bag.
    """
    if counts.shape[1] == 2:  # the limit is a shift of the log-odds of a bag, found at once
        p = np.clip(probability, 1e-300, None)
        z = np.log(p[:, 1]) - np.log(p[:, 0])
        wanted = counts[:, 1] * np.diff(offsets) / counts.sum(axis=1)
        z = z + spread(shift_to_counts(z, offsets, wanted), offsets)
        return np.column_stack([expit(-z), expit(z)])
    sizes = np.diff(offsets)
    wanted = np.clip(counts, 0.0, None) + _CERTAIN
    wanted = wanted * (sizes / wanted.sum(axis=1))[:, None]
    log_q = np.log(np.clip(probability, 1e-300, None))
    for _ in range(_STEPS):
        log_q = log_softmax(log_q, axis=1)
        total = bag_sum(np.exp(log_q), offsets)
        if np.abs(total - wanted).max() < 1e-10 * sizes.max():
            break
        log_q += spread(np.log(wanted) - np.log(np.clip(total, 1e-300, None)), offsets)
    return np.exp(log_softmax(log_q, axis=1))


def fit_sharpening(probability, offsets, counts, weight):
    """How much surer instances are than a model that took the share of their bag for their own.

    Such a model is timid: its probabilities differ as bags do, not as instances. Those of
    ``softmax(slope · log p + shift)`` differ as much as the counts say: slope (0.1 … 100) and
    shifts maximise Σ_c w_c Σ_k count_ck log(mean of the sharpened p_k).

    Returns
    -------
    array of shape (1 + n_classes,)
        The slope, then the shifts, for `sharpen`.
    """
    log_p, sizes = _log(probability), np.diff(offsets)[:, None]
    total = float(weight @ counts.sum(axis=1))

    def surprise(x):
        slope = np.exp(x[0])
        q = np.exp(log_softmax(slope * log_p + np.append(0.0, x[1:]), axis=1))
        mean = np.maximum(bag_sum(q, offsets) / sizes, 1e-300)
        by_q = -spread(weight[:, None] * counts / mean / sizes, offsets)
        by_z = q * (by_q - (by_q * q).sum(axis=1, keepdims=True))
        gradient = np.append(slope * float((by_z * log_p).sum()), by_z.sum(axis=0)[1:])
        return -float(weight @ (counts * np.log(mean)).sum(axis=1)) / total, gradient / total

    n_classes = log_p.shape[1]
    found = minimize(
        surprise,
        np.zeros(n_classes),
        jac=True,
        method="L-BFGS-B",
        bounds=[(np.log(0.1), np.log(100.0)), *[(-100.0, 100.0)] * (n_classes - 1)],
        options={"gtol": 1e-9, "ftol": 1e-15, "maxiter": 500},
    )
    return np.concatenate([[np.exp(found.x[0]), 0.0], found.x[1:]])


def sharpen(probability, sharpening):
    """The sharpened probabilities; see `fit_sharpening`."""
    return np.exp(log_softmax(sharpening[0] * _log(probability) + sharpening[1:], axis=1))


def _log(probability):
    return np.log(np.clip(probability, _CERTAIN, None))


def add_up(values, offsets, totals):
    """Values of instances moved by one amount a bag, so that they add up to its total."""
    sizes = np.diff(offsets)
    missing = totals - bag_sum(values, offsets)
    return values + spread((missing.T / sizes).T, offsets)
