"""Figures of answers that are amounts: each with the ends of a 95 % interval, and the losses."""

import numpy as np

from mixedbag.comparison import _intervals
from mixedbag.comparison._cases import minus_mean


def squared(cases, answer):
    """Squared errors over the variance, averaged over outputs."""
    return ((cases.truth - answer) ** 2 / cases.spread).mean(axis=1)


def absolute(cases, answer):
    return np.abs(cases.truth - answer).mean(axis=1)


def miscounted(cases, answer):
    """The share of a bag's instances that are counted in a wrong class."""
    error = np.abs(cases.truth - answer).sum(axis=1)
    return error / cases.sizes / (2 if answer.shape[1] > 1 else 1)


def r2(cases, answer):
    error = squared(cases, answer)
    whole = ((cases.truth - cases.centre) ** 2 / cases.spread).mean(axis=1)
    # Of some of the bags: against the spread of all, or a fold of equal labels would know nothing.
    whole = whole if whole.any() else np.ones(len(cases))
    _, low, high = _intervals.ratio_interval(error, whole, cases.weight, cases.groups)
    ratio = np.average(error, weights=cases.weight)
    return 1.0 - ratio, 1.0 - max(high, ratio), 1.0 - max(min(low, ratio), 0.0)


def neg_mean_absolute_error(cases, answer):
    return minus_mean(cases, absolute(cases, answer), absolute(cases, cases.centre))


def neg_root_mean_squared_error(cases, answer):
    def squares(answer):
        return ((cases.truth - answer) ** 2).mean(axis=1)

    ends = minus_mean(cases, squares(answer), squares(cases.centre))
    return tuple(-np.sqrt(max(-end, 0.0)) for end in ends)


def counted_right(cases, answer):
    share = cases.truth.sum(axis=0) / cases.sizes.sum()
    plain = miscounted(cases, share * cases.sizes[:, None])
    figure, low, high = minus_mean(cases, miscounted(cases, answer), plain)
    return 1.0 + figure, max(1.0 + low, 0.0), 1.0 + high
