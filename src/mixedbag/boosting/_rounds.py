"""Rounds on few instances, compiled: the stumps that `StumpSearch` finds, sooner.

On some thousand instances a round of arrays is mostly calls. Here it is a few: derivatives at the
scores; sums slot by slot, in a table that stays in the cache, and the best stump of each; the loss
along the most promising. For one block of dense codes in this process, and the poolings, losses and
steps of the library; everything else, and scores beyond the range of `exp`, is left to
`StumpSearch`.
"""

from dataclasses import dataclass
from functools import partial
from math import atanh, exp, inf, log, log1p, sqrt
from typing import Any

import numpy as np
from numba import njit

from mixedbag._solvers import INNER
from mixedbag._sorting import ascending
from mixedbag.boosting._codes import DenseCodes
from mixedbag.boosting._scores import TINY
from mixedbag.boosting._search import Found, StumpSearch
from mixedbag.boosting.losses import LARGEST, ExponentialLoss, LogisticLoss
from mixedbag.boosting.steps import (
    LONGEST,
    TIE,
    Candidates,
    NewtonStep,
    PartitionStep,
    SignStep,
    guarded_step,
    most_promising,
    plain_newton_gain,
)
from mixedbag.engines.local import LocalBlocks
from mixedbag.pooling import ISR, OWA, LogMeanExp, LogSumExp, NoisyOr

FEW = 2**14  # instances: beyond, calls cost nothing beside sums
_FAR = 250.0  # scores of a noisy-or whose odds, and products of two, are still numbers
_HUGE = 1e100  # odds of a bag that count as certainty
_EXPONENTIAL, _SIGN = 0, 0
_LOSSES = {ExponentialLoss: _EXPONENTIAL, LogisticLoss: 1}
_compiled = njit(cache=True, nogil=True, error_model="numpy")  # no check before each division
_inner = njit(error_model="numpy", **INNER)


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

    Of every instance `rows` has its weight q in the bag, the bend d, the size of the loss's
    derivative, and what the pooling keeps; of every bag `bags` has the score, the sum of q, the
    slope, the curvature that couples instances, and its part that is the pooling's.
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
        before = _weigh(*loss, scores.offsets, *known, slope, cross)
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
            _best_by_newton(*codes, self.rows, self.bags, step.longest, *found)
        else:
            kind = _SIGN if isinstance(step, SignStep) else 1
            codes = self.unsorted, grid.cells, grid.is_cut
            _best_by_class(kind, *codes, self.rows[2], before, weight, *found)
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
        _pool_softly(scores.values, scores.offsets, lam, self.constant, rows[0], rows[1], bags[0])
        bags[1], bags[4] = 1.0, -lam
        return True

    def along(self, rounds, scores, loss, slots, cuts, left, right):
        shares = rounds.codes.shares(slots, cuts, rounds.rows[0])
        given = *loss, scores.pooling.lam, rounds.bags, shares
        return partial(_follow_softly, *given, left, right)


class _Any:
    """As `NoisyOr`."""

    def __init__(self, start):
        pass

    def derive(self, scores, rows, bags):
        if not np.abs(scores.values).max() < _FAR:
            return False
        np.exp(scores.values, out=rows[3])
        _pool_any(scores.offsets, rows, bags)
        return True

    def along(self, rounds, scores, loss, slots, cuts, left, right):
        given = *loss, scores.offsets, rounds.rows[3], rounds.unsorted, slots, 2 * cuts + 1
        return partial(_follow_any, *given, left, right)


class _InOrder:
    """As `OWA`: `ranked` are the weights from the highest score of a bag to its lowest."""

    def __init__(self, start):
        n = len(start.values)
        self.ranked = start.pooling.weights(-np.arange(float(n)), start.offsets)
        self.order = np.empty(n, np.int64)

    def derive(self, scores, rows, bags):
        _pool_in_order(scores.values, scores.offsets, self.ranked, rows, bags, self.order)
        return True

    def along(self, rounds, scores, loss, slots, cuts, left, right):
        given = *loss, scores.offsets, scores.values, self.order, self.ranked
        stumps = rounds.unsorted, slots, 2 * cuts + 1, left, right
        return partial(_follow_in_order, *given, *stumps)


_POOLINGS = {LogSumExp: _Softly, LogMeanExp: _Softly, ISR: _Softly, NoisyOr: _Any, OWA: _InOrder}


@_inner
def _loss_of(loss, margin, level):
    """As in `mixedbag.boosting.losses`."""
    if loss == _EXPONENTIAL:
        value = exp(min(max(-margin - level, -LARGEST), LARGEST))
        return value, -value, value
    scale = exp(min(max(-level, -LARGEST), LARGEST))
    odds = exp(-abs(margin))
    likely = 1.0 / (1.0 + odds)
    hit = likely if margin >= 0.0 else odds * likely
    miss = odds * likely if margin >= 0.0 else likely
    value = log1p(odds) + max(-margin, 0.0)
    return value * scale, -miss * scale, hit * miss * scale


@_compiled
def _weigh(loss, level, sign, weight, offsets, q, size, pooled, rank, slope, cross):
    """The derivatives of the loss, from those of the scores; the total loss."""
    total = 0.0
    for bag in range(len(sign)):
        value, first, second = _loss_of(loss, sign[bag] * pooled[bag], level)
        total += weight[bag] * value
        slope[bag] = weight[bag] * sign[bag] * first
        cross[bag] = weight[bag] * second + slope[bag] * rank[bag]
        for row in range(np.uint64(offsets[bag]), np.uint64(offsets[bag + 1])):
            size[row] = abs(slope[bag]) * q[row]
    return total


@_compiled
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


@_compiled
def _pool_any(offsets, rows, bags):
    """The bag's odds are Π (1 + odds of its instances) − 1."""
    for bag in range(len(offsets) - 1):
        begin, end = offsets[bag], offsets[bag + 1]
        odds, sure, total = 0.0, 0.0, 0.0
        for row in range(begin, end):
            odds += rows[3, row] * (1.0 + odds)
            if odds > _HUGE:
                sure += log1p(odds)
                odds = 0.0
        none = 0.0 if sure > 0.0 else 1.0 / (1.0 + odds)
        some = 1.0 if sure > 0.0 else odds * none
        for row in range(begin, end):
            likely = 1.0 / (1.0 + rows[3, row])
            rows[0, row] = rows[3, row] * likely / some
            rows[1, row] = rows[0, row] * likely
            total += rows[0, row]
        bags[0, bag] = sure + log1p(odds) if sure > 0.0 else log(odds)
        bags[1, bag], bags[4, bag] = total, -none


@_compiled
def _pool_in_order(scores, offsets, ranked, rows, bags, order):
    """Equal scores share their weights."""
    for row in range(len(scores)):
        rows[3, row] = -scores[row]
        rows[1, row] = 0.0
    for bag in range(len(offsets) - 1):
        begin, end = offsets[bag], offsets[bag + 1]
        places = ascending(rows[3, begin:end])
        for k in range(begin, end):
            order[k] = begin + places[k - begin]
        pooled, k = 0.0, begin
        while k < end:
            last, shared = k, 0.0
            while last < end and scores[order[last]] == scores[order[k]]:
                shared += ranked[last]
                last += 1
            pooled += shared * scores[order[k]]
            for j in range(k, last):
                rows[0, order[j]] = shared / (last - k)
            k = last
        bags[0, bag], bags[1, bag], bags[4, bag] = pooled, 1.0, 0.0


@_inner
def _first_best(gain, n_cells):
    """The cell of the largest gain; the first of those that tie."""
    # Four at a time: one after the other, each would wait for the one before.
    tops = (-inf, -inf, -inf, -inf)
    for cell in range(0, n_cells - 3, 4):
        tops = (
            max(tops[0], gain[cell]),
            max(tops[1], gain[cell + 1]),
            max(tops[2], gain[cell + 2]),
            max(tops[3], gain[cell + 3]),
        )
    top = max(max(tops[0], tops[1]), max(tops[2], tops[3]))
    for cell in range(n_cells - n_cells % 4, n_cells):
        top = max(top, gain[cell])
    for cell in range(n_cells):
        if gain[cell] >= top - TIE * abs(top):
            return cell
    return 0


@_compiled
def _best_by_class(kind, codes, cells, is_cut, size, before, weight, table, best, stumps):
    """The best stump of every slot by the sums of either class: gain, two values, length."""
    both, below, above, gain = table[0], table[1], table[2], table[3]
    for slot in range(len(best)):
        first, n_cells, code = cells[slot], cells[slot + 1] - cells[slot], codes[slot]
        for cell in range(2 * n_cells):
            both[cell] = 0.0
        for row in range(np.uint64(len(size))):
            both[np.uint64(code[row])] += size[row]
        n, p = 0.0, 0.0
        for cell in range(n_cells):
            n += both[2 * cell]
            p += both[2 * cell + 1]
            below[cell], above[cell] = n, p
        for cell in range(n_cells):
            a, b = below[cell], above[cell]
            if kind == _SIGN:
                found = abs(b - a) + abs((p - n) - (b - a))
            else:
                rest = max(n - a, 0.0) * max(p - b, 0.0)
                found = (n + p) - 2.0 * (sqrt(a * b) + sqrt(rest))
            gain[cell] = found if is_cut[first + cell] else -inf
        cell = _first_best(gain, n_cells)
        a, b = below[cell], above[cell]
        best[slot], stumps[0, slot] = first + cell, gain[cell]
        if kind == _SIGN:
            stumps[1, slot] = -1.0 if b - a < 0.0 else 1.0
            stumps[2, slot] = -1.0 if (p - n) - (b - a) < 0.0 else 1.0
            stumps[3, slot] = min(atanh(min(max(gain[cell] / before, 1e-3), 1.0 - 1e-9)), LONGEST)
        else:
            smooth = (n + p) / (2.0 * weight)
            stumps[1, slot] = 0.5 * log((b + smooth) / (a + smooth))
            stumps[2, slot] = 0.5 * log((max(p - b, 0.0) + smooth) / (max(n - a, 0.0) + smooth))
            stumps[3, slot] = 1.0


@_compiled
def _best_by_newton(codes, order, offsets, cells, is_cut, rows, bags, longest, table, best, stumps):
    """The best stump of every slot by slopes and curvatures: gain, two values, length."""
    sums, v, a, b, gain = table[0], table[1], table[2], table[3], table[4]
    weight, bend = rows[0], rows[1]
    for slot in range(len(best)):
        first, n_cells = cells[slot], cells[slot + 1] - cells[slot]
        code, place = codes[slot], order[slot]
        for cell in range(n_cells):
            sums[4 * cell] = sums[4 * cell + 1] = sums[4 * cell + 2] = 0.0
        for bag in range(len(offsets) - 1):
            begin, end = np.uint64(offsets[bag]), np.uint64(offsets[bag + 1])
            s, c = bags[2, bag], bags[3, bag]
            whole, left = c * bags[1, bag], 0.0
            for k in range(begin, end):
                row = begin + np.uint64(place[k])
                q = weight[row]
                square = c * q * (2.0 * left + q)  # the growth of cross·Q²
                left += q
                cell = np.uint64(4) * np.uint64(code[k])
                sums[cell] += s * q
                sums[cell + np.uint64(1)] += s * bend[row] + square
                sums[cell + np.uint64(2)] += whole * q - square
        v_all, u_all, u_lr = 0.0, 0.0, 0.0
        for cell in range(n_cells):
            v_all += sums[4 * cell]
            u_all += sums[4 * cell + 1]
            u_lr += sums[4 * cell + 2]
            v[cell], a[cell], b[cell] = v_all, u_all, u_lr
        for cell in range(n_cells):
            c = u_all - a[cell] - 2.0 * b[cell]
            found = plain_newton_gain(v[cell], v_all - v[cell], a[cell], b[cell], c, longest)
            gain[cell] = found if is_cut[first + cell] else -inf
        for cell in range(n_cells):
            if np.isnan(gain[cell]):
                c = u_all - a[cell] - 2.0 * b[cell]
                gain[cell] = guarded_step(v[cell], v_all - v[cell], a[cell], b[cell], c, longest)[2]
        cell = _first_best(gain, n_cells)
        c = u_all - a[cell] - 2.0 * b[cell]
        best[slot], stumps[0, slot] = first + cell, gain[cell]
        stumps[1, slot], stumps[2, slot], _ = guarded_step(
            v[cell], v_all - v[cell], a[cell], b[cell], c, longest
        )
        stumps[3, slot] = 1.0


@_compiled
def _follow_softly(loss, level, sign, weight, lam, bags, shares, left, right, lengths, result):
    """(C, C′, C″) of each stump, that many times its values away; as `Sides`."""
    for k in range(len(lengths)):
        one, other = lengths[k] * left[k], lengths[k] * right[k]
        longer = max(one, other)  # of both sides, taken out so as not to overflow
        below, above = exp(lam * (one - longer)), exp(lam * (other - longer))
        value, slope, curve = 0.0, 0.0, 0.0
        for bag in range(len(sign)):
            low, high = shares[k, 0, bag] * below, shares[k, 1, bag] * above
            total = max(low + high, TINY)
            low, high = low / total, high / total
            speed = low * left[k] + high * right[k]
            bend = lam * (left[k] - right[k]) ** 2 * low * high
            pooled = bags[0, bag] + longer + log(total) / lam
            now, first, second = _loss_of(loss, sign[bag] * pooled, level)
            value += weight[bag] * now
            slope += weight[bag] * sign[bag] * first * speed
            curve += weight[bag] * (second * speed * speed + sign[bag] * first * bend)
        result[k, 0], result[k, 1], result[k, 2] = value, slope, curve


@_compiled
def _follow_any(
    loss, level, sign, weight, offsets, odds_of, codes, slots, cuts, left, right, lengths, result
):
    """The same for a noisy-or: a step multiplies the odds of either side."""
    for k in range(len(lengths)):
        code, cut = codes[slots[k]], cuts[k]
        below, above = exp(lengths[k] * left[k]), exp(lengths[k] * right[k])
        value, slope, curve = 0.0, 0.0, 0.0
        for bag in range(len(sign)):
            odds, sure, speed, bend = 0.0, 0.0, 0.0, 0.0
            for row in range(offsets[bag], offsets[bag + 1]):
                is_left = code[row] <= cut
                x = odds_of[row] * (below if is_left else above)
                h = left[k] if is_left else right[k]
                likely = 1.0 / (1.0 + x)
                speed += x * likely * h
                bend += x * likely * likely * h * h
                odds += x * (1.0 + odds)
                if odds > _HUGE:
                    sure += log1p(odds)
                    odds = 0.0
            if sure > 0.0:
                pooled = sure + log1p(odds)
            else:
                pooled, none = log(odds), 1.0 / (1.0 + odds)
                some = odds * none
                speed /= some
                bend = bend / some - none * speed * speed
            now, first, second = _loss_of(loss, sign[bag] * pooled, level)
            value += weight[bag] * now
            slope += weight[bag] * sign[bag] * first * speed
            curve += weight[bag] * (second * speed * speed + sign[bag] * first * bend)
        result[k, 0], result[k, 1], result[k, 2] = value, slope, curve


@_compiled
def _follow_in_order(
    loss, level, sign, weight, offsets, scores, order, ranked, codes, slots, cuts, left, right,
    lengths, result,
):  # fmt: skip
    """C of each stump, for an ordered average: either side keeps its order, so they are merged."""
    for k in range(len(lengths)):
        code, cut = codes[slots[k]], cuts[k]
        one, other = lengths[k] * left[k], lengths[k] * right[k]
        value = 0.0
        for bag in range(len(sign)):
            i = j = offsets[bag]
            end, pooled = offsets[bag + 1], 0.0
            for place in range(i, end):
                while i < end and code[order[i]] > cut:
                    i += 1
                while j < end and code[order[j]] <= cut:
                    j += 1
                below = scores[order[i]] + one if i < end else -inf
                above = scores[order[j]] + other if j < end else -inf
                pooled += ranked[place] * max(below, above)
                if below >= above:
                    i += 1
                else:
                    j += 1
            value += weight[bag] * _loss_of(loss, sign[bag] * pooled, level)[0]
        result[k, 0] = value
