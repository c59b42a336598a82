"""The proven optimum of eq. 9, by branching on labels.

A machine for the labels given so far, the other instances left out, costs no more than one for
all: its dual value is a lower bound. Climbing the dual further, from the multipliers of the parent,
takes a few steps a label, and most branches are cut long before every label is given.
"""

import heapq
import itertools
import time

import numpy as np
from numba import njit

from mixedbag._solvers.smo import climb
from mixedbag.aggregate._count_program import missed_price, settle
from mixedbag.aggregate._descent import dual_value

_CUT = 1e-5  # what a branch has to promise, relatively
_MEMORY = 2**28  # bytes of open branches, about


def prove(gram, bags, positives, cost, ratio, labels, objective, time_limit):
    """The best labels and a bound that none fall below, given labels and their objective.

    Branches with the lowest bound come first, so that the bound rises steadily; when too many are
    open, the search goes into depth.
    """
    give_up = time.monotonic() + time_limit
    problem = bags.offsets, positives, cost, ratio
    n = bags.n_instances
    born = itertools.count()
    # An open branch: bound, order of birth, labels (0: none yet) and multipliers of the parent,
    # and the one label that it adds. The parent's arrays are shared.
    waiting = [(0.0, next(born), np.zeros(n, np.int8), np.zeros(n), 0, 0)]
    deep: list[tuple] = []
    bound = objective
    while (waiting or deep) and time.monotonic() < give_up:
        low, _, sign, beta, i, label = deep.pop() if deep else heapq.heappop(waiting)
        goal = objective * (1.0 - _CUT)
        if low >= goal:
            bound = min(bound, low)
            continue
        sign, beta = sign.astype(float), beta.copy()
        sign[i] = label
        settle(bags.offsets, positives, ratio, sign)
        missed = missed_price(*problem, sign)
        error, value = dual_value(gram, sign, beta)
        value, upper, intercept, _ = climb(
            gram, sign, cost, beta, error, value, goal - missed, 0.0, 1e-3, 20 * n
        )
        low = max(low, value + missed)
        if low >= goal:
            bound = min(bound, low)
            continue
        i, likely = surest(gram, sign, cost, error, intercept)
        if i < 0:  # every label is given
            bound = min(bound, low)
            if upper + missed < objective:
                labels, objective = sign > 0.0, upper + missed
            continue
        sign = sign.astype(np.int8)
        for label in (-likely, likely):
            child = low, next(born), sign, beta, i, int(label)
            if len(waiting) * 9 * n < _MEMORY:
                heapq.heappush(waiting, child)
            else:
                deep.append(child)
    return labels, min([bound, *(low for low, *_ in waiting + deep)])


@njit(cache=True, nogil=True)
def surest(gram, sign, cost, error, intercept):
    """The open label whose wrong value would raise the bound most, and its likely value.

    Of all ways to branch this cuts soonest: one of the two branches dies at once. The rise is what
    the multiplier of that instance alone would bring.
    """
    pick, most, likely = -1, -1.0, 1.0
    for r in range(len(sign)):
        if sign[r] == 0.0:
            score = intercept - error[r]
            loss = 1.0 + abs(score)
            full = cost[r] * gram[r, r]
            rise = 0.5 * loss * loss / gram[r, r] if loss < full else cost[r] * (loss - 0.5 * full)
            if rise > most:
                pick, most, likely = r, rise, (1.0 if score > 0.0 else -1.0)
    return pick, likely
