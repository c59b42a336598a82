"""Figures of answers that are classes: each with the ends of a 95 % interval, and the losses."""

import numpy as np

from mixedbag.comparison import _intervals
from mixedbag.comparison._cases import decide, minus_mean

_UNKNOWN = (np.nan, np.nan, np.nan)


def _some(values, rows):
    return None if values is None else values[rows]


def _n_units(cases, rows):
    """How many equal units (bags, or groups) some bags amount to."""
    return _intervals.kish(_intervals.units(cases.weight[rows], _some(cases.groups, rows))[1])


def log_loss(cases, answer):
    chance = answer[np.arange(len(cases)), cases.truth]
    return -np.log(np.clip(chance, np.finfo(np.float64).eps, None))


def balanced_log_loss(cases, answer):
    share = np.array([cases.weight[of].sum() for of in cases.per_class()]) / cases.weight.sum()
    return log_loss(cases, answer) / (cases.n_classes * share[cases.truth])


def accuracy(cases, answer):
    right = cases.decide(answer) == cases.truth
    return _intervals.share_interval(right, cases.weight, cases.groups)


def balanced_accuracy(cases, answer):
    right = cases.decide(answer) == cases.truth
    parts = [
        _intervals.share_interval(right[of], cases.weight[of], _some(cases.groups, of))
        for of in cases.per_class()
        if of.any()
    ]
    return _intervals.mean_of_shares(parts)


def f1(cases, answer):
    """F1 = 2J / (1 + J) grows with J, the share of true positives among all bags that are
    positive or called so: the interval of that share, carried over."""
    decided = cases.decide(answer)
    classes = [1] if cases.n_classes == 2 else range(cases.n_classes)
    parts = []
    for k in classes:
        asked = (cases.truth == k) | (decided == k)
        if not asked.any():
            continue
        both = (cases.truth == k) & (decided == k)
        share = _intervals.share_interval(
            both[asked], cases.weight[asked], _some(cases.groups, asked)
        )
        parts.append([2 * j / (1 + j) for j in share])
    return _intervals.mean_of_shares(parts) if parts else _UNKNOWN


def rank_by_auc(cases, answer):
    return float(np.mean([ranked_area(p, s, cases.weight) for p, s in _each(cases, answer)]))


def rank_by_precision(cases, answer):
    return float(np.mean([average_precision(p, s, cases.weight) for p, s in _each(cases, answer)]))


def _each(cases, answer):
    """The positive class, or each class against the others: which bags have it, and the scores."""
    classes = [1] if cases.n_classes == 2 else np.unique(cases.truth)
    return [(cases.truth == k, answer[:, k]) for k in classes]


def roc_auc(cases, answer):
    """Classes share their bags, so the ends of their intervals are averaged as they are."""
    parts = []
    for positive, score in _each(cases, answer):
        area = ranked_area(positive, score, cases.weight)
        if np.isnan(area):
            parts.append(_UNKNOWN)
            continue
        n = _n_units(cases, positive), _n_units(cases, ~positive)
        parts.append((area, *_intervals.ranking_interval(area, *n)))
    return tuple(np.mean(parts, axis=0).tolist())


def precision(cases, answer):
    """A mean over positive bags of values from 0 to 1: no such mean varies more than a share."""
    parts = []
    for positive, score in _each(cases, answer):
        value = average_precision(positive, score, cases.weight)
        if np.isnan(value):
            parts.append(_UNKNOWN)
            continue
        parts.append((value, *_intervals.wilson(value, _n_units(cases, positive))))
    return tuple(np.mean(parts, axis=0).tolist())


def ranked_area(positive, score, weight):
    """Area under the ROC curve: how often a positive is above a negative, ties counted half."""
    true, false = _cumulated(positive, score, weight)
    if not true[-1] * false[-1]:
        return np.nan
    steps = np.diff(false, prepend=0.0)
    area = (steps * (true + np.concatenate([[0.0], true[:-1]]))).sum() / 2
    return float(area / (true[-1] * false[-1]))


def average_precision(positive, score, weight):
    """The mean precision at the places of the positives."""
    true, false = _cumulated(positive, score, weight)
    if not true[-1] * false[-1]:
        return np.nan
    precision = true / np.maximum(true + false, np.finfo(np.float64).tiny)  # weights may be zero
    return float((np.diff(true, prepend=0.0) * precision).sum() / true[-1])


def _cumulated(positive, score, weight):
    """Weight of positives and negatives at or above each distinct score, the largest first."""
    order = np.argsort(-score, kind="stable")
    last = np.append(np.flatnonzero(np.diff(score[order])), len(score) - 1)
    ordered, is_positive = weight[order], positive[order]
    return np.cumsum(ordered * is_positive)[last], np.cumsum(ordered * ~is_positive)[last]


def neg_log_loss(cases, answer):
    return minus_mean(cases, log_loss(cases, answer), log_loss(cases, _shares(cases)))


def neg_mean_cost(cases, answer):
    rows = cases.truth
    plain = cases.costs[rows, decide(_shares(cases), cases.costs)]
    return minus_mean(cases, cases.costs[rows, cases.decide(answer)], plain)


def _shares(cases):
    """The answer that has learned nothing but how frequent classes are."""
    return np.tile(
        np.bincount(cases.truth, cases.weight, cases.n_classes) / cases.weight.sum(),
        (len(cases), 1),
    )
