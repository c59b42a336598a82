"""Eq. 9 as a mixed-integer program: exact on SCIP (2-norm) and on HiGHS (1-norm).

Binary d_i says whether instance i is positive. With score f_i = w·x_i + b the constraints are
``f_i + ξ_i + M_i (1 − d_i) ≥ 1``, ``−f_i + z_i + M_i d_i ≥ 1`` and ``|y_c − Σ_{i∈c} d_i| ≤ η_c``.

How large M must be: some optimal intercept puts an instance at |f| = 1 (the hinge losses are
piecewise linear in b with their corners there), and ‖w‖ is bounded by any known objective value,
so |f_i| ≤ 1 + ‖w‖ max_j ‖x_i − x_j‖, and one more makes the constraint idle.
"""

import numpy as np
from scipy import optimize, sparse


def solve_scip(program, positive, w, intercept, objective, time_limit, seed):
    """The labels of the best solution found, and a lower bound, by SCIP.

    Starts from a known solution, whose objective also bounds ‖w‖.
    """
    try:
        import pyscipopt
    except ImportError as error:
        raise ImportError(
            'AggregateSVC(method="scip") needs the SCIP solver: pip install "mixedbag[scip]"'
        ) from error
    offsets, cost = program.offsets, program.cost
    # w lies in the span of the centred rows: coordinates there are fewer than features may be.
    centre = program.X.mean(axis=0)
    axes = np.linalg.svd(program.X - centre, full_matrices=False)[2]
    X, intercept, w = (program.X - centre) @ axes.T, intercept + centre @ w, axes @ w
    n, n_features = X.shape
    radius = np.sqrt(2.0 * objective)
    M = program.reach(radius, "euclidean")
    model = pyscipopt.Model()
    model.hideOutput()
    model.setParam("limits/time", float(time_limit))
    model.setParam("randomization/randomseedshift", int(seed))
    total = pyscipopt.quicksum
    v_w = [model.addVar(lb=-radius, ub=radius) for _ in range(n_features)]
    v_b = model.addVar(lb=None)
    v_half = model.addVar(lb=0.0)
    v_xi = [model.addVar(lb=0.0) for _ in range(n)]
    v_z = [model.addVar(lb=0.0) for _ in range(n)]
    v_d = [model.addVar(vtype="B") for _ in range(n)]
    v_eta = [model.addVar(lb=0.0, ub=None if np.isinf(s) else float(s)) for s in program.slack]
    model.addCons(total(v * v for v in v_w) <= 2.0 * v_half)
    for i in range(n):
        score = total(float(X[i, j]) * v_w[j] for j in range(n_features)) + v_b
        model.addCons(score + v_xi[i] + float(M[i]) * (1 - v_d[i]) >= 1)
        model.addCons(-score + v_z[i] + float(M[i]) * v_d[i] >= 1)
    for c in range(len(program.positives)):
        missed = float(program.positives[c]) - total(v_d[offsets[c] : offsets[c + 1]])
        model.addCons(missed <= v_eta[c])
        model.addCons(-missed <= v_eta[c])
    price = np.where(np.isinf(program.price), 0.0, program.price)
    model.setObjective(
        v_half
        + total(float(cost[i]) * (v_xi[i] + v_z[i]) for i in range(n))
        + total(float(price[c]) * v_eta[c] for c in range(len(price)))
    )
    known = model.createSol()
    score = X @ w + intercept
    missed = np.abs(program.positives - np.add.reduceat(positive.astype(float), offsets[:-1]))
    for variables, values in (
        (v_w, w),
        ([v_b, v_half], [intercept, 0.5 * w @ w]),
        (v_xi, np.where(positive, np.maximum(0.0, 1.0 - score), 0.0)),
        (v_z, np.where(positive, 0.0, np.maximum(0.0, 1.0 + score))),
        (v_d, positive.astype(float)),
        (v_eta, missed),
    ):
        for variable, value in zip(variables, values):
            model.setSolVal(known, variable, float(value))
    model.addSol(known)
    model.optimize()
    bound = max(0.0, model.getDualbound())
    found = model.getBestSol() if model.getNSols() else None
    if found is not None:
        positive = np.array([model.getSolVal(found, v) > 0.5 for v in v_d])
    return positive, bound


def solve_highs(program, positive, time_limit):
    """The 1-norm variant, ‖w‖₁ in place of ½‖w‖₂²: w, intercept, labels, objective and bound.

    `positive` are labels of a known solution: they bound ‖w‖₁, and stand in if HiGHS finds none.
    """
    known = _sparse_machine(program, positive)
    M = program.reach(known[3], "chebyshev")
    n, n_features = program.X.shape
    n_bags = len(program.positives)
    # Columns: w⁺, w⁻, b, ξ, z, d, η.
    score = np.hstack([program.X, -program.X, np.ones((n, 1))])
    eye, none = sparse.eye_array(n), sparse.csr_array((n, n))
    blank = sparse.csr_array((n, n_bags))
    count = sparse.csr_array((np.ones(n), np.arange(n), program.offsets), (n_bags, n))
    no_bag = sparse.csr_array((n_bags, 2 * n_features + 1 + 2 * n))
    eye_bag = sparse.eye_array(n_bags)
    rows = sparse.vstack(
        [
            sparse.hstack([score, eye, none, -sparse.diags_array(M), blank]),
            sparse.hstack([-score, none, eye, sparse.diags_array(M), blank]),
            sparse.hstack([no_bag, count, eye_bag]),
            sparse.hstack([no_bag, -count, eye_bag]),
        ]
    ).tocsr()
    at_least = np.concatenate([1.0 - M, np.ones(n), program.positives, -program.positives])
    price = np.where(np.isinf(program.price), 0.0, program.price)
    found = optimize.milp(
        np.concatenate(
            [np.ones(2 * n_features), [0.0], program.cost, program.cost, np.zeros(n), price]
        ),
        constraints=optimize.LinearConstraint(rows, at_least, np.inf),
        integrality=np.concatenate(
            [np.zeros(2 * n_features + 1 + 2 * n), np.ones(n), np.zeros(n_bags)]
        ),
        bounds=optimize.Bounds(
            np.concatenate([np.zeros(2 * n_features), [-np.inf], np.zeros(3 * n + n_bags)]),
            np.concatenate(
                [np.full(2 * n_features + 1 + 2 * n, np.inf), np.ones(n), program.slack]
            ),
        ),
        options={"time_limit": float(time_limit)},
    )
    bound = found.mip_dual_bound
    bound = 0.0 if bound is None or not np.isfinite(bound) else max(0.0, bound)
    if found.x is not None:
        start = 2 * n_features + 1 + 2 * n
        better = _sparse_machine(program, found.x[start : start + n] > 0.5)
        known = min(known, better, key=lambda solution: solution[3])
    return (*known, bound)


def _sparse_machine(program, positive):
    """The 1-norm machine for fixed labels: w, intercept, labels and the objective of eq. 9."""
    n, n_features = program.X.shape
    sign = np.where(positive, 1.0, -1.0)[:, None]
    score = sign * np.hstack([program.X, -program.X, np.ones((n, 1))])
    found = optimize.linprog(
        np.concatenate([np.ones(2 * n_features), [0.0], program.cost]),
        A_ub=sparse.hstack([-score, -sparse.eye_array(n)]).tocsr(),
        b_ub=-np.ones(n),
        bounds=[(0, None)] * (2 * n_features) + [(None, None)] + [(0, None)] * n,
    )
    w = found.x[:n_features] - found.x[n_features : 2 * n_features]
    missed = np.abs(
        program.positives - np.add.reduceat(positive.astype(float), program.offsets[:-1])
    )
    finite = ~np.isinf(program.price)
    objective = found.fun + program.price[finite] @ missed[finite]
    return w, float(found.x[2 * n_features]), positive, float(objective)
