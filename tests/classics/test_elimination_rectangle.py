"""Rectangles by elimination: cuts against trying them all, and what must hold at the end."""

import numpy as np
import pytest

from mixedbag.classics import EliminationRectangle
from mixedbag.classics.elimination_rectangle import _cheapest_cut, _within
from mixedbag.datasets import make_any


@pytest.mark.parametrize("seed", range(5))
def test_the_cheapest_cut_is_the_cheapest(seed):
    rng = np.random.default_rng(seed)
    rows, negatives = rng.normal(size=(12, 3)), rng.normal(size=(6, 3)) * 0.7
    bag_of, price = np.repeat(np.arange(4), 3), rng.uniform(0.5, 2.0, size=(12, 3))
    costs = []
    for negative in negatives:
        for k in range(3):
            for beyond in (rows[:, k] >= negative[k], rows[:, k] <= negative[k]):
                if len(set(bag_of[~beyond])) == 4:  # every bag keeps an instance
                    costs.append(price[beyond, k].sum() / price[:, k].sum())
    side, feature, bound = _cheapest_cut(rows, bag_of, price, negatives)
    beyond = rows[:, feature] < bound if side == 0 else rows[:, feature] > bound
    assert len(set(bag_of[~beyond])) == 4
    found = price[beyond, feature].sum() / price[:, feature].sum()
    assert found == pytest.approx(min(costs), abs=1e-8)


@pytest.mark.parametrize("cost", ["count", "density"])
def test_positive_bags_stay_and_negative_instances_go(cost):
    data = make_any(n_bags=40, n_features=4, separation=7.0, random_state=0)
    model = EliminationRectangle(cost).fit(data.bags, data.y)
    assert model.n_iter_ > 0
    scores = model.decision_function(data.bags)
    assert (scores[data.y == 1] > 0).all()
    whole = EliminationRectangle("none").fit(data.bags, data.y)
    assert np.sum(scores[data.y == 0] > 0) < np.sum(whole.predict(data.bags)[data.y == 0])


def test_without_elimination_it_is_the_box_of_all_positive_bags():
    data = make_any(n_bags=20, n_features=3, random_state=0)
    model = EliminationRectangle("none").fit(data.bags, data.y)
    inside = data.bags[data.y == 1].instances[:, model.features_]
    np.testing.assert_allclose(model.lower_, inside.min(axis=0), atol=1e-4)
    np.testing.assert_allclose(model.upper_, inside.max(axis=0), atol=1e-4)
    assert (model.predict(data.bags)[data.y == 1] == 1).all()
    negatives = data.bags[data.y == 0].instances
    whole = np.array(
        [data.bags[data.y == 1].instances.min(0), data.bags[data.y == 1].instances.max(0)]
    )
    kept = _within(negatives[:, model.features_], whole[:, model.features_])
    np.testing.assert_array_equal(kept, _within(negatives, whole))


def test_outliers_are_cheaper_where_density_counts():
    """One far positive instance a cut could take, or two close together: the first is cheaper."""
    bags = [[[0.0], [9.0]], [[0.1], [-3.0], [-3.05]], [[0.2]], [[8.0]], [[-2.0]]]
    model = EliminationRectangle("density").fit(bags, [1, 1, 1, 0, 0])
    assert -2.0 < model.lower_[0] < 0.0 < model.upper_[0] < 8.0


@pytest.mark.parametrize("cost", ["count", "density", "none"])
def test_the_border_is_inside(cost):
    """Where all positive instances share a value, the bounds meet; others have many on a bound."""
    bags = [[[0.0, 0.0], [0.0, 2.0]], [[0.0, 0.0]], [[5.0, 1.0]], [[7e3, 9.0]]]
    y = [1, 1, 0, 0]
    model = EliminationRectangle(cost).fit(bags, y)
    np.testing.assert_array_equal(model.predict(bags), y)
    assert np.isfinite(model.decision_function([[[-1e9, 0.0]]])).all()
