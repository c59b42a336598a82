"""Every hand-written solver beside the library that could replace it, in one run.

    python benchmarks/solvers.py

Processor seconds, one thread, the best of three runs on either side. "Excess" is the objective over
the best known, minus one. Needs clarabel and skglm beside mixedbag.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
import warnings
from importlib.metadata import version
from pathlib import Path
from unittest.mock import patch

import clarabel
import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR, LinearSVC

from mixedbag import Bags
from mixedbag._kernels import Kernel
from mixedbag._solvers.batch_lbfgs import BatchLBFGS
from mixedbag._solvers.block_newton import block_newton
from mixedbag._solvers.highs import INFINITY, Clock, append_columns, append_rows, new_solver
from mixedbag._solvers.hinge import Problem
from mixedbag._solvers.interior_point import solve_box
from mixedbag._solvers.numbered_rows import Rows
from mixedbag._solvers.smo import climb, fit_tube
from mixedbag.classics._concept import ConceptObjective
from mixedbag.disjunctive._envelope import EnvelopeLP
from mixedbag.disjunctive._program import DisjunctiveProgram, slack_costs
from mixedbag.engines import LocalBlocks
from mixedbag.margin import BagMarginSVC
from mixedbag.margin._blocks import Slots
from mixedbag.margin._kernel_machine import Columns, KernelMachine
from mixedbag.margin._linear import LinearMachine
from mixedbag.pooling import NoisyOr

OUT = Path(__file__).parent / "results" / "solvers.md"


def timed(call, repeat=3, patience=1.0):
    """The result, and the fewest processor seconds of several calls: the machine may be shared."""
    seconds = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        first = time.process_time()
        result = call()  # compiles
        first = time.process_time() - first
        if first > 4.0 * patience:  # a library that takes so long did not spend it compiling
            return result, first
        while len(seconds) < repeat and sum(seconds) < patience:
            start = time.process_time()
            result = call()
            seconds.append(time.process_time() - start)
    return result, min(seconds)


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


def row(solver, problem, library, ours, theirs, verdict):
    """A line of the table, from (objective, seconds) of either side."""
    best = min(ours[0], theirs[0])
    excess = [value / best - 1.0 for value, _ in (ours, theirs)]
    ratio = theirs[1] / ours[1]
    line = (
        f"| `{solver}` | {problem} | {library} | {ours[1]:.4f} | {excess[0]:.0e} | {theirs[1]:.4f} "
        f"| {excess[1]:.0e} | {ratio:.1f} | {verdict} |"
    )
    print(line, flush=True)
    return line


def labelled_rows(n, d, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    score = X[:, 0] + X[:, 1 % d] + noise * rng.standard_normal(n)
    sign = np.where(score > 0, 1.0, -1.0)
    return X, sign


def hinge_objective(X, sign, C, w, b, squared=False, penalised=True):
    short = np.maximum(1.0 - sign * (X @ w + b), 0.0)
    loss = (C * (short**2 if squared else short)).sum()
    return 0.5 * w @ w + (0.5 * b * b if penalised else 0.0) + loss


# Kernel machines ---------------------------------------------------------------------------------


def kernel_machines():
    """MI-SVM's own job: a chain of machines as the witnesses change."""
    C = 10.0
    bags, y = bags_with_witnesses(200, 5, 10)
    learner = BagMarginSVC(C=C, gamma=0.1)
    chain, machine = recorded(learner, KernelMachine, bags, y)
    instances, centroids = machine.columns.tables
    kernel, rows = Kernel("rbf", gamma=0.1), np.vstack([instances, centroids])

    def ours(problems):
        machine = KernelMachine(Columns(instances, centroids, kernel), tol=1e-6)
        solution, total = None, 0.0
        for problem in problems:
            solution = machine.solve(problem, solution)
            total += solution.objective
        return total

    def libsvm(problems):
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

    lines = []
    for name, some in (("one machine", chain[:1]), (f"{len(chain)} machines of a fit", chain)):
        lines.append(
            row("smo", f"MI-SVM, rbf, {len(chain[0].rows)} rows, {name}", "LIBSVM",
                timed(lambda some=some: ours(some)), timed(lambda some=some: libsvm(some)),
                "kept: warm starts, few columns of the Gram matrix, a certificate"),
        )  # fmt: skip
    return lines


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

    return [
        row("smo", f"{tries} exchanges of labels judged, n = {n}", "LIBSVM", timed(ours),
            timed(libsvm), "kept: ends as soon as bounds decide"),
    ]  # fmt: skip


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
        return beta, b

    def libsvm():
        svr = SVR(C=C, epsilon=epsilon, kernel="precomputed", tol=1e-4).fit(gram, y)
        beta = np.zeros(n)
        beta[svr.support_] = svr.dual_coef_[0]
        return beta, svr.intercept_[0]

    a, b = timed(ours), timed(libsvm)
    return [
        row("smo", f"regression, equal tubes, n = {n}", "LIBSVM", (value(*a[0]), a[1]),
            (value(*b[0]), b[1]), "kept: LIBSVM has one tube for all rows"),
    ]  # fmt: skip


# Linear machines ---------------------------------------------------------------------------------


def linear_machines():
    """The same with linear machines, narrow and wide: LIBLINEAR gets its rows copied."""
    lines = []
    narrow, y = bags_with_witnesses(1000, 10, 50)
    rng = np.random.default_rng(0)
    wide = sparse.random(2000, 20_000, 0.002, "csr", rng=rng).tolil()
    wide[np.arange(0, 2000, 10), 0] = 2.0 * (np.arange(200) % 2)
    text = Bags(sparse.csr_array(wide.tocsr()), np.arange(0, 2001, 10))
    for solver, bags, labels, C in (
        ("proximal_newton", narrow, y, 0.01),
        ("proximal_newton", narrow, y, 1.0),
        ("dual_descent", text, np.arange(200) % 2, 1.0),
    ):
        learner = BagMarginSVC(C=C, kernel="linear", random_state=0)
        chain, machine = recorded(learner, LinearMachine, bags, labels)
        tables = machine.rows.tables
        join = sparse.vstack if sparse.issparse(tables[0]) else np.vstack
        rows = join(tables)
        rows = rows.tocsr() if sparse.issparse(rows) else rows
        for some in (chain[:1], chain):

            def ours(some=some, tables=tables):
                machine, solution, total = LinearMachine(Rows(*tables), 1e-4), None, 0.0
                for problem in some:
                    solution = machine.solve(problem, solution)
                    total += solution.objective
                return total

            def liblinear(some=some, rows=rows):
                total = 0.0
                for problem in some:
                    X = rows[problem.rows]
                    if sparse.issparse(X):
                        X.indices, X.indptr = X.indices.astype("i4"), X.indptr.astype("i4")
                    svc = LinearSVC(C=1.0, loss="hinge", tol=1e-4, random_state=0)
                    svc.fit(X, problem.sign, sample_weight=problem.cost)
                    w, b = svc.coef_[0], svc.intercept_[0]
                    total += hinge_objective(X, problem.sign, problem.cost, w, b)
                return total

            count = "one machine" if len(some) == 1 else f"{len(some)} machines of a fit"
            name = f"MI-SVM, {len(some[0].rows)} × {bags.n_features}, C = {C:g}, {count}"
            verdict = "kept: faster, warm starts, a certificate"
            if solver == "dual_descent":
                verdict = "kept: warm starts, reads numbered rows in place, a certificate"
            lines.append(row(solver, name, "LIBLINEAR", timed(ours), timed(liblinear), verdict))
    lines += skglm_machine(*labelled_rows(300, 20), 0.1)
    return lines


def skglm_machine(X, sign, C):
    """skglm has no intercept in its machine: a constant column stands for it on both sides."""
    from skglm import LinearSVC as SkglmSVC

    X1 = np.hstack([X, np.ones((len(X), 1))])
    problem = Problem(np.arange(len(X)), sign, np.full(len(X), C))

    def ours():
        return LinearMachine(Rows(X, X[:0]), 1e-4).solve(problem).objective

    def theirs():
        model = SkglmSVC(C=C, tol=1e-4, max_iter=100).fit(X1, sign)
        w = np.ravel(model.coef_)
        return hinge_objective(X1, sign, C, w, 0.0, penalised=False)

    return [
        row("proximal_newton", f"{X.shape[0]} × {X.shape[1]}, C = {C:g}, one machine", "skglm",
            timed(ours), timed(theirs), "kept"),
    ]  # fmt: skip


def boxes():
    """½‖Zᵀβ‖² − linearᵀβ over a box and Σβ = 0: dense rows, free intercept."""
    lines = []
    for n, d, C in ((2000, 20, 1.0), (10_000, 50, 1.0)):
        X, sign = labelled_rows(n, d)
        low, high = np.minimum(sign, 0.0) * C, np.maximum(sign, 0.0) * C

        def ours(X=X, sign=sign, low=low, high=high):
            _, w, b, _ = solve_box(X, sign, low, high)
            return w, b

        def clarabel_primal(X=X, sign=sign, n=n, d=d, C=C):
            P = sparse.block_diag([sparse.eye(d), sparse.csc_matrix((n + 1, n + 1))], format="csc")
            q = np.concatenate([np.zeros(d + 1), np.full(n, C)])
            margins = np.hstack([sign[:, None] * X, sign[:, None]])
            A = sparse.bmat([[-margins, -sparse.eye(n)], [None, -sparse.eye(n)]], format="csc")
            b = np.concatenate([-np.ones(n), np.zeros(n)])
            settings = clarabel.DefaultSettings()
            settings.verbose = False
            found = clarabel.DefaultSolver(
                P, q, A, b, [clarabel.NonnegativeConeT(2 * n)], settings
            ).solve()
            x = np.array(found.x)
            return x[:d], x[d]

        a, b = timed(ours), timed(clarabel_primal)
        score = [hinge_objective(X, sign, C, *found[0], penalised=False) for found in (a, b)]
        lines.append(
            row("interior_point", f"hinge, free intercept, {n} × {d}", "Clarabel",
                (score[0], a[1]), (score[1], b[1]),
                "kept: its sums may come from blocks anywhere"),
        )  # fmt: skip
    return lines


def squared_hinge():
    n, d, C = 20_000, 50, 1.0
    X, sign = labelled_rows(n, d)
    penalty = np.ones(d + 1)
    slots = Slots(X, Problem(np.arange(n), sign, np.full(n, C), True))
    blocks = LocalBlocks([slots])

    def ours():
        return block_newton(blocks, Slots.squared_hinge, penalty, np.zeros(d + 1))[0]

    def liblinear():
        svc = LinearSVC(C=C, dual=False, tol=1e-6).fit(X, sign)
        return np.append(svc.coef_[0], svc.intercept_[0])

    def lbfgs():
        def value(w):
            sums = slots.squared_hinge(w)
            return 0.5 * w @ w + sums.loss, w - sums.total

        return minimize(value, np.zeros(d + 1), jac=True, method="L-BFGS-B",
                        options={"gtol": 1e-4, "ftol": 1e-14}).x  # fmt: skip

    a = timed(ours)
    lines = []
    for name, call in (("LIBLINEAR", liblinear), ("SciPy's L-BFGS", lbfgs)):
        b = timed(call)
        score = [hinge_objective(X, sign, C, w[:-1], w[-1], squared=True) for w in (a[0], b[0])]
        lines.append(
            row("block_newton", f"squared hinge, {n} × {d}", name, (score[0], a[1]),
                (score[1], b[1]), "kept: its sums may come from blocks anywhere"),
        )  # fmt: skip
    return lines


# Several starts ----------------------------------------------------------------------------------


def many_starts():
    """Diverse density from ten starts: a small problem and one as large as MUSK1."""
    lines = []
    for n_bags, size, d in ((60, 5, 10), (92, 5, 166)):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n_bags * size, d))
        sign = np.where(np.arange(n_bags) % 2, 1.0, -1.0)
        X[np.flatnonzero(sign > 0) * size, :3] *= 0.1
        bags = Bags(X, np.arange(n_bags + 1) * size)
        loss = ConceptObjective(X, bags.offsets, sign, np.ones(n_bags), NoisyOr(), 0.1 * d)
        starts = X[np.flatnonzero(sign > 0)[:10] * size]
        starts = np.hstack([starts, np.full(starts.shape, 1.0 / np.sqrt(d))])

        def ours(loss=loss, starts=starts):
            search = BatchLBFGS(loss, starts, 1e-6)
            for _ in range(300):
                if search.converged:
                    break
                search.step()
            return search.values.min()

        def scipy(loss=loss, starts=starts):
            def value(x):
                values, gradients = loss(x[None])
                return values[0], gradients[0]

            options = {"maxiter": 300, "ftol": 1e-6, "gtol": 0.0, "maxcor": 8}
            return min(
                minimize(value, x, jac=True, method="L-BFGS-B", options=options).fun for x in starts
            )

        lines.append(
            row("batch_lbfgs", f"10 starts × {2 * d} parameters, {n_bags * size} instances",
                "SciPy's L-BFGS", timed(ours), timed(scipy),
                "kept: the worse half of the starts can be dropped on the way"),
        )  # fmt: skip
    return lines


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

    return [
        row("dual_simplex", f"{len(children)} children of a node, {d} features", "HiGHS, warm",
            timed(ours), timed(highs), "kept"),
    ]  # fmt: skip


def main():
    started = time.time()
    head = (
        "| solver | problem | library | ours (s) | excess | theirs (s) | excess | theirs / ours "
        "| verdict |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    )
    print(head, flush=True)
    lines = [head]
    for part in (
        kernel_machines, judged_labels, tubes, linear_machines, boxes, squared_hinge, many_starts,
        nodes,
    ):  # fmt: skip
        lines += part()
    names = ("numpy", "scipy", "scikit-learn", "numba", "highspy", "clarabel", "skglm")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    OUT.write_text(
        "# solvers\n\n" + "\n".join(lines) + "\n\n"
        "Processor seconds, one thread, the best of three runs on either side. \"Excess\" is the\n"
        "objective over the better of the two, minus one. The rule: a solver that is not three\n"
        "times faster than the library stays only if it does what the library cannot (warm\n"
        "starts, sums over blocks, certificates). `highs` is the library itself on a leash.\n\n"
        f"{time.strftime('%Y-%m-%d')}, {time.time() - started:.0f} seconds; {versions}.\n"
    )  # fmt: skip


if __name__ == "__main__":
    main()
