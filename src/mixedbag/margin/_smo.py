"""Kernels: sequential minimal optimisation on columns of a Gram matrix, and sums of columns."""

import numpy as np
from numba import njit

_MOST_STEPS = 10_000_000


@njit(cache=True, nogil=True)
def minimise_pairs(table, places, rows, sign, cost, diagonal, tol, dual, error):
    """Move pairs of duals to where the dual objective is best, keeping `Σ sign·dual`; in place.

    Slot `s` stands for row `rows[s]`, whose kernel with all rows is in `table[places[s]]` and with
    itself in `diagonal[s]`. `error` is `sign - score` of every slot, scores without intercept. At
    the optimum no slot whose `sign·dual` may grow has a larger error than one where it may fall.
    Stops when no error is larger by more than `tol`.
    """
    n = len(rows)
    for _ in range(_MOST_STEPS):
        first, top, bottom = -1, -np.inf, np.inf
        for s in range(n):
            if (dual[s] < cost[s] if sign[s] > 0.0 else dual[s] > 0.0) and error[s] > top:
                first, top = s, error[s]
            if (dual[s] > 0.0 if sign[s] > 0.0 else dual[s] < cost[s]) and error[s] < bottom:
                bottom = error[s]
        if top - bottom <= tol:
            return
        one = table[places[first]]
        second, most, step = -1, 0.0, 0.0
        for s in range(n):
            gap = top - error[s]
            if gap > 0.0 and (dual[s] > 0.0 if sign[s] > 0.0 else dual[s] < cost[s]):
                bend = max(diagonal[first] + diagonal[s] - 2.0 * one[rows[s]], 1e-12)
                if gap * gap > most * bend:
                    second, most, step = s, gap * gap / bend, gap / bend
        other = table[places[second]]
        step = min(step, cost[first] - dual[first] if sign[first] > 0.0 else dual[first])
        step = min(step, dual[second] if sign[second] > 0.0 else cost[second] - dual[second])
        dual[first] = _moved(dual[first], sign[first] * step, cost[first])
        dual[second] = _moved(dual[second], -sign[second] * step, cost[second])
        for s in range(n):
            error[s] -= step * (one[rows[s]] - other[rows[s]])


@njit(cache=True, nogil=True)
def _moved(dual, step, cost):
    """`dual + step`; exactly on a bound when rounding is all that keeps it off."""
    dual += step
    if dual < 1e-12 * cost:
        return 0.0
    return cost if dual > (1.0 - 1e-12) * cost else dual


@njit(cache=True, nogil=True)
def add_columns(table, places, coef, total):
    """Add `Σ_s coef_s table[places_s]` to `total`, in place."""
    for s in range(len(places)):
        column = table[places[s]]
        for r in range(len(total)):
            total[r] += coef[s] * column[r]
