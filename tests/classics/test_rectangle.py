"""The rectangle's three steps, each against its definition."""

import itertools

import numpy as np
import pytest

from mixedbag.bags import Bags
from mixedbag.classics import AxisParallelRectangle, _boxes, rectangle
from mixedbag.datasets import make_any


def test_growth_against_all_choices():
    """On tiny problems the best of all seeds is mostly the smallest rectangle there is."""
    reached = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        bags = Bags.from_list([rng.normal(size=(3, 2)) for _ in range(4)])
        rows, offsets = bags.instances, bags.offsets
        choices = itertools.product(*(range(a, b) for a, b in itertools.pairwise(offsets)))
        best = min(np.ptp(rows[list(c)], axis=0).sum() for c in choices)
        grown = [rectangle._grow(rows, offsets, s) for s in range(3)]
        for chosen in grown:
            np.testing.assert_array_equal(bags.bag_of[chosen], np.arange(4))
        ours = min(np.ptp(rows[c], axis=0).sum() for c in grown)
        assert ours >= best - 1e-12
        reached += ours <= best + 1e-12
    assert reached >= 15


def test_no_single_exchange_makes_it_smaller():
    rng = np.random.default_rng(0)
    bags = Bags.from_list([rng.normal(size=(5, 3)) for _ in range(8)])
    chosen = rectangle._grow(bags.instances, bags.offsets, 0)
    size = np.ptp(bags.instances[chosen], axis=0).sum()
    for row, bag in enumerate(bags.bag_of):
        other = chosen.copy()
        other[bag] = row
        assert np.ptp(bags.instances[other], axis=0).sum() >= size - 1e-9


def test_smallest_exchange():
    rng = np.random.default_rng(1)
    bags = Bags.from_list([rng.normal(size=(2, 3)) for _ in range(5)])
    rows, bag_of = bags.instances, bags.bag_of
    chosen = np.array([0, 2, -1, 7, 8])  # bag 2 is not covered yet
    lower, upper = rectangle._Bound(rows, chosen, 1), rectangle._Bound(rows, chosen, -1)
    for row, bag in enumerate(bag_of):
        other = chosen.copy()
        other[bag] = row
        expected = np.ptp(rows[other[other >= 0]], axis=0).sum()
        found, size = rectangle._smallest_with(rows, bag_of, np.array([row]), lower, upper)
        assert found == row
        assert size == pytest.approx(expected)


def test_discrimination_keeps_what_shuts_out():
    #               far out on 0      on 0, less    only on 2        inside everywhere
    outside = np.array([[3.0, 0.5, 0.0], [1.5, 0.0, 0.0], [0.0, 0.0, 0.2], [0.0, 0.0, 0.0]])
    kept = _boxes.discriminate(outside, np.ones(4), margin=1.0)
    np.testing.assert_array_equal(kept, [0, 2])


def test_expansion_leaves_epsilon_outside():
    from scipy.stats import norm

    rng = np.random.default_rng(0)
    chosen, weight = rng.normal(size=(30, 2)), rng.uniform(0.5, 2, size=30)
    lower, upper = rectangle._expand(chosen, weight, tau=0.999, epsilon=0.01)
    assert (lower <= chosen.min(axis=0)).all()
    width = np.ptp(chosen, axis=0) / 2 / norm.ppf(0.9995)
    for k in range(2):
        cdf = [
            weight @ norm.cdf(t, chosen[:, k], width[k]) / weight.sum()
            for t in (lower[k], upper[k])
        ]
        assert cdf[0] <= 0.005 + 1e-9
        assert 1 - cdf[1] <= 0.005 + 1e-9
        assert cdf[0] == pytest.approx(0.005, rel=1e-3) or lower[k] == chosen[:, k].min()


def test_finds_the_features_that_matter():
    data = make_any(n_bags=80, size=(3, 6), n_features=2, separation=8.0, random_state=0)
    noise = np.random.default_rng(0).normal(size=(data.bags.n_instances, 4))
    bags = data.bags.with_instances(np.hstack([data.bags.instances, noise]))
    model = AxisParallelRectangle().fit(bags, data.y)
    assert set(model.features_) & {0, 1}
    assert model.score(bags, data.y) > 0.95
    np.testing.assert_array_equal(model.predict_instances(bags), data.instance_labels)
