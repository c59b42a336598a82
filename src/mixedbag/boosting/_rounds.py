"""Rounds on few instances, compiled: the stumps that `StumpSearch` finds, sooner.

On some thousand instances a round of arrays is mostly calls. Here it is a few: derivatives at the
scores; sums slot by slot, in a table that stays in the cache, and the best stump of each; the loss
along the most promising. For one block of dense codes in this process, and the poolings, losses and
steps of the library; everything else, and scores beyond the range of `exp`, is left to
`StumpSearch`.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mixedbag.boosting._codes import DenseCodes
from mixedbag.boosting._round_loops import (
    EXPONENTIAL,
    LOGISTIC,
    PARTITION,
    SIGN,
    best_by_class,
    best_by_newton,
    follow_any,
    follow_in_order,
    follow_softly,
    pool_any,
    pool_in_order,
    pool_softly,
    weigh,
)
from mixedbag.boosting._search import Found, StumpSearch
from mixedbag.boosting.losses import ExponentialLoss, LogisticLoss
from mixedbag.boosting.steps import (
    Candidates,
    NewtonStep,
    PartitionStep,
    SignStep,
    most_promising,
)
from mixedbag.engines.local import LocalBlocks
from mixedbag.pooling import ISR, OWA, LogMeanExp, LogSumExp, NoisyOr

FEW = 2**14  # instances: beyond, calls cost nothing beside sums
_FAR = 250.0  # scores of a noisy-or whose odds, and products of two, are still numbers
_LOSSES = {ExponentialLoss: EXPONENTIAL, LogisticLoss: LOGISTIC}


def quick_rounds(search: StumpSearch, scores) -> "StumpSearch | Rounds":
    """The search itself, or one that finds the same stumps from `scores` on, sooner."""
    codes, step = search.codes, search.step
    if not isinstance(codes, LocalBlocks) or len(codes.blocks) > 1:
        return search
    (codes,), (start,) = codes.blocks, scores.blocks
    pooling = _POOLINGS.get(type(start.pooling))
    if (
        pooling is None
        or type(start.loss) not in _LOSSES
        or type(step) not in (SignStep, PartitionStep, NewtonStep)
        or not isinstance(codes, DenseCodes)
        or len(start.values) > FEW
        or step.n_candidates is None
        or (pooling is _InOrder and step.exact)  # its slope along a step has jumps
    ):
        return search
    return Rounds.of(search, codes, pooling, start)


@dataclass(frozen=True)
class Rounds:
    """A search of stumps from one block of codes.

    `rows` and `bags` hold what the loops know of each (see `_round_loops`).
    """

    search: StumpSearch
    pooling: Any
    codes: DenseCodes
    unsorted: np.ndarray
    rows: np.ndarray
    bags: np.ndarray
    table: np.ndarray

    @classmethod
    def of(cls, search, codes, pooling, start):
        offsets, sizes, n = start.offsets, np.diff(start.offsets), len(start.values)
        # Codes in the order of the instances, twice each, and one more in a positive bag.
        unsorted = np.empty(codes.codes.shape, np.uint16)
        each = np.arange(len(unsorted))[:, None], codes.order + np.repeat(offsets[:-1], sizes)
        unsorted[each] = 2 * codes.codes.astype(np.uint16)
        unsorted += np.repeat(start.sign > 0, sizes).astype(np.uint16)
        scratch = np.empty((4, n)), np.empty((5, len(sizes))), np.empty((5, 1024))
        return cls(search, pooling(start), codes, unsorted, *scratch)

    def next(self, standing):
        """As `StumpSearch.next`."""
        if standing.is_lowest:
            return None
        (scores,) = standing.scores.blocks
        if not self.pooling.derive(scores, self.rows, self.bags):
            return self.search.next(standing)
        loss = _LOSSES[type(scores.loss)], standing.level, scores.sign, scores.weight
        pooled, _, slope, cross, rank = self.bags
        known = self.rows[0], self.rows[2], pooled, rank
        before = weigh(*loss, scores.offsets, *known, slope, cross)
        if not np.isfinite(before):
            return self.search.next(standing)
        candidates = self._candidates(scores.offsets, before, standing.weight)
        stumps = *self.search.grid.place(candidates.cell), candidates.left, candidates.right
        along = _Along(partial(self.pooling.along, self, scores, loss), stumps)
        candidates, after = self.search.go_along(along, candidates, before, standing.weight)
        best = self.search.best(candidates, after, before)
        if best is None:
            return None
        slot, cut = self.search.grid.place(best.cell)
        added = np.where(self.unsorted[slot] <= 2 * cut + 1, best.stump.left, best.stump.right)
        scores = LocalBlocks([scores.plus(added)], standing.scores.n_jobs)
        return Found(best.stump, standing.settled(scores, best.loss))

    def _candidates(self, offsets, before, weight):
        """The best stumps of the most promising slots."""
        step, grid = self.search.step, self.search.grid
        cell, stumps = np.empty(len(self.unsorted), np.int64), np.empty((4, len(self.unsorted)))
        found = self.table, cell, stumps
        if isinstance(step, NewtonStep):
            codes = self.codes.codes, self.codes.order, offsets, grid.cells, grid.is_cut
            best_by_newton(*codes, self.rows, self.bags, step.longest, *found)
        else:
            kind = SIGN if isinstance(step, SignStep) else PARTITION
            codes = self.unsorted, grid.cells, grid.is_cut
            best_by_class(kind, *codes, self.rows[2], before, weight, *found)
        first = most_promising(stumps[0], step.n_candidates)
        return Candidates(cell[first], *stumps[1:].take(first, axis=1))


class _Along:
    """The loss along stumps, as a function of their lengths."""

    def __init__(self, prepare, stumps):
        self.prepare, self.stumps = prepare, stumps
        self.follow = prepare(*stumps)

    def __call__(self, lengths):
        result = np.empty((len(lengths), 3))
        self.follow(lengths, result)
        return result

    def take(self, rows):
        """Some of the stumps."""
        return _Along(self.prepare, [part[rows] for part in self.stumps])


# What poolings do: `derive` fills scores, weights and curvatures, and says whether it could;
# `along` makes the function that `_Along` calls.


class _Softly:
    """As `LogSumExp` and its kin, but for a constant of the bag."""

    def __init__(self, start):
        level = start.pooling.value(np.zeros(len(start.values)), start.offsets)
        self.constant = level - np.log(np.diff(start.offsets)) / start.pooling.lam

    def derive(self, scores, rows, bags):
        lam = scores.pooling.lam
        pool_softly(scores.values, scores.offsets, lam, self.constant, rows[0], rows[1], bags[0])
        bags[1], bags[4] = 1.0, -lam
        return True

    def along(self, rounds, scores, loss, slots, cuts, left, right):
        shares = rounds.codes.shares(slots, cuts, rounds.rows[0])
        given = *loss, scores.pooling.lam, rounds.bags, shares
        return partial(follow_softly, *given, left, right)


class _Any:
    """As `NoisyOr`."""

    def __init__(self, start):
        pass

    def derive(self, scores, rows, bags):
        if not np.abs(scores.values).max() < _FAR:
            return False
        np.exp(scores.values, out=rows[3])
        pool_any(scores.offsets, rows, bags)
        return True

    def along(self, rounds, scores, loss, slots, cuts, left, right):
        given = *loss, scores.offsets, rounds.rows[3], rounds.unsorted, slots, 2 * cuts + 1
        return partial(follow_any, *given, left, right)


class _InOrder:
    """As `OWA`: `ranked` are the weights from the highest score of a bag to its lowest."""

    def __init__(self, start):
        n = len(start.values)
        self.ranked = start.pooling.weights(-np.arange(float(n)), start.offsets)
        self.order = np.empty(n, np.int64)

    def derive(self, scores, rows, bags):
        pool_in_order(scores.values, scores.offsets, self.ranked, rows, bags, self.order)
        return True

    def along(self, rounds, scores, loss, slots, cuts, left, right):
        given = *loss, scores.offsets, scores.values, self.order, self.ranked
        stumps = rounds.unsorted, slots, 2 * cuts + 1, left, right
        return partial(follow_in_order, *given, *stumps)


_POOLINGS = {LogSumExp: _Softly, LogMeanExp: _Softly, ISR: _Softly, NoisyOr: _Any, OWA: _InOrder}
