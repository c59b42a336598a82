"""Where boosting stands on a block of bags: scores, derivatives there, and the loss further on.

Three frozen records, each made from the one before: `Scores` of the instances, the `Derivatives` of
the loss at these scores, and a few steps to take from there (`Sides` or `Directions`), whose loss
is then followed at any length. What is asked of them are sums over bags, so the sums of two blocks
add up.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba import njit

from mixedbag.pooling import Pooling, bag_sum, spread

TINY = np.finfo(float).tiny
# What is looked at in a pass: small enough for the cache, too many for overhead to matter.
BAGS_A_PASS = 2**14
INSTANCES_A_PASS = 2**11


@dataclass(frozen=True)
class Scores:
    """Scores of the instances of a block of labelled bags."""

    offsets: np.ndarray
    sign: np.ndarray
    weight: np.ndarray
    pooling: Pooling
    loss: Any
    values: np.ndarray

    @classmethod
    def of(cls, labelled, pooling: Pooling, loss, start: float = 0.0) -> "Scores":
        """All instances of `labelled` start from the same score."""
        bags, sign, weight = labelled
        values = np.full(bags.n_instances, start)
        return cls(bags.offsets, sign, weight, pooling, loss, values)

    def plus(self, values) -> "Scores":
        """The scores after `values` are added."""
        return replace(self, values=self.values + values)

    def plus_stump(self, codes, slot, cut, left: float, right: float) -> "Scores":
        """The scores after a stump is added: `left` up to the cut, `right` beyond."""
        return self.plus(np.where(codes.left_of(slot, cut), left, right))

    def derived(self, level: float) -> "Derivatives":
        """The derivatives of the loss here, all relative to ``exp(level)``."""
        pooled, weights, bend, rank = self.pooling.derivatives(self.values, self.offsets)
        loss, first, second = self.loss.derivatives(self.sign * pooled, level)
        slope, curve = self.weight * self.sign * first, self.weight * second
        return Derivatives(
            self, level, loss @ self.weight, pooled, weights, bend, rank, slope, curve
        )

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

    A bag's Hessian by its instances' scores is ``slope·diag(bend) + (curve + slope·rank) q qᵀ``
    with ``q`` its instances' `weights`.
    """

    at: Scores
    level: float
    total: float
    pooled: np.ndarray
    weights: np.ndarray
    bend: np.ndarray
    rank: np.ndarray
    slope: np.ndarray
    curve: np.ndarray

    def loss(self) -> float:
        """Total loss."""
        return self.total

    def gradient(self) -> np.ndarray:
        """Size of the loss's derivative by every instance's score; its sign is minus the bag's."""
        return spread(np.abs(self.slope), self.at.offsets) * self.weights

    def toward_stumps(self, codes, slots, cuts, left, right) -> "Sides | Directions":
        """Steps along stumps: a slot, a cut and two values each."""
        if self.at.pooling.moves_by_sides:
            return Sides(self, codes.shares(slots, cuts, self.weights), left, right)
        stumps = zip(slots, cuts, left, right)
        return Directions(self, [np.where(codes.left_of(s, c), a, b) for s, c, a, b in stumps])

    def toward(self, direction: np.ndarray) -> "Directions":
        """A step along one direction of the instances' scores."""
        return Directions(self, [direction])

    def toward_constant(self, value: float) -> "Sides | Directions":
        """A step that is the same for all instances."""
        if self.at.pooling.moves_by_sides:
            total = bag_sum(self.weights, self.at.offsets)
            shares = np.stack([total, np.zeros_like(total)])
            return Sides(self, shares[None], np.array([value]), np.array([value]))
        return self.toward(np.full(len(self.weights), value))


@dataclass(frozen=True)
class Sides:
    """Steps that move two sides of every bag by a value each: no instance is touched.

    `shares` are the sides' sums of the instances' weights, of shape (n_steps, 2, n_bags).
    """

    start: Derivatives
    shares: np.ndarray
    left: np.ndarray
    right: np.ndarray

    def take(self, rows) -> "Sides":
        """Some of the steps."""
        return Sides(self.start, self.shares[rows], self.left[rows], self.right[rows])

    def follow(self, lengths: np.ndarray) -> np.ndarray:
        """(C, C′, C″) of each step, that many times its values away."""
        start, scores = self.start, self.start.at
        signed = scores.weight * scores.sign
        result = np.zeros((len(lengths), 3))
        a_pass, n_bags = max(1, BAGS_A_PASS // len(lengths)), len(signed)
        for begin in range(0, n_bags, a_pass):
            end = min(begin + a_pass, n_bags)
            moved = np.empty((3, len(lengths), end - begin))
            _move_sides(
                self.shares,
                self.left,
                self.right,
                lengths,
                scores.pooling.lam,
                start.pooled,
                begin,
                end,
                moved,
            )
            pooled, speed, bend = moved
            some = slice(begin, end)
            loss, first, second = scores.loss.derivatives(scores.sign[some] * pooled, start.level)
            result[:, 0] += loss @ scores.weight[some]
            result[:, 1] += (first * speed) @ signed[some]
            result[:, 2] += (second * speed * speed) @ scores.weight[some]
            result[:, 2] += (first * bend) @ signed[some]
        return result


@njit(cache=True, nogil=True)
def _move_sides(shares, left, right, lengths, lam, pooled, begin, end, moved):
    """Scores of the bags from `begin` to `end` after each step, and two derivatives by its length.

    A bag's score is ``log Σ_j exp(λ F_ij)/λ`` up to a constant, and `shares` are each side's part
    of that sum: a step multiplies a side by ``exp(λ · length · value)``.
    """
    for k in range(len(lengths)):
        longer = lengths[k] * max(
            left[k], right[k]
        )  # of both sides, taken out so as not to overflow
        below = np.exp(lam * (lengths[k] * left[k] - longer))
        above = np.exp(lam * (lengths[k] * right[k] - longer))
        bend = lam * (left[k] - right[k]) ** 2
        for bag in range(begin, end):
            low, high = shares[k, 0, bag] * below, shares[k, 1, bag] * above
            total = max(low + high, TINY)
            low, high = low / total, high / total
            moved[0, k, bag - begin] = pooled[bag] + longer + np.log(total) / lam
            moved[1, k, bag - begin] = low * left[k] + high * right[k]
            moved[2, k, bag - begin] = bend * low * high


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
