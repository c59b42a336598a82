"""Boosted stumps: the learner that adds one a round, and the ensemble that scores instances."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from mixedbag.boosting import _scoring
from mixedbag.boosting.search import exact_lengths, falling_lengths
from mixedbag.boosting.steps import LONGEST

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
    """Adds one stump a round to the scores that a team of blocks keeps.

    ``loss`` is the total loss over the total weight; every round makes it smaller.
    """

    def __init__(self, team, grid, step, learning_rate=1.0):
        self.team, self.grid, self.step, self.learning_rate = team, grid, step, learning_rate
        self.loss = self._refresh(0.0)

    def _refresh(self, level):
        total = self.team.sum("refresh", level)
        return np.exp(level) * total / self.team.weight

    def fit_constant(self):
        """Start from the best constant score; returns it."""
        grid = self.grid
        everything = np.array([0]), np.array([grid.cells[1] - 1])
        value = 0.0
        for direction in (np.ones(1), -np.ones(1)):
            self.team.tell("focus", *everything, direction, direction)
            length, loss = exact_lengths(self._follow, np.ones(1), LONGEST)
            if loss[0] < self.team.weight * self.loss:
                value = float(direction[0] * length[0])
        self.team.tell("apply", 0, grid.cells[1] - 1, value, value)
        self.loss = self._refresh(0.0)
        return value

    def round(self):
        """The stump that lowers the loss most among the best candidates; None if none does."""
        if not self.loss > 0:
            return None
        grid = self.grid
        # Derivatives are taken relative to the current loss, so that it may become tiny.
        level = np.log(self.loss)
        before = self.team.sum("refresh", level)
        sums = self.team.sum(self.step.sums)
        cell, left, right, length = self.step.candidates(sums, grid, before, self.team.weight)
        slot = grid.slot[cell]
        cut = cell - grid.cells[slot]
        self.team.tell("focus", slot, cut, left, right)
        if self.step.exact:
            length, after = exact_lengths(self._follow, length, LONGEST)
        else:
            length, after = falling_lengths(self._follow, length, before)
        if self.learning_rate != 1.0:
            length, after = falling_lengths(self._follow, self.learning_rate * length, before)
        ties = np.flatnonzero(after <= after.min() + TIE * before)
        k = ties[np.argmin(cell[ties])]
        if not after[k] < before:
            return None
        left, right = float(length[k] * left[k]), float(length[k] * right[k])
        self.team.tell("apply", slot[k], cut[k], left, right)
        self.loss = float(np.exp(level) * after[k] / self.team.weight)
        return self._stump(cell[k], left, right)

    def _follow(self, lengths):
        return self.team.sum("follow", lengths)

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
