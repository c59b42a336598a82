"""The dual of a support vector machine, climbed pair by pair, no higher than it takes to decide."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def climb(gram, sign, cost, beta, error, value, ceiling, goal, precision, max_iter):
    """Maximise sᵀβ − ½βᵀKβ over Σβ = 0 and 0 ≤ sβ ≤ cost, from a feasible β.

    The value reached bounds the machine's objective ½‖w‖² + Σ cost max(0, 1 − s f) from below, and
    the objective of the machine at hand bounds it from above. So the question whether labels are
    better than others is often settled early: the climb ends when the lower bound passes `ceiling`,
    when the upper bound falls below `goal`, or when the two are within `precision` of each other.

    `beta` and `error` = s − Kβ are changed in place; `value` is that of β. Rows with s = 0 take no
    part, and have no multiplier.

    Returns the lower and the upper bound, the intercept and the number of steps.
    """
    n = len(sign)
    norm = np.empty(n)
    for r in range(n):
        norm[r] = gram[r, r]
    n_iter = 0
    tol = 0.1
    while True:
        highest, i = -np.inf, -1
        for r in range(n):
            if error[r] > highest and beta[r] < (cost[r] if sign[r] > 0.0 else 0.0):
                highest, i = error[r], r
        lowest, j, slope, curve = np.inf, -1, 0.0, 1.0
        for r in range(n):
            if beta[r] > (-cost[r] if sign[r] < 0.0 else 0.0):
                lowest = min(lowest, error[r])
                gain = highest - error[r]
                if gain > 0.0:
                    bend = max(norm[i] + norm[r] - 2.0 * gram[i, r], 1e-12)
                    if gain * gain * curve > slope * slope * bend:  # the pair that promises most
                        j, slope, curve = r, gain, bend
        stuck = j < 0 or n_iter >= max_iter or value > ceiling
        level = highest - lowest <= tol
        if stuck or level or n_iter % 16 == 15:
            intercept = _intercept(highest, lowest)
            upper = 0.0
            for r in range(n):
                upper += 0.5 * beta[r] * (sign[r] - error[r])
                upper += cost[r] * max(0.0, sign[r] * (error[r] - intercept))
            if stuck or upper < goal or upper - value <= precision * upper:
                return value, upper, intercept, n_iter
            if level:
                tol *= 0.1
        n_iter += 1
        room = (cost[i] if sign[i] > 0.0 else 0.0) - beta[i]
        step = min(slope / curve, room, beta[j] + (cost[j] if sign[j] < 0.0 else 0.0))
        beta[i] += step
        beta[j] -= step
        value += step * slope - 0.5 * step * step * curve
        for r in range(n):
            error[r] -= step * (gram[i, r] - gram[j, r])


@njit(cache=True, nogil=True)
def _intercept(highest, lowest):
    """Between the errors of those that may rise and those that may fall, if there are any."""
    if np.isinf(highest):
        return 0.0 if np.isinf(lowest) else lowest
    return highest if np.isinf(lowest) else 0.5 * (highest + lowest)
