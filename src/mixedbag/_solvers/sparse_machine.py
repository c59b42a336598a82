"""Linear machines with a 1-norm penalty: few rows, many features, few of them selected.

The problem::

    min Σ_k |w_k| + Σ_i c_i max(0, 1 − a_i·w)²        a_i: a row times its sign

and its dual: max Σ_i α_i − α_i²/(4 c_i)  over  α ≥ 0,  |Aᵀα| ≤ 1.

Certificate: the duality gap, below `tol` times the objective.
Callers: `MILES`, up to a few hundred bags.
Library: LIBLINEAR, by coordinates, which features that resemble each other make slow. Interior
points take some twenty systems of as many equations as there are rows, however alike the features:
4 and 9 times faster at C = 1 and 10, slower at 0.1, where hardly anything is selected.
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

_MOST_STEPS = 100
_SHORT = 0.995  # of the way to the border
_ROUNDING = 1e-8  # of the objective: a smaller gap that falls no longer is rounding


def sparse_machine(rows, cost, tol):
    """The weights, zero but for those selected, and the number of steps."""
    rows, cost = np.ascontiguousarray(rows[cost > 0.0], dtype=np.float64), cost[cost > 0.0]
    # Inside: all α are positive, and no |Aᵀα| is more than a half.
    dual = np.minimum(cost, 0.5 / np.abs(rows).sum(axis=0).max())
    over = np.ones(len(cost))  # how much a row's margin exceeds one
    sides = np.full((2, rows.shape[1]), 1.0 / rows.shape[1])  # w is the first less the second
    n_steps, gap = 0, np.inf
    while n_steps < _MOST_STEPS:
        n_steps += 1
        reach = dual @ rows
        slack = np.array([1.0 - reach, 1.0 + reach])
        w = sides[0] - sides[1]
        error = 1.0 - dual / (2.0 * cost) - rows @ w + over
        objective = np.abs(w).sum() + cost @ np.maximum(1.0 - rows @ w, 0.0) ** 2
        before, gap = gap, objective - (dual.sum() - (dual**2 / (4.0 * cost)).sum())
        stuck = gap > 0.5 * before and gap <= _ROUNDING * objective
        if gap <= tol * objective or stuck or slack.min() <= 0.0:
            break
        bent_rows = rows * np.sqrt((sides / slack).sum(axis=0))
        system = bent_rows @ bent_rows.T
        np.einsum("ii->i", system)[:] += 0.5 / cost + over / dual
        try:
            factor = cho_factor(system, overwrite_a=True, check_finite=False)
        except LinAlgError:  # as near to the end as rounding allows
            break
        now = dual @ over + (sides * slack).sum()
        goal, bent = 0.0, (np.zeros_like(dual), np.zeros_like(sides))
        for corrected in (False, True):
            # Where products would be `goal`, less what the other step bends them by.
            to_over = (goal - bent[0]) / dual - over
            to_sides = (goal - bent[1]) / slack - sides
            move = cho_solve(factor, error - rows @ (to_sides[0] - to_sides[1]) + to_over)
            drift = move @ rows
            moves = (
                (dual, move),
                (over, to_over - over / dual * move),
                (sides, to_sides + sides / slack * np.array([drift, -drift])),
                (slack, np.array([-drift, drift])),
            )
            size = min(1.0, *(_SHORT * _room(value, change) for value, change in moves))
            if not corrected:
                after = [value + size * change for value, change in moves]
                then = after[0] @ after[1] + (after[2] * after[3]).sum()
                goal = (now / (len(dual) + sides.size)) * (then / now) ** 3
                bent = moves[0][1] * moves[1][1], moves[2][1] * moves[3][1]
        dual, over, sides = (value + size * change for value, change in moves[:3])
    # Of a feature that is not selected the weight falls, of one that is its slack.
    return np.where((sides > slack).any(axis=0), w, 0.0), n_steps


def _room(value, change):
    """How far one can go before anything is negative."""
    falling = change < 0.0
    return (value[falling] / -change[falling]).min(initial=np.inf)
