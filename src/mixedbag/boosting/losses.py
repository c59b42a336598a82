"""Losses of a bag's score, as functions of the margin ``m_i = t_i Y_i``.

A loss is a small object with ``derivatives(margin, level)``: the loss of each bag and its first and
second derivative by the margin, all divided by ``exp(level)``. Boosting lets the level follow the
logarithm of the current loss, so that margins of any size, and losses far below the smallest
float, stay within range; steps and thresholds do not depend on it.
"""

from dataclasses import dataclass
from math import exp, log1p

import numpy as np
from numba import njit
from scipy.special import expit

from mixedbag._solvers import INNER

__all__ = ["ExponentialLoss", "LogisticLoss"]

# A trial step may be absurdly long: its loss must compare as large, not overflow.
LARGEST = 500.0


@dataclass(frozen=True)
class ExponentialLoss:
    """``exp(−m)``, AdaBoost's loss: an upper bound of the number of misclassified bags.

    See Also
    --------
    LogisticLoss : Grows less steeply: gentler to mislabelled bags.
    PooledBoostingClassifier : Boosts with any loss.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.boosting import ExponentialLoss
    >>> loss, slope, curvature = ExponentialLoss().derivatives(np.array([0.0, 2.0]))
    >>> slope.round(2)
    array([-1.  , -0.14])
    """

    log_odds_scale = 0.5  # its minimiser is half the log-odds

    def derivatives(
        self, margin: np.ndarray, level: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss, slope and curvature of every bag, over ``exp(level)``."""
        loss = np.exp(np.clip(-margin - level, -LARGEST, LARGEST))
        return loss, -loss, loss


@dataclass(frozen=True)
class LogisticLoss:
    """``log(1 + exp(−m))``: the negative log-likelihood of log-odds scores.

    See Also
    --------
    ExponentialLoss : Steeper for bags on the wrong side.
    PooledBoostingClassifier : Boosts with any loss.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.boosting import LogisticLoss
    >>> loss, slope, curvature = LogisticLoss().derivatives(np.array([0.0, 2.0]))
    >>> slope.round(2)
    array([-0.5 , -0.12])
    """

    log_odds_scale = 1.0

    def derivatives(
        self, margin: np.ndarray, level: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss, slope and curvature of every bag, over ``exp(level)``."""
        scale = np.exp(np.clip(-level, -LARGEST, LARGEST))
        miss = expit(-margin)
        return (
            np.logaddexp(0.0, -margin) * scale,
            -miss * scale,
            miss * expit(margin) * scale,
        )


_EXPONENTIAL, _LOGISTIC = 0, 1
LOOPS = {ExponentialLoss: _EXPONENTIAL, LogisticLoss: _LOGISTIC}  # as loops know them


@njit(error_model="numpy", **INNER)
def loss_of(loss, margin, level):
    """The same of one bag, for loops."""
    if loss == _EXPONENTIAL:
        value = exp(min(max(-margin - level, -LARGEST), LARGEST))
        return value, -value, value
    scale = exp(min(max(-level, -LARGEST), LARGEST))
    odds = exp(-abs(margin))
    likely = 1.0 / (1.0 + odds)
    hit = likely if margin >= 0.0 else odds * likely
    miss = odds * likely if margin >= 0.0 else likely
    value = log1p(odds) + max(-margin, 0.0)
    return value * scale, -miss * scale, hit * miss * scale
