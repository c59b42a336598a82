"""Where boosting stands on a block of bags: scores, derivatives there, and the loss further on.

Three frozen records, each made from the one before: `Scores` of the instances, the `Derivatives` of
the loss at these scores, and a few steps to take from there (`Stumps` or `Directions`), whose loss
is then followed at any length. What is asked of them are sums over bags, so the sums of two blocks
add up.

Poolings and losses of the library are computed in loops, everything else by their own methods.
"""

from dataclasses import dataclass, replace
from math import exp, inf, log, log1p
from typing import Any

import numpy as np
from numba import njit

from mixedbag._solvers import INNER
from mixedbag._sorting import ascending
from mixedbag.boosting.losses import LOOPS, ExponentialLoss, loss_of
from mixedbag.pooling import OWA, NoisyOr, Pooling, bag_sum, spread

INSTANCES_A_PASS = 2**11  # small enough for the cache, too many for overhead to matter
_FAR = 250.0  # scores of a noisy-or whose odds, and products of two, are still numbers
_HUGE = 1e100  # odds of a bag that count as certainty
_TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class Scores:
    """Scores of the instances of a block of labelled bags; `way` is how their pooling is done."""

    offsets: np.ndarray
    sign: np.ndarray
    weight: np.ndarray
    pooling: Pooling
    loss: Any
    way: Any
    values: np.ndarray

    @classmethod
    def of(cls, labelled, pooling: Pooling, loss, start: float = 0.0) -> "Scores":
        """All instances of `labelled` start from the same score."""
        bags, sign, weight = labelled
        values = np.full(bags.n_instances, start)
        way = _way(pooling, loss, bags.offsets)
        return cls(bags.offsets, sign, weight, pooling, loss, way, values)

    def plus(self, values) -> "Scores":
        """The scores after `values` are added."""
        return replace(self, values=self.values + values)

    def plus_stump(self, codes, slot, cut, left: float, right: float) -> "Scores":
        """The scores after a stump is added: `left` up to the cut, `right` beyond."""
        (is_left,) = codes.left_of(np.array([slot]), np.array([cut]))
        return self.plus(np.where(is_left, left, right))

    def derived(self, level: float) -> "Derivatives":
        """The derivatives of the loss here, all relative to ``exp(level)``."""
        way = self.way if self.way.reaches(self) else ByArrays()
        pooled, rank, instances = way.pooled(self)
        slope, cross = np.empty((2, len(self.sign)))
        total = way.weigh(self, level, pooled, rank, slope, cross)
        return Derivatives(self, way, level, total, pooled, slope, cross, *instances)

    def loss_and_weight(self, level: float = 0.0) -> np.ndarray:
        """Total loss over ``exp(level)``, and total weight of the bags."""
        if len(self.sign) == 0:
            return np.zeros(2)
        pooled = self.pooling.value(self.values, self.offsets)
        loss, _, _ = self.loss.derivatives(self.sign * pooled, level)
        return np.array([loss @ self.weight, self.weight.sum()])


@dataclass(frozen=True)
class Derivatives:
    """The loss of a block of bags and its derivatives, over ``exp(level)``.

    A bag's Hessian by its instances' scores is ``slope·diag(bend) + cross·q qᵀ`` with ``q`` its
    instances' `weights`, which add up to `whole`. `kept` is what the `way` knows besides.
    """

    at: Scores
    way: Any
    level: float
    total: float
    pooled: np.ndarray
    slope: np.ndarray
    cross: np.ndarray
    weights: np.ndarray
    whole: np.ndarray
    bend: np.ndarray
    kept: Any

    def loss(self) -> float:
        """Total loss."""
        return self.total

    def gradient(self) -> np.ndarray:
        """Size of the loss's derivative by every instance's score; its sign is minus the bag's."""
        return spread(np.abs(self.slope), self.at.offsets) * self.weights

    def toward_stumps(self, codes, slots, cuts, left, right) -> "Stumps | Directions":
        """Steps along stumps: a slot, a cut and two values each."""
        return self.way.toward_stumps(self, codes, slots, cuts, left, right)

    def toward(self, direction: np.ndarray) -> "Directions":
        """A step along one direction of the instances' scores."""
        return Directions(self, [direction])

    def toward_constant(self, value: float) -> "Directions":
        """A step that is the same for all instances."""
        return self.toward(np.full(len(self.weights), value))


@dataclass(frozen=True)
class Directions:
    """Steps along arbitrary directions of the instances' scores."""

    start: Derivatives
    directions: list[np.ndarray]

    def take(self, rows) -> "Directions":
        """Some of the steps."""
        return Directions(self.start, [self.directions[k] for k in rows])

    def follow(self, lengths: np.ndarray) -> np.ndarray:
        """(C, C′, C″) of each direction, that many times its values away."""
        a_pass = max(1, INSTANCES_A_PASS // max(1, len(self.start.weights)))
        passes = range(0, len(lengths), a_pass)
        return np.concatenate([self._along(lengths, slice(k, k + a_pass)) for k in passes])

    def _along(self, lengths, some):
        """Some directions at once, their bags laid end to end."""
        scores = self.start.at
        directions, lengths = np.array(self.directions[some]), lengths[some, None]
        n_bags, n = len(scores.sign), len(scores.values)
        shifts = n * np.arange(len(lengths))[:, None]
        offsets = np.append((shifts + scores.offsets[:-1]).ravel(), n * len(lengths))
        h = directions.ravel()
        pooled, q, d, r = scores.pooling.derivatives(
            (scores.values + lengths * directions).ravel(), offsets
        )
        speed = bag_sum(q * h, offsets)
        bend = (bag_sum(d * h * h, offsets) + r * speed**2).reshape(-1, n_bags)
        speed = speed.reshape(-1, n_bags)
        loss, first, second = scores.loss.derivatives(
            scores.sign * pooled.reshape(-1, n_bags), self.start.level
        )
        signed = scores.weight * scores.sign
        curve = (second * speed**2) @ scores.weight + (first * bend) @ signed
        return np.stack([loss @ scores.weight, (first * speed) @ signed, curve], axis=1)


@dataclass(frozen=True)
class Stumps:
    """Steps along stumps, followed by a loop.

    `sides` are what it wants to know of the two sides of each: which instances are on the left, or
    the sums of a bag's weights on either.
    """

    follow_loop: Any
    given: tuple
    sides: np.ndarray
    left: np.ndarray
    right: np.ndarray

    def take(self, rows) -> "Stumps":
        """Some of the steps."""
        some = self.sides[rows], self.left[rows], self.right[rows]
        return Stumps(self.follow_loop, self.given, *some)

    def follow(self, lengths: np.ndarray) -> np.ndarray:
        """(C, C′, C″) of each stump, that many times its values away."""
        result = np.empty((len(lengths), 3))
        self.follow_loop(*self.given, self.sides, self.left, self.right, lengths, result)
        return result


# Ways to pool.


class ByArrays:
    """Any pooling and loss, by their own methods."""

    even_lam = 0.0  # above zero: bend = lam·weights, and cross = |slope| − lam·slope

    def reaches(self, scores) -> bool:
        """Whether it can: some are not made for scores of any size."""
        return True

    def pooled(self, scores):
        """Scores of bags, rank; and weights of instances, their sums, bend, what steps need."""
        pooled, weights, bend, rank = scores.pooling.derivatives(scores.values, scores.offsets)
        return pooled, rank, (weights, bag_sum(weights, scores.offsets), bend, None)

    def weigh(self, scores, level, pooled, rank, slope, cross):
        """Fill slopes and the curvatures that couple instances; the total loss."""
        loss, first, second = scores.loss.derivatives(scores.sign * pooled, level)
        slope[:] = scores.weight * scores.sign * first
        cross[:] = scores.weight * second + slope * rank
        return loss @ scores.weight

    def toward_stumps(self, here, codes, slots, cuts, left, right):
        """Steps along stumps."""
        stumps = zip(codes.left_of(slots, cuts), left, right)
        return Directions(here, [np.where(is_left, a, b) for is_left, a, b in stumps])


class _ByLoops(ByArrays):
    """Poolings that have a loop, with a loss of the library."""

    along: Any  # the loop that follows stumps from some derivatives, and what it wants to know

    def __init__(self, pooling, loss, offsets):
        self.loss = LOOPS[type(loss)]

    def weigh(self, scores, level, pooled, rank, slope, cross):
        return _weigh(self.loss, level, scores.sign, scores.weight, pooled, rank, slope, cross)

    def toward_stumps(self, here, codes, slots, cuts, left, right):
        given = self.loss, here.level, here.at.sign, here.at.weight
        follow, *more = self.along(here)
        return Stumps(follow, (*given, *more), self.sides(here, codes, slots, cuts), left, right)

    def sides(self, here, codes, slots, cuts):
        return codes.left_of(slots, cuts)


class Softly(_ByLoops):
    """``log Σ_j exp(λ F_ij)/λ``, but for a constant of the bag: no step looks at instances."""

    def __init__(self, pooling, loss, offsets):
        super().__init__(pooling, loss, offsets)
        level = pooling.value(np.zeros(offsets[-1]), offsets)
        self.lam = pooling.lam
        self.constant = level - np.log(np.diff(offsets)) / self.lam
        # The exponential loss is as steep as it is curved, and the rank is −λ.
        self.even_lam = self.lam if type(loss) is ExponentialLoss else 0.0

    def pooled(self, scores):
        (weights, bend), n_bags = np.empty((2, len(scores.values))), len(scores.sign)
        pooled = np.empty(n_bags)
        given = scores.values, scores.offsets, self.lam, self.constant
        _pool_softly(*given, weights, bend, pooled)
        return pooled, np.full(n_bags, -self.lam), (weights, np.ones(n_bags), bend, None)

    def along(self, here):
        return _follow_softly, self.lam, here.pooled

    def sides(self, here, codes, slots, cuts):
        return codes.shares(slots, cuts, here.weights)


class AnyOf(_ByLoops):
    """As `NoisyOr`: a bag's odds are Π (1 + odds of its instances) − 1."""

    def reaches(self, scores):
        return np.abs(scores.values).max(initial=0.0) < _FAR

    def pooled(self, scores):
        odds = np.exp(scores.values)
        weights, bend = np.empty((2, len(odds)))
        pooled, whole, rank = np.empty((3, len(scores.sign)))
        _pool_any(scores.offsets, odds, weights, bend, pooled, whole, rank)
        return pooled, rank, (weights, whole, bend, odds)

    def along(self, here):
        return _follow_any, here.at.offsets, here.kept


class InOrder(_ByLoops):
    """As `OWA`: `ranked` are the weights from the highest score of a bag to its lowest."""

    def __init__(self, pooling, loss, offsets):
        super().__init__(pooling, loss, offsets)
        self.ranked = pooling.weights(-np.arange(float(offsets[-1])), offsets)

    def pooled(self, scores):
        n, n_bags = len(scores.values), len(scores.sign)
        weights, order, pooled = np.empty(n), np.empty(n, np.int64), np.empty(n_bags)
        given = scores.values, scores.offsets, self.ranked, -scores.values
        _pool_in_order(*given, weights, pooled, order)
        return pooled, np.zeros(n_bags), (weights, np.ones(n_bags), np.zeros(n), order)

    def along(self, here):
        return _follow_in_order, here.at.offsets, here.at.values, here.kept, self.ranked


_WAYS = {NoisyOr: AnyOf, OWA: InOrder}


def _way(pooling, loss, offsets):
    """How to pool: a pooling of your own may take a while, or say that it `moves_by_sides`."""
    kind = Softly if pooling.moves_by_sides else _WAYS.get(type(pooling))
    if kind is None or type(loss) not in LOOPS or len(offsets) == 1:  # of no bag
        return ByArrays()
    return kind(pooling, loss, offsets)


# Loops. What each computes, `ByArrays` and `Directions` say in arrays: the tests compare them.

_loop = njit(cache=True, nogil=True, error_model="numpy")  # no check before each division


@_loop
def _weigh(loss, level, sign, weight, pooled, rank, slope, cross):
    total = 0.0
    for bag in range(len(sign)):
        value, first, second = loss_of(loss, sign[bag] * pooled[bag], level)
        total += weight[bag] * value
        slope[bag] = weight[bag] * sign[bag] * first
        cross[bag] = weight[bag] * second + slope[bag] * rank[bag]
    return total


@_loop
def _pool_softly(scores, offsets, lam, constant, weight, bend, pooled):
    for bag in range(len(constant)):
        begin, end = np.uint64(offsets[bag]), np.uint64(offsets[bag + 1])
        top, total = -inf, 0.0
        for row in range(begin, end):
            top = max(top, lam * scores[row])
        for row in range(begin, end):
            weight[row] = exp(lam * scores[row] - top)
            total += weight[row]
        for row in range(begin, end):
            weight[row] /= total
            bend[row] = lam * weight[row]
        pooled[bag] = (top + log(total)) / lam + constant[bag]


@_loop
def _pool_any(offsets, odds_of, weight, bend, pooled, whole, rank):
    for bag in range(len(pooled)):
        begin, end = offsets[bag], offsets[bag + 1]
        odds, sure, total = 0.0, 0.0, 0.0
        for row in range(begin, end):
            odds += odds_of[row] * (1.0 + odds)
            if odds > _HUGE:
                sure += log1p(odds)
                odds = 0.0
        none = 0.0 if sure > 0.0 else 1.0 / (1.0 + odds)
        some = 1.0 if sure > 0.0 else odds * none
        for row in range(begin, end):
            likely = 1.0 / (1.0 + odds_of[row])
            weight[row] = odds_of[row] * likely / some
            bend[row] = weight[row] * likely
            total += weight[row]
        pooled[bag] = sure + log1p(odds) if sure > 0.0 else log(odds)
        whole[bag], rank[bag] = total, -none


@_loop
def _pool_in_order(scores, offsets, ranked, descending, weight, pooled, order):
    """Equal scores share their weights; `descending` are the scores with their signs turned."""
    for bag in range(len(pooled)):
        begin, end = offsets[bag], offsets[bag + 1]
        places = ascending(descending[begin:end])
        for k in range(begin, end):
            order[k] = begin + places[k - begin]
        value, k = 0.0, begin
        while k < end:
            last, shared = k, 0.0
            while last < end and scores[order[last]] == scores[order[k]]:
                shared += ranked[last]
                last += 1
            value += shared * scores[order[k]]
            for j in range(k, last):
                weight[order[j]] = shared / (last - k)
            k = last
        pooled[bag] = value


@_loop
def _follow_softly(loss, level, sign, weight, lam, pooled, shares, left, right, lengths, result):
    """A step multiplies either side's share of the sum by ``exp(λ · length · value)``."""
    for k in range(len(lengths)):
        one, other = lengths[k] * left[k], lengths[k] * right[k]
        longer = max(one, other)  # of both sides, taken out so as not to overflow
        below, above = exp(lam * (one - longer)), exp(lam * (other - longer))
        value = slope = curve = 0.0
        for bag in range(len(sign)):
            low, high = shares[k, 0, bag] * below, shares[k, 1, bag] * above
            total = max(low + high, _TINY)
            low, high = low / total, high / total
            speed = low * left[k] + high * right[k]
            bend = lam * (left[k] - right[k]) ** 2 * low * high
            score = pooled[bag] + longer + log(total) / lam
            a, b, c = _terms(loss, level, sign[bag], weight[bag], score, speed, bend)
            value, slope, curve = value + a, slope + b, curve + c
        result[k, 0], result[k, 1], result[k, 2] = value, slope, curve


@_loop
def _follow_any(loss, level, sign, weight, offsets, odds_of, is_left, left, right, lengths, result):
    """A step multiplies the odds of either side."""
    for k in range(len(lengths)):
        below, above = exp(lengths[k] * left[k]), exp(lengths[k] * right[k])
        value = slope = curve = 0.0
        for bag in range(len(sign)):
            odds, sure, speed, bend = 0.0, 0.0, 0.0, 0.0
            for row in range(offsets[bag], offsets[bag + 1]):
                x = odds_of[row] * (below if is_left[k, row] else above)
                h = left[k] if is_left[k, row] else right[k]
                likely = 1.0 / (1.0 + x)
                speed += x * likely * h
                bend += x * likely * likely * h * h
                odds += x * (1.0 + odds)
                if odds > _HUGE:
                    sure += log1p(odds)
                    odds = 0.0
            if sure > 0.0:
                score = sure + log1p(odds)
            else:
                score, none = log(odds), 1.0 / (1.0 + odds)
                some = odds * none
                speed /= some
                bend = bend / some - none * speed * speed
            a, b, c = _terms(loss, level, sign[bag], weight[bag], score, speed, bend)
            value, slope, curve = value + a, slope + b, curve + c
        result[k, 0], result[k, 1], result[k, 2] = value, slope, curve


@_loop
def _follow_in_order(
    loss, level, sign, weight, offsets, scores, order, ranked, is_left, left, right, lengths, result
):
    """Either side keeps its order, so they are merged."""
    for k in range(len(lengths)):
        one, other = lengths[k] * left[k], lengths[k] * right[k]
        value = slope = curve = 0.0
        for bag in range(len(sign)):
            i = j = offsets[bag]
            end, score, speed = offsets[bag + 1], 0.0, 0.0
            for place in range(i, end):
                while i < end and not is_left[k, order[i]]:
                    i += 1
                while j < end and is_left[k, order[j]]:
                    j += 1
                below = scores[order[i]] + one if i < end else -inf
                above = scores[order[j]] + other if j < end else -inf
                score += ranked[place] * max(below, above)
                if below >= above:
                    speed += ranked[place] * left[k]
                    i += 1
                else:
                    speed += ranked[place] * right[k]
                    j += 1
            a, b, c = _terms(loss, level, sign[bag], weight[bag], score, speed, 0.0)
            value, slope, curve = value + a, slope + b, curve + c
        result[k, 0], result[k, 1], result[k, 2] = value, slope, curve


@njit(error_model="numpy", **INNER)
def _terms(loss, level, sign, weight, score, speed, bend):
    """What a bag adds to the loss, its slope and its curvature along a step."""
    value, first, second = loss_of(loss, sign * score, level)
    curve = second * speed * speed + sign * first * bend
    return weight * value, weight * sign * first * speed, weight * curve
