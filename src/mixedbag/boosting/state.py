"""Where boosting stands on a block of bags: scores, derivatives, and the loss along directions."""

import numpy as np

from mixedbag.pooling import bag_sum


class State:
    """Instance scores of a block of bags, and the derivatives of the loss there.

    Everything returned is a sum over bags: sums of two blocks add up.
    """

    def __init__(self, offsets, sign, weight, pooling, loss):
        self.offsets, self.sign, self.weight = offsets, sign, weight
        self.pooling, self.loss = pooling, loss
        self.positive = (sign > 0).astype(np.int64)
        self.scores = np.zeros(offsets[-1])

    def refresh(self, level):
        """Take the derivatives at the current scores; the loss over ``exp(level)``."""
        self.level = level
        self.bag_scores, self.weights, self.bend, self.rank = self.pooling.derivatives(
            self.scores, self.offsets
        )
        loss, self.slope, self.curve = self._loss(self.bag_scores)
        return loss

    def _loss(self, bag_scores):
        """Total loss, and its first and second derivatives by the bag scores."""
        loss, first, second = self.loss.derivatives(self.sign * bag_scores, self.level)
        return loss @ self.weight, self.weight * self.sign * first, self.weight * second

    def total(self):
        """The loss at the current scores over ``exp(level)``."""
        return self._loss(self.pooling.value(self.scores, self.offsets))[0]

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
        left, right = left[:, None], right[:, None]
        length = lengths[:, None]
        growth, low, high = self.pooling.moved(
            shares[:, 0], shares[:, 1], length * left, length * right
        )
        loss, first, second = self.loss.derivatives(
            self.sign * (self.bag_scores + growth), self.level
        )
        speed = low * left + high * right
        bend = self.pooling.lam * low * high * (left - right) ** 2
        return np.stack(
            [
                loss @ self.weight,
                (first * speed) @ (self.weight * self.sign),
                (second * speed**2) @ self.weight + (first * bend) @ (self.weight * self.sign),
            ],
            axis=1,
        )
