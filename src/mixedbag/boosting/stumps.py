"""Boosted stumps: the learner that adds one a round, and the ensemble that scores instances."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from mixedbag.boosting import _scoring
from mixedbag.boosting.block import Block
from mixedbag.boosting.search import exact_lengths, falling_lengths
from mixedbag.boosting.steps import LEAST, LONGEST

FINALISTS = 4  # candidates that are worth an exact search
TIE = 1e-10  # losses this close are equal: the first cell wins, whatever the order of summation


@dataclass(frozen=True)
class Stump:
    """``left`` where the feature is at most the threshold, ``right`` above, ``missing`` if NaN."""

    feature: int
    threshold: float
    left: float
    right: float
    missing: float

    def score(self, instances):
        column = instances[:, [self.feature]]
        column = (column.toarray() if sparse.issparse(column) else column)[:, 0]
        sided = np.where(column <= self.threshold, self.left, self.right)
        return np.where(np.isnan(column), self.missing, sided)


class StumpBooster:
    """Adds one stump a round to the scores that blocks of bags keep.

    ``level`` is the logarithm of the mean loss; every round lowers it. Derivatives are taken
    relative to it, so that neither huge nor tiny losses leave the range of floats. At the start,
    give a level that is roughly right (0 for scores of zero).
    """

    def __init__(self, blocks, grid, step, learning_rate=1.0, level=0.0):
        self.grid, self.step, self.learning_rate = grid, step, learning_rate
        self.blocks = blocks.map(Block.derived, level)
        total, self.weight = self.blocks.sum(Block.loss_and_weight)
        self.level = level
        self._settle(total)

    @property
    def loss(self):
        """Mean loss of a bag."""
        return float(np.exp(self.level))

    def _settle(self, total):
        self.level += float(np.log(total / self.weight))

    def fit_constant(self):
        """Start from the best constant score; returns it."""
        start = self.blocks.map(Block.derived, self.level)
        everything = np.array([0]), np.array([self.grid.cells[1] - 1])
        up = np.ones(1)
        slope = self._follow(start.map(Block.focused, *everything, up, up))(np.zeros(1))[0, 1]
        direction = up if slope < 0 else -up
        focus = start.map(Block.focused, *everything, direction, direction)
        length, total = exact_lengths(self._follow(focus), up, LONGEST)
        value = float(direction[0] * length[0])
        self.blocks = self.blocks.map(Block.added, value)
        self._settle(total[0])
        return value

    def round(self):
        """The stump that lowers the loss most among the best candidates; None if none does."""
        if self.level < LEAST:
            return None
        blocks, grid = self.blocks.map(Block.derived, self.level), self.grid
        before, _ = blocks.sum(Block.loss_and_weight)
        sums = blocks.sum(self.step.sums)
        candidates = self.step.candidates(sums, grid, before, self.weight)
        follow = self._focus(blocks, candidates)
        if self.step.exact:
            candidates = candidates.take(self._finalists(follow, candidates))
            follow = self._focus(blocks, candidates)
            length, after = exact_lengths(follow, candidates.length, LONGEST)
        else:
            length, after = falling_lengths(follow, candidates.length, before)
        if self.learning_rate != 1.0:
            length, after = falling_lengths(follow, self.learning_rate * length, before)
        cell, left, right, _ = candidates
        ties = np.flatnonzero(after <= after.min() + TIE * before)
        k = ties[np.argmin(cell[ties])]
        if not after[k] < before:
            return None
        left, right = float(length[k] * left[k]), float(length[k] * right[k])
        self.blocks = blocks.map(Block.with_stump, *self._place(cell[k]), left, right)
        self._settle(after[k])
        return self._stump(cell[k], left, right)

    def _finalists(self, follow, candidates):
        """The candidates with the smallest losses at their first lengths."""
        first = np.round(follow(candidates.length)[:, 0] / self.weight, 10)
        return np.argsort(first, kind="stable")[:FINALISTS]

    def _place(self, cell):
        """Slot of a cell, and the code that is the last on its left."""
        slot = self.grid.slot[cell]
        return slot, cell - self.grid.cells[slot]

    def _focus(self, blocks, candidates):
        cell, left, right, _ = candidates
        return self._follow(blocks.map(Block.focused, *self._place(cell), left, right))

    @staticmethod
    def _follow(focus):
        return lambda lengths: focus.sum(Block.follow, lengths)

    def _stump(self, cell, left, right):
        grid = self.grid
        slot = grid.slot[cell]
        if not grid.sees_missing[slot]:
            missing = 0.0  # never missing in training: the stump abstains
        else:
            missing = left if grid.missing[slot] == 0 else right
        return Stump(int(grid.feature[slot]), float(grid.cut[cell]), left, right, missing)


class StumpEnsemble:
    """Sum of stumps, as arrays."""

    def __init__(self, stumps, n_features):
        self.n_features = n_features
        self.feature = np.array([s.feature for s in stumps], dtype=np.int64)
        self.threshold = np.array([s.threshold for s in stumps], dtype=np.float64)
        self.left = np.array([s.left for s in stumps], dtype=np.float64)
        self.right = np.array([s.right for s in stumps], dtype=np.float64)
        self.missing = np.array([s.missing for s in stumps], dtype=np.float64)

    def __len__(self):
        return len(self.feature)

    def score(self, instances):
        """Summed values of all stumps."""
        columns, feature = self._used(instances)
        return _scoring.score(columns, feature, self.threshold, self.left, self.right, self.missing)

    def staged(self, instances):
        """Scores after each stump."""
        total = np.zeros(instances.shape[0])
        for k in range(len(self)):
            stump = (a[k] for a in (self.feature, self.threshold, self.left, self.right))
            total = total + Stump(*stump, self.missing[k]).score(instances)
            yield total

    def importances(self, gains):
        """Share of the gain that each feature brought."""
        total = np.bincount(self.feature, weights=gains, minlength=self.n_features)
        return total / total.sum() if total.sum() > 0 else total

    def _used(self, instances):
        """Dense columns of the features in use, and the stumps' columns among them."""
        if not sparse.issparse(instances):
            return instances, self.feature
        used, feature = np.unique(self.feature, return_inverse=True)
        return instances[:, used].toarray(), feature
