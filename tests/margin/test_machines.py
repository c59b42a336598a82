"""The machines against independent solvers, their optimality conditions, and each other."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from mixedbag._kernels import Kernel
from mixedbag._solvers import proximal_newton
from mixedbag._solvers.dual_descent import descend, dual_descent
from mixedbag._solvers.hinge import Problem
from mixedbag._solvers.newton_system import Curvature, NewtonSystem
from mixedbag._solvers.numbered_rows import NumberedRows
from mixedbag._solvers.proximal_newton import duality_gap, step_size
from mixedbag._solvers.smo import add_columns
from mixedbag.margin import _kernel_machine
from mixedbag.margin import _linear as linear_module
from mixedbag.margin._kernel_machine import GivenColumns, GramColumns, KernelMachine
from mixedbag.margin._linear import LinearMachine, _stretched, landmark_machine

N, D = 60, 4


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.7)
    centroids = rng.standard_normal((5, D))
    rows = np.concatenate([rng.permutation(N)[:40], N + np.arange(5)])
    sign = np.where(
        np.concatenate([X, centroids])[rows, 0] + rng.standard_normal(45) > 0, 1.0, -1.0
    )
    cost = rng.uniform(0.2, 3.0, len(rows))
    return X, centroids, rows, sign, cost


def tables(X, centroids, kind):
    if kind == "csr":
        return sparse.csr_array(X), sparse.csr_array(centroids)
    return X.astype(kind), centroids.astype(kind)


class Rows:
    """Rows in a table, as a Newton system asks for them."""

    def __init__(self, X):
        self.X, self.tables = X, 0

    def dense(self, slots):
        self.tables += 1
        return self.X[slots]

    def times(self, slots, direction):
        return self.X[slots].T @ (self.X[slots] @ direction)

    def tilt(self, slots):
        return self.X[slots, -1] @ self.X[slots, -1]


def test_a_curvature_that_follows_the_slots_inside():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    curvature = Curvature(X.__getitem__, *X.shape)
    inside = rng.random(300) < 0.5
    for share in (0.0, 0.01, 0.05, 0.9, 0.02):  # of them change
        inside = inside ^ (rng.random(300) < share)
        np.testing.assert_allclose(
            curvature.at(inside), np.tril(X[inside].T @ X[inside]), rtol=1e-10, atol=1e-10
        )
    np.testing.assert_allclose(curvature.at(np.zeros(300, bool)), np.zeros((4, 4)), atol=1e-10)


def test_a_curvature_of_some_slots_stays_while_nearly_the_same_are_inside():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 3))
    curvature = Curvature(X.__getitem__, *X.shape, 500, X[:, 0])
    inside = rng.random(5000) < 0.8
    first = curvature.at(inside)
    exact = np.tril(X[inside].T @ X[inside])
    np.testing.assert_allclose(first, exact, atol=600)  # of 4,000 on the diagonal
    assert np.array_equal(curvature.at(inside ^ (rng.random(5000) < 0.02)), first)
    assert not np.array_equal(curvature.at(inside ^ (rng.random(5000) < 0.5)), first)
    few = np.arange(5000) < 400
    exact = np.tril(X[few].T @ X[few])
    np.testing.assert_allclose(curvature.at(few), exact, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_a_newton_system_by_an_old_factor_is_that_of_a_new_one(scale):
    rng = np.random.default_rng(0)
    X = scale * np.column_stack([rng.standard_normal((900, 149)), np.ones(900)])
    old, inside = NewtonSystem(Rows(X), *X.shape), np.arange(900) < 160
    for _ in range(12):
        gradient = rng.standard_normal(150)
        step = old.solve(inside, gradient, 0.0)
        matrix = X[inside].T @ X[inside] + np.diag(np.append(np.ones(149), 0.0))
        np.testing.assert_allclose(matrix @ step, gradient, atol=1e-6)
        inside = inside ^ (rng.random(900) < 0.01)


def test_a_newton_system_whose_rows_go_does_not_keep_their_rounding():
    """One row alone bends a direction: without it, an old factor would know it by rounding only."""
    X = np.diag(np.append(np.full(149, 1e6), 1.0))
    system = NewtonSystem(Rows(X), *X.shape)
    for gone in (0, 1, 30):
        inside = np.arange(150) >= gone
        step = system.solve(inside, np.full(150, 0.5), 0.0)
        exact = np.where(inside, 0.5 / (1.0 + 1e12), 0.5)
        np.testing.assert_allclose(step, np.append(exact[:-1], 0.5), rtol=1e-6)


def test_a_newton_system_of_many_wide_rows_is_solved_with_few_of_them_in_a_table():
    """Some rows tell conjugate gradients enough, also where others are inside, or bend more."""
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.standard_normal((9000, 255)) * rng.uniform(0.1, 9.0, 255), np.ones(9000)]
    )
    inside, table = np.arange(9000) < 6000, Rows(X)
    system = NewtonSystem(table, *X.shape, 1500, X[:, 0])
    for more in (1.0, 4.0):
        gradient = rng.standard_normal(256)
        step = system.solve(inside, gradient, 0.0)
        matrix = more * X[inside].T @ X[inside] + np.diag(np.append(np.ones(255), 0.0))
        exact = np.linalg.solve(matrix, gradient)
        assert (step - exact) @ matrix @ (step - exact) <= 0.02 * exact @ gradient
        assert table.tables == 1  # which alone would be wrong by a seventh
        inside, table = np.arange(9000) >= 3000, Rows(2.0 * X)
        system = NewtonSystem(table, *X.shape, 1500, X[:, 0], system.rough)
        table.tables = 1


def test_a_newton_system_does_without_a_factor_of_what_is_different():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((2000, 255)) * np.logspace(-1, 2, 255), np.ones(2000)])
    system = NewtonSystem(Rows(X), *X.shape, rough=np.asfortranarray(np.eye(256)))
    gradient = rng.standard_normal(256)
    system.solve(np.ones(2000, bool), gradient, 0.0)
    step = system.solve(np.ones(2000, bool), gradient, 0.0)
    matrix = X.T @ X + np.diag(np.append(np.ones(255), 0.0))
    np.testing.assert_allclose(matrix @ step, gradient, atol=1e-7)


@pytest.mark.kernel
@pytest.mark.parametrize("kind", ["float64", "float32", "csr"])
def test_row_kernels_match_numpy(data, kind):
    X, centroids, rows, _, cost = data
    table = NumberedRows(*tables(X, centroids, kind))
    full = np.column_stack([np.concatenate([X, centroids]) - table.centre, np.ones(N + 5)])
    w = np.arange(1.0, D + 2)
    rtol = 1e-5 if kind == "float32" else 1e-12
    np.testing.assert_allclose(table.scores(rows, w), full[rows] @ w, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(table.total(rows, cost), full[rows].T @ cost, rtol=rtol, atol=rtol)
    dense = table.dense(rows, cost)
    np.testing.assert_allclose(dense, cost[:, None] * full[rows], rtol=rtol, atol=rtol)
    norms = (full[rows, :-1] ** 2).sum(axis=1)
    np.testing.assert_allclose(table.squared_norms(rows), norms, rtol=rtol, atol=rtol)
    assert table.intercept(table.weights(w[:-1], 3.0)) == pytest.approx(3.0)


def test_a_machine_begins_with_more_slots_than_features():
    rng = np.random.default_rng(0)
    margin, dual = 2.0 + rng.random(50), np.zeros(50)
    dual[7] = 1.0
    held = linear_module._near(dual, margin, 10)
    assert np.array_equal(np.flatnonzero(held), np.union1d(np.argsort(margin)[:11], 7))
    assert np.array_equal(linear_module._near(dual, margin, 1), dual > 0)
    assert np.array_equal(linear_module._near(dual, margin, 50), dual > 0)  # all will be asked


def best_value(X, problem):
    """The least objective with a free intercept, by a general-purpose solver on the dual."""
    Q = (X @ X.T) * np.outer(problem.sign, problem.sign) + np.diag(problem.ridge)
    result = minimize(
        lambda a: (0.5 * a @ Q @ a - a.sum(), Q @ a - 1),
        problem.evened(np.minimum(0.1, problem.upper)),
        jac=True,
        bounds=[(0, u if np.isfinite(u) else None) for u in problem.upper],
        constraints={
            "type": "eq",
            "fun": lambda a: problem.sign @ a,
            "jac": lambda _: problem.sign,
        },
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    return -result.fun


def steps_or_descent(narrow, monkeypatch):
    """Have all machines solved by Newton steps, or by dual descent."""
    monkeypatch.setattr(linear_module, "_NARROW", 1000 if narrow else 0)
    monkeypatch.setattr(linear_module, "_TALL", np.inf)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("kind", ["float64", "csr"])
@pytest.mark.parametrize("narrow", [True, False])
def test_linear_machine_is_optimal(data, squared, kind, narrow, monkeypatch):
    steps_or_descent(narrow, monkeypatch)
    X, centroids, rows, sign, cost = data
    problem = Problem(rows, sign, cost, squared)
    machine = LinearMachine(NumberedRows(*tables(X, centroids, kind)), tol=1e-10, max_epochs=10**6)
    solution = machine.solve(problem)
    assert -1e-12 <= solution.gap <= 1e-10 * solution.objective
    assert np.all(solution.dual >= 0)
    assert np.all(solution.dual <= problem.upper)
    chosen = np.concatenate([X, centroids])[rows]
    assert solution.objective == pytest.approx(best_value(chosen, problem), rel=1e-7)
    # KKT: duals balance, one at zero has its margin, one at the upper bound does not exceed it
    assert sign @ solution.dual == pytest.approx(0.0, abs=1e-12 * cost.sum())
    scores = chosen @ solution.weights + solution.intercept
    excess = sign * scores - 1 + problem.ridge * solution.dual
    inside = (solution.dual > 1e-6) & (solution.dual < problem.upper - 1e-6)
    assert np.abs(excess[inside]).max() < 1e-4
    assert excess[solution.dual <= 1e-6].min() > -1e-4
    if not squared:
        assert excess[solution.dual >= cost - 1e-6].max() < 1e-4


@pytest.mark.kernel
@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("narrow", [True, False])
def test_a_warm_start_reaches_the_same_solution(data, squared, narrow, monkeypatch):
    steps_or_descent(narrow, monkeypatch)
    X, centroids, rows, sign, cost = data
    machine = LinearMachine(NumberedRows(X, centroids), tol=1e-9, max_epochs=10**6)
    before = machine.solve(Problem(rows[::-1].copy(), -sign, 3.0 * cost, squared))
    problem = Problem(rows, sign, cost, squared)
    cold, warm = machine.solve(problem), machine.solve(problem, before)
    assert -1e-12 <= warm.gap <= 1e-9 * warm.objective
    assert np.all(warm.dual <= problem.upper)
    np.testing.assert_allclose(warm.weights, cold.weights, atol=1e-4)


@pytest.mark.parametrize(
    ("kind", "n_rows", "broad", "descends"),
    [
        ("float64", 40, 16, False),
        ("float64", 20, 16, True),
        ("csr", 40, 16, True),
        ("float64", 40, 15, True),
    ],
)
def test_dense_rows_of_many_features_take_newton_steps_where_they_are_many(
    kind, n_rows, broad, descends, monkeypatch
):
    called = []
    monkeypatch.setattr(linear_module, "_NARROW", 10)
    monkeypatch.setattr(linear_module, "_BROAD", broad)
    monkeypatch.setattr(
        linear_module, "dual_descent", lambda *a: called.append(a) or dual_descent(*a)
    )
    X = np.random.default_rng(0).standard_normal((n_rows, 16))
    problem = Problem(np.arange(n_rows), np.where(X[:, 0] > 0, 1.0, -1.0), np.ones(n_rows))
    machine = LinearMachine(NumberedRows(*tables(X, np.empty((0, 16)), kind)), tol=1e-9)
    assert machine.solve(problem).objective == pytest.approx(best_value(X, problem), rel=1e-7)
    assert bool(called) == descends


@pytest.mark.kernel
@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("away", [0.1, 3.0])
def test_slots_left_out_at_the_start_come_back_when_they_lose(squared, away):
    """A start for which most slots are far beyond their margin, and one that is just wrong."""
    rng = np.random.default_rng(1)
    sign = np.where(np.arange(400) < 40, 1.0, -1.0)
    X = rng.standard_normal((400, 3)) + 2.0 * sign[:, None] * [1.0, 0.0, 0.0]
    problem = Problem(np.arange(400), sign, np.full(400, 0.5), squared)
    machine = LinearMachine(NumberedRows(X, np.empty((0, 3))), tol=1e-9)
    cold = machine.solve(problem)
    before = Problem(np.arange(400), sign, np.full(400, 0.5 / away), squared)
    start = machine.solve(before)
    weights = start.weights + away * np.array([1.0, 1.0, -1.0])
    scores = X @ weights + start.intercept
    moved = replace(start, weights=weights, scores=scores)
    assert np.mean((moved.dual > 0) | (sign * scores < 1 + linear_module._NEAR)) < 0.7
    for other in (start, moved):
        warm = machine.solve(problem, other)
        assert warm.objective == pytest.approx(cold.objective, rel=1e-8)
        np.testing.assert_allclose(warm.weights, cold.weights, atol=1e-4)
        assert warm.gap <= 1e-9 * warm.objective
        assert abs(sign @ warm.dual) < 1e-9


def test_descent_from_the_solution_takes_one_epoch(data):
    X, centroids, rows, sign, cost = data
    table = NumberedRows(X, centroids)
    dual, w = np.zeros(len(rows)), np.zeros(D)
    box = (
        *(table.along_centre(rows), table.centre @ table.centre),
        *(sign, cost, np.zeros(len(rows)), table.squared_norms(rows), 0.5, 0.3),
    )
    epochs, pull = descend(*table.buffers, rows, *box, 1e-9, 10**6, 1, dual, w)
    assert epochs > 2
    total = table.total(rows, sign * dual)
    assert pull == pytest.approx(total[-1])
    np.testing.assert_allclose(w - pull * table.centre, total[:-1], atol=1e-9)
    assert descend(*table.buffers, rows, *box, 1e-6, 10**6, 2, dual, w)[0] == 1


def test_a_loose_solution_does_not_raise_the_objective(data):
    X, centroids, rows, sign, cost = data
    machine = LinearMachine(NumberedRows(X, centroids))
    start = machine.solve(Problem(rows, sign, cost))
    other = np.roll(rows, 1)
    problem = Problem(other, sign, cost)
    w = machine.rows.weights(start.weights, start.intercept)
    at_start = 0.5 * w[:-1] @ w[:-1] + problem.loss(sign * machine.rows.scores(other, w))
    loose = machine.solve(problem, start, loose=True)
    assert loose.objective <= at_start * (1 + 1e-9)
    assert machine.solve(problem).objective <= loose.objective * (1 + 1e-6)


@pytest.mark.parametrize("n_groups", [2000, 8])
@pytest.mark.parametrize("squared", [False, True])
def test_a_start_is_stretched_to_fit(data, squared, n_groups, monkeypatch):
    """Length and intercept are nearly the best for its direction, found by a general solver."""
    monkeypatch.setattr(linear_module, "_GROUPS", n_groups)
    X, _, rows, sign, cost = data
    rows = rows % len(X)
    problem = Problem(rows, sign, cost, squared)
    w = np.append(np.arange(1.0, D + 1), 30.0)  # far too long, and far away
    score = X[rows] @ w[:-1]

    def objective(v):
        return 0.5 * v[0] ** 2 * (w[:-1] @ w[:-1]) + problem.loss(sign * (v[0] * score + v[1]))

    found = _stretched(problem, np.zeros(len(rows)), w, sign * (score + w[-1]))
    dual, new, margin = found
    length = new[0] / w[0]
    np.testing.assert_allclose(new[:-1], length * w[:-1])
    np.testing.assert_allclose(margin, sign * (length * score + new[-1]), atol=1e-9)
    assert (dual >= 0).all()
    assert (dual <= problem.upper).all()
    best = minimize(objective, [0.0, 0.0], method="Nelder-Mead", options={"maxiter": 2000}).fun
    assert objective([length, new[-1]]) <= 1.12 * best
    assert best < 0.5 * objective([1.0, w[-1]])


def test_descent_begins_where_few_slots_lose_whatever_the_order_of_the_rows():
    rng = np.random.default_rng(0)
    X, sign = rng.standard_normal((400, 200)), np.where(np.arange(400) % 2, 1.0, -1.0)
    X[:, 0] += 2.0 * sign
    problem = Problem(np.arange(400), sign, np.ones(400))
    w = np.append(np.eye(200)[0], 0.0)
    order, found = rng.permutation(400), []
    for some in (np.arange(400), order):
        machine = LinearMachine(NumberedRows(X[some], np.empty((0, 200))))
        asked = problem.at(some)
        asked = replace(asked, rows=np.arange(400))
        start = np.zeros(400), w, asked.sign * machine.rows.scores(asked.rows, w)
        found.append(machine._descended(asked, *start))
    (dual, w, margin), (mixed, same, _) = found
    assert duality_gap(machine.rows, asked, mixed, same, found[1][2]) < 0.01 * 0.5 * same @ same
    np.testing.assert_allclose(mixed, dual[order], atol=1e-12)
    np.testing.assert_allclose(same, w, atol=1e-12)
    np.testing.assert_allclose(margin, sign * (X @ w[:-1] + machine.rows.intercept(w)))


def test_a_pull_that_grew_is_made_use_of(monkeypatch):
    """A step that promises little on the smooth stand-in may be all that the margins wait for."""
    rng, systems = np.random.default_rng(0), []
    make = proximal_newton._system
    monkeypatch.setattr(proximal_newton, "_system", lambda *a: systems.append(a) or make(*a))
    sign = np.where(np.arange(100) % 2, 1.0, -1.0)
    X = rng.standard_normal((100, 200))
    X[:, 0] += 3.0 * sign
    rows, problem = NumberedRows(X, np.empty((0, 200))), Problem(np.arange(100), sign, np.ones(100))
    start = np.zeros(100), np.zeros(201), np.zeros(100)
    assert proximal_newton.proximal_newton(rows, problem, *start, 1e-6)[3]
    assert len(systems) <= 4  # one a pull; there were nine


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_kernel_machine_equals_svc(C):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 3))
    sign = np.where(np.sin(2 * X[:, 0]) + 0.5 * rng.standard_normal(400) > 0, 1.0, -1.0)
    cost = C * rng.uniform(0.5, 2.0, 400)
    rows = rng.permutation(400)
    kernel = Kernel("rbf", gamma=0.5)
    machine = KernelMachine(GramColumns(X, X[:0], kernel))
    solution = machine.solve(Problem(rows, sign[rows], cost[rows]))
    assert solution.gap <= 1e-6 * solution.objective
    svc = SVC(C=1.0, gamma=0.5, tol=1e-7).fit(X, sign, sample_weight=cost)
    np.testing.assert_allclose(solution.scores, svc.decision_function(X), atol=1e-3)
    again = machine.solve(Problem(rows, sign[rows], cost[rows]), solution)
    np.testing.assert_allclose(again.scores, solution.scores, atol=1e-6)


@pytest.mark.kernel
def test_intercept_without_support_vectors_on_the_margin_is_that_of_svc():
    # Tiny C: every dual of the smaller class is at its bound, and those of the other too.
    X = np.arange(8.0)[:, None]
    sign = np.where(X[:, 0] > 3.5, 1.0, -1.0)
    solution = KernelMachine(GramColumns(X, X[:0], Kernel("rbf", gamma=0.1))).solve(
        Problem(np.arange(8), sign, np.full(8, 1e-3))
    )
    svc = SVC(C=1e-3, gamma=0.1).fit(X, sign)
    np.testing.assert_allclose(solution.scores, svc.decision_function(X), atol=1e-6)


@pytest.mark.kernel
def test_columns_are_the_gram_matrix_and_computed_once():
    rng = np.random.default_rng(2)
    X, centroids = rng.standard_normal((9, 2)), rng.standard_normal((3, 2))
    calls = []

    def kernel(A, B):
        calls.append(len(A))
        return A @ B.T

    columns = GramColumns(X, centroids, Kernel(kernel))
    wanted = np.array([10, 2, 2, 5])
    columns.want(wanted)
    places = columns.place[wanted]
    full = np.concatenate([X, centroids])
    np.testing.assert_allclose(columns.table[places], full[wanted] @ full.T)
    np.testing.assert_allclose(columns.diagonal, (full**2).sum(axis=1))
    done = len(calls)
    columns.want(np.array([5, 10]))
    assert len(calls) == done


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_array])
def test_rbf_columns_are_those_of_scikit_learn(form, dtype):
    rng = np.random.default_rng(2)
    X, centroids = rng.standard_normal((9, 2)), rng.standard_normal((3, 2))
    columns = GramColumns(form(X), form(centroids), Kernel("rbf", gamma=0.3), dtype)
    columns.want(np.array([10, 2, 5]))
    full = np.concatenate([X, centroids])
    wanted = rbf_kernel(full[[2, 5, 10]], full, 0.3)
    np.testing.assert_allclose(columns.table[columns.place[[2, 5, 10]]], wanted, rtol=1e-5)


@pytest.mark.parametrize("n", [0, 1, 4, 7])
def test_columns_add_up(n):
    rng = np.random.default_rng(n)
    table, places, coef = rng.normal(size=(9, 30)), rng.permutation(9)[:n], rng.normal(size=n)
    total = np.ones(30)
    add_columns(table, places, coef, total)
    np.testing.assert_allclose(total, 1.0 + coef @ table[places], rtol=1e-12)


def test_given_columns_average_in_the_kernels_space():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((6, 2))
    average = np.array([[0.5, 0.5, 0, 0, 0, 0]])
    full = np.concatenate([X, average @ X])
    columns = GivenColumns(X @ X.T, sparse.csr_array(average))
    np.testing.assert_allclose(columns.table, full @ full.T, atol=1e-12)


def test_all_landmarks_are_the_whole_kernel():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((30, 2))
    kernel = Kernel("rbf", gamma=0.3)
    random = np.random.RandomState(0)
    machine = landmark_machine(kernel, X, sparse.csr_array((0, 30)), 30, 1e-8, random, 0)
    features = machine.rows.tables[0]
    np.testing.assert_allclose(features @ features.T, kernel.of(X, X), atol=1e-6)
    problem = Problem(np.arange(30), np.where(X[:, 0] > 0, 1.0, -1.0), np.ones(30))
    solution = machine.solve(problem)
    kept = machine.fitted(solution)
    scores = kernel.expand(X, kept["support_vectors_"], kept["dual_coef_"]) + solution.intercept
    np.testing.assert_allclose(scores, solution.scores, atol=1e-6)


@pytest.mark.kernel
def test_no_step_is_taken_where_only_rounding_sees_a_slope():
    """A direction too short to change any margin, with a slope that is noise."""
    one, nothing = np.ones(1), np.zeros(1)
    assert step_size(one, nothing, one, 5 * one, nothing, 1e-17, 0.0) == 0.0
    assert step_size(one, nothing, one, -5 * one, one, 0.0, 1.0) == 1.0


def test_large_prices_do_not_take_hundreds_of_thousands_of_steps(monkeypatch):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(200, 5)).repeat(2, axis=0)  # each with both labels, unequal in price
    sign, cost = np.tile([1.0, -1.0], 200), 1e5 * rng.rand(400)
    problem = Problem(np.arange(400), sign, cost)
    taken, moves = [], _kernel_machine.minimise_pairs

    def counted(*given):
        found = moves(*given)
        taken.append(found[-1])
        return found

    monkeypatch.setattr(_kernel_machine, "minimise_pairs", counted)
    machine = KernelMachine(GramColumns(X, X[:0], Kernel("rbf", gamma=0.05)))
    solution = machine.solve(problem)
    assert 0.0 <= solution.gap <= 1e-6 * solution.objective
    assert np.all((solution.dual >= 0.0) & (solution.dual <= cost))
    assert sum(taken) < 200 * len(sign)
