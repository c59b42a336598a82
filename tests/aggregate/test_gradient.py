"""Gradient descent as in the aggregate-outputs paper, and totals of several quantities."""

import numpy as np
import pytest

from mixedbag import Bags
from mixedbag.aggregate import (
    AggregateMLPClassifier,
    AggregateMLPRegressor,
    AggregateRBFClassifier,
    AggregateRBFRegressor,
)
from mixedbag.aggregate._early_stopping import descended
from mixedbag.aggregate._network import Counts, Network
from mixedbag.aggregate.rbf import activations, corrected_aic
from mixedbag.pooling import bag_sum


def walked(A, y, rate, tol):
    """The same descent, pass by pass."""
    v, passes = np.zeros((A.shape[1], y.shape[1])), 0
    error = 0.5 * ((y - A @ v) ** 2).sum()
    while True:
        v = v + rate * A.T @ (y - A @ v)
        before, error = error, 0.5 * ((y - A @ v) ** 2).sum()
        passes += 1
        if before - error < tol:
            return v, passes


@pytest.mark.parametrize("tol", [10.0, 1e-1, 1e-3])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_descent_ends_where_its_passes_would(tol, n_outputs):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 6)) @ np.diag([3, 2, 1, 0.5, 0.1, 0.0])
    y = rng.normal(size=(30, n_outputs)) + A[:, :1]
    rate = 0.3 / np.linalg.norm(A, 2) ** 2
    v, freedom, passes = descended(A, y, rate, tol)
    expected, their_passes = walked(A, y, rate, tol)
    assert passes == their_passes
    np.testing.assert_allclose(v, expected, atol=1e-9)
    v = np.zeros((6, 30))
    for _ in range(passes):
        v = v + rate * A.T @ (np.eye(30) - A @ v)
    assert freedom == pytest.approx(np.trace(A @ v))


def test_a_descent_without_a_tolerance_ends_at_least_squares():
    rng = np.random.default_rng(1)
    A, y = rng.normal(size=(20, 5)), rng.normal(size=(20, 2))
    v, freedom, _ = descended(A, y, 1e9, 0.0)  # too large a rate is made smaller
    np.testing.assert_allclose(v, np.linalg.lstsq(A, y, rcond=None)[0], atol=1e-9)
    assert freedom == pytest.approx(5)


def problem(seed=0, n=240, size=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    bags = Bags(X, np.arange(0, n + 1, size))
    values = np.column_stack([np.sin(2 * X[:, 0]), 30.0 + 5.0 * X[:, 1]])
    return bags, bag_sum(values, bags.offsets), values


def test_an_rbf_network_follows_the_paper():
    """Eq. 7 on totals of mean zero and unit spread, by passes over all bags."""
    bags, totals, _ = problem()
    total = totals[:, 1]
    model = AggregateRBFRegressor(6, solver="gradient", random_state=0).fit(bags, total)
    A = bag_sum(activations(bags.instances, model.centers_, model.widths_), bags.offsets)
    mean = total.sum() / bags.n_instances
    spread = np.sqrt(((total - mean * bags.sizes) ** 2).sum() / bags.n_instances)
    v, _ = walked(A, ((total - mean * bags.sizes) / spread)[:, None], 1e-5, 1e-3)
    expected = spread * v[:, 0]
    expected[0] += mean
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-6)


@pytest.mark.parametrize("Learner", [AggregateRBFRegressor, AggregateRBFClassifier])
def test_a_longer_descent_comes_closer_to_least_squares(Learner):
    bags, totals, values = problem()
    y = totals[:, 0]
    if Learner is AggregateRBFClassifier:
        y = bag_sum((values[:, 0] > 0).astype(float), bags.offsets)
    best = Learner(6, alpha=0.0, solver="least_squares", random_state=0).fit(bags, y).coef_
    away = [
        np.linalg.norm(
            Learner(6, solver="gradient", tol=tol, random_state=0).fit(bags, y).coef_ - best
        )
        for tol in (1.0, 1e-3, 1e-9, 0.0)
    ]
    assert (np.diff(away) < 0).all()
    assert away[-1] < 1e-6 * np.linalg.norm(best)


def test_few_bags_are_learned_by_the_descent_and_many_by_least_squares():
    bags, totals, _ = problem(n=2000)
    many = AggregateRBFRegressor(random_state=0).fit(bags, totals[:, 0])
    assert many.solver_ == "least_squares"
    noisy = totals[:14, 0] + np.random.default_rng(0).normal(size=14)
    few = AggregateRBFRegressor(random_state=0).fit(bags[:14], noisy)
    assert few.solver_ == "gradient"
    for model, data in ((many, (bags, totals[:, 0])), (few, (bags[:14], noisy))):
        same = AggregateRBFRegressor(solver=model.solver_, random_state=0).fit(*data)
        np.testing.assert_allclose(model.coef_, same.coef_)


def test_a_network_follows_the_paper():
    """Eqs. 3 and 5: the slope of eq. 1, summed over bags, times the rate."""
    bags, _, values = problem(1)
    counts = bag_sum((values[:, 0] > 0).astype(float), bags.offsets)
    options = {"solver": "gradient", "learning_rate": 1e-3, "tol": 0.0, "loss": "squared"}
    model = AggregateMLPClassifier(
        5, alpha=0.0, n_networks=1, max_iter=7, random_state=3, **options
    ).fit(bags, counts)
    network = Network(Counts(), 2, 5, 1, 0.0)
    flat = network.start(np.random.RandomState(3))
    weight, errors = np.ones(len(bags)), []
    for _ in range(7):
        value, slope = network.objective(
            flat, bags.instances, bags.offsets, counts[:, None], weight
        )
        errors.append(value)
        reached, flat = flat, flat - 1e-3 * len(bags) * slope
    np.testing.assert_allclose(model.weights_[0], reached)
    np.testing.assert_allclose(model.objective_, errors)
    assert (np.diff(model.objective_) < 0).all()
    stopped = model.set_params(tol=1.0, max_iter=5000).fit(bags, counts)
    gains = -np.diff(stopped.objective_) * len(bags)
    assert (gains[:-1] >= 1.0).all()
    assert gains[-1] < 1.0


def test_a_rate_that_is_too_large_ends_the_descent_before_it_harms():
    bags, totals, _ = problem(2)
    options = {"solver": "gradient", "n_networks": 1, "tol": 0.0, "random_state": 0}
    model = AggregateMLPRegressor(5, learning_rate=0.05, max_iter=500, **options)
    model.fit(bags, totals[:, 0])
    assert (np.diff(model.objective_) <= 0).all()
    assert np.isfinite(model.weights_).all()


@pytest.mark.parametrize(
    "learner",
    [
        AggregateRBFRegressor(random_state=0),
        AggregateRBFRegressor(solver="gradient", tol=1e-9, random_state=0),
        AggregateMLPRegressor(random_state=0),
    ],
)
def test_totals_of_several_quantities(learner):
    bags, totals, values = problem()
    model = learner.fit(bags, totals)
    assert model.predict(bags).shape == totals.shape
    assert model.predict_instances(bags).shape == values.shape
    assert model.score(bags, totals) > 0.8
    assert all(np.corrcoef(model.predict_instances(bags).T, values.T)[[0, 1], [2, 3]] > 0.8)
    known = model.predict_instances(bags, totals=totals)
    np.testing.assert_allclose(bag_sum(known, bags.offsets), totals)
    means = model.set_params(aggregate="mean").fit(bags, totals / bags.sizes[:, None])
    np.testing.assert_allclose(
        bag_sum(means.predict_instances(bags), bags.offsets),
        bags.sizes[:, None] * means.predict(bags),
    )
    assert means.score(bags, totals / bags.sizes[:, None]) > 0.8


def test_rbf_outputs_are_those_of_one_quantity_at_a_time():
    bags, totals, _ = problem()
    both = AggregateRBFRegressor(random_state=0).fit(bags, totals)
    for k in range(2):
        one = AggregateRBFRegressor(random_state=0).fit(bags, totals[:, k])
        np.testing.assert_allclose(both.coef_[:, k], one.coef_, rtol=1e-6)


def test_missing_totals_of_some_quantity_are_left_out():
    bags, totals, _ = problem()
    totals[3, 1] = np.nan
    with pytest.warns(UserWarning, match="bag 3 has no known"):
        model = AggregateRBFRegressor(random_state=0).fit(bags, totals)
    assert np.isfinite(model.predict(bags)).all()


def test_the_criterion_of_a_solver_charges_for_freedom_most_where_bags_are_few():
    assert corrected_aic(8.0, 3.0, 20) == pytest.approx(np.log(0.4) + 8.0 / 15.0)
    assert corrected_aic(1e-9, 9.0, 11) == np.inf  # nothing is left to judge by
    n, few, many = 10**6, 5.0, 50.0
    squares = n * np.array([1.0, 1.0 - 1.5 * (many - few) / n])  # not worth what it costs
    assert corrected_aic(squares[0], few, n) < corrected_aic(squares[1], many, n)
    squares[1] = n * (1.0 - 2.5 * (many - few) / n)
    assert corrected_aic(squares[0], few, n) > corrected_aic(squares[1], many, n)
