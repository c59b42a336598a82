"""Linear machines with a 1-norm penalty: many features, few of them selected.

The problem, whose intercept is free::

    min Σ_k |w_k| + Σ_i c_i max(0, 1 − a_i·w − s_i b)²        a_i: a row times its sign s_i

and its dual: max Σ_i α_i − α_i²/(4 c_i)  over  α ≥ 0,  |Aᵀα| ≤ 1,  s·α = 0.

Certificate: the duality gap over all features, below `tol` times the objective.
Callers: `MILES`.
Library: LIBLINEAR, by coordinates, which features that resemble each other make slow, and whose
intercept has a price. Interior points take some twenty systems of equations, however alike the
features; these come in as their slopes ask for it, so that the systems are small: 7 times faster at
C = 0.1, 4 times at 1 and 10 (`product/solvers`).
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

_SHORT = 0.995  # of the way to the border
_ROUNDING = 1e-8  # of the objective: a smaller gap that falls no longer is rounding
_FEW = 100  # features that begin; later as many come in as there are, at most


def sparse_machine(table, sign, cost, tol, max_steps):
    """The weights, zero but for those selected, the intercept, and the number of steps."""
    counts = cost > 0.0
    sign, cost = sign[counts], cost[counts]
    rows = np.ascontiguousarray(sign[:, None] * table[counts], dtype=np.float64)
    w, n_steps = np.zeros(rows.shape[1]), 0
    b, dual = _constant(sign, cost)
    active = np.zeros(len(w), dtype=bool)
    while True:
        reach = np.abs(dual @ rows)
        asking = np.flatnonzero((reach > 1.0) & ~active)
        close = _gap(rows @ w + sign * b, w, dual, cost, reach.max()) <= tol
        if close or not len(asking) or n_steps >= max_steps:
            return w, float(b), n_steps
        most = max(_FEW, int(active.sum()))
        active[asking[np.argsort(-reach[asking], kind="stable")[:most]]] = True
        w[active], b, dual, more = _interior_points(
            rows[:, active], sign, cost, tol, max_steps - n_steps
        )
        n_steps += more


def _constant(sign, cost):
    """The best intercept without features, and its dual."""
    b = sign @ cost / cost.sum()
    return b, 2.0 * cost * (1.0 - sign * b)


def _gap(margin, w, dual, cost, reach):
    """The duality gap, a share of the objective, once the dual is small enough for all features."""
    objective = np.abs(w).sum() + cost @ np.maximum(1.0 - margin, 0.0) ** 2
    dual = dual / max(1.0, reach)
    return 1.0 - (dual.sum() - (dual**2 / (4.0 * cost)).sum()) / objective


def _interior_points(rows, sign, cost, tol, max_steps):
    """Weights, intercept, dual and number of steps, all features being allowed."""
    b, dual = _constant(sign, cost)
    dual *= min(0.5, 0.5 / np.abs(dual @ rows).max())  # inside
    over = np.ones(len(cost))  # how much a row's margin exceeds one
    sides = np.full((2, rows.shape[1]), 1.0 / rows.shape[1])  # w is the first less the second
    n_steps, gap = 0, np.inf
    while True:
        reach = dual @ rows
        slack = np.array([1.0 - reach, 1.0 + reach])
        w = sides[0] - sides[1]
        margin = rows @ w + sign * b
        before, gap = gap, _gap(margin, w, dual, cost, 1.0)
        stuck = gap > 0.5 * before and gap <= _ROUNDING
        if gap <= tol or stuck or slack.min() <= 0.0 or n_steps == max_steps:
            break
        n_steps += 1
        try:
            solve = _system(rows, 0.5 / cost + over / dual, (sides / slack).sum(axis=0))
        except LinAlgError:  # as near to the end as rounding allows
            break
        error = 1.0 - dual / (2.0 * cost) - margin + over
        level, tilt = solve(sign)  # what the intercept moves
        now = dual @ over + (sides * slack).sum()
        goal, bent = 0.0, (np.zeros_like(dual), np.zeros_like(sides))
        for corrected in (False, True):
            # Where products would be `goal`, less what the other step bends them by.
            to_over = (goal - bent[0]) / dual - over
            to_sides = (goal - bent[1]) / slack - sides
            move, drift = solve(error - rows @ (to_sides[0] - to_sides[1]) + to_over)
            lift = sign @ (move + dual) / (sign @ level)
            move, drift = move - lift * level, drift - lift * tilt
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
        b += size * lift
    # Of a feature that is not selected the weight falls, of one that is its slack.
    return np.where((sides > slack).any(axis=0), w, 0.0), b, dual, n_steps


def _system(rows, diagonal, weight):
    """What solves (diagonal + rows · weight · rowsᵀ) x = right, and what xᵀ rows is then.

    By features, where these are fewer: x is then a difference that nearly cancels, xᵀ rows is not.
    """
    n, k = rows.shape
    if k < n:
        bent = rows / diagonal[:, None]
        inner = rows.T @ bent
        np.einsum("ii->i", inner)[:] += 1.0 / weight
        factor = cho_factor(inner, overwrite_a=True, check_finite=False)

        def by_features(right):
            found = cho_solve(factor, right @ bent)
            return (right - rows @ found) / diagonal, found / weight

        return by_features
    bent = rows * np.sqrt(weight)
    outer = bent @ bent.T
    np.einsum("ii->i", outer)[:] += diagonal
    factor = cho_factor(outer, overwrite_a=True, check_finite=False)

    def by_rows(right):
        found = cho_solve(factor, right)
        return found, found @ rows

    return by_rows


def _room(value, change):
    """How far one can go before anything is negative."""
    falling = change < 0.0
    return (value[falling] / -change[falling]).min(initial=np.inf)
