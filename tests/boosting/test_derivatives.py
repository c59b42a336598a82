"""Derivatives of every pooling × loss against finite differences, and extreme scores."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from mixedbag.boosting import _scores
from mixedbag.boosting._scores import ByArrays, Directions, Scores
from mixedbag.engines import Labelled
from tests.boosting.toys import LOSSES, POOLINGS, hessian, random_bags, total_loss

pytestmark = pytest.mark.kernel


def derivatives(pooling, loss, seed=0, level=0.0):
    labelled = Labelled(*random_bags(seed=seed))
    values = np.random.default_rng(seed + 1).normal(size=labelled.bags.n_instances)
    return Scores.of(labelled, pooling, loss).plus(values).derived(level)


def numeric_gradient(function, x, h=1e-5):
    steps = np.eye(len(x)) * h
    return np.array([(function(x + s) - function(x - s)) / (2 * h) for s in steps])


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("pooling", POOLINGS, ids=repr)
def test_gradient_and_hessian_blocks_match_finite_differences(pooling, loss):
    here = derivatives(pooling, loss)
    at = here.at
    sizes = np.diff(at.offsets)
    gradient = -np.repeat(at.sign, sizes) * here.gradient()
    numeric = numeric_gradient(
        lambda F: total_loss(F, at.offsets, at.sign, at.weight, pooling, loss), at.values
    )
    np.testing.assert_allclose(gradient, numeric, atol=1e-6)

    def slopes(F):
        other = at.plus(F - at.values).derived(0.0)
        return np.repeat(other.slope, sizes) * other.weights

    numeric = numeric_gradient(slopes, at.values)
    full = np.zeros_like(numeric)
    for bag in range(len(sizes)):
        rows = slice(at.offsets[bag], at.offsets[bag + 1])
        full[rows, rows] = hessian(here, bag)
    np.testing.assert_allclose(full, numeric, atol=1e-5)


@pytest.mark.parametrize("at_once", [1, 60, 2**14])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("pooling", POOLINGS, ids=repr)
def test_derivatives_along_directions(pooling, loss, at_once, monkeypatch):
    """However many directions are followed in a pass."""
    monkeypatch.setattr(_scores, "INSTANCES_A_PASS", at_once)
    here = derivatives(pooling, loss)
    at = here.at
    directions = list(np.random.default_rng(5).normal(size=(3, len(at.values))))
    steps = Directions(here, directions)
    lengths, eps = np.array([0.3, 0.0, 0.7]), 1e-5
    values, slopes, curves = steps.follow(lengths).T
    ahead, behind = (steps.follow(lengths + e).T for e in (eps, -eps))
    expected = [
        total_loss(at.values + length * h, at.offsets, at.sign, at.weight, pooling, loss)
        for h, length in zip(directions, lengths)
    ]
    np.testing.assert_allclose(values, expected)
    np.testing.assert_allclose(slopes, (ahead[0] - behind[0]) / (2 * eps), atol=1e-5)
    np.testing.assert_allclose(curves, (ahead[1] - behind[1]) / (2 * eps), atol=1e-4)
    np.testing.assert_allclose(
        steps.take([2, 0]).follow(lengths[[2, 0]]), steps.follow(lengths)[[2, 0]]
    )


class TwoSides:
    """As codes of bags, whose slots say which instances are on the left."""

    def __init__(self, is_left, offsets):
        self.is_left, self.offsets = is_left, offsets

    def left_of(self, slots, cuts):
        return self.is_left[slots]

    def shares(self, slots, cuts, weight):
        sides = np.stack([self.is_left, ~self.is_left], axis=1)[slots] * weight
        return np.add.reduceat(sides, self.offsets[:-1], axis=2)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("pooling", POOLINGS, ids=repr)
def test_stumps_are_followed_as_directions(pooling, loss):
    """Loops give the same losses and derivatives as moving every instance by arrays."""
    here = derivatives(pooling, loss)
    is_left = np.random.default_rng(3).random((2, len(here.weights))) < 0.5
    left, right, slots = np.array([1.0, 0.3]), np.array([-1.0, 2.0]), np.arange(2)
    lengths = np.array([0.7, 0.2])
    stumps = here.toward_stumps(TwoSides(is_left, here.at.offsets), slots, slots, left, right)
    moved = Directions(here, [np.where(m, a, b) for m, a, b in zip(is_left, left, right)])
    np.testing.assert_allclose(stumps.follow(lengths), moved.follow(lengths), rtol=1e-9)
    np.testing.assert_allclose(
        stumps.take([1]).follow(lengths[1:]), moved.follow(lengths)[1:], rtol=1e-9
    )


@pytest.mark.parametrize("scale", [1.0, 20.0, 300.0])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("pooling", POOLINGS, ids=repr)
def test_derivatives_by_loops_are_those_by_arrays(pooling, loss, scale):
    labelled = Labelled(*random_bags(seed=2))
    values = scale * np.random.default_rng(4).normal(size=labelled.bags.n_instances).round(1)
    values[1] = values[0]  # equal scores share their weight
    scores = Scores.of(labelled, pooling, loss).plus(values)
    loops, arrays = scores.derived(0.5), replace(scores, way=ByArrays()).derived(0.5)
    for name in ("total", "pooled", "weights", "whole", "bend", "slope", "cross"):
        ours, oracle = getattr(loops, name), getattr(arrays, name)
        np.testing.assert_allclose(ours, oracle, rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("pooling", POOLINGS, ids=repr)
def test_a_block_may_have_no_bag(pooling):
    """As a part of a cluster's bags of which none is held out."""
    bags, _, _ = random_bags()
    nobody = Labelled(bags[:0], np.empty(0), np.empty(0))
    np.testing.assert_array_equal(Scores.of(nobody, pooling, LOSSES[0]).loss_and_weight(), 0.0)


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
    labelled = Labelled(*random_bags(largest=40))
    n = labelled.bags.n_instances
    values = scale * np.random.default_rng(1).uniform(-1, 1, n)
    scores = Scores.of(labelled, pooling, loss).plus(values)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        level = (-labelled.target * pooling.value(values, labelled.bags.offsets)).max()
        here = scores.derived(level)
        assert np.isfinite(here.total)
        assert np.isfinite(here.toward(np.ones(n)).follow(np.ones(1))).all()
        np.testing.assert_allclose(scores.loss_and_weight(level)[0], here.total)
    for array in (here.pooled, here.weights, here.bend, here.slope, here.cross):
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
