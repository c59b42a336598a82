"""Logistic regression on bags: gradient, optimality, and scikit-learn on bags of one."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.linear_model import LogisticRegression

from mixedbag.classics import MILogisticRegression
from mixedbag.classics.logistic import penalised_loss
from mixedbag.datasets import make_any
from mixedbag.engines import LocalBlocks
from mixedbag.pooling import Mean, NoisyOr


@pytest.mark.parametrize("pooling", [NoisyOr(), Mean()])
def test_gradient(pooling):
    data = make_any(n_bags=20, n_features=3, random_state=0)
    rng = np.random.default_rng(0)
    sign = np.where(data.y == 1, 1.0, -1.0)
    rest = (pooling, LocalBlocks.cut(data.bags, sign, rng.uniform(0.5, 2, 20), n_blocks=3), 0.7)
    error = check_grad(
        lambda p: penalised_loss(p, *rest)[0],
        lambda p: penalised_loss(p, *rest)[1],
        rng.normal(size=4),
    )
    assert error < 1e-4


@pytest.mark.parametrize("pooling", ["any", "mean"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_bags_of_one_are_ordinary_logistic_regression(pooling, C):
    data = make_any(n_bags=80, size=(1, 1), n_features=4, separation=1.5, random_state=0)
    weight = np.random.default_rng(0).uniform(0.5, 2, 80)
    model = MILogisticRegression(C=C, pooling=pooling).fit(data.bags, data.y, weight)
    other = LogisticRegression(C=C, tol=1e-10, max_iter=5000)
    other.fit(data.bags.instances, data.y, weight)
    np.testing.assert_allclose(model.coef_, other.coef_[0], atol=1e-4)
    np.testing.assert_allclose(
        model.predict_proba(data.bags), other.predict_proba(data.bags.instances), atol=1e-4
    )


@pytest.mark.parametrize("pooling", ["any", "mean"])
def test_objective_falls_to_a_stationary_point(pooling):
    data = make_any(n_bags=60, n_features=5, separation=2.0, random_state=0)
    model = MILogisticRegression(pooling=pooling).fit(data.bags, data.y)
    assert (np.diff(model.objective_) <= 1e-9).all()
    pool = {"any": NoisyOr(), "mean": Mean()}[pooling]
    sign = np.where(data.y == 1, 1.0, -1.0)
    parameters = np.append(model.coef_, model.intercept_)
    value, gradient = penalised_loss(
        parameters, pool, LocalBlocks.cut(data.bags, sign, np.ones(60)), 1.0
    )
    assert np.abs(gradient).max() < 1e-3
    assert value == pytest.approx(model.objective_[-1])


def test_any_multiplies_out_the_instances():
    data = make_any(n_bags=30, n_features=3, random_state=0)
    model = MILogisticRegression().fit(data.bags, data.y)
    instance = model.predict_proba_instances(data.bags)[:, 1]
    bag = [1 - np.prod(1 - instance[data.bags.bag_of == i]) for i in range(30)]
    np.testing.assert_allclose(model.predict_proba(data.bags)[:, 1], bag, atol=1e-9)


def test_any_finds_the_witnesses():
    data = make_any(n_bags=200, n_features=4, separation=4.0, random_state=0)
    model = MILogisticRegression().fit(data.bags, data.y)
    assert (model.predict_instances(data.bags) == data.instance_labels).mean() > 0.95
