"""A block of whole bags in stump boosting, and a team of blocks whose answers add up.

A driver of boosting only ever asks a team for sums and tells it which stump was chosen. `Team`
works in this process, over threads; a cluster needs nothing more than another team.
"""

import itertools

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from mixedbag.boosting.codes import encode
from mixedbag.boosting.state import State


class Block(State):
    """A `State` whose instances are also known as bin codes on a grid of thresholds."""

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

    def focus(self, slots, cuts, left, right):
        """Prepare to follow these stumps: a slot, a cut and two values each."""
        self.left, self.right = left, right
        if hasattr(self.pooling, "moved"):
            self.shares = np.stack(
                [self.codes.shares(slot, cut, self.weights) for slot, cut in zip(slots, cuts)]
            )
        else:
            self.directions = [
                np.where(self.codes.left_of(slot, cut), low, high)
                for slot, cut, low, high in zip(slots, cuts, left, right)
            ]

    def follow(self, lengths):
        """(C, C′, C″) of each stump in focus, that many times its values away."""
        if hasattr(self.pooling, "moved"):
            return self.along_shares(self.shares, self.left, self.right, lengths)
        return self.along(self.directions, lengths)

    def apply(self, slot, cut, left, right):
        """Add a stump to the scores."""
        self.scores += np.where(self.codes.left_of(slot, cut), left, right)


class Team:
    """Blocks of bags in this process, one a thread."""

    def __init__(self, bags, sign, weight, grid, pooling, loss, n_jobs=None):
        n_blocks = min(effective_n_jobs(n_jobs), len(bags))
        self.parallel = Parallel(n_jobs=n_blocks, prefer="threads")
        self.weight = weight.sum()
        # Blocks of about as many instances each, cut between bags.
        ends = np.linspace(0, bags.n_instances, n_blocks + 1)[1:-1]
        edges = np.unique([0, *np.searchsorted(bags.offsets, ends), len(bags)])
        runs = [slice(a, b) for a, b in itertools.pairwise(edges)]
        self.blocks = self._each(
            delayed(Block)(bags[run], sign[run], weight[run], grid, pooling, loss) for run in runs
        )

    def sum(self, question, *args):
        """The sum of all blocks' answers to a question."""
        return sum(self._ask(question, args))

    def tell(self, news, *args):
        """Let every block take note of something."""
        self._ask(news, args)

    def _ask(self, method, args):
        if len(self.blocks) == 1:
            return [getattr(self.blocks[0], method)(*args)]
        return self._each(delayed(getattr(block, method))(*args) for block in self.blocks)

    def _each(self, jobs):
        return self.parallel(jobs)
