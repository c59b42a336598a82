"""Learners of totals give the same answers whatever the totals are counted in."""

import numpy as np
import pytest
from sklearn.base import clone

from mixedbag import Bags
from mixedbag.aggregate import (
    AggregateForestRegressor,
    AggregateGradientBoostingRegressor,
    AggregateKNeighborsRegressor,
    AggregateMLPRegressor,
    AggregatePoissonRegressor,
    AggregateRBFRegressor,
    AggregateRidgeRegressor,
    AggregateSVR,
    AggregateTreeRegressor,
)
from mixedbag.aggregate._standard import Standard
from mixedbag.engines import LocalBlocks
from mixedbag.uncertainty import posterior

REGRESSORS = [
    AggregateForestRegressor(10, random_state=0),
    AggregateGradientBoostingRegressor(10),
    AggregateKNeighborsRegressor(),
    AggregateMLPRegressor(4, max_iter=20, n_networks=2, random_state=0),
    AggregateMLPRegressor(4, max_iter=5, solver="adam", random_state=0),
    AggregateMLPRegressor(4, max_iter=20, solver="gradient", n_networks=1, random_state=0),
    AggregateRBFRegressor(random_state=0),
    AggregateRBFRegressor(solver="gradient", random_state=0),
    AggregateRidgeRegressor(),
    AggregateSVR(),
    AggregateSVR(kernel="rbf", tol=1e-8),
    AggregateTreeRegressor(),
]


def problem(seed=0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, size=30)
    X = rng.normal(size=(sizes.sum(), 3))
    bags = Bags(X, np.r_[0, np.cumsum(sizes)])
    value = np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=len(X))
    return bags, np.add.reduceat(value, bags.offsets[:-1])


@pytest.mark.parametrize("learner", REGRESSORS, ids=lambda learner: str(learner)[:30])
@pytest.mark.parametrize(("unit", "extra"), [(1000.0, 0.0), (0.001, 5.0), (3.0, -2.0)])
def test_answers_follow_the_unit_of_the_totals(learner, unit, extra):
    bags, total = problem()
    plain = clone(learner).fit(bags, total).predict_instances(bags)
    other = clone(learner).fit(bags, unit * total + extra * bags.sizes).predict_instances(bags)
    np.testing.assert_allclose((other - extra) / unit, plain, atol=2e-4 * np.ptp(plain))


@pytest.mark.parametrize("unit", [1e-9, 0.1, 1e6])
def test_rates_follow_the_unit_of_totals_that_are_no_counts(unit):
    bags, total = problem()
    total = total - total.min() + 0.5
    learner = AggregatePoissonRegressor(tol=1e-10)
    plain, other = (clone(learner).fit(bags, k * total) for k in (1.0, unit))
    np.testing.assert_allclose(other.predict(bags) / unit, plain.predict(bags), rtol=1e-6)
    assert np.abs(plain.coef_).max() > 0.1
    assert clone(learner).fit(bags, np.round(total)).unit_ == 1.0
    groups = bags.instances[:, 0] > 0
    sure, there = (
        posterior(model, bags, k * total).rates(bags, groups)
        for model, k in ((plain, 1.0), (other, unit))
    )
    for part in ("estimate", "low", "high"):
        np.testing.assert_allclose(getattr(there, part) / unit, getattr(sure, part), rtol=0.01)


def test_bags_of_one_are_standardised_as_rows():
    y = np.random.default_rng(0).normal(3.0, 7.0, size=50)
    bags = Bags(np.zeros((50, 1)), np.arange(51))
    standard = Standard.of(LocalBlocks.cut(bags, y, np.ones(50), n_blocks=3))
    assert standard == pytest.approx((y.mean(), y.std()))


def test_equal_values_have_no_spread_and_are_learned():
    bags, _ = problem()
    for learner in (AggregateSVR(), AggregateMLPRegressor(2, n_networks=1, random_state=0)):
        model = clone(learner).fit(bags, 4.0 * bags.sizes)
        np.testing.assert_allclose(model.predict_instances(bags), 4.0, atol=0.05)
