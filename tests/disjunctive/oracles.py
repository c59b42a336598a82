"""Small disjunctive programs, and two independent ways to solve them."""

from itertools import product

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from mixedbag.disjunctive._program import DisjunctiveProgram, slack_costs


def random_program(seed, n_positive=4, n_negative=4, size=3, n_features=3, C=1.0, intercept=None):
    """Bags of normal instances, one of each positive bag shifted."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, size + 1, n_positive + n_negative)
    sign = np.repeat([1.0, -1.0], [n_positive, n_negative])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    X = rng.normal(size=(offsets[-1], n_features))
    X[offsets[:n_positive], 0] += 1.5
    return DisjunctiveProgram(
        values=X,
        bags=[np.arange(offsets[i], offsets[i + 1]) for i in range(n_positive)],
        negatives=np.arange(offsets[n_positive], offsets[-1]),
        slack_cost=slack_costs(sizes, sign, np.ones(len(sizes)), C, True),
        intercept=bool(seed % 2) if intercept is None else intercept,
    )


def margin_lp(program, rows):
    """(A, b, c, bounds) of min c·z, A z ≤ b for z = (w⁺, w⁻, b, ξ) and these margin rows."""
    n, m, e = len(rows), program.n_features, program.n_examples
    H = program.values[rows] * program.sign[rows][:, None]
    A = np.zeros((n, 2 * m + 1 + e))
    A[:, :m], A[:, m : 2 * m] = -H, H
    A[:, 2 * m] = -program.sign[rows] if program.intercept else 0.0
    A[np.arange(n), 2 * m + 1 + program.example[rows]] = -1.0
    c = np.concatenate([np.ones(2 * m), [0.0], program.slack_cost])
    bounds = [(0, None)] * (2 * m) + [(None, None)] + [(0, None)] * e
    return A, -np.ones(n), c, bounds


def brute_force(program):
    """The optimum, by one LP for every choice of witnesses."""
    best = np.inf
    for witness in product(*program.bags):
        rows = np.concatenate([np.array(witness), program.negatives])
        A, b, c, bounds = margin_lp(program, rows)
        best = min(best, linprog(c, A, b, bounds=bounds).fun)
    return best


def big_m(program, M=100.0, time_limit=60.0):
    """The optimum, by HiGHS's own mixed-integer solver on the big-M formulation."""
    rows = np.concatenate([*program.bags, program.negatives])
    A, b, c, bounds = margin_lp(program, rows)
    positives = np.concatenate(program.bags)
    n, width, k = len(rows), A.shape[1], len(positives)
    choose = np.zeros((n, k))  # y = 0 switches a margin row off
    choose[np.arange(k), np.arange(k)] = M
    one = np.zeros((len(program.bags), width + k))
    one[program.example[positives], width + np.arange(k)] = 1.0
    upper = np.concatenate([b[:k] + M, b[k:]])
    low = np.array([-np.inf if lo is None else lo for lo, _ in bounds] + [0.0] * k)
    high = np.concatenate([np.full(width, np.inf), np.ones(k)])
    return milp(
        np.concatenate([c, np.zeros(k)]),
        constraints=[
            LinearConstraint(np.hstack([A, choose]), -np.inf, upper),
            LinearConstraint(one, 1.0, np.inf),
        ],
        integrality=np.concatenate([np.zeros(width), np.ones(k)]),
        bounds=Bounds(low, high),
        options={"time_limit": time_limit, "mip_rel_gap": 1e-7},
    )
