"""Poolings and losses in loops find the stumps that those in arrays find."""

import numpy as np
import pytest

from mixedbag import Bags
from mixedbag.boosting import (
    ExponentialLoss,
    LogisticLoss,
    NewtonStep,
    OWABoost,
    PartitionStep,
    PooledBoostingClassifier,
    SignStep,
    _scores,
)
from mixedbag.pooling import ISR, OWA, LogMeanExp, LogSumExp, NoisyOr


def problem(seed, n_bags=30, largest=9):
    """Bags of one and more, equal values, missing ones, a constant feature, weights."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, largest + 1, n_bags)
    X = np.column_stack(
        [
            rng.normal(size=sizes.sum()),
            rng.integers(0, 4, sizes.sum()),
            np.full(sizes.sum(), 3.0),
            np.where(rng.random(sizes.sum()) < 0.2, np.nan, rng.normal(size=sizes.sum())),
        ]
    )
    y = np.arange(n_bags) % 2
    X[np.repeat(y == 1, sizes), 0] += 0.7
    return Bags(X, np.append(0, np.cumsum(sizes))), y, rng.integers(1, 4, n_bags).astype(float)


def both(model, data, monkeypatch):
    """The model by loops, and by the arrays that they stand for."""
    bags, y, weight = data
    fitted = model.fit(bags, y, sample_weight=weight)
    quick = fitted.ensemble_, fitted.objective_.copy()
    monkeypatch.setattr(_scores, "_way", lambda *asked: _scores.ByArrays())
    plain = model.fit(bags, y, sample_weight=weight)
    return quick, (plain.ensemble_, plain.objective_)


def assert_same(quick, plain):
    (stumps, loss), (expected, expected_loss) = quick, plain
    np.testing.assert_array_equal(stumps.feature, expected.feature)
    np.testing.assert_array_equal(stumps.threshold, expected.threshold)
    for name in ("left", "right", "missing"):
        ours, theirs = getattr(stumps, name), getattr(expected, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9, err_msg=name)
    np.testing.assert_allclose(loss, expected_loss, rtol=1e-9)


STEPS = [SignStep(2), NewtonStep(3), NewtonStep(longest=0.3), PartitionStep()]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("rate", [1.0, 0.4])
@pytest.mark.parametrize("loss", [ExponentialLoss(), LogisticLoss()], ids=["exp", "logistic"])
@pytest.mark.parametrize("step", STEPS, ids=repr)
@pytest.mark.parametrize(
    "pooling", [LogMeanExp(0.3), LogSumExp(4.0), ISR(), NoisyOr(), OWA(0.5)], ids=repr
)
def test_loops_find_the_same_stumps(pooling, step, loss, rate, seed, monkeypatch):
    model = PooledBoostingClassifier(pooling, loss=loss, step=step, n_rounds=12, learning_rate=rate)
    assert_same(*both(model, problem(seed), monkeypatch))


@pytest.mark.kernel
def test_large_bags_and_equal_scores_are_ordered_alike(monkeypatch):
    assert_same(*both(OWABoost(0.3, n_rounds=30), problem(5, 12, 120), monkeypatch))


@pytest.mark.kernel
def test_noisy_or_goes_on_where_odds_leave_the_range_of_numbers(monkeypatch):
    """Classes apart: scores grow without end, and bags are surer than numbers tell."""
    X = np.repeat([[0.0], [1.0]], [40, 40], axis=0)
    data = Bags(X, np.arange(0, 81, 20)), np.array([0, 0, 1, 1]), np.ones(4)
    model = PooledBoostingClassifier(NoisyOr(), step=SignStep(), n_rounds=60)
    quick, plain = both(model, data, monkeypatch)
    assert np.abs(plain[0].score(X)).max() > 250
    assert_same(quick, plain)
