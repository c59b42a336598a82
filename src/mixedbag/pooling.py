"""Instance scores to bag scores, with derivatives.

A pooling turns the flat scores ``F`` of all instances into one score ``Y_i`` a bag. Each is a small
object with three methods over flat scores and offsets:

``value(scores, offsets)``
    the bag scores ``Y_i``;
``weights(scores, offsets)``
    ``q_ij = ∂Y_i/∂F_ij``, flat: how much each instance makes its bag's score;
``curvature(scores, offsets)``
    the second derivative of every bag, which for all of them is diagonal plus rank one,
    ``∂²Y_i/∂F_i² = diag(d_i) + r_i q_i q_iᵀ``, as the pair ``(d, r)`` of a flat array and an array
    with one value a bag.

All are safe for scores of any size. At a kink (max, ordered averages) `weights` is a subgradient
that does not depend on the order of the instances.

``derivatives(scores, offsets)`` gives all of it at once. A pooling whose score is, but for a
constant of the bag, ``log Σ_j exp(λ F_ij)/λ`` says so by ``moves_by_sides = True`` and its ``lam``:
steps that move parts of a bag alike are then followed without looking at instances.
"""

from dataclasses import dataclass

import numpy as np

from mixedbag._parameters import above, check_parameters
from mixedbag._segments import bag_argmax, bag_logsumexp, bag_max, bag_sum, spread

__all__ = [
    "ISR",
    "OWA",
    "LogMeanExp",
    "LogSumExp",
    "Majority",
    "Max",
    "Mean",
    "MeanProbability",
    "NoisyOr",
    "Pooling",
    "Sum",
    "bag_argmax",
    "bag_logsumexp",
    "bag_max",
    "bag_sum",
    "spread",
]

_UNDERFLOW = 1e-290  # digits of sums below get lost


class Pooling:
    """Base of poolings that are piecewise linear in the scores: they have no curvature.

    See Also
    --------
    Max : The pooling of the rule *any*.
    Mean : The average.
    mixedbag.boosting.PooledBoostingClassifier : Learns under any pooling, one of your own too.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.pooling import Pooling
    >>> class First(Pooling):
    ...     def weights(self, scores, offsets):
    ...         weights = np.zeros(len(scores))
    ...         weights[offsets[:-1]] = 1.0
    ...         return weights
    >>> First().value(np.array([5.0, 9.0, 2.0]), np.array([0, 2, 3]))
    array([5., 2.])
    """

    moves_by_sides = False
    lam: float  # of poolings that do

    def value(self, scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Bag scores."""
        return bag_sum(self.weights(scores, offsets) * scores, offsets)

    def weights(self, scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """First derivative of each bag's score by its instances' scores, flat."""
        raise TypeError(f"{type(self).__name__} defines no weights")

    def curvature(self, scores: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Second derivative, as the diagonal ``d`` and the rank-one factors ``r``."""
        return np.zeros(len(scores)), np.zeros(len(offsets) - 1)

    def derivatives(
        self, scores: np.ndarray, offsets: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Bag scores, weights, and the two parts of the curvature, together."""
        value, weights = self.value(scores, offsets), self.weights(scores, offsets)
        return value, weights, *self.curvature(scores, offsets)


@dataclass(frozen=True)
class Max(Pooling):
    """The largest score: the bag is positive if any instance is.

    See Also
    --------
    LogMeanExp : A soft maximum, whose derivatives see all instances.
    NoisyOr : Several likely witnesses make a bag more likely positive.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.pooling import Max
    >>> Max().value(np.array([-1.0, 2.0, 0.5]), np.array([0, 2, 3]))
    array([2. , 0.5])
    """

    def value(self, scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        return bag_max(scores, offsets)

    def weights(self, scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        is_largest = (scores == spread(bag_max(scores, offsets), offsets)).astype(float)
        return is_largest / spread(bag_sum(is_largest, offsets), offsets)


@dataclass(frozen=True)
class Mean(Pooling):
    """The average score.

    See Also
    --------
    Sum : The total in place of the average.
    Majority : Votes in place of scores.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.pooling import Mean
    >>> Mean().value(np.array([-1.0, 2.0, 0.5]), np.array([0, 2, 3]))
    array([0.5, 0.5])
    """

    def value(self, scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        sizes = np.diff(offsets)
        return bag_sum(scores, offsets) / (sizes if scores.ndim == 1 else sizes[:, None])

    def weights(self, scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        return spread(1.0 / np.diff(offsets), offsets)


@dataclass(frozen=True)
class Sum(Pooling):
    """The total: for counts and sums.

    See Also
    --------
    Mean : The average in place of the total.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.pooling import Sum
    >>> Sum().value(np.array([-1.0, 2.0, 0.5]), np.array([0, 2, 3]))
    array([1. , 0.5])
    """

    def value(self, scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        return bag_sum(scores, offsets)

    def weights(self, scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        return np.ones(len(scores))


@dataclass(frozen=True)
class Majority(Pooling):
    """The balance of votes, from −1 (all instances negative) to 1 (all positive).

    A table of scores with a column a class gives the share of instances that vote for each class.
    A vote does not change with small changes of a score, so the weights are zero.

    See Also
    --------
    Mean : Averages the scores themselves, so that a sure instance weighs more.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.pooling import Majority
    >>> Majority().value(np.array([-9.0, 1.0, 1.0, -2.0]), np.array([0, 3, 4])).round(2)
    array([ 0.33, -1.  ])
    """

    def value(self, scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        if scores.ndim == 1:
            return Mean().value(np.where(scores > 0, 1.0, -1.0), offsets)
        votes = np.zeros_like(scores, dtype=float)
        votes[np.arange(len(scores)), scores.argmax(axis=1)] = 1.0
        return Mean().value(votes, offsets)

    def weights(self, scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        return np.zeros(len(scores))


@dataclass(frozen=True)
class LogSumExp(Pooling):
    """``(1/λ) log Σ_j exp(λ F_ij)``: a soft maximum that grows with the size of the bag.

    Parameters
    ----------
    lam : float
        λ, how sharp the maximum is; above zero.

    See Also
    --------
    LogMeanExp : Divides by the size, so that large bags do not score higher for it.
    Max : The limit of a large λ.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.pooling import LogSumExp
    >>> LogSumExp(lam=2.0).value(np.array([1.0, 1.0, 1.0]), np.array([0, 2, 3])).round(2)
    array([1.35, 1.  ])
    """

    lam: float = 1.0
    moves_by_sides = True

    def __post_init__(self):
        check_parameters({"lam": self.lam}, {"lam": [above(0)]})

    def value(self, scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        return self._score(bag_logsumexp(self.lam * scores, offsets), offsets)

    def weights(self, scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        logits = self.lam * scores
        return np.exp(logits - spread(bag_logsumexp(logits, offsets), offsets))

    def curvature(self, scores: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.lam * self.weights(scores, offsets), np.full(len(offsets) - 1, -self.lam)

    def derivatives(
        self, scores: np.ndarray, offsets: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        logits = self.lam * scores
        top = bag_max(logits, offsets)
        odds = np.exp(logits - spread(top, offsets))
        total = bag_sum(odds, offsets)
        weights = odds / spread(total, offsets)
        value = self._score(top + np.log(total), offsets)
        return value, weights, self.lam * weights, np.full(len(value), -self.lam)

    def _score(self, log_total, offsets):
        return log_total / self.lam


@dataclass(frozen=True)
class LogMeanExp(LogSumExp):
    """``(1/λ) log((1/N_i) Σ_j exp(λ F_ij))``: from the mean (λ → 0) to the maximum (λ → ∞).

    Dividing by the size inside the logarithm keeps large bags from turning positive for their size
    alone.

    Parameters
    ----------
    lam : float
        λ, how sharp the maximum is; above zero.

    See Also
    --------
    LogSumExp : Without the division: grows with the size of the bag.
    OWA : Between mean and maximum too, by the order of the scores alone.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.pooling import LogMeanExp
    >>> scores, offsets = np.array([0.0, 4.0]), np.array([0, 2])
    >>> [float(LogMeanExp(lam).value(scores, offsets)[0].round(2)) for lam in (0.01, 1.0, 100.0)]
    [2.02, 3.33, 3.99]
    """

    def _score(self, log_total, offsets):
        return (log_total - np.log(np.diff(offsets))) / self.lam


@dataclass(frozen=True)
class ISR(LogSumExp):
    """The integrated segmentation rule, whose log-odds are ``log Σ_j exp F_ij``.

    Parameters
    ----------
    lam : float
        As in `LogSumExp`; 1 for the rule as it was published.

    See Also
    --------
    NoisyOr : The probability that some instance is positive, in place of odds that add up.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.pooling import ISR
    >>> ISR().value(np.array([0.0, 0.0]), np.array([0, 2])).round(2)
    array([0.69])
    """

    lam: float = 1.0


@dataclass(frozen=True)
class NoisyOr(Pooling):
    """Log-odds of ``1 − Π_j (1 − σ(F_ij))``: some instance is positive, independently.

    With ``S_i = Σ_j softplus(F_ij)`` this is ``log(exp(S_i) − 1)``.

    See Also
    --------
    ISR : Odds of instances add up.
    Max : Only the likeliest instance speaks.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import expit
    >>> from mixedbag.pooling import NoisyOr
    >>> expit(NoisyOr().value(np.array([0.0, 0.0]), np.array([0, 2])))
    array([0.75])
    """

    def value(self, scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        total = bag_sum(np.maximum(scores, 0.0) + np.log1p(np.exp(-np.abs(scores))), offsets)
        if (total < _UNDERFLOW).any():
            log_total = self._log_total(scores, offsets)
            total = np.exp(np.minimum(log_total, 700.0))
        else:
            log_total = np.log(total)
        # log(expm1(S)): S + log(1 − e^−S), and log S + S/2 where S is tiny.
        tiny = total < 1e-5
        safe = np.where(tiny, 1.0, total)
        return np.where(tiny, log_total + total / 2, safe + np.log(-np.expm1(-safe)))

    def weights(self, scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        # q = σ(F)/(1 − e^−S), in logarithms because both vanish together.
        return np.exp(self._log_sigmoid(scores) - spread(self._log_any(scores, offsets), offsets))

    def curvature(self, scores: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        diagonal = self.weights(scores, offsets) * np.exp(self._log_sigmoid(-scores))
        return diagonal, -np.exp(-np.exp(np.minimum(self._log_total(scores, offsets), 700.0)))

    def derivatives(
        self, scores: np.ndarray, offsets: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        log1p = np.log1p(np.exp(-np.abs(scores)))
        total = bag_sum(np.maximum(scores, 0.0) + log1p, offsets)
        if total.min() < _UNDERFLOW:  # some bag's sum of softplus underflows: the slow way is safe
            return super().derivatives(scores, offsets)
        tiny = total < 1e-5
        log_rest = np.log(-np.expm1(-np.where(tiny, 1.0, total)))  # log(1 − e^−S)
        log_any = np.where(tiny, np.log(total) - total / 2, log_rest)
        value = np.where(tiny, log_any + total, total + log_rest)
        weights = np.exp(np.minimum(scores, 0.0) - log1p - spread(log_any, offsets))
        bend = weights * np.exp(-np.maximum(scores, 0.0) - log1p)
        return value, weights, bend, -np.exp(-total)

    @staticmethod
    def _log_sigmoid(scores):
        return -np.logaddexp(0.0, -scores)

    @staticmethod
    def _log_total(scores, offsets):
        """``log S_i``, finite even where every softplus underflows."""
        low = scores < -30.0
        softplus = np.logaddexp(0.0, np.where(low, 0.0, scores))
        return bag_logsumexp(np.where(low, scores, np.log(softplus)), offsets)

    def _log_any(self, scores, offsets):
        """``log(1 − e^−S_i)``."""
        log_total = self._log_total(scores, offsets)
        total = np.exp(np.minimum(log_total, 700.0))
        tiny = total < 1e-5
        return np.where(tiny, log_total - total / 2, np.log(-np.expm1(-np.where(tiny, 1.0, total))))


@dataclass(frozen=True)
class OWA(Pooling):
    """Ordered weighted average ``Σ_k w_k F_(k)`` of the scores, largest first.

    The weights come from the quantifier ``w_k = (k/n)^a − ((k−1)/n)^a``: ``a → 0`` is the maximum,
    ``a = 1`` the mean, ``a → ∞`` the minimum.

    Parameters
    ----------
    a : float
        Exponent of the quantifier; above zero.

    See Also
    --------
    LogMeanExp : Between mean and maximum too, by how far the scores lie apart.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.pooling import OWA
    >>> OWA(a=0.5).value(np.array([0.0, 4.0]), np.array([0, 2])).round(2)
    array([2.83])
    """

    a: float = 0.5

    def __post_init__(self):
        check_parameters({"a": self.a}, {"a": [above(0)]})

    def weights(self, scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        starts, sizes = offsets[:-1], offsets[1:] - offsets[:-1]
        bag = np.repeat(np.arange(len(sizes)), sizes)
        order = np.lexsort((-scores, bag))
        rank = np.arange(len(scores)) - starts[bag]
        ranked = ((rank + 1) / sizes[bag]) ** self.a
        before = np.concatenate([[0.0], ranked[:-1]])
        before[starts] = 0.0
        ranked -= before
        # Equal scores share their weights, or the result would depend on the instances' order.
        sorted_scores = scores[order]
        is_first = np.concatenate([[True], sorted_scores[1:] != sorted_scores[:-1]])
        is_first[starts] = True
        first = np.flatnonzero(is_first)
        runs = np.diff(first, append=len(scores))
        weights = np.empty(len(scores))
        weights[order] = np.repeat(np.add.reduceat(ranked, first) / runs, runs)
        return weights

    def derivatives(
        self, scores: np.ndarray, offsets: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        weights = self.weights(scores, offsets)  # the value needs them too: sort only once
        return bag_sum(weights * scores, offsets), weights, *self.curvature(scores, offsets)


@dataclass(frozen=True)
class MeanProbability(Pooling):
    """Log-odds of the mean of the instances' probabilities ``σ(s F_ij)``, over ``s``.

    The mean is plain, or an ordered weighted one (`OWA`) for an exponent `a` other than 1. Scores
    are log-odds times ``1/s``: ``s = 2`` for those of the exponential loss.

    Parameters
    ----------
    a : float
        Exponent of the ordered average; 1 is the plain mean.
    scale : float
        s, what scores are multiplied with to be log-odds.

    See Also
    --------
    Mean : The mean of the scores themselves.
    OWA : The ordered average of the scores themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import expit
    >>> from mixedbag.pooling import MeanProbability
    >>> expit(MeanProbability(scale=1.0).value(np.array([50.0, -50.0]), np.array([0, 2]))).round(2)
    array([0.5])
    """

    a: float = 1.0
    scale: float = 1.0

    def __post_init__(self):
        check_parameters(vars(self), {"a": [above(0)], "scale": [above(0)]})

    def value(self, scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        return self.derivatives(scores, offsets)[0]

    def weights(self, scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        return self.derivatives(scores, offsets)[1]

    def curvature(self, scores: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.derivatives(scores, offsets)[2:]

    def derivatives(
        self, scores: np.ndarray, offsets: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        log_odds = self.scale * scores
        # In logarithms, because probabilities of bags and of their instances vanish together.
        share = np.log(np.maximum(OWA(self.a).weights(scores, offsets), np.finfo(float).tiny))
        positive, negative = -np.logaddexp(0.0, -log_odds), -np.logaddexp(0.0, log_odds)
        log_p = bag_logsumexp(share + positive, offsets)
        log_rest = bag_logsumexp(share + negative, offsets)
        weights = np.exp(share + positive + negative - spread(log_p + log_rest, offsets))
        bend = self.scale * weights * -np.tanh(0.5 * log_odds)
        rank = self.scale * np.tanh(0.5 * (log_p - log_rest))
        return (log_p - log_rest) / self.scale, weights, bend, rank


def __dir__():
    return __all__
