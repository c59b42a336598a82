"""Dual coordinate descent: linear machines with many features, one multiplier at a time.

The problem (`hinge.Problem`)::

    max Σ_s (dual_s − ridge_s/2 dual_s²) − ½‖Σ_s sign_s dual_s x_s‖²
    over   0 ≤ dual ≤ upper   and   Σ_s sign_s dual_s = 0

Certificate: the duality gap, below `tol` times the objective of the primal.
Callers: `margin` (linear, a thousand features or more, sparse or few rows; else to begin with).
Library: LIBLINEAR, the same method without the sum to keep: it penalises its intercept, copies the
chosen rows, and stops by the size of its last steps. Ours has 0.4 to 0.6 of its speed and is kept
for the free intercept and the gap; starting from the last machine gains nothing on such data.
"""

import numpy as np
from numba import njit

from mixedbag._solvers.numbered_rows import add, dot

_LEASH = 0.1  # how far the intercept may move, relative to the rows' squared norms


def dual_descent(rows, problem, dual, intercept, tol, seed, max_epochs=10_000):
    """Solve `problem` from `dual` and the intercept about the centre of `rows`.

    One multiplier alone cannot move when their sum is given. So the intercept `b` is on a leash: a
    round solves the machine with `(b − before)² / 2 leash` added to its objective, whose dual has
    no sum to keep, and moves the leash to the new intercept. These are proximal steps: they end
    where the leash is slack, at the solution with a free intercept, and a secant through the last
    two of them says how far to look ahead. A round starts from the multipliers of the one before.

    Returns the dual, the weights, the duality gap, and whether that is below `tol`.
    """
    norms = rows.squared_norms(problem.rows)
    centre = rows.along_centre(problem.rows), rows.centre @ rows.centre
    leash = _LEASH * norms.mean()
    epochs, violation = 0, 0.01
    last = None
    while True:
        total = rows.sum(problem.rows, problem.sign * dual)  # anew: rounding adds up
        done, pull = descend(
            *rows.buffers, problem.rows, *centre, problem.sign, problem.upper, problem.ridge, norms,
            leash, intercept, violation, max_epochs - epochs, seed, dual, total,
        )  # fmt: skip
        epochs += done
        intercept += leash * pull
        even = problem.evened(dual)
        w = rows.total(problem.rows, problem.sign * even)
        w[-1] = intercept
        margin = problem.sign * rows.scores(problem.rows, w)
        objective = 0.5 * w[:-1] @ w[:-1] + problem.loss(margin)
        gap = problem.slackness(even, margin)
        converged = gap <= max(tol * objective, problem.floor)
        if converged or epochs >= max_epochs:
            return even, w, gap, converged
        if leash * abs(pull) <= violation:
            violation *= 0.1
        here = intercept, pull
        if last is not None and abs(last[1]) > abs(pull):
            ahead = pull * (intercept - last[0]) / (last[1] - pull)
            if 0.0 < ahead * np.sign(pull) < 10.0 * leash * abs(pull):
                intercept += ahead
        last = here


@njit(cache=True, nogil=True)
def descend(
    data, indices, indptr, c_data, c_indices, c_indptr, n, rows, along, centre2, sign, upper, ridge,
    norm2, leash, intercept, tol, max_epochs, seed, dual, w,
):  # fmt: skip
    """Minimise over `0 <= dual <= upper`, in place,

        ½|Σ_s sign_s dual_s (x_s − centre)|² + leash/2 pull² + intercept·pull
        + Σ_s (ridge_s/2 dual_s² − dual_s),        pull = Σ_s sign_s dual_s.

    `w` stays equal to `Σ_s sign_s dual_s x_s`; `along` is `⟨x_s, centre⟩`, `centre2` its square. A
    step solves the problem exactly in one dual variable. Stops when the projected gradient spans
    less than `tol`, or after `max_epochs`; returns the number of epochs and the pull. Variables
    that push against a bound harder than any did in the last epoch are left out until the others
    have converged; then all are visited again.
    """
    active = np.arange(len(rows))
    n_active = len(active)
    leave_above, leave_below = np.inf, -np.inf
    state = seed % 2147483646 + 1
    pull, w_centre = 0.0, 0.0
    for s in range(len(rows)):
        pull += sign[s] * dual[s]
        w_centre += sign[s] * dual[s] * along[s]
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
                score = dot(data, indices, indptr, i, w)
            else:
                score = dot(c_data, c_indices, c_indptr, i - n, w)
            score += intercept - w_centre + pull * (centre2 + leash - along[s])
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
                new = min(max(old - gradient / (norm2[s] + leash + ridge[s]), 0.0), upper[s])
                step = (new - old) * sign[s]
                dual[s] = new
                pull += step
                w_centre += step * along[s]
                if i < n:
                    add(data, indices, indptr, i, step, w)
                else:
                    add(c_data, c_indices, c_indptr, i - n, step, w)
        if n_active == 0 or largest - smallest <= tol:
            if n_active == len(active):
                return epoch + 1, pull
            n_active = len(active)
            leave_above, leave_below = np.inf, -np.inf
        else:
            leave_above = largest if largest > 0.0 else np.inf
            leave_below = smallest if smallest < 0.0 else -np.inf
    return max_epochs, pull
