"""Loops of rounds on few instances: poolings, sums slot by slot, and the loss along stumps.

Of every instance `rows` has its weight in the bag, the bend, the size of the loss's derivative, and
what the pooling keeps; of every bag `bags` has the score, the sum of weights, the slope, the
curvature that couples instances, and its part that is the pooling's. What each loop computes,
`Scores`, `StumpSearch` and the steps say in arrays: the tests compare them.
"""

from math import atanh, exp, inf, log, log1p, sqrt

import numpy as np
from numba import njit

from mixedbag._solvers import INNER
from mixedbag._sorting import ascending
from mixedbag.boosting._scores import TINY
from mixedbag.boosting.losses import LARGEST
from mixedbag.boosting.steps import LONGEST, TIE, guarded_step, plain_newton_gain

EXPONENTIAL, LOGISTIC = 0, 1
SIGN, PARTITION = 0, 1
_HUGE = 1e100  # odds of a bag that count as certainty
_compiled = njit(cache=True, nogil=True, error_model="numpy")  # no check before each division
_inner = njit(error_model="numpy", **INNER)


@_inner
def _loss_of(loss, margin, level):
    """As in `mixedbag.boosting.losses`."""
    if loss == EXPONENTIAL:
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
def weigh(loss, level, sign, weight, offsets, q, size, pooled, rank, slope, cross):
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
def pool_softly(scores, offsets, lam, constant, weight, bend, pooled):
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
def pool_any(offsets, rows, bags):
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
def pool_in_order(scores, offsets, ranked, rows, bags, order):
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
def best_by_class(kind, codes, cells, is_cut, size, before, weight, table, best, stumps):
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
            if kind == SIGN:
                found = abs(b - a) + abs((p - n) - (b - a))
            else:
                rest = max(n - a, 0.0) * max(p - b, 0.0)
                found = (n + p) - 2.0 * (sqrt(a * b) + sqrt(rest))
            gain[cell] = found if is_cut[first + cell] else -inf
        cell = _first_best(gain, n_cells)
        a, b = below[cell], above[cell]
        best[slot], stumps[0, slot] = first + cell, gain[cell]
        if kind == SIGN:
            stumps[1, slot] = -1.0 if b - a < 0.0 else 1.0
            stumps[2, slot] = -1.0 if (p - n) - (b - a) < 0.0 else 1.0
            stumps[3, slot] = min(atanh(min(max(gain[cell] / before, 1e-3), 1.0 - 1e-9)), LONGEST)
        else:
            smooth = (n + p) / (2.0 * weight)
            stumps[1, slot] = 0.5 * log((b + smooth) / (a + smooth))
            stumps[2, slot] = 0.5 * log((max(p - b, 0.0) + smooth) / (max(n - a, 0.0) + smooth))
            stumps[3, slot] = 1.0


@_compiled
def best_by_newton(codes, order, offsets, cells, is_cut, rows, bags, longest, table, best, stumps):
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
def follow_softly(loss, level, sign, weight, lam, bags, shares, left, right, lengths, result):
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
def follow_any(
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
def follow_in_order(
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
