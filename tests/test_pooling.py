"""Every pooling: against a loop over bags, finite differences, and huge scores."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit, logit

from mixedbag.pooling import (
    ISR,
    OWA,
    LogMeanExp,
    LogSumExp,
    Majority,
    Max,
    Mean,
    MeanProbability,
    NoisyOr,
    Sum,
    bag_argmax,
)

OFFSETS = np.array([0, 3, 4, 9, 11])


def owa(f, a):
    k = np.arange(1, len(f) + 1) / len(f)
    return np.sort(f)[::-1] @ (k**a - (k - 1 / len(f)) ** a)


ONE_BAG = {
    Max(): np.max,
    Mean(): np.mean,
    Sum(): np.sum,
    Majority(): lambda f: np.mean(np.where(f > 0, 1, -1)),
    LogSumExp(2.0): lambda f: np.log(np.exp(2 * f).sum()) / 2,
    LogMeanExp(0.3): lambda f: np.log(np.exp(0.3 * f).mean()) / 0.3,
    ISR(): lambda f: np.log(np.exp(f).sum()),
    NoisyOr(): lambda f: -np.log(1 / (1 - np.prod(1 - 1 / (1 + np.exp(-f)))) - 1),
    OWA(0.4): lambda f: owa(f, 0.4),
    MeanProbability(): lambda f: logit(expit(f).mean()),
    MeanProbability(0.4, 2.0): lambda f: 0.5 * logit(owa(expit(2 * f), 0.4)),
}
SMOOTH = [p for p in ONE_BAG if not isinstance(p, Majority)]


@pytest.fixture
def scores():
    return np.random.default_rng(0).normal(size=OFFSETS[-1]) * 2


@pytest.mark.parametrize("pooling", ONE_BAG, ids=repr)
def test_value_is_that_of_a_loop_over_bags(pooling, scores):
    expected = [ONE_BAG[pooling](scores[a:b]) for a, b in pairwise(OFFSETS)]
    np.testing.assert_allclose(pooling.value(scores, OFFSETS), expected, atol=1e-12)


@pytest.mark.parametrize("pooling", SMOOTH, ids=repr)
def test_weights_and_curvature_are_the_derivatives(pooling, scores):
    bag = np.repeat(np.arange(len(OFFSETS) - 1), np.diff(OFFSETS))
    q = pooling.weights(scores, OFFSETS)
    d, r = pooling.curvature(scores, OFFSETS)
    step = 1e-6
    for j in range(len(scores)):
        up, down = scores.copy(), scores.copy()
        up[j] += step
        down[j] -= step
        slope = (pooling.value(up, OFFSETS) - pooling.value(down, OFFSETS)) / (2 * step)
        np.testing.assert_allclose(slope[bag[j]], q[j], atol=1e-7)
        assert np.all(slope[np.arange(len(slope)) != bag[j]] == 0)
        bend = (pooling.weights(up, OFFSETS) - pooling.weights(down, OFFSETS)) / (2 * step)
        expected = np.where(bag == bag[j], r[bag[j]] * q[j] * q, 0.0)
        expected[j] += d[j]
        np.testing.assert_allclose(bend, expected, atol=1e-7)


@pytest.mark.parametrize("pooling", ONE_BAG, ids=repr)
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e2, 1e4])
@pytest.mark.parametrize("shift", [-1, 0, 1])
def test_huge_scores_are_safe(pooling, scores, scale, shift):
    big = scale * (scores + 10 * shift)
    with np.errstate(all="raise", under="ignore"):
        value = pooling.value(big, OFFSETS)
        q = pooling.weights(big, OFFSETS)
        d, r = pooling.curvature(big, OFFSETS)
    for part in (value, q, d, r):
        assert np.isfinite(part).all()
    top = np.maximum.reduceat(np.abs(big), OFFSETS[:-1])
    assert (np.abs(value) <= (top + 20) * np.diff(OFFSETS).max() + 1).all()


@pytest.mark.parametrize("pooling", ONE_BAG, ids=repr)
def test_bag_of_one_is_its_instance_up_to_majority(pooling, scores):
    ones = np.arange(len(scores) + 1)
    expected = np.sign(scores) if isinstance(pooling, Majority) else scores
    np.testing.assert_allclose(pooling.value(scores, ones), expected, atol=1e-12)


@pytest.mark.parametrize("pooling", ONE_BAG, ids=repr)
def test_weights_do_not_depend_on_the_order_of_ties(pooling):
    scores = np.array([1.0, 1.0, 0.0, 2.0, 2.0, 2.0])
    offsets = np.array([0, 3, 6])
    order = np.array([1, 0, 2, 5, 3, 4])
    np.testing.assert_allclose(
        pooling.weights(scores[order], offsets), pooling.weights(scores, offsets)[order]
    )


def test_limits_join_the_poolings(scores):
    np.testing.assert_allclose(
        LogMeanExp(1e-9).value(scores, OFFSETS), Mean().value(scores, OFFSETS), atol=1e-6
    )
    np.testing.assert_allclose(
        LogMeanExp(1e9).value(scores, OFFSETS), Max().value(scores, OFFSETS), atol=1e-6
    )
    np.testing.assert_allclose(
        OWA(1e-12).value(scores, OFFSETS), Max().value(scores, OFFSETS), atol=1e-9
    )
    np.testing.assert_allclose(OWA(1.0).weights(scores, OFFSETS), Mean().weights(scores, OFFSETS))
    # Where positives are rare, noisy-or and the integrated segmentation rule agree.
    np.testing.assert_allclose(
        NoisyOr().value(scores - 40, OFFSETS), ISR().value(scores - 40, OFFSETS), atol=1e-9
    )
    np.testing.assert_allclose(  # even where probabilities underflow
        NoisyOr().value(scores - 900, OFFSETS), ISR().value(scores - 900, OFFSETS), atol=1e-9
    )


def test_argmax_is_the_first_largest_row():
    assert bag_argmax(np.array([1.0, 3, 3, 7, 5, 5]), np.array([0, 3, 4, 6])).tolist() == [1, 3, 4]


def test_tables_of_scores_are_pooled_column_by_column():
    table = np.array([[1.0, 0.0], [3.0, -1.0], [0.0, 5.0]])
    offsets = np.array([0, 2, 3])
    assert Sum().value(table, offsets).tolist() == [[4, -1], [0, 5]]
    assert Mean().value(table, offsets).tolist() == [[2, -0.5], [0, 5]]
    assert Max().value(table, offsets).tolist() == [[3, 0], [0, 5]]
    assert Majority().value(table, offsets).tolist() == [[1, 0], [0, 1]]
