"""Soft choices against a general solver, and the limits of annealing."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

from mixedbag import Bags
from mixedbag._annealing import soft_labels, soft_witnesses, temperatures
from mixedbag.datasets import make_any
from mixedbag.margin import (
    AnnealedBagMarginSVC,
    AnnealedInstanceMarginSVC,
    BagMarginSVC,
    InstanceMarginSVC,
)

PAIRS = [(AnnealedBagMarginSVC, BagMarginSVC), (AnnealedInstanceMarginSVC, InstanceMarginSVC)]
OFFSETS = np.array([0, 3, 4, 9])


def entropy(p):
    p = np.clip(p, 1e-12, 1.0)
    return -(p * np.log(p)).sum()


def lowest(energy, n, constraint):
    """What a general solver reaches, from a few starts."""
    starts = [np.full(n, 1.0 / n), np.full(n, 0.9), *np.eye(n)]
    bounds = [(0, 1)] * n
    found = [minimize(energy, start, bounds=bounds, constraints=constraint) for start in starts]
    return min(energy(np.clip(one.x, 0, 1)) for one in found if constraint["fun"](one.x) > -1e-9)


@pytest.mark.parametrize("temperature", [0.05, 0.5, 5.0])
def test_soft_witnesses_minimise_the_free_energy(temperature):
    loss = np.random.default_rng(0).uniform(0, 3, size=9)
    found = soft_witnesses(loss, OFFSETS, temperature)
    for a, b in pairwise(OFFSETS):

        def energy(p, part=loss[a:b]):
            return p @ part - temperature * entropy(p)

        one_in_total = {"type": "eq", "fun": lambda p: p.sum() - 1}
        assert found[a:b].sum() == pytest.approx(1.0)
        assert energy(found[a:b]) <= lowest(energy, b - a, one_in_total) + 1e-6


@pytest.mark.parametrize("temperature", [0.1, 0.5, 5.0])
@pytest.mark.parametrize("shift", [-4.0, 0.0, 2.0])
def test_soft_labels_minimise_the_free_energy_with_one_expected(temperature, shift):
    gain = np.random.default_rng(1).uniform(-1, 1, size=9) + shift
    found = soft_labels(gain, OFFSETS, temperature)
    for a, b in pairwise(OFFSETS):

        def energy(p, part=gain[a:b]):
            return -p @ part - temperature * (entropy(p) + entropy(1 - p))

        at_least_one = {"type": "ineq", "fun": lambda p: p.sum() - 1}
        assert found[a:b].sum() >= 1 - 1e-9
        assert energy(found[a:b]) <= lowest(energy, b - a, at_least_one) + 1e-6


def test_cold_choices_are_hard():
    scores = np.random.default_rng(2).normal(size=9) - 1.0
    share = soft_labels(scores, OFFSETS, 1e-4)
    witness = soft_witnesses(-scores, OFFSETS, 1e-4)
    for a, b in pairwise(OFFSETS):
        best = np.arange(b - a) == scores[a:b].argmax()
        np.testing.assert_allclose(witness[a:b], best, atol=1e-6)
        np.testing.assert_allclose(share[a:b], best | (scores[a:b] > 0), atol=1e-6)


def test_hot_choices_are_open():
    loss = np.random.default_rng(3).normal(size=9)
    np.testing.assert_allclose(
        soft_witnesses(loss, OFFSETS, 1e6), 1 / np.repeat([3, 1, 5], [3, 1, 5]), rtol=1e-4
    )
    np.testing.assert_allclose(soft_labels(loss, OFFSETS, 1e6)[4:], 0.5, rtol=1e-4)


def test_temperatures_fall_to_a_thousandth():
    found = temperatures(8.0, 0.5)
    assert found[0] == 8.0
    assert found[-1] <= 8e-3 < found[-2]


@pytest.mark.parametrize(("annealed", "plain"), PAIRS)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_without_temperature_it_is_the_plain_learner(annealed, plain, kernel):
    data = make_any(n_bags=40, random_state=0)
    one = annealed(kernel=kernel, temperature=0).fit(data.bags, data.y)
    other = plain(kernel=kernel).fit(data.bags, data.y)
    np.testing.assert_array_equal(
        one.decision_function(data.bags), other.decision_function(data.bags)
    )


@pytest.mark.parametrize(("annealed", "plain"), PAIRS)
def test_bags_of_one_leave_nothing_to_choose(annealed, plain):
    data = make_any(n_bags=60, size=(1, 1), n_features=3, random_state=0)
    one = annealed(kernel="rbf").fit(data.bags, data.y)
    other = plain(kernel="rbf").fit(data.bags, data.y)
    np.testing.assert_allclose(
        one.decision_function(data.bags), other.decision_function(data.bags), atol=1e-4
    )


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(("annealed", "plain"), PAIRS)
def test_a_witness_that_stands_out_is_found_among_many(annealed, plain, loss):
    data = make_any(n_bags=60, size=(8, 12), n_features=4, separation=7.0, random_state=0)
    model = annealed(kernel="linear", loss=loss, C=10.0).fit(data.bags, data.y)
    assert data.instance_labels[model.witness_].all()


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_a_cooled_machine_that_is_constant_leaves_the_choice_to_the_plain_search(seed):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 6, 30))])
    X = rng.standard_normal((offsets[-1], 3))
    y = np.arange(30) % 2
    X[offsets[:-1][y == 1], 0] += 1.5  # too little to be seen among open labels
    bags = Bags(X, offsets)
    plain = InstanceMarginSVC(kernel="linear").fit(bags, y)
    annealed = AnnealedInstanceMarginSVC(kernel="linear").fit(bags, y)
    assert annealed.objective_[-1] == pytest.approx(plain.objective_[-1], rel=1e-5)
