"""Two-level classification: occupancies by hand, optimal weights, and a concept of its kind."""

import tracemalloc

import numpy as np
import pytest

from mixedbag import Bags
from mixedbag.classics import TwoLevelClassifier, two_level
from mixedbag.datasets import make_any


def test_occupancy_by_hand():
    data = make_any(n_bags=20, size=(1, 5), n_features=3, random_state=0)
    model = TwoLevelClassifier(n_estimators=3, max_leaves=4, random_state=0).fit(data.bags, data.y)
    occupancy = model._occupancy(data.bags).toarray()
    start = 0
    for tree in model.forest_.estimators_:
        for leaf in np.flatnonzero(tree.tree_.children_left == -1):
            for i, bag in enumerate(data.bags):
                inside = tree.apply(bag) == leaf
                column = start + leaf
                assert occupancy[i, column] == inside.any()
                assert occupancy[i, column + model.coef_.shape[1]] == pytest.approx(inside.mean())
        start += tree.tree_.node_count
    assert start == model.coef_.shape[1]


def test_the_second_level_is_optimal():
    data = make_any(n_bags=30, random_state=1)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 30)
    model = TwoLevelClassifier(C=0.5, n_estimators=5, random_state=0)
    model.fit(data.bags, data.y, sample_weight=weight)
    features = model._occupancy(data.bags).toarray()
    sign = np.where(data.y == model.classes_[1], 1.0, -1.0)
    margin = sign * model.decision_function(data.bags)
    pull = 0.5 * weight * sign / (1 + np.exp(margin))
    assert model.coef_.ravel() == pytest.approx(features.T @ pull, abs=1e-4)
    assert pull.sum() == pytest.approx(0.0, abs=1e-4)


def conjunctions(n_bags, seed):
    """Bags of flags; positive ones have an instance with the first flag and without the second."""
    rng = np.random.default_rng(seed)
    bags, y = [], np.arange(n_bags) % 2
    for label in y:
        flags = (rng.random((rng.integers(3, 8), 6)) < 0.5).astype(float)
        hit = (flags[:, 0] == 1) & (flags[:, 1] == 0)
        flags[hit, 1] = 1.0
        if label:
            flags[0, :2] = [1.0, 0.0]
        bags.append(flags)
    return Bags.from_list(bags), y


def test_regions_see_features_together():
    bags, y = conjunctions(120, seed=0)
    new, truth = conjunctions(200, seed=1)
    model = TwoLevelClassifier(random_state=0).fit(bags, y)
    assert model.score(new, truth) > 0.9
    instances = model.decision_function_instances(new)
    hit = (new.instances[:, 0] == 1) & (new.instances[:, 1] == 0)
    assert instances[hit].min() > instances[~hit].max()


def test_instances_are_answered_in_little_memory():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60_000, 16), dtype=np.float32)
    bags = Bags(X, np.arange(0, len(X) + 1, 600))
    model = TwoLevelClassifier(random_state=0).fit(bags[:20], np.arange(20) % 2)
    few = model.decision_function_instances(bags[:3])
    tracemalloc.start()
    answers = model.decision_function_instances(bags)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 250e6  # all regions at once took 385 MB
    np.testing.assert_array_equal(answers[:1800], few)


def test_a_large_bag_is_looked_at_in_parts(monkeypatch):
    X = np.random.default_rng(0).standard_normal((60_000, 16), dtype=np.float32)
    bags = Bags(X, [*range(0, 2001, 100), len(X)])
    model = TwoLevelClassifier(random_state=0).fit(bags[:20], np.arange(20) % 2)
    tracemalloc.start()
    answer = model.decision_function(bags[20:])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6  # all of its rows at once took 93 MB
    monkeypatch.setattr(two_level, "_LEAVES", 2**40)
    np.testing.assert_array_equal(answer, model.decision_function(bags[20:]))


@pytest.mark.parametrize("bad", [{"C": 0.0}, {"n_estimators": 0}, {"max_leaves": 1}])
def test_bad_parameters_are_refused(bad):
    data = make_any(n_bags=10, random_state=0)
    with pytest.raises(ValueError, match=next(iter(bad))):
        TwoLevelClassifier(**bad).fit(data.bags, data.y)
