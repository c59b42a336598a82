"""What a stump adds to the scores, chosen from sums at every candidate threshold.

A step names the sums it needs from blocks of bags and turns them into candidates: a value for
either side of each threshold, and how far to go. The loss itself then decides between the best
candidate of each of the most promising features, and how far to go along it.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mixedbag.boosting import _directions
from mixedbag.boosting.block import Block

LEAST = -700.0  # the logarithm of a loss that is as good as zero
LONGEST = 10.0  # a stump without error would get an infinite weight


class Candidates(NamedTuple):
    """Stumps to try: the cell each cuts at, its two values, and how far to go along them."""

    cell: np.ndarray
    left: np.ndarray
    right: np.ndarray
    length: np.ndarray

    def take(self, rows):
        return Candidates(*(values[rows] for values in self))


def _most_promising(gain, n):
    """Which `n` slots have the largest gains, best first."""
    # Ten digits decide, so that the order in which bags were summed does not.
    top = np.abs(gain[np.isfinite(gain)]).max(initial=0.0)
    digits = np.round(gain / top, 10) if top > 0 else gain
    return np.argsort(-digits, kind="stable")[:n]


@dataclass(frozen=True)
class SignStep:
    """A binary stump: ±1 a side, the sign of the side's summed weights; exact line search.

    The candidates are those with the largest edge ``|v_L| + |v_R|``. On bags of one instance and
    the exponential loss this is discrete AdaBoost.
    """

    n_candidates: int = 16

    sums = staticmethod(Block.class_sums)
    exact = True

    def candidates(self, sums, grid, loss, weight):
        total = sums[grid.cells[1] - 1]
        below = sums[:, 1] - sums[:, 0]
        above = (total[1] - total[0]) - below
        edge = np.where(np.isnan(grid.cut), -np.inf, np.abs(below) + np.abs(above))
        best = _directions.best_cells(edge, grid.cells)
        cell = best[_most_promising(edge[best], self.n_candidates)]
        left, right = (np.where(side[cell] < 0, -1.0, 1.0) for side in (below, above))
        # AdaBoost's weight, exact for bags of one and a good start for others.
        length = np.arctanh(np.clip(edge[cell] / loss, 1e-3, 1 - 1e-9))
        return Candidates(cell, left, right, np.minimum(length, LONGEST))


@dataclass(frozen=True)
class NewtonStep:
    """A real-valued stump: the guarded Newton step in its two values, halved until the loss falls.

    ``longest`` bounds the step: curvature says little about places far away.
    """

    n_candidates: int = 8
    longest: float = 4.0

    sums = staticmethod(Block.newton_sums)
    exact = False

    def candidates(self, sums, grid, loss, weight):
        gain = _directions.newton_gains(sums, grid.cells, grid.cut, self.longest)
        best = _directions.best_cells(gain, grid.cells)
        left, right = _directions.newton_steps(sums, grid.cells, best, self.longest)
        chosen = _most_promising(gain[best], self.n_candidates)
        return Candidates(best[chosen], left[chosen], right[chosen], np.ones(len(chosen)))


@dataclass(frozen=True)
class PartitionStep:
    """Real AdaBoost: ``½ log(W₊/W₋)`` a side, halved until the loss falls.

    The weights are smoothed by half a bag's share of the total, as Schapire and Singer advise, so
    that a pure side gets a finite value.
    """

    n_candidates: int = 8

    sums = staticmethod(Block.class_sums)
    exact = False

    def candidates(self, sums, grid, loss, weight):
        total = sums[grid.cells[1] - 1]
        above = np.maximum(total - sums, 0.0)
        sums = np.maximum(sums, 0.0)  # sparse sums are differences
        error = np.sqrt(sums[:, 0] * sums[:, 1]) + np.sqrt(above[:, 0] * above[:, 1])
        gain = np.where(np.isnan(grid.cut), -np.inf, total.sum() - 2.0 * error)
        best = _directions.best_cells(gain, grid.cells)
        cell = best[_most_promising(gain[best], self.n_candidates)]
        smooth = total.sum() / (2.0 * weight)
        left, right = (
            0.5 * np.log((side[cell, 1] + smooth) / (side[cell, 0] + smooth))
            for side in (sums, above)
        )
        return Candidates(cell, left, right, np.ones(len(cell)))
