"""Answers at both levels: scores of bags and instances, the classes and probabilities they mean."""

from typing import Any

import numpy as np
from scipy.special import expit

from mixedbag.pooling import Max, Pooling


class Levels:
    """Scores at one level from those at the other: an author writes either method."""

    _pooling: Pooling = Max()
    _linear = False  # whether an instance scores ``instances @ coef_ + intercept_``

    @property
    def _knows_instances(self):
        """Whether instances have scores of their own, not those of bags of one."""
        return type(self)._score_instances is not Levels._score_instances

    def _score_instances(self, bags):
        """Scores of the instances; by default, of each as a bag of one."""
        if type(self)._score_bags is Levels._score_bags:
            raise TypeError(
                f"{type(self).__name__} defines no score: write _score_instances or _score_bags"
            )
        return self._score_bags(bags.singletons())

    def _score_bags(self, bags):
        """Scores of the bags; by default, the pooled scores of their instances."""
        return self._pooling.value(self._score_instances(bags), bags.offsets)


def winners(scores: np.ndarray) -> np.ndarray:
    """The class that scores say: the second where one score is positive, or the largest column."""
    return (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)


class LogOddsMixin:
    """Adds probabilities to a classifier whose scores are log-odds times ``_log_odds_scale``.

    See Also
    --------
    BagClassifier : What it is mixed into.

    Examples
    --------
    >>> from mixedbag.base import LogOddsMixin
    >>> from mixedbag.classics import CitationKNN, MILogisticRegression
    >>> issubclass(MILogisticRegression, LogOddsMixin), issubclass(CitationKNN, LogOddsMixin)
    (True, False)
    """

    _own_proba = True
    _log_odds_scale = 1.0

    def predict_proba(self, bags: Any) -> np.ndarray:
        """Probability of each class, a row a bag."""
        scores = self.decision_function(bags)  # type: ignore[attr-defined]
        return probabilities(scores / self._log_odds_scale)

    def predict_proba_instances(self, bags: Any) -> np.ndarray:
        """Probability of each class, a row an instance."""
        scores = self.decision_function_instances(bags)  # type: ignore[attr-defined]
        return probabilities(scores / self._log_odds_scale)


def probabilities(log_odds: np.ndarray) -> np.ndarray:
    """A row of probabilities from one log-odds, or from those of each class against the rest."""
    if log_odds.ndim == 1:
        positive = expit(log_odds)
        table = np.column_stack([1.0 - positive, positive])
    else:
        # σ(s) scaled to sum to one; in logarithms, because all of them may vanish together.
        log = -np.logaddexp(0.0, -log_odds)
        table = np.exp(log - log.max(axis=1, keepdims=True))
        table /= table.sum(axis=1, keepdims=True)
    return decided(table, winners(log_odds))


def decided(table: np.ndarray, winner: np.ndarray) -> np.ndarray:
    """The same probabilities, of which the most probable class is always the one that was named.

    Where others are more probable, they share what they have with it; a step of rounding decides.
    """
    wrong = table.argmax(axis=1) != winner
    if wrong.any():
        some, rows, own = table[wrong], np.arange(wrong.sum()), winner[wrong]
        above = some >= some[rows, own][:, None]
        shared = (some * above).sum(axis=1) / above.sum(axis=1)
        some = np.where(above, shared[:, None], some)
        some[rows, own] = np.nextafter(shared, 2.0)
        table[wrong] = some
    return table
