"""Derivatives of every pooling × loss against finite differences, and extreme scores."""

import warnings

import numpy as np
import pytest

from mixedbag.boosting.state import State
from tests.boosting.toys import LOSSES, POOLINGS, hessian, random_bags, total_loss


def a_state(pooling, loss, seed=0, level=0.0):
    bags, sign, weight = random_bags(seed=seed)
    state = State(bags.offsets, sign, weight, pooling, loss)
    return state.added(np.random.default_rng(seed + 1).normal(size=bags.n_instances)).derived(level)


def numeric_gradient(function, x, h=1e-5):
    steps = np.eye(len(x)) * h
    return np.array([(function(x + s) - function(x - s)) / (2 * h) for s in steps])


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("pooling", POOLINGS, ids=repr)
def test_gradient_and_hessian_blocks_match_finite_differences(pooling, loss):
    state = a_state(pooling, loss)
    rest = state.offsets, state.sign, state.weight, pooling, loss
    sizes = np.diff(state.offsets)
    gradient = -np.repeat(state.sign, sizes) * state.gradient()
    numeric = numeric_gradient(lambda F: total_loss(F, *rest), state.scores)
    np.testing.assert_allclose(gradient, numeric, atol=1e-6)

    def slopes(F):
        other = State(*rest).added(F).derived(0.0)
        return np.repeat(other.slope, sizes) * other.weights

    numeric = numeric_gradient(slopes, state.scores)
    full = np.zeros_like(numeric)
    for bag in range(len(sizes)):
        rows = slice(state.offsets[bag], state.offsets[bag + 1])
        full[rows, rows] = hessian(state, bag)
    np.testing.assert_allclose(full, numeric, atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("pooling", POOLINGS, ids=repr)
def test_derivatives_along_a_direction(pooling, loss):
    state = a_state(pooling, loss)
    h = np.random.default_rng(5).normal(size=len(state.scores))
    length, eps = 0.3, 1e-5
    value, slope, curve = state.along([h], [length])[0]
    ahead, behind = (state.along([h], [length + e])[0] for e in (eps, -eps))
    assert value == pytest.approx(
        total_loss(
            state.scores + length * h, state.offsets, state.sign, state.weight, pooling, loss
        )
    )
    assert slope == pytest.approx((ahead[0] - behind[0]) / (2 * eps), abs=1e-5)
    assert curve == pytest.approx((ahead[1] - behind[1]) / (2 * eps), abs=1e-4)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("pooling", [p for p in POOLINGS if hasattr(p, "moved")], ids=repr)
def test_stumps_are_followed_without_instances(pooling, loss):
    """The O(bags) path gives the same losses and derivatives as moving every instance."""
    state = a_state(pooling, loss)
    rng = np.random.default_rng(3)
    left = rng.random((2, len(state.scores))) < 0.5
    sides = np.array([1.0, 0.3]), np.array([-1.0, 2.0])
    shares = np.array(
        [
            [np.add.reduceat(state.weights * m, state.offsets[:-1]) for m in (mask, ~mask)]
            for mask in left
        ]
    )
    lengths = np.array([0.7, 0.2])
    directions = [np.where(m, a, b) for m, a, b in zip(left, *sides)]
    np.testing.assert_allclose(
        state.along_shares(shares, *sides, lengths), state.along(directions, lengths), rtol=1e-9
    )


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_level_only_scales(loss):
    margin = np.linspace(-5, 5, 11)
    plain, relative = loss.derivatives(margin), loss.derivatives(margin, 3.0)
    for a, b in zip(plain, relative):
        np.testing.assert_allclose(a, b * np.exp(3.0))


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("pooling", POOLINGS, ids=repr)
@pytest.mark.parametrize("scale", [1.0, 1e2, 1e4])
def test_scores_of_any_size_stay_finite(pooling, loss, scale):
    bags, sign, weight = random_bags(largest=40)
    state = State(bags.offsets, sign, weight, pooling, loss)
    state = state.added(scale * np.random.default_rng(1).uniform(-1, 1, bags.n_instances))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        level = (-sign * pooling.value(state.scores, bags.offsets)).max()
        state = state.derived(level)
        assert np.isfinite(state.total)
        assert np.isfinite(state.along([np.ones(bags.n_instances)], [1.0])).all()
    for array in (state.bag_scores, state.weights, state.bend, state.slope, state.curve):
        assert np.isfinite(array).all()


@pytest.mark.parametrize("pooling", POOLINGS, ids=repr)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0, 1e3])
def test_derivatives_at_once_are_the_single_ones(pooling, scale):
    bags, _, _ = random_bags(largest=20)
    scores = scale * np.random.default_rng(0).uniform(-1, 1, bags.n_instances)
    for shift in (0.0, -50.0, -800.0):
        moved = scores + shift
        together = pooling.derivatives(moved, bags.offsets)
        single = (
            pooling.value(moved, bags.offsets),
            pooling.weights(moved, bags.offsets),
            *pooling.curvature(moved, bags.offsets),
        )
        for a, b in zip(together, single):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-300)
