"""Both learners: their limits, their objective, brute force on tiny problems, and their options."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mixedbag import Bags
from mixedbag._solvers.hinge import Problem
from mixedbag._solvers.numbered_rows import NumberedRows
from mixedbag.margin import (
    AnnealedBagMarginSVC,
    AnnealedInstanceMarginSVC,
    BagMarginSVC,
    InstanceMarginSVC,
    SimilarityMarginSVC,
)
from mixedbag.margin._linear import LinearMachine
from mixedbag.testing import parametrize_with_bag_checks

BOTH = pytest.mark.parametrize("learner", [BagMarginSVC, InstanceMarginSVC])


def make_bags(n_bags=40, d=3, seed=0, most=6, shift=2.5):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, most, n_bags)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    X = rng.standard_normal((offsets[-1], d))
    y = np.arange(n_bags) % 2
    X[offsets[:-1][y == 1], 0] += shift
    return Bags(X, offsets), y


@parametrize_with_bag_checks(
    [BagMarginSVC(kernel="linear", random_state=0), InstanceMarginSVC(kernel="linear", n_init=2)]
)
def test_linear_machines_keep_the_contract(estimator, check):
    check(clone(estimator).set_params(random_state=0))


@BOTH
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_bags_of_one_are_a_machine_with_a_free_intercept(learner, loss, C):
    bags, y = make_bags(150, most=2)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    model = learner(C, kernel="linear", loss=loss, tol=1e-10)
    model.fit(bags, y, weight)
    if loss == "hinge":
        svc = SVC(C=C, kernel="linear", tol=1e-9).fit(bags.instances, y, weight)
        expected = svc.decision_function(bags.instances)
    else:
        expected = squared_hinge_scores(bags.instances, y, C * weight)
    np.testing.assert_allclose(model.decision_function(bags), expected, atol=2e-4)
    assert model.dual_gap_ <= 1e-10 * model.objective_[-1]


def squared_hinge_scores(X, y, cost):
    """The machine whose intercept is free, by a general-purpose solver."""
    table, sign = np.column_stack([X, np.ones(len(X))]), 2.0 * y - 1.0

    def objective(w):
        short = np.maximum(1.0 - sign * (table @ w), 0.0)
        gradient = np.append(w[:-1], 0.0) - 2.0 * table.T @ (sign * cost * short)
        return 0.5 * w[:-1] @ w[:-1] + cost @ short**2, gradient

    options = {"maxiter": 10_000, "ftol": 1e-16, "gtol": 1e-9}
    found = minimize(
        objective, np.zeros(table.shape[1]), jac=True, options=options, method="L-BFGS-B"
    )
    return table @ found.x


def test_an_interval_of_best_intercepts_is_halved_as_svc_does():
    X = np.arange(8.0)[:, None]
    y = (X[:, 0] > 3.5).astype(int)
    model = BagMarginSVC(1e-3, kernel="linear").fit(Bags(X, np.arange(9)), y)
    svc = SVC(C=1e-3, kernel="linear", tol=1e-9).fit(X, y)
    assert model.intercept_ == pytest.approx(svc.intercept_[0], abs=1e-6)


@BOTH
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("d", [3, 1200])
def test_adding_a_constant_to_every_feature_changes_no_answer(learner, loss, make, d):
    bags, y = make_bags(60, d=d, shift=1.5)
    moved = bags.with_instances(make(bags.instances + 10.0))
    learner = learner(kernel="linear", loss=loss, tol=1e-8)
    here, there = clone(learner).fit(bags, y), clone(learner).fit(moved, y)
    scores = here.decision_function_instances(bags)
    np.testing.assert_allclose(there.decision_function_instances(moved), scores, atol=2e-4)
    assert there.objective_[-1] == pytest.approx(here.objective_[-1], rel=1e-7)


@pytest.mark.parametrize(
    "learner", [AnnealedBagMarginSVC, AnnealedInstanceMarginSVC, SimilarityMarginSVC]
)
def test_the_intercept_of_annealed_and_similarity_machines_is_free(learner):
    bags, y = make_bags(30, shift=1.5)
    moved = bags.with_instances(bags.instances + 10.0)
    learner = learner(kernel="linear", tol=1e-8, random_state=0)
    here, there = clone(learner).fit(bags, y), clone(learner).fit(moved, y)
    scores = here.decision_function_instances(bags)
    np.testing.assert_allclose(there.decision_function_instances(moved), scores, atol=2e-4)
    ones, _ = make_bags(60, most=2)
    sign = (ones.instances[:, 0] > 1.0).astype(int)  # many more on one side
    svc = SVC(kernel="linear", tol=1e-9).fit(ones.instances, sign)
    found = clone(learner).fit(ones, sign).decision_function(ones)
    np.testing.assert_allclose(found, svc.decision_function(ones.instances), atol=2e-3)


@BOTH
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_bags_of_one_are_an_svc(learner, kernel):
    bags, y = make_bags(150, most=2)
    model = learner(2.0, kernel=kernel).fit(bags, y)
    svc = SVC(C=2.0, kernel=kernel, degree=2, coef0=1.0, tol=1e-6).fit(bags.instances, y)
    expected = svc.decision_function(bags.instances)
    np.testing.assert_allclose(model.decision_function(bags), expected, atol=1e-4)


@BOTH
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("update", ["synchronous", "asynchronous"])
@pytest.mark.parametrize("C", [0.1, 10.0, (1.0, 20.0)])
def test_the_objective_falls_and_is_what_it_says(learner, kernel, update, C):
    bags, y = make_bags(60, shift=1.0)
    model = learner(C, kernel=kernel, update=update, class_weight={0: 1.0, 1: 3.0}).fit(bags, y)
    assert np.all(np.diff(model.objective_) <= 1e-6 * model.objective_[:-1])
    assert model.n_iter_ == len(model.objective_)
    np.testing.assert_array_equal(bags.bag_of[model.witness_], np.flatnonzero(y))
    scores = model.decision_function_instances(bags)
    low, high = (C, C) if np.isscalar(C) else C
    if kernel == "linear":
        norm = model.coef_ @ model.coef_
    else:
        gram = rbf_kernel(model.support_vectors_, gamma=model.gamma_)
        norm = model.dual_coef_ @ gram @ model.dual_coef_
    losses = np.maximum(1 + scores, 0)  # of label -1
    if learner is BagMarginSVC:
        total = low * losses[bags.spread(y) == 0].sum()
        total += 3 * high * np.maximum(1 - scores[model.witness_], 0).sum()
    else:
        cost = np.where(bags.spread(y) == 1, 3 * high, low)
        positive = (scores > 0) & (bags.spread(y) == 1)
        positive[model.witness_] = True  # a positive bag keeps one
        total = cost @ np.where(positive, np.maximum(1 - scores, 0), losses)
    assert 0.5 * norm + total == pytest.approx(model.objective_[-1], rel=1e-4)


def all_choices(learner, bags, y):
    """Every choice of witnesses or labels, as slots."""
    positive = np.flatnonzero(y)
    negative_rows = np.flatnonzero(bags.spread(y) == 0)
    members = [np.arange(bags.offsets[i], bags.offsets[i + 1]) for i in positive]
    if learner is BagMarginSVC:
        for witnesses in product(*members):
            rows = np.concatenate([witnesses, negative_rows]).astype(np.int64)
            yield rows, np.where(np.arange(len(rows)) < len(positive), 1.0, -1.0)
    else:
        rows = np.concatenate([*members, negative_rows])
        for labels in product(*(list(product([-1.0, 1.0], repeat=len(m)))[1:] for m in members)):
            sign = np.concatenate([*labels, -np.ones(len(negative_rows))])
            yield rows, sign


@BOTH
def test_restarts_reach_the_global_optimum_of_tiny_problems(learner):
    reached = []
    for seed in range(8):
        bags, y = make_bags(8, d=2, seed=seed, most=4 if learner is BagMarginSVC else 3, shift=1.0)
        machine = LinearMachine(NumberedRows(bags.instances, bags.instances[:0]))
        best = min(
            machine.solve(Problem(rows, sign, np.ones(len(rows)))).objective
            for rows, sign in all_choices(learner, bags, y)
        )
        model = learner(kernel="linear", n_init=20, random_state=seed).fit(bags, y)
        assert model.objective_[-1] >= best * (1 - 1e-5)
        reached.append(model.objective_[-1] <= best * (1 + 1e-5))
    assert np.mean(reached) >= 0.75


@pytest.mark.parametrize("C", [0.01, 1.0])
@BOTH
def test_order_of_many_bags_does_not_matter(learner, C):
    # Rough machines on the way choose witnesses and labels: they must not know the order either.
    bags, y = make_bags(1000, d=20, shift=1.0)
    order = np.random.default_rng(0).permutation(len(y))
    one = learner(C, kernel="linear").fit(bags, y)
    other = learner(C, kernel="linear").fit(bags[order], y[order])
    assert one.n_iter_ > 2
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-9)


@BOTH
def test_given_and_callable_kernels_are_the_named_one(learner):
    bags, y = make_bags()
    named = learner(gamma=0.5).fit(bags, y)
    called = learner(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.5)).fit(bags, y)
    gram = bags.with_instances(rbf_kernel(bags.instances, gamma=0.5))
    given = learner(kernel="precomputed").fit(gram, y)
    scores = named.decision_function(bags)
    np.testing.assert_allclose(called.decision_function(bags), scores, atol=1e-6)
    if learner is InstanceMarginSVC:  # the other starts from another centroid
        np.testing.assert_allclose(given.decision_function(gram), scores, atol=1e-6)
    assert given.score(gram, y) == named.score(bags, y)


@BOTH
def test_wide_sparse_data(learner):
    rng = np.random.default_rng(0)
    X = sparse.random_array((120, 3000), density=0.01, rng=rng, format="csr")
    y = np.arange(40) % 2
    X = X + sparse.csr_array(np.repeat(y, 3)[:, None] * (np.arange(3000) < 2) * 1.0)
    bags = Bags(sparse.csr_array(X), np.arange(0, 121, 3))
    model = learner(kernel="linear").fit(bags, y)
    assert model.score(bags, y) == 1.0
    assert model.dual_gap_ <= 1e-6 * model.objective_[-1]
    dense = learner(kernel="linear").fit(bags.with_instances(bags.instances.toarray()), y)
    np.testing.assert_allclose(model.coef_, dense.coef_, atol=1e-3)


@BOTH
def test_balanced_restores_a_side_that_is_drowned(learner):
    bags, y = make_bags(60, shift=1.5)
    y = ((y == 1) & (np.arange(60) < 16)).astype(int)
    plain = learner(0.1, kernel="linear").fit(bags, y)
    balanced = learner(0.1, kernel="linear", class_weight="balanced").fit(bags, y)
    assert plain.predict(bags).sum() < balanced.predict(bags).sum()


def test_balanced_bags_of_one_are_a_balanced_svc():
    bags, y = make_bags(100, most=2)
    y = ((y == 1) & (np.arange(100) < 40)).astype(int)
    model = BagMarginSVC(class_weight="balanced").fit(bags, y)
    svc = SVC(class_weight="balanced", tol=1e-6).fit(bags.instances, y)
    expected = svc.decision_function(bags.instances)
    np.testing.assert_allclose(model.decision_function(bags), expected, atol=1e-4)


@BOTH
def test_too_many_pairs_make_landmarks(learner):
    bags, y = make_bags(100)
    exact = learner().fit(bags, y)
    model = learner(cache_size=0.01, n_components=80, random_state=0).fit(bags, y)
    assert not hasattr(model, "support_")
    assert model.support_vectors_.shape == (80, 3)
    assert np.mean(model.predict(bags) == exact.predict(bags)) > 0.9
    single = learner(cache_size=1.5 * bags.n_instances**2 * 4 / 1e6).fit(bags, y)
    scores = exact.decision_function(bags)
    np.testing.assert_allclose(single.decision_function(bags), scores, atol=1e-3)


def test_more_starts_are_never_worse():
    bags, y = make_bags(30, shift=1.0, seed=3)
    objectives = [
        BagMarginSVC(kernel="linear", n_init=n, random_state=0).fit(bags, y).objective_[-1]
        for n in (1, 5, 20)
    ]
    assert objectives == sorted(objectives, reverse=True)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": -1.0}, "C must be a number above 0"),
        ({"C": (1.0, 2.0, 3.0)}, "a pair"),
        ({"kernel": "cosine"}, "kernel must be"),
        ({"loss": "squared_hinge"}, "needs kernel='linear'"),
        ({"class_weight": "even"}, "class_weight must be"),
        ({"update": "random"}, "update must be"),
        ({"n_init": 0}, "n_init"),
        ({"tol": 0.0}, "tol"),
        ({"kernel": "precomputed"}, "one feature a training instance"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    bags, y = make_bags(10)
    with pytest.raises(ValueError, match=message):
        BagMarginSVC(**parameters).fit(bags, y)


@pytest.mark.data
@BOTH
def test_musk1_is_learned_with_default_settings(learner):
    from mixedbag.datasets import load

    data = load("musk1")
    bags = data.bags.with_instances(StandardScaler().fit_transform(data.bags.instances))
    held_out = np.arange(len(bags)) % 4 == 0
    model = learner().fit(bags[~held_out], data.y[~held_out])
    assert model.score(bags[held_out], data.y[held_out]) >= 0.7


@BOTH
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_one_enormous_value_is_named(learner, kernel):
    bags, y = make_bags(10)
    X = bags.instances.copy()
    X[3, 0] = 1e300
    with pytest.raises(ValueError, match=r"has 1e\+300 in feature 0"):
        learner(kernel=kernel).fit(bags.with_instances(X), y)
