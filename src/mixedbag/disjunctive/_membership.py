"""Does a point lie in the convex hull of some polyhedra? If not, which multipliers prove it?

The *pieces* share the rows A z ≥ β and have one more row of their own, c_x·z ≥ 1. A point p lies in
their hull if it is a sum of scaled points, one of each piece:

    Σ_x z^x = p,   Σ_x η^x = 1,   A z^x ≥ β η^x,   c_x·z^x ≥ η^x,   η ≥ 0.

Allowing every inequality, or else the first equation, to be missed by t, the least t is a linear
program whose duals are the multipliers of a valid inequality that p violates by t.
"""

import numpy as np
from scipy.sparse import block_array, csr_array, eye_array, kron

from mixedbag._solvers.highs import (
    INFINITY,
    append_columns,
    append_rows,
    new_solver,
    solve_warm,
)


def multipliers_against(point, shared, beta, own, free, normalization, clock):
    """Multipliers (pieces, shared rows + 1): those of the shared rows, then that of the own row.

    Parameters
    ----------
    point : (n,) array
    shared, beta : (R, n) and (R,) arrays
        Rows that all pieces have.
    own : (K, n) array
        The further row of each piece; its right-hand side is 1.
    free : (n,) bool array
        Coordinates that may be negative.
    normalization : {"multipliers", "coefficients"}
        What may be missed by t: the inequalities (so that all multipliers sum to 1) or the first
        equation (so that the coefficients of the inequality have 1-norm 1).
    """
    (K, n), R = own.shape, len(beta)
    each = eye_array(K, format="csr")
    pieces = block_array(
        [[kron(each, csr_array(shared)), kron(each, csr_array(-beta[:, None]))], [_own(own), -each]]
    )
    sums = block_array([[kron(np.ones((1, K)), eye_array(n)), csr_array((n, K))]])
    shares = csr_array(np.concatenate([np.zeros(K * n), np.ones(K)])[None, :])
    m = K * (R + 1)
    if normalization == "multipliers":
        body, missed = [[pieces], [sums], [shares]], [np.ones(m), np.zeros(n + 1)]
        lower = np.concatenate([np.zeros(m), point, [1.0]])
        upper = np.concatenate([np.full(m, INFINITY), point, [1.0]])
    else:
        body = [[pieces], [sums], [-sums], [shares]]
        missed = [np.zeros(m), np.ones(2 * n), np.zeros(1)]
        lower = np.concatenate([np.zeros(m), point, -point, [1.0]])
        upper = np.concatenate([np.full(m + 2 * n, INFINITY), [1.0]])
    least = np.concatenate([np.tile(np.where(free, -INFINITY, 0.0), K), np.zeros(K + 1)])
    cost = np.zeros(len(least))
    cost[-1] = 1.0
    solver = new_solver()
    none = np.empty((0, len(cost)))
    append_columns(solver, cost, least, np.full(len(cost), INFINITY), none)
    last = csr_array(np.concatenate(missed)[:, None])
    append_rows(solver, lower, upper, block_array([[block_array(body), last]]))
    solve_warm(solver, clock)
    dual = np.maximum(np.array(solver.getSolution().row_dual)[:m], 0.0)
    return np.hstack([dual[: K * R].reshape(K, R), dual[K * R :, None]])


def _own(rows):
    """Row k of a (K, n) array in row k and columns k n … (k + 1) n."""
    K, n = rows.shape
    indptr = np.arange(K + 1) * n
    return csr_array((rows.ravel(), np.arange(K * n), indptr), shape=(K, K * n))
