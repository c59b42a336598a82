"""How good answers are: the figures that `evaluate` prints, from the register of measures."""

import numpy as np

from mixedbag.comparison._cases import Cases
from mixedbag.comparison._measures import suitable


def class_figures(truth, probability, decided, weight):
    """Figures of answers that name classes, and the intervals that the bags allow.

    Parameters
    ----------
    truth, decided : arrays of int, shape (n,)
        Codes of the true and of the answered classes.
    probability : array of shape (n, n_classes)
    weight : array of shape (n,)
    """
    n_classes = probability.shape[1]
    cases = Cases("classes", truth, weight, n_classes, decided=decided)
    figures, intervals = _measured(cases, probability)
    shares = np.bincount(truth, weight, n_classes) / weight.sum()
    return {**figures, "always the same answer": float(shares.max())}, intervals


def amount_figures(truth, answer, weight, sizes=None):
    """Figures of answers that are amounts, a row a bag; with `sizes`, of counts."""
    kind = "amounts" if sizes is None else "counts"
    return _measured(Cases(kind, truth, weight, sizes=sizes), answer)


def _measured(cases, answer):
    """Figures by their words, errors as they are known; and the ends of their intervals."""
    figures, intervals = {}, {}
    for measure in suitable(cases):
        value, *ends = measure.interval(cases, answer)
        if np.isfinite(value):
            sign = -1.0 if measure.is_error else 1.0
            figures[measure.words] = sign * value
            intervals[measure.words] = sorted(sign * end for end in ends)
    return figures, intervals
