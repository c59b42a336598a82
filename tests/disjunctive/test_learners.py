"""The learners: limits, attributes, failures, and real data."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from mixedbag import Bags
from mixedbag._solvers import highs
from mixedbag._solvers.highs import SolverStopped
from mixedbag.disjunctive import (
    DPBoost,
    ExactBagMarginSVC,
    LNPBoost,
    SparseBagMarginSVC,
    TransductiveClassifier,
)
from mixedbag.disjunctive._features import make_features

PROGRAM_LEARNERS = [SparseBagMarginSVC, LNPBoost, DPBoost, ExactBagMarginSVC]


def toy(seed=0, n=24, size=4, d=6):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    arrays = [rng.normal(size=(rng.integers(1, size + 1), d)) for _ in y]
    for array, label in zip(arrays, y, strict=True):
        array[0, 0] += 2.5 * label
    return Bags.from_list(arrays), y


def one_norm_svm(X, sign, C):
    """min ‖w‖₁ + C n (mean hinge of each class) / 2, by another LP solver."""
    n, d = X.shape
    cost = np.where(sign > 0, C * n / 2 / (sign > 0).sum(), C * n / 2 / (sign < 0).sum())
    A = -np.hstack([sign[:, None] * X, -sign[:, None] * X, sign[:, None], np.eye(n)])
    bounds = [(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * n
    result = linprog(np.concatenate([np.ones(2 * d), [0], cost]), A, -np.ones(n), bounds=bounds)
    return result.fun


@pytest.mark.parametrize("Learner", PROGRAM_LEARNERS)
def test_bags_of_one_give_the_one_norm_svm(Learner):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 5))
    y = (X[:, 0] + 0.5 * rng.normal(size=40) > 0).astype(int)
    expected = one_norm_svm(X, 2.0 * y - 1, C=0.7)
    model = Learner(C=0.7, features="linear").fit(X, y)
    assert model.upper_bound_ == pytest.approx(expected, rel=1e-5)
    assert model.lower_bound_ == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("Learner", PROGRAM_LEARNERS)
def test_adding_a_constant_to_every_feature_changes_no_answer(Learner):
    bags, y = toy(6, n=16)
    moved = bags.with_instances(bags.instances + 10.0)
    learner = Learner(features="linear", random_state=0)
    here, there = clone(learner).fit(bags, y), clone(learner).fit(moved, y)
    scores = here.decision_function_instances(bags)
    assert np.ptp(scores) > 1.0
    np.testing.assert_allclose(there.decision_function_instances(moved), scores, atol=1e-6)
    assert there.upper_bound_ == pytest.approx(here.upper_bound_, rel=1e-8)


def test_column_generation_recovers_lpboost():
    """Features one at a time, until none has a price above one, end at the full optimum."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 8))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    values = make_features("rbf", X, np.ones(60), 0.3).transform(X)
    expected = one_norm_svm(values, 2.0 * y - 1, C=1.0)
    options = {"features": "rbf", "gamma": 0.3}
    selected = SparseBagMarginSVC(
        feature_selection=True, features_per_round=1, n_rounds=500, selection_tol=0, **options
    ).fit(X, y)
    assert selected.upper_bound_ == pytest.approx(expected, rel=1e-4)
    boosted = DPBoost(features_per_round=1, **options).fit(X, y)
    assert boosted.upper_bound_ == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("features", ["linear", "rbf", "thresholded"])
@pytest.mark.parametrize("Learner", PROGRAM_LEARNERS)
def test_fitted_attributes(Learner, features):
    bags, y = toy()
    options = {"n_rounds": 2} if Learner in (LNPBoost, DPBoost) else {"time_limit": 5.0}
    model = Learner(features=features, random_state=0, **options).fit(bags, y)
    assert 0 <= model.lower_bound_ <= model.upper_bound_
    assert model.gap_ == pytest.approx(1 - model.lower_bound_ / model.upper_bound_)
    seconds, lower, upper = model.history_.T
    assert (np.diff(seconds) >= 0).all()
    assert (np.diff(lower) >= 0).all()
    assert (np.diff(upper) <= 0).all()
    assert upper[-1] == model.upper_bound_
    # Each witness lies in its bag and has its highest score.
    scores = model.decision_function_instances(bags)
    positive = np.flatnonzero(y == 1)
    np.testing.assert_array_equal(bags.bag_of[model.witness_], positive)
    np.testing.assert_allclose(scores[model.witness_], model.decision_function(bags)[positive])
    assert model.score(bags, y) > 0.85


def test_the_exact_learner_is_never_beaten():
    bags, y = toy(3, n=20)
    exact = ExactBagMarginSVC(C=2.0, random_state=0).fit(bags, y)
    assert exact.gap_ < 1e-5
    for Learner in (SparseBagMarginSVC, LNPBoost, DPBoost):
        other = Learner(C=2.0, features="linear", random_state=0).fit(bags, y)
        assert other.lower_bound_ <= exact.upper_bound_ * (1 + 1e-6)
        assert other.upper_bound_ >= exact.lower_bound_ * (1 - 1e-6)


def test_a_costly_bias_is_a_constant_feature():
    bags, y = toy(4)
    constant = bags.with_instances(np.hstack([bags.instances, np.ones((bags.n_instances, 1))]))
    a = ExactBagMarginSVC(intercept_scaling=1.0, random_state=0).fit(bags, y)
    b = ExactBagMarginSVC(fit_intercept=False, random_state=0).fit(constant, y)
    assert a.upper_bound_ == pytest.approx(b.upper_bound_, rel=1e-6)
    np.testing.assert_allclose(a.decision_function(bags), b.decision_function(constant), atol=1e-6)


def test_feature_selection_uses_fewer_features():
    bags, y = toy(5, n=60, d=60)
    all_in = SparseBagMarginSVC(C=3.0, random_state=0).fit(bags, y)
    for Learner in (SparseBagMarginSVC, LNPBoost):
        few = Learner(
            C=3.0, feature_selection=True, selection_tol=0.2, time_limit=30, random_state=0
        ).fit(bags, y)
        assert 0 < len(few.support_) < len(all_in.support_)
        assert few.upper_bound_ >= all_in.upper_bound_ * 0.99
        assert few.lower_bound_ <= all_in.upper_bound_


@pytest.mark.parametrize("Learner", PROGRAM_LEARNERS)
def test_no_time_is_a_warning_and_a_usable_model(Learner):
    bags, y = toy()
    with pytest.warns(ConvergenceWarning, match="stopped early"):
        model = Learner(time_limit=0.0).fit(bags, y)
    assert model.lower_bound_ <= model.upper_bound_ < np.inf
    assert len(model.support_) == 1
    assert model.score(bags, y) > 0.6


@pytest.mark.parametrize("Learner", PROGRAM_LEARNERS)
def test_a_constant_classifier_is_never_silent(Learner):
    bags, y = toy()
    with pytest.warns(ConvergenceWarning, match="every weight is zero"):
        model = Learner(C=1e-4, random_state=0).fit(bags, y)
    assert not len(model.support_)
    if Learner is not SparseBagMarginSVC:  # which proves little
        assert model.gap_ < 1e-6


@pytest.mark.parametrize("Learner", [SparseBagMarginSVC, LNPBoost, DPBoost, ExactBagMarginSVC])
def test_numerical_trouble_keeps_the_best_classifier(Learner, monkeypatch):
    """The solver breaks down after a few solves: the incumbent must survive."""
    from mixedbag._solvers import highs as _solver
    from mixedbag.disjunctive import _hull, _master, _membership

    calls = iter(range(10**9))

    def fails_later(*args, **kwargs):
        if next(calls) >= 3:
            raise SolverStopped("numerical trouble")
        return _solver.solve_warm(*args, **kwargs)

    for module in (_master, _membership, _hull):
        monkeypatch.setattr(module, "solve_warm", fails_later)
    bags, y = toy()
    with pytest.warns(ConvergenceWarning, match="numerical trouble"):
        model = Learner(features="linear", random_state=0).fit(bags, y)
    assert np.abs(model.coef_).sum() > 0
    assert model.score(bags, y) > 0.7


def test_sparse_input_gives_the_same_model():
    bags, y = toy()
    X = np.where(np.abs(bags.instances) > 0.5, bags.instances, 0.0)
    dense, sparse = bags.with_instances(X), bags.with_instances(csr_array(X))
    for features in ("linear", "rbf"):
        a, b = (
            SparseBagMarginSVC(features=features, random_state=0).fit(x, y) for x in (dense, sparse)
        )
        np.testing.assert_allclose(
            a.decision_function(dense), b.decision_function(sparse), atol=1e-6
        )


@pytest.mark.parametrize("parameters", [{"C": 0}, {"features": "cubic"}, {"gamma": -1.0}])
def test_bad_parameters_are_refused(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        SparseBagMarginSVC(**parameters).fit(*toy())


def test_transduction_follows_the_gap_between_clusters():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal((-3, 0), (0.5, 3), (40, 2)), rng.normal((3, 0), (0.5, 3), (40, 2))])
    truth = np.repeat([3, 5], 40)
    y = np.full(80, -1)
    # Labels that mislead an inductive learner: the two differ by height as much as by side.
    y[0], y[40] = 3, 5
    X[0], X[40] = (-3, -3), (3, 3)
    model = TransductiveClassifier(SparseBagMarginSVC(random_state=0), unlabelled_weight=1.0)
    model.fit(X, y)
    assert np.mean(model.transduction_ == truth) > 0.95
    assert model.classes_.tolist() == [3, 5]
    assert np.mean(model.predict(X) == truth) > 0.95


def test_transduction_of_three_classes_and_of_bags():
    rng = np.random.default_rng(1)
    centers = np.array([[4.0, 0.0], [-2.0, 3.5], [-2.0, -3.5]])
    X = np.vstack([rng.normal(c, 0.5, (15, 2)) for c in centers])
    truth = np.repeat([0, 1, 2], 15)
    y = np.where(np.arange(45) % 15 < 3, truth, -1)
    model = TransductiveClassifier(
        SparseBagMarginSVC(features="rbf", gamma=0.2, random_state=0), unlabelled_weight=0.3
    ).fit(X, y)
    assert np.mean(model.transduction_ == truth) > 0.9
    bags = Bags.from_list([X[:2], X[2:3]])
    with pytest.raises(ValueError, match=r"bag 0.*unlabelled and has 2 instances"):
        TransductiveClassifier().fit(bags, [-1, 1])


def test_transduction_without_an_estimator_is_that_of_lnpboost():
    rng = np.random.default_rng(2)
    X = np.vstack([rng.normal(-2, 0.5, (12, 2)), rng.normal(2, 0.5, (12, 2))])
    y = np.where(np.arange(24) % 12 < 4, np.repeat([0, 1], 12), -1)
    model = TransductiveClassifier().fit(X, y)
    named = TransductiveClassifier(LNPBoost(features="rbf", random_state=0)).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), named.decision_function(X))
    assert model.transduction_.tolist() == np.repeat([0, 1], 12).tolist()


@pytest.mark.data
def test_musk1_is_learned_and_bounded():
    from mixedbag.datasets import load

    data = load("musk1")
    bags = data.bags.with_instances(StandardScaler().fit_transform(data.bags.instances))
    model = LNPBoost(features="rbf", gamma=1 / 81, n_rounds=2, random_state=0)
    model.fit(bags, data.y)
    assert model.score(bags, data.y) > 0.9
    assert model.gap_ < 0.35
    assert model.n_cuts_ > 20


@pytest.mark.parametrize("learner", [SparseBagMarginSVC, LNPBoost, ExactBagMarginSVC])
def test_features_that_highs_refuses_are_named(learner):
    rng = np.random.default_rng(0)
    bags = Bags.from_list([rng.normal(size=(2, 3)) for _ in range(8)])
    with pytest.raises(ValueError, match=r"instance 0 of bag 0 has .* in feature 0: too large"):
        learner().fit(bags.with_instances(1e17 * (1.0 + bags.instances**2)), np.arange(8) % 2)


def test_what_highs_refuses_stops_with_a_reason():
    solver = highs.new_solver()
    highs.append_columns(solver, np.ones(1), np.zeros(1), np.ones(1), np.empty((0, 1)))
    with pytest.raises(SolverStopped, match="refuses coefficients as large as 1e\\+16"):
        highs.append_rows(solver, np.ones(1), np.ones(1), np.array([[1e16]]))
