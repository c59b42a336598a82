"""A block of whole bags in stump boosting.

A driver maps these functions over blocks and adds up the sums; it sees neither instances nor codes,
so it works the same on one block, on a thread each, or on a cluster.
"""

import numpy as np

from mixedbag.boosting.codes import encode
from mixedbag.boosting.grid import Grid, has_missing
from mixedbag.boosting.state import State
from mixedbag.engines.sampling import sample_rows


def prepare(labelled, grid, pooling, loss):
    """The boosting block of labelled bags on a grid of thresholds."""
    return Block(*labelled, grid, pooling, loss)


def common_grid(blocks):
    """One grid of thresholds for blocks of labelled bags, from a sample of all their rows."""
    rows, _, step = sample_rows(blocks)
    return Grid.from_instances(rows, None if step == 1 else blocks.sum(_count_missing) > 0)


def _count_missing(labelled):
    return has_missing(labelled.bags.instances).astype(np.int64)


class Block(State):
    """A `State` whose instances are also known as bin codes."""

    def __init__(self, bags, sign, weight, grid, pooling, loss):
        super().__init__(bags.offsets, sign, weight, pooling, loss)
        self.codes = encode(bags, grid)

    def class_sums(self):
        """Gradient sizes left of every threshold: of negative bags, of positive bags."""
        return self.codes.class_sums(self.gradient(), self.positive)

    def newton_sums(self):
        """(v_L, u_LL, u_LR) at every threshold: slope and curvature in a stump's two values.

        A bag's Hessian is ``slope·diag(d) + (curve + slope·r) q qᵀ``.
        """
        cross = self.curve + self.slope * self.rank
        return self.codes.newton_sums(self.weights, self.bend, self.slope, cross)

    def focused(self, slots, cuts, left, right):
        """The block, ready to follow some stumps: a slot, a cut and two values each."""
        if hasattr(self.pooling, "moved"):
            shares = self.codes.shares(slots, cuts, self.weights)
            return self.but(shares=shares, left=left, right=right)
        stumps = zip(slots, cuts, left, right)
        return self.but(directions=[self._values(*stump) for stump in stumps])

    def follow(self, lengths):
        """(C, C′, C″) of each stump in focus, that many times its values away."""
        if hasattr(self.pooling, "moved"):
            return self.along_shares(self.shares, self.left, self.right, lengths)
        return self.along(self.directions, lengths)

    def with_stump(self, slot, cut, left, right):
        """The block after a stump is added to the scores."""
        return self.added(self._values(slot, cut, left, right))

    def _values(self, slot, cut, left, right):
        return np.where(self.codes.left_of(slot, cut), left, right)
