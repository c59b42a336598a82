"""Aggregate support vector classification against enumeration and the ordinary machine."""

import itertools
from importlib.util import find_spec

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from mixedbag import Bags
from mixedbag._solvers.interior_point import solve_box
from mixedbag._solvers.smo import climb
from mixedbag.aggregate import AggregateSVC, _machines, svc
from mixedbag.aggregate._count_program import assign_labels
from mixedbag.aggregate._descent import carry_over, descend, dual_value, exchange, flip
from mixedbag.aggregate._exchanges import BatchedSearch


def problem(seed, n_bags=3, size=3, n_features=2):
    rng = np.random.default_rng(seed)
    n = n_bags * size
    X = rng.normal(size=(n, n_features))
    label = X[:, 0] + 0.3 * rng.normal(size=n) > 0
    bags = Bags(X, np.arange(0, n + 1, size))
    return bags, np.add.reduceat(label.astype(int), bags.offsets[:-1]), label


def machine(X, positive, C):
    """Objective of the ordinary machine, by LIBSVM."""
    if positive.all() or not positive.any():
        return 0.0
    model = SVC(C=C, kernel="linear", tol=1e-5).fit(X, positive)
    w, score = model.coef_[0], model.decision_function(X)
    return 0.5 * w @ w + C * np.maximum(0, 1 - np.where(positive, 1, -1) * score).sum()


def sparse_machine(X, positive, C):
    """Objective of the 1-norm machine."""
    n, d = X.shape
    sign = np.where(positive, 1.0, -1.0)[:, None]
    rows = -np.hstack([sign * X, -sign * X, sign, np.eye(n)])
    bounds = [(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * n
    return linprog(np.r_[np.ones(2 * d), 0, np.full(n, C)], rows, -np.ones(n), bounds=bounds).fun


def enumerate_labels(bags, counts, C, D, solve):
    """The least objective of all labels; labels and their opposites have the same machine."""

    def price(positive):
        missed = np.abs(counts - np.add.reduceat(positive.astype(int), bags.offsets[:-1])).sum()
        return D * missed if missed else 0.0

    best = np.inf
    for bits in itertools.product([False, True], repeat=bags.n_instances - 1):
        positive = np.array([False, *bits])
        cheaper = min(price(positive), price(~positive))
        if cheaper < best:
            best = min(best, solve(bags.instances, positive, C) + cheaper)
    return best


@pytest.mark.parametrize("n_features", [6, 400])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_interior_point_equals_libsvm(C, n_features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, n_features)) / np.sqrt(n_features / 6)
    positive = X[:, 0] + rng.normal(size=150) > 0.5
    sign = np.where(positive, 1.0, -1.0)
    low, high = np.where(positive, 0.0, -C), np.where(positive, C, 0.0)
    beta, w, b, _ = solve_box(X, sign, low, high)
    value = 0.5 * w @ w + C * np.maximum(0, 1 - sign * (X @ w + b)).sum()
    theirs = machine(X, positive, C)  # stops at a tolerance, which a large C multiplies
    assert theirs * (1 - 0.01) <= value <= theirs * (1 + 1e-5)
    assert beta.sum() == pytest.approx(0.0, abs=1e-6 * C)
    dual = sign @ beta - 0.5 * w @ w
    assert dual == pytest.approx(value, rel=1e-7)


def label_cost(scores, count, bits, C, D):
    hinge = np.maximum(0, 1 - np.where(bits, 1, -1) * scores).sum()
    missed = abs(count - np.sum(bits))
    return C * hinge + (D * missed if missed else 0.0)


@pytest.mark.parametrize("share", [0.5, 0.01])
def test_solving_near_the_margin_is_solving_for_all(monkeypatch, share):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(800, 5))
    score = X[:, 0] + 0.7 * rng.normal(size=800)
    positive = score > np.quantile(score, 1 - share)
    cost = rng.uniform(0.2, 1.0, size=800)
    scores, half = _machines.RelabelledLinearMachine(X).solve(positive, cost)
    monkeypatch.setattr(_machines, "_FEW", 60)
    near = _machines.RelabelledLinearMachine(X)
    for flipped in (positive, rng.permutation(positive), positive):  # the last one starts warm
        near_scores, near_half = near.solve(flipped, cost)
    assert near_half == pytest.approx(half, rel=1e-6)
    np.testing.assert_allclose(near_scores, scores, atol=1e-5)


@pytest.mark.kernel
@pytest.mark.parametrize("D", [0.2, 1.5, np.inf])
def test_labels_are_the_best_by_enumeration(D):
    rng = np.random.default_rng(1)
    for _ in range(20):
        scores, count, C = 2 * rng.normal(size=5), rng.integers(0, 6), 0.7
        label, penalty = assign_labels(scores, np.array([0, 5]), np.array([float(count)]), C, D)

        best = min(
            label_cost(scores, count, bits, C, D) for bits in itertools.product([0, 1], repeat=5)
        )
        assert penalty[0] == pytest.approx(best)
        assert label_cost(scores, count, label, C, D) == pytest.approx(best)


def random_machine(seed, n=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    sign = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    return X, X @ X.T, sign, rng.uniform(0.2, 1.0, size=n // 5).repeat(5)


@pytest.mark.kernel
@pytest.mark.parametrize("seed", range(3))
def test_the_climb_ends_between_its_bounds(seed):
    X, gram, sign, cost = random_machine(seed)
    model = SVC(kernel="linear", tol=1e-8).fit(X, sign, sample_weight=cost)
    loss = cost @ np.maximum(0, 1 - sign * model.decision_function(X))
    best = 0.5 * model.coef_[0] @ model.coef_[0] + loss
    for precision in (1e-1, 1e-3, 1e-6):
        beta, error = np.zeros(40), sign.copy()
        low, high, _, _ = climb(gram, sign, cost, beta, error, 0.0, np.inf, 0.0, precision, 100_000)
        assert low <= best * (1 + 1e-9)
        assert best * (1 - 1e-9) <= high <= low / (1 - precision)
        assert beta.sum() == pytest.approx(0.0, abs=1e-9)
        assert (beta * sign >= 0).all()
        assert (np.abs(beta) <= cost + 1e-12).all()
        np.testing.assert_allclose(error, sign - gram @ beta, atol=1e-9)
    low, *_ = climb(gram, sign, cost, 0 * cost, sign.copy(), 0.0, 0.5 * best, 0.0, 1e-6, 100_000)
    assert 0.5 * best < low < best  # stops at the ceiling


# Offsets and counts are of the kinds that a fit has, for which kernels are compiled anyway.


def eight_bags():
    return Bags(np.zeros((40, 1)), np.arange(0, 41, 5)).offsets


def counted(sign, offsets):
    """How many instances of each bag are positive: a column of the table of counts."""
    positive = np.add.reduceat(sign > 0, offsets[:-1])
    return np.column_stack([5 - positive, positive]).astype(float)[:, 1]


@pytest.mark.parametrize("ratio", [0.7, np.inf])
def test_moves_keep_the_multipliers_feasible_and_lower_the_objective(ratio):
    offsets = eight_bags()
    moves = 0
    for seed in range(6):
        _, gram, sign, cost = random_machine(seed)
        positives = counted(sign, offsets)
        sign = np.random.default_rng(seed).permutation(sign)
        labels, _ = assign_labels(sign, offsets, positives, 1.0, np.inf)
        sign = np.where(labels, 1.0, -1.0)
        beta, error = np.zeros(40), sign.copy()
        climb(gram, sign, cost, beta, error, 0.0, np.inf, 0.0, 1e-4, 100_000)
        new = np.random.default_rng(seed + 1).permutation(sign)
        carried = carry_over(offsets, sign, new, beta)
        assert carried.sum() == pytest.approx(0.0, abs=1e-9)
        assert (carried * new >= 0).all()
        assert (np.abs(carried) <= cost + 1e-12).all()

        before = machine_value(gram, sign, cost)
        goal = before * (1 - 1e-3)
        moved, _ = exchange(gram, offsets, sign, cost, beta, error, goal, 1e6)
        if not np.isinf(ratio):
            goal = (1 + 1e-9) * goal
            moved, _ = flip(gram, offsets, positives, cost, ratio, sign, beta, error, goal, 1e6)
        if moved:
            moves += 1
            again, value = dual_value(gram, sign, beta)
            np.testing.assert_allclose(error, again, atol=1e-9)
            assert value <= goal
            assert machine_value(gram, sign, cost) < goal
    assert moves > 2


def machine_value(gram, sign, cost):
    _, high, *_ = climb(gram, sign, cost, 0 * cost, sign.copy(), 0.0, np.inf, 0.0, 1e-6, 100_000)
    return high


def test_no_exchange_of_two_labels_is_left_that_helps():
    offsets = eight_bags()
    _, gram, sign, cost = random_machine(7)
    positives = counted(sign, offsets)
    scores = np.random.default_rng(0).normal(size=40)
    labels, _ = assign_labels(scores, offsets, positives, 1.0, 1e9)
    sign, beta = np.where(labels, 1.0, -1.0), np.zeros(40)
    objective, _ = descend(gram, offsets, positives, cost, np.inf, sign, beta, 1000, 1e6)
    np.testing.assert_array_equal(np.add.reduceat(sign > 0, offsets[:-1]), positives)
    for i, j in itertools.product(np.flatnonzero(sign > 0), np.flatnonzero(sign < 0)):
        if i // 5 == j // 5:
            other = sign.copy()
            other[[i, j]] = -1.0, 1.0
            assert machine_value(gram, other, cost) > objective * (1 - 2e-3)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("D", [0.5, np.inf])
def test_exact_equals_enumeration(seed, D):
    bags, counts, _ = problem(seed)
    best = enumerate_labels(bags, counts, 1.0, D, machine)
    for method in ("exact", "scip") if find_spec("pyscipopt") else ("exact",):
        model = AggregateSVC(C=1.0, D=D, method=method, n_init=1).fit(bags, counts)
        assert model.objective_[-1] == pytest.approx(best, rel=1e-4)
        assert model.gap_ <= 1e-3
    quick = AggregateSVC(C=1.0, D=D, random_state=0).fit(bags, counts)
    assert quick.objective_[-1] == pytest.approx(best, rel=1e-4)


def test_exact_proves_kernel_machines():
    bags, counts, _ = problem(1)

    def kernel_machine(X, positive, C):
        if positive.all() or not positive.any():
            return 0.0
        model = SVC(C=C, kernel="rbf", gamma=0.5, tol=1e-5).fit(X, positive)
        dual = np.zeros(len(X))
        dual[model.support_] = model.dual_coef_[0]
        loss = np.maximum(0, 1 - np.where(positive, 1, -1) * model.decision_function(X)).sum()
        return 0.5 * dual @ rbf_kernel(X, gamma=0.5) @ dual + C * loss

    best = enumerate_labels(bags, counts, 1.0, np.inf, kernel_machine)
    model = AggregateSVC(C=1.0, kernel="rbf", gamma=0.5, method="exact").fit(bags, counts)
    assert model.objective_[-1] == pytest.approx(best, rel=1e-3)
    assert model.gap_ <= 2e-3


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_alternating_is_close_to_the_proven_optimum(C):
    above = []
    for seed in range(15):
        bags, counts, _ = problem(seed, n_bags=5, size=5, n_features=8)
        quick = AggregateSVC(C=C, random_state=seed).fit(bags, counts)
        exact = AggregateSVC(C=C, method="exact", n_init=1, random_state=seed).fit(bags, counts)
        assert exact.gap_ <= 2e-3
        above.append(quick.objective_[-1] / exact.objective_[-1] - 1)
    assert min(above) > -1e-4
    assert np.median(above) < 0.02
    assert max(above) < 0.1


@pytest.mark.parametrize("D", [0.1, 0.5, 1.0])
def test_alternating_weighs_missed_counts_against_margins(D):
    """Neither stuck where all counts are met, nor where one class has taken all."""
    met, above = set(), []
    for seed in range(12):
        bags, counts, _ = problem(seed, n_bags=4, size=4, n_features=3)
        quick = AggregateSVC(D=D, random_state=seed).fit(bags, counts)
        exact = AggregateSVC(D=D, method="exact", n_init=1, random_state=seed).fit(bags, counts)
        assert exact.gap_ <= 2e-3
        above.append(quick.objective_[-1] / exact.objective_[-1] - 1)
        found = np.add.reduceat(quick.labels_.astype(int), bags.offsets[:-1])
        met.add(bool((found == counts).all()))
    assert np.median(above) < 1e-3
    assert max(above) < 0.05
    assert False in met


def test_labels_open_to_counts_without_a_price_are_proven_too():
    bags, counts, _ = problem(5, n_bags=3, size=4)
    shares = counts / 4
    shares[0] = 0.3  # 1.2 of 4: one is nearest
    nearest = np.round(4 * shares)
    model = AggregateSVC(method="exact", aggregate="mean").fit(bags, shares)
    best = enumerate_labels(bags, nearest, 1.0, np.inf, machine)
    assert model.objective_[-1] == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize("D", [0.5, np.inf])
def test_milp_equals_enumeration(D):
    bags, counts, _ = problem(3)
    best = enumerate_labels(bags, counts, 1.0, D, sparse_machine)
    model = AggregateSVC(C=1.0, D=D, method="milp").fit(bags, counts)
    assert model.objective_[-1] == pytest.approx(best, rel=1e-4)
    assert model.gap_ <= 1e-3


@pytest.mark.parametrize("method", ["exact", "scip", "milp"])
def test_a_time_limit_leaves_a_usable_model_and_an_honest_gap(method):
    if method == "scip":
        pytest.importorskip("pyscipopt")
    bags, counts, label = problem(4, n_bags=30, size=5, n_features=6)
    quick = AggregateSVC(C=1.0, random_state=0).fit(bags, counts)
    model = AggregateSVC(C=1.0, method=method, time_limit=0.5, random_state=0).fit(bags, counts)
    assert 0.0 < model.gap_ <= 1.0
    assert model.lower_bound_ == pytest.approx(model.objective_[-1] * (1 - model.gap_))
    assert np.mean(model.predict_instances(bags) == label) > 0.6
    if method != "milp":
        assert model.lower_bound_ <= model.objective_[-1] <= quick.objective_[-1] * (1 + 1e-9)


def test_a_missing_solver_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    bags, counts, _ = problem(0)
    with pytest.raises(ImportError, match=r"mixedbag\[scip\]"):
        AggregateSVC(method="scip").fit(bags, counts)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("D", [0.3, np.inf])
@pytest.mark.parametrize("searched", [1000, 50])
def test_alternating_never_gets_worse(monkeypatch, kernel, D, searched):
    monkeypatch.setattr(svc, "_SEARCHED", searched)
    for seed in range(4):
        bags, counts, _ = problem(seed, n_bags=20, size=6, n_features=5)
        model = AggregateSVC(D=D, kernel=kernel, n_init=4, random_state=seed)
        model.fit(bags, counts)
        assert (np.diff(model.objective_) <= 0).all()
        if np.isinf(D):
            found = np.add.reduceat(model.labels_.astype(int), bags.offsets[:-1])
            np.testing.assert_array_equal(found, counts)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_bags_of_one_are_the_ordinary_machine(kernel):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(100, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=100) > 0, "yes", "no")
    weight = rng.uniform(0.5, 2.0, size=100)
    ours = AggregateSVC(C=2.0, kernel=kernel, gamma=0.4).fit(X, y, sample_weight=weight)
    theirs = SVC(C=2.0, kernel=kernel, gamma=0.4, tol=1e-6).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)


def test_three_classes_and_proportions():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(600, 2))
    label = (X @ np.array([[1, -1, 0], [0, 0, 1.5]])).argmax(axis=1)
    bags = Bags(X, np.arange(0, 601, 5))
    shares = np.add.reduceat(np.eye(3)[label], bags.offsets[:-1]) / 5
    model = AggregateSVC(C=1.0).fit(bags, shares)
    assert np.mean(model.predict_instances(bags) == label) > 0.9
    np.testing.assert_allclose(model.predict(bags).sum(axis=1), 1.0)


def test_exact_refuses_what_would_not_fit_in_memory(monkeypatch):
    monkeypatch.setattr(svc, "_PROVABLE", 8)
    bags, counts, _ = problem(0)
    with pytest.raises(ValueError, match="at most 8; got 9"):
        AggregateSVC(method="exact").fit(bags, counts)


def test_wrong_settings_are_named():
    bags, counts, _ = problem(0)
    for wrong, text in (
        ({"C": 0.0}, "C"),
        ({"D": -1.0}, "D"),
        ({"method": "magic"}, "alternating"),
        ({"method": "milp", "kernel": "rbf"}, "linear"),
        ({"kernel": "round"}, "poly"),
    ):
        with pytest.raises(ValueError, match=text):
            AggregateSVC(**wrong).fit(bags, counts)


def large_problem(seed, size):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1200, 4))
    label = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=1200) > 0
    bags = Bags(X, np.arange(0, 1201, size))
    return bags, np.add.reduceat(label.astype(int), bags.offsets[:-1])


class RidgeStart(AggregateSVC):
    def _starts(self, *args):
        yield next(super()._starts(*args))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_many_instances_get_off_the_ridge_start(kernel):
    gained = []
    for seed in range(3):
        bags, counts = large_problem(seed, 20)
        start = RidgeStart(kernel=kernel, n_init=1).fit(bags, counts)
        model = AggregateSVC(kernel=kernel).fit(bags, counts)
        gained.append(model.objective_[-1] / start.objective_[-1])
        assert (np.diff(model.objective_) < 0).all()
        found = np.add.reduceat(model.labels_.astype(int), bags.offsets[:-1])
        np.testing.assert_array_equal(found, counts)
    assert max(gained) <= 1.0
    assert min(gained) < 0.99


def test_batches_find_what_enumeration_does(monkeypatch):
    monkeypatch.setattr(svc, "_SEARCHED", 0)
    # Where counts may be missed, there are forty times as many labellings to try.
    for seed, D, most in ((0, 0.5, 1.25), *((seed, np.inf, 1 + 1e-4) for seed in range(4))):
        bags, counts, _ = problem(seed, n_bags=4, size=3)
        best = enumerate_labels(bags, counts, 1.0, D, machine)
        found = AggregateSVC(D=D).fit(bags, counts).objective_[-1]
        assert best * (1 - 1e-4) <= found <= most * best


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_pairs_are_promised_no_less_than_they_cost(kernel):
    """What an exchange is promised to change bounds what it does; the best of a bag is taken."""
    bags, counts, _ = problem(3, n_bags=10, size=6, n_features=3)
    model = AggregateSVC(kernel=kernel, gamma=0.5)
    machine = model._machine(bags, np.ones(10))
    labels, _ = assign_labels(bags.instances[:, 0], bags.offsets, counts * 1.0, 1.0, np.inf)

    def cost(labels):
        scores, half = machine.solve(labels, np.ones(60))
        return half + np.maximum(0, 1 - np.where(labels, 1, -1) * scores).sum()

    before = cost(labels)
    scores, dual = machine.scores, machine.dual
    search = BatchedSearch(machine, bags.offsets, None, 0)
    first, second = search._promising(labels)
    assert len(first)
    assert len(np.unique(bags.bag_of[first])) == len(first)
    gram = machine.similarities()
    promised = []
    for i, j in zip(first, second):
        shift = dual[i] - dual[j]
        bend = gram[i, i] + gram[j, j] - 2 * gram[i, j]
        promised.append(shift * (scores[i] - scores[j] - 0.5 * shift * bend))
        trial = labels.copy()
        trial[[i, j]] = False, True
        assert cost(trial) >= before + promised[-1] - 1e-4 * before
    assert promised == sorted(promised)
    assert promised[-1] < 0
