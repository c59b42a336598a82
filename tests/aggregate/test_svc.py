"""Aggregate support vector classification against enumeration and the ordinary machine."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.svm import SVC

from mixedbag import Bags
from mixedbag.aggregate import AggregateSVC, _machines
from mixedbag.aggregate._interior_point import solve_box
from mixedbag.aggregate._labeling import assign_labels


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
    best = np.inf
    for bits in itertools.product([False, True], repeat=bags.n_instances):
        positive = np.array(bits)
        missed = np.abs(counts - np.add.reduceat(positive.astype(int), bags.offsets[:-1])).sum()
        if missed and np.isinf(D):
            continue
        price = D * missed if missed else 0.0
        if price < best:
            best = min(best, solve(bags.instances, positive, C) + price)
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
    scores, half = _machines.LinearMachine(X).solve(positive, cost)
    monkeypatch.setattr(_machines, "_FEW", 60)
    near = _machines.LinearMachine(X)
    for flipped in (positive, rng.permutation(positive), positive):  # the last one starts warm
        near_scores, near_half = near.solve(flipped, cost)
    assert near_half == pytest.approx(half, rel=1e-6)
    np.testing.assert_allclose(near_scores, scores, atol=1e-5)


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


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("D", [0.5, np.inf])
def test_exact_equals_enumeration(seed, D):
    pytest.importorskip("pyscipopt")
    bags, counts, _ = problem(seed)
    best = enumerate_labels(bags, counts, 1.0, D, machine)
    model = AggregateSVC(C=1.0, D=D, method="exact").fit(bags, counts)
    assert model.objective_[-1] == pytest.approx(best, rel=1e-4)
    assert model.gap_ <= 1e-3
    quick = AggregateSVC(C=1.0, D=D, n_init=5, random_state=0).fit(bags, counts)
    assert quick.objective_[-1] >= best * (1 - 1e-4)


@pytest.mark.parametrize("D", [0.5, np.inf])
def test_milp_equals_enumeration(D):
    bags, counts, _ = problem(3)
    best = enumerate_labels(bags, counts, 1.0, D, sparse_machine)
    model = AggregateSVC(C=1.0, D=D, method="milp").fit(bags, counts)
    assert model.objective_[-1] == pytest.approx(best, rel=1e-4)
    assert model.gap_ <= 1e-3


def test_a_time_limit_leaves_a_usable_model_and_an_honest_gap():
    pytest.importorskip("pyscipopt")
    bags, counts, label = problem(4, n_bags=12, size=5, n_features=6)
    quick = AggregateSVC(C=1.0).fit(bags, counts)
    for method in ("exact", "milp"):
        model = AggregateSVC(C=1.0, method=method, time_limit=0.5).fit(bags, counts)
        assert 0.0 < model.gap_ <= 1.0
        assert model.lower_bound_ == pytest.approx(model.objective_[-1] * (1 - model.gap_))
        assert np.mean(model.predict_instances(bags) == label) > 0.6
        if method == "exact":
            assert model.lower_bound_ <= model.objective_[-1] <= quick.objective_[-1] * (1 + 1e-9)


def test_a_missing_solver_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    bags, counts, _ = problem(0)
    with pytest.raises(ImportError, match=r"mixedbag\[scip\]"):
        AggregateSVC(method="exact").fit(bags, counts)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("D", [0.3, np.inf])
@pytest.mark.parametrize("n_stages", [1, 4])
def test_alternating_never_gets_worse(kernel, D, n_stages):
    for seed in range(4):
        bags, counts, _ = problem(seed, n_bags=20, size=6, n_features=5)
        model = AggregateSVC(D=D, kernel=kernel, n_init=2, n_stages=n_stages, random_state=seed)
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
