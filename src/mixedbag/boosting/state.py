"""Where boosting stands on a block of bags: scores, derivatives, and the loss along directions.

Nothing changes in place: what moves a state returns a new one that shares the rest. Everything else
is a sum over bags, so the sums of two blocks add up.
"""

import numpy as np

from mixedbag.pooling import bag_sum


class State:
    """Instance scores of a block of bags, and the derivatives of the loss there."""

    def __init__(self, offsets, sign, weight, pooling, loss):
        self.offsets, self.sign, self.weight = offsets, sign, weight
        self.pooling, self.loss = pooling, loss
        self.positive = (sign > 0).astype(np.int64)
        self.scores = np.zeros(offsets[-1])

    def but(self, **changes):
        """The same state but for some attributes."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, **changes)
        return other

    def added(self, values):
        """The state after `values` are added to the instances' scores."""
        return self.but(scores=self.scores + values)

    def derived(self, level):
        """The state with derivatives at its scores, relative to the loss ``exp(level)``."""
        value, weights, bend, rank = self.pooling.derivatives(self.scores, self.offsets)
        other = self.but(level=level, bag_scores=value, weights=weights, bend=bend, rank=rank)
        other.total, other.slope, other.curve = other._loss(value)
        return other

    def _loss(self, bag_scores):
        """Total loss, and its first and second derivatives by the bag scores."""
        loss, first, second = self.loss.derivatives(self.sign * bag_scores, self.level)
        return loss @ self.weight, self.weight * self.sign * first, self.weight * second

    def loss_and_weight(self):
        """Total loss over ``exp(level)``, and total weight of the bags."""
        return np.array([self.total, self.weight.sum()])

    def gradient(self):
        """Size of the loss's derivative by every instance's score; its sign is minus the bag's."""
        return np.repeat(np.abs(self.slope), np.diff(self.offsets)) * self.weights

    def along(self, directions, lengths):
        """Loss and its two derivatives along directions of the instances, at the given lengths.

        Row k of the result is (C, C′, C″) at ``scores + lengths[k]·directions[k]``.
        """
        result = np.empty((len(directions), 3))
        for k, (h, length) in enumerate(zip(directions, lengths)):
            Y, q, d, r = self.pooling.derivatives(self.scores + length * h, self.offsets)
            loss, slope, curve = self._loss(Y)
            speed = bag_sum(q * h, self.offsets)
            bend = bag_sum(d * h * h, self.offsets) + r * speed**2
            result[k] = loss, slope @ speed, curve @ speed**2 + slope @ bend
        return result

    def along_shares(self, shares, left, right, lengths):
        """The same for stumps, from each bag's `shares` left and right: no instance is touched."""
        left, right, length = left[:, None], right[:, None], lengths[:, None]
        growth, low, high = self.pooling.moved(
            shares[:, 0], shares[:, 1], length * left, length * right
        )
        loss, first, second = self.loss.derivatives(
            self.sign * (self.bag_scores + growth), self.level
        )
        speed = low * left + high * right
        bend = self.pooling.lam * low * high * (left - right) ** 2
        signed = self.weight * self.sign
        curve = (second * speed**2) @ self.weight + (first * bend) @ signed
        return np.stack([loss @ self.weight, (first * speed) @ signed, curve], axis=1)
