"""Every hand-written solver beside the library that could replace it.

A case is one problem, solved by both. What a solver is needed for, where it is not three times
faster, stands in `NEEDS`; the verdict is computed from the measured ratio by that rule.
"""

import time
from unittest.mock import patch

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR, LinearSVC

from benchmarks._tables import Table
from mixedbag import Bags
from mixedbag._kernels import Kernel
from mixedbag._solvers.batch_lbfgs import BatchLBFGS
from mixedbag._solvers.block_newton import block_newton
from mixedbag._solvers.highs import INFINITY, Clock, append_columns, append_rows, new_solver
from mixedbag._solvers.hinge import Problem
from mixedbag._solvers.interior_point import solve_box
from mixedbag._solvers.numbered_rows import NumberedRows
from mixedbag._solvers.smo import climb, fit_tube
from mixedbag._solvers.sparse_machine import sparse_machine
from mixedbag.classics import MILES
from mixedbag.classics._concept import ConceptObjective
from mixedbag.disjunctive._envelope import EnvelopeLP
from mixedbag.disjunctive._program import DisjunctiveProgram, slack_costs
from mixedbag.engines import LocalBlocks
from mixedbag.margin import BagMarginSVC
from mixedbag.margin._blocks import Slots
from mixedbag.margin._kernel_machine import GramColumns, KernelMachine
from mixedbag.margin._linear import LinearMachine
from mixedbag.pooling import NoisyOr

FASTER = 3.0  # times: then a solver needs no other reason

# What a solver does that its library cannot.
NEEDS = {
    (
        "smo",
        "LIBSVM",
    ): "warm starts, a partial Gram matrix, a tube for every row, bounds on the way",
    ("proximal_newton", "LIBLINEAR"): "a free intercept, warm starts, a certificate",
    ("proximal_newton", "skglm"): "a free intercept, warm starts, a certificate",
    ("dual_descent", "LIBLINEAR"): "a free intercept, a certificate",
    ("interior_point", "Clarabel"): "sums over blocks",
    ("block_newton", "LIBLINEAR"): "a free intercept, sums over blocks",
    ("block_newton", "SciPy's L-BFGS"): "few rounds over the blocks",
    ("sparse_machine", "LIBLINEAR"): "a free intercept",
    ("batch_lbfgs", "SciPy's L-BFGS"): "the worse half of the starts dropped on the way",
}
TINY = {"solver": "interior_point", "library": "Clarabel", "problem": "hinge, 2000 × 20"}


def problems():
    """``{(solver, library, problem): what makes the two calls}``; a call returns an objective."""
    found = {}
    for count in ("one machine", "all machines of a fit"):
        found["smo", "LIBSVM", f"MI-SVM, rbf, {count}"] = kernel_machines, count
        for name, C in (("narrow", 0.01), ("narrow", 1.0), ("wide", 1.0)):
            solver = "proximal_newton" if name == "narrow" else "dual_descent"
            problem = f"MI-SVM, linear, {name}, C = {C:g}, {count}"
            found[solver, "LIBLINEAR", problem] = linear_machines, name, C, count
    found["smo", "LIBSVM", "40 exchanges of labels judged"] = (judged_labels,)
    found["smo", "LIBSVM", "regression, equal tubes"] = (tubes,)
    found["proximal_newton", "skglm", "hinge, 300 × 20, one machine"] = skglm_machine, 300, 20, 0.1
    for n, d in ((2000, 20), (10_000, 50)):
        found["interior_point", "Clarabel", f"hinge, {n} × {d}"] = boxes, n, d
    for library in ("LIBLINEAR", "SciPy's L-BFGS"):
        found["block_newton", library, "squared hinge, 20000 × 50"] = squared_hinge, library
    for C in (0.1, 1.0, 10.0):
        problem = f"MILES, 180 bags × 1200 concepts, C = {C:g}"
        found["sparse_machine", "LIBLINEAR", problem] = selected_concepts, C
    for n_bags, d in ((60, 10), (92, 166)):
        problem = f"10 starts × {2 * d} parameters"
        found["batch_lbfgs", "SciPy's L-BFGS", problem] = many_starts, n_bags, d
    found["dual_simplex", "HiGHS, warm", "50 children of a node"] = (nodes,)
    return found


def cases():
    names = ("solver", "library", "problem")
    return [dict(zip(names, key)) for key in sorted(problems())]


def run(case):
    make, *arguments = problems()[case["solver"], case["library"], case["problem"]]
    ours, theirs = (fastest(call) for call in make(*arguments))
    best = min(ours[0], theirs[0])
    return {
        "ours (s)": ours[1],
        "our excess": float(ours[0] / best - 1.0),
        "theirs (s)": theirs[1],
        "their excess": float(theirs[0] / best - 1.0),
    }


def fastest(call, repeat=3, patience=1.0):
    """The result, and the fewest processor seconds of several calls: the machine may be shared."""
    result, seconds = call(), []  # the first compiles
    while len(seconds) < repeat and sum(seconds) < patience:
        start = time.process_time()
        result = call()
        seconds.append(time.process_time() - start)
    return result, min(seconds)


def verdict(solver, library, ratio):
    """Three times faster, or needed for what the library cannot do; else the library's turn."""
    if ratio >= FASTER:
        return f"kept: {ratio:.0f} times faster"
    needed = NEEDS.get((solver, library))
    return f"kept for {needed}" if needed else f"replace by {library}"


def table(rows):
    lines = []
    for row in rows:
        ratio = row["theirs (s)"] / row["ours (s)"]
        said = verdict(row["solver"], row["library"], ratio)
        lines.append(row | {"theirs / ours": ratio, "verdict": said})
    return [Table("Solvers beside libraries", lines, NOTES)]


NOTES = (
    "Processor seconds, one thread (OMP_NUM_THREADS=1), the best of three runs on either side. "
    "Excess: the objective over the better of the two, minus one; LIBLINEAR and skglm penalise "
    "their intercepts, and pay for it here. Narrow: 1000 bags of 10 × 50; wide: 200 sparse bags of "
    "10 × 20,000. The rule: a solver that is not three times faster than the library stays only if "
    "it does what the library cannot. `highs` is the library itself on a leash."
)


# Data --------------------------------------------------------------------------------------------


def recorded(learner, kind, bags, y):
    """The problems that a learner gives to its machine, of class `kind`, and the machine itself."""
    problems, machines = [], []

    def solve(machine, problem, *args, **kwargs):
        problems.append(problem)
        machines.append(machine)
        return original(machine, problem, *args, **kwargs)

    original = kind.solve
    with patch.object(kind, "solve", solve):
        learner.fit(bags, y)
    return problems, machines[0]


def bags_with_witnesses(n_bags, size, d, seed=0):
    """Half the bags hold one instance that is shifted along a hidden direction."""
    rng = np.random.default_rng(seed)
    direction = rng.standard_normal(d)
    X = rng.standard_normal((n_bags * size, d))
    y = np.arange(n_bags) % 2
    X[np.flatnonzero(y) * size] += 2.5 * direction / np.linalg.norm(direction)
    return Bags(X, np.arange(n_bags + 1) * size), y


def labelled_rows(n, d, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    score = X[:, 0] + X[:, 1 % d] + noise * rng.standard_normal(n)
    sign = np.where(score > 0, 1.0, -1.0)
    return X, sign


def hinge_objective(X, sign, cost, w, b, squared=False):
    short = np.maximum(1.0 - sign * (X @ w + b), 0.0)
    return 0.5 * w @ w + (cost * (short**2 if squared else short)).sum()


# Kernel machines ---------------------------------------------------------------------------------


def kernel_machines(count):
    """MI-SVM's own job: a chain of machines as the witnesses change."""
    C = 10.0
    bags, y = bags_with_witnesses(200, 5, 10)
    learner = BagMarginSVC(C=C, gamma=0.1)
    chain, machine = recorded(learner, KernelMachine, bags, y)
    instances, centroids = machine.columns.tables
    kernel, rows = Kernel("rbf", gamma=0.1), np.vstack([instances, centroids])

    problems = chain if count.startswith("all") else chain[:1]

    def ours():
        machine = KernelMachine(GramColumns(instances, centroids, kernel), tol=1e-6)
        solution, total = None, 0.0
        for problem in problems:
            solution = machine.solve(problem, solution)
            total += solution.objective
        return total

    def libsvm():
        total, table = 0.0, rbf_kernel(rows, gamma=0.1)
        for problem in problems:
            gram = table[np.ix_(problem.rows, problem.rows)]
            svc = SVC(C=1.0, kernel="precomputed", tol=1e-4, cache_size=500)
            svc.fit(gram, problem.sign, sample_weight=problem.cost)
            dual = svc.dual_coef_[0]
            f = gram[:, svc.support_] @ dual + svc.intercept_[0]
            total += 0.5 * dual @ (f - svc.intercept_[0])[svc.support_]
            total += problem.cost @ np.maximum(1.0 - problem.sign * f, 0.0)
        return total

    return ours, libsvm


def judged_labels():
    """AggregateSVC's own job: is an exchange of two labels better? Most are seen to be worse."""
    n, C, tries = 300, 1.0, 40
    X, sign = labelled_rows(n, 5)
    gram = rbf_kernel(X, gamma=0.2)
    cost = np.full(n, C)
    beta, error = np.zeros(n), sign.copy()
    _, upper, _, _ = climb(gram, sign, cost, beta, error, 0.0, np.inf, 0.0, 1e-3, 20 * n)
    rng = np.random.default_rng(0)
    pairs = [
        (rng.choice(np.flatnonzero(sign > 0)), rng.choice(np.flatnonzero(sign < 0)))
        for _ in range(tries)
    ]

    def exchanged(i, j):
        s, b = sign.copy(), beta.copy()
        s[i], s[j] = -1.0, 1.0
        b[i], b[j] = beta[j], beta[i]
        return s, b

    def ours():
        better = 0
        for i, j in pairs:
            s, b = exchanged(i, j)
            e = s - gram @ b
            start = 0.5 * (s + e) @ b
            reached = climb(gram, s, cost, b, e, start, upper, upper, 1e-3, 2 * n)[1]
            better += reached < upper
        return 1.0 + better

    def libsvm():
        better = 0
        for i, j in pairs:
            s, _ = exchanged(i, j)
            svc = SVC(C=C, kernel="precomputed", tol=1e-2).fit(gram, s)
            dual = svc.dual_coef_[0]
            f = gram[:, svc.support_] @ dual + svc.intercept_[0]
            found = 0.5 * dual @ (f - svc.intercept_[0])[svc.support_]
            better += found + C * np.maximum(1.0 - s * f, 0.0).sum() < upper
        return 1.0 + better

    return ours, libsvm


def tubes():
    n, C, epsilon = 500, 1.0, 0.05
    X, _ = labelled_rows(n, 5)
    y = np.sin(X[:, 0]) + 0.2 * np.random.default_rng(2).standard_normal(n)
    gram = rbf_kernel(X, gamma=0.2)

    def value(beta, b):
        f = gram @ beta
        return 0.5 * beta @ f + C * np.maximum(np.abs(f + b - y) - epsilon, 0.0).sum()

    def ours():
        beta, b, _, _ = fit_tube(gram, y, np.full(n, epsilon), np.full(n, C), 1e-4, 10**6)
        return value(beta, b)

    def libsvm():
        svr = SVR(C=C, epsilon=epsilon, kernel="precomputed", tol=1e-4).fit(gram, y)
        beta = np.zeros(n)
        beta[svr.support_] = svr.dual_coef_[0]
        return value(beta, svr.intercept_[0])

    return ours, libsvm


# Linear machines ---------------------------------------------------------------------------------


def linear_machines(name, C, count):
    """The same with linear machines, narrow and wide: LIBLINEAR gets its rows copied."""
    if name == "narrow":
        bags, y = bags_with_witnesses(1000, 10, 50)
    else:
        wide = sparse.random(2000, 20_000, 0.002, "csr", rng=np.random.default_rng(0)).tolil()
        wide[np.arange(0, 2000, 10), 0] = 2.0 * (np.arange(200) % 2)
        bags, y = Bags(sparse.csr_array(wide.tocsr()), np.arange(0, 2001, 10)), np.arange(200) % 2
    learner = BagMarginSVC(C=C, kernel="linear", random_state=0)
    chain, machine = recorded(learner, LinearMachine, bags, y)
    problems = chain if count.startswith("all") else chain[:1]
    tables = machine.rows.tables
    join = sparse.vstack if sparse.issparse(tables[0]) else np.vstack
    rows = join(tables)
    rows = rows.tocsr() if sparse.issparse(rows) else rows

    def ours():
        machine, solution, total = LinearMachine(NumberedRows(*tables), 1e-4), None, 0.0
        for problem in problems:
            solution = machine.solve(problem, solution)
            total += solution.objective
        return total

    def liblinear():
        total = 0.0
        for problem in problems:
            X = rows[problem.rows]
            if sparse.issparse(X):
                X.indices, X.indptr = X.indices.astype("i4"), X.indptr.astype("i4")
            svc = LinearSVC(C=1.0, loss="hinge", tol=1e-4, random_state=0)
            svc.fit(X, problem.sign, sample_weight=problem.cost)
            w, b = svc.coef_[0], svc.intercept_[0]
            total += hinge_objective(X, problem.sign, problem.cost, w, b)
        return total

    return ours, liblinear


def skglm_machine(n, d, C):
    """skglm has no intercept in its machine: a constant column stands for it."""
    from skglm import LinearSVC as SkglmSVC

    X, sign = labelled_rows(n, d)
    X1 = np.hstack([X, np.ones((n, 1))])
    problem = Problem(np.arange(n), sign, np.full(n, C))

    def ours():
        return LinearMachine(NumberedRows(X, X[:0]), 1e-4).solve(problem).objective

    def theirs():
        w = np.ravel(SkglmSVC(C=C, tol=1e-4, max_iter=100).fit(X1, sign).coef_)
        return hinge_objective(X, sign, C, w[:-1], w[-1])

    return ours, theirs


def boxes(n, d, C=1.0):
    """½‖Zᵀβ‖² − linearᵀβ over a box and Σβ = 0: dense rows, free intercept."""
    import clarabel

    X, sign = labelled_rows(n, d)

    def ours():
        low, high = np.minimum(sign, 0.0) * C, np.maximum(sign, 0.0) * C
        _, w, b, _ = solve_box(X, sign, low, high)
        return hinge_objective(X, sign, C, w, b)

    def theirs():
        P = sparse.block_diag([sparse.eye(d), sparse.csc_matrix((n + 1, n + 1))], format="csc")
        q = np.concatenate([np.zeros(d + 1), np.full(n, C)])
        margins = np.hstack([sign[:, None] * X, sign[:, None]])
        A = sparse.bmat([[-margins, -sparse.eye(n)], [None, -sparse.eye(n)]], format="csc")
        b = np.concatenate([-np.ones(n), np.zeros(n)])
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        cones = [clarabel.NonnegativeConeT(2 * n)]
        x = np.array(clarabel.DefaultSolver(P, q, A, b, cones, settings).solve().x)
        return hinge_objective(X, sign, C, x[:d], x[d])

    return ours, theirs


def squared_hinge(library, n=20_000, d=50, C=1.0):
    X, sign = labelled_rows(n, d)
    slots = Slots(X, Problem(np.arange(n), sign, np.full(n, C), True))
    blocks = LocalBlocks([slots])

    def value(w):
        return hinge_objective(X, sign, C, w[:-1], w[-1], squared=True)

    def ours():
        return value(block_newton(blocks, Slots.squared_hinge, np.zeros(d + 1))[0])

    def liblinear():
        svc = LinearSVC(C=C, dual=False, tol=1e-6).fit(X, sign)
        return value(svc.coef_[0], svc.intercept_[0])

    def lbfgs():
        def objective(w):
            sums = slots.squared_hinge(w)
            return 0.5 * w[:-1] @ w[:-1] + sums.loss, np.append(w[:-1], 0.0) - sums.total

        options = {"gtol": 1e-4, "ftol": 1e-14}
        start = np.zeros(d + 1)
        return value(minimize(objective, start, jac=True, method="L-BFGS-B", options=options).x)

    return ours, liblinear if library == "LIBLINEAR" else lbfgs


def selected_concepts(C, n_bags=180, size=7, d=60):
    """A machine of MILES: similarities to all instances, of which a few are selected."""
    bags, y = bags_with_witnesses(n_bags, size, d)
    model = MILES(C=C, random_state=0)
    model.concepts_, model.gamma_ = bags.instances, 1.0 / (d * bags.instances.var())
    table, sign = model._similarities(bags), np.where(y == 1, 1.0, -1.0)
    cost = np.full(n_bags, C)

    def value(w, b):
        return np.abs(w).sum() + cost @ np.maximum(1.0 - sign * (table @ w + b), 0.0) ** 2

    def ours():
        return value(*sparse_machine(table, sign, cost, 1e-6, 1000)[:2])

    def theirs():
        machine = LinearSVC(C=C, penalty="l1", dual=False, max_iter=20_000, random_state=0)
        svc = machine.fit(table, sign)
        return value(svc.coef_[0], svc.intercept_[0])

    return ours, theirs


# Several starts ----------------------------------------------------------------------------------


def many_starts(n_bags, d, size=5):
    """Diverse density from ten starts: a small problem and one as large as MUSK1."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_bags * size, d))
    sign = np.where(np.arange(n_bags) % 2, 1.0, -1.0)
    X[np.flatnonzero(sign > 0) * size, :3] *= 0.1
    bags = Bags(X, np.arange(n_bags + 1) * size)
    loss = ConceptObjective(X, bags.offsets, sign, np.ones(n_bags), NoisyOr(), 0.1 * d)
    starts = X[np.flatnonzero(sign > 0)[:10] * size]
    starts = np.hstack([starts, np.full(starts.shape, 1.0 / np.sqrt(d))])

    def ours():
        search = BatchLBFGS(loss, starts, 1e-6)
        for _ in range(300):
            if search.converged:
                break
            search.step()
        return search.values.min()

    def scipy():
        def value(x):
            values, gradients = loss(x[None])
            return values[0], gradients[0]

        options = {"maxiter": 300, "ftol": 1e-6, "gtol": 0.0, "maxcor": 8}
        runs = (minimize(value, x, jac=True, method="L-BFGS-B", options=options) for x in starts)
        return min(run.fun for run in runs)

    return ours, scipy


# Linear programs ---------------------------------------------------------------------------------


def nodes():
    """The children of a branch and bound: one bag after the other is given one witness."""
    rng = np.random.default_rng(0)
    n_bags, size, d, C = 40, 5, 30, 1.0
    X = rng.standard_normal((n_bags * size, d))
    sign = np.where(np.arange(n_bags) % 2, 1.0, -1.0)
    X[np.flatnonzero(sign > 0) * size, 0] += 2.0
    rows = np.arange(len(X)).reshape(n_bags, size)
    program = DisjunctiveProgram(
        X, list(rows[sign > 0]), rows[sign < 0].ravel(),
        slack_costs(np.full(n_bags, size), sign, np.ones(n_bags), C, True), True,
    )  # fmt: skip
    children = [(i, (int(x),)) for i in range(10) for x in program.bags[i]]

    def ours():
        lp = EnvelopeLP(program, Clock())
        lp.solve({})
        basis, total = lp.basis, 0.0
        for bag, left in children:
            lp.solve({bag: left}, basis)
            total += lp.value
        return total

    def highs():
        m, n_examples = program.n_features, program.n_examples
        solver = new_solver()
        lower = np.concatenate([[-INFINITY], np.zeros(n_examples + 2 * m)])
        cost = np.concatenate([[0.0], program.slack_cost, np.ones(2 * m)])
        width = len(cost)
        append_columns(solver, cost, lower, np.full(width, INFINITY), np.empty((0, width)))

        def margin_rows(instances, features):
            matrix = np.zeros((len(instances), width))
            matrix[:, 0] = program.sign[instances]
            matrix[np.arange(len(instances)), 1 + program.example[instances]] = 1.0
            matrix[:, 1 + n_examples :] = features
            return matrix

        def add(matrix):
            append_rows(solver, np.ones(len(matrix)), np.full(len(matrix), INFINITY), matrix)

        plain = program.unambiguous
        add(margin_rows(plain, program.full_rows(plain)))
        heads = np.array([rows[0] for rows in program.bags])
        tops = np.array([program.full_rows(rows).max(axis=0) for rows in program.bags])
        add(margin_rows(heads, tops))
        solver.run()
        basis, total, n_rows = solver.getBasis(), 0.0, len(plain) + len(heads)
        for _, (x,) in children:
            add(margin_rows(np.array([x]), program.full_rows(np.array([x]))))
            solver.run()  # dual simplex from the basis of the root
            total += solver.getInfo().objective_function_value
            solver.deleteRows(1, np.array([n_rows], dtype=np.int32))
            solver.setBasis(basis)
        return total

    return ours, highs
