"""Dual coordinate descent: linear machines with many features, one multiplier at a time.

The problem (`hinge.Problem`)::

    max Σ_s (dual_s − ridge_s/2 dual_s²) − ½‖Σ_s sign_s dual_s x_s‖²   over   0 ≤ dual ≤ upper

Certificate: the duality gap, below `tol` times the objective of the primal.
Callers: `margin` (linear, a thousand features or more).
Library: LIBLINEAR, the same method. It starts from nothing every time, needs a copy of the chosen
rows, and stops by the size of its last steps. Ours has 0.6 to 0.8 of its speed: kept for the starts
and the gap alone.
"""

import numpy as np
from numba import njit

from mixedbag._solvers.numbered_rows import add, dot


def dual_descent(rows, problem, dual, tol, seed, max_epochs=10_000):
    """Solve `problem` from `dual`, tightened until the relative duality gap is below `tol`.

    Returns the dual, the weights, the duality gap, and whether it is below `tol`.
    """
    norms = rows.squared_norms(problem.rows)
    epochs, violation = 0, 0.01
    while True:
        w = rows.total(problem.rows, problem.sign * dual)  # anew: rounding adds up
        epochs += descend(
            *rows.buffers, problem.rows, problem.sign, problem.upper, problem.ridge, norms,
            violation, max_epochs - epochs, seed, dual, w,
        )  # fmt: skip
        margin = problem.sign * rows.scores(problem.rows, w)
        objective = 0.5 * w @ w + problem.loss(margin)
        gap = problem.slackness(dual, margin)
        converged = gap <= tol * objective
        if converged or epochs >= max_epochs:
            return dual, w, gap, converged
        violation *= 0.1


@njit(cache=True, nogil=True)
def descend(
    data, indices, indptr, c_data, c_indices, c_indptr, n, bias, rows,
    sign, upper, ridge, norm2, tol, max_epochs, seed, dual, w,
):  # fmt: skip
    """Minimise `½|w|² + Σ_s (ridge_s/2 dual_s² - dual_s)` over `0 <= dual <= upper`, in place.

    `w` stays equal to `Σ_s sign_s dual_s x_s`. A step solves the problem exactly in one dual
    variable. Stops when the projected gradient spans less than `tol`, or after `max_epochs`;
    returns the number of epochs. Variables that push against a bound harder than any did in the
    last epoch are left out until the others have converged; then all are visited again.
    """
    active = np.arange(len(rows))
    n_active = len(active)
    leave_above, leave_below = np.inf, -np.inf
    state = seed % 2147483646 + 1
    for epoch in range(max_epochs):
        largest, smallest = -np.inf, np.inf
        for k in range(n_active - 1):  # a random order, from a congruential generator
            state = state * 48271 % 2147483647
            j = k + state % (n_active - k)
            active[k], active[j] = active[j], active[k]
        k = 0
        while k < n_active:
            s = active[k]
            i = rows[s]
            if i < n:
                score = dot(data, indices, indptr, i, w) + bias * w[-1]
            else:
                score = dot(c_data, c_indices, c_indptr, i - n, w) + bias * w[-1]
            old = dual[s]
            gradient = sign[s] * score - 1.0 + ridge[s] * old
            at_zero, at_upper = old <= 0.0, old >= upper[s]
            if (at_zero and gradient > leave_above) or (at_upper and gradient < leave_below):
                n_active -= 1
                active[k], active[n_active] = active[n_active], active[k]
                continue
            k += 1
            projected = gradient
            if at_zero:
                projected = min(gradient, 0.0)
            elif at_upper:
                projected = max(gradient, 0.0)
            largest = max(largest, projected)
            smallest = min(smallest, projected)
            if projected != 0.0:
                new = min(max(old - gradient / (norm2[s] + ridge[s]), 0.0), upper[s])
                step = (new - old) * sign[s]
                dual[s] = new
                if i < n:
                    add(data, indices, indptr, i, step, w)
                else:
                    add(c_data, c_indices, c_indptr, i - n, step, w)
                w[-1] += step * bias
        if n_active == 0 or largest - smallest <= tol:
            if n_active == len(active):
                return epoch + 1
            n_active = len(active)
            leave_above, leave_below = np.inf, -np.inf
        else:
            leave_above = largest if largest > 0.0 else np.inf
            leave_below = smallest if smallest < 0.0 else -np.inf
    return max_epochs
