"""Counts and totals: what is said of instances adds up to what is said of the bag."""

import math

import numba
import numpy as np
from scipy import optimize
from scipy.special import log_softmax

from mixedbag._tables import frozen
from mixedbag.pooling import bag_sum, spread

_CERTAIN = 1e-12  # answers are never surer than this, so that log-odds stay finite
_STEPS = 200


def shift_to_counts(z, offsets, counts):
    """The shift of every bag after which its instances' probabilities add up to its count."""
    sizes = np.diff(offsets)
    share = np.clip(np.asarray(counts) / sizes, _CERTAIN, 1.0 - _CERTAIN)
    near = sizes * (1e-14 + 1e-12 * np.minimum(share, 1.0 - share))
    z = np.ascontiguousarray(z, dtype=np.float64)
    return _shifts(z, frozen(offsets), share * sizes, near)


@numba.njit(cache=True, nogil=True)
def _shifts(z, offsets, counts, near):
    shift = np.empty(len(counts))
    for i in range(len(counts)):
        shift[i] = shift_to_count(z, offsets[i], offsets[i + 1], counts[i], near[i])
    return shift


@numba.njit(cache=True, nogil=True)
def shift_to_count(z, start, stop, count, near):
    """A shift of a bag after which its instances' probabilities add up to about its count.

    At most `near` away from it. Newton's steps, kept between bounds that come closer; the count is
    above zero and below the size of the bag.
    """
    n = stop - start
    odds = math.log(count) - math.log(n - count)
    # Were all z equal to the largest (least) of the bag, this shift would be exact.
    low, high = odds - z[start], odds - z[start]
    for j in range(start + 1, stop):
        low, high = min(low, odds - z[j]), max(high, odds - z[j])
    shift = min(max(0.0, low), high)
    for _ in range(_STEPS):
        excess, slope = -float(count), 0.0
        for j in range(start, stop):
            # Of σ(z) and 1 − σ(z), neither is lost to rounding.
            e = math.exp(-abs(z[j] + shift))
            larger, less = 1.0 / (1.0 + e), e / (1.0 + e)
            excess += larger if z[j] + shift > 0 else less
            slope += larger * less
        if abs(excess) <= near:
            break
        if excess > 0:
            high = shift
        else:
            low = shift
        shift -= excess / max(slope, 1e-300)
        if not low < shift < high:
            shift = (low + high) / 2
    return shift


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
    found = optimize.minimize(
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


def share_out(values, offsets, totals):
    """Rates of instances, multiplied by one number a bag so that they add up to its total.

    It is what is expected of Poisson numbers of which the sum is known; none is below zero, unless
    the total is.
    """
    expected = bag_sum(values, offsets)
    able = (expected > 0) & (totals >= 0)
    times = np.divide(totals, expected, out=np.ones_like(expected), where=able)
    return add_up(values * spread(times, offsets), offsets, totals)
