"""RELIC: the best question by brute force, the way down by hand, and a concept of its kind."""

import numpy as np
import pytest

from mixedbag import Bags
from mixedbag.classics import MITreeClassifier
from mixedbag.datasets import make_any

SOME = {0: lambda x, theta: (x <= theta).any(), 1: lambda x, theta: (x > theta).any()}


def entropy(y, weight):
    if not len(y):
        return 0.0
    share = np.bincount(y, weight, minlength=2) / weight.sum()
    return -sum(p * np.log2(p) for p in share if p > 0)


def gain(y, weight, passed):
    parts = (weight[side].sum() * entropy(y[side], weight[side]) for side in (passed, ~passed))
    return entropy(y, weight) - sum(parts) / weight.sum()


def best_gain(bags, y, weight):
    """Over all questions that can be asked: either side, any feature, between any two values."""
    gains = []
    for ask in SOME.values():
        for f in range(bags.n_features):
            values = np.unique(bags.instances[:, f])
            for theta in (values[:-1] + values[1:]) / 2:
                passed = np.array([ask(bag[:, f], theta) for bag in bags])
                gains.append(gain(y, weight, passed))
    return max(gains)


@pytest.mark.parametrize("seed", range(6))
def test_the_first_question_tells_most(seed):
    rng = np.random.default_rng(seed)
    bags = Bags.from_list([rng.normal(size=(rng.integers(1, 5), 3)) for _ in range(12)])
    y = np.arange(12) % 2
    weight = rng.integers(1, 4, 12).astype(float)
    model = MITreeClassifier(0.0, min_share=0.0).fit(bags, y, sample_weight=weight)
    tree = model.tree_.tree_
    side, feature = divmod(tree.feature[0], 3)
    passed = np.array([SOME[side](bag[:, feature], tree.threshold[0]) for bag in bags])
    assert gain(y, weight, passed) == pytest.approx(best_gain(bags, y, weight))


def test_the_way_down_by_hand():
    data = make_any(n_bags=60, size=(1, 6), n_features=3, random_state=1)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 60)
    model = MITreeClassifier(0.0).fit(data.bags, data.y, sample_weight=weight)
    tree = model.tree_.tree_
    assert tree.node_count > 3
    leaf = np.zeros(60, dtype=int)
    for i, bag in enumerate(data.bags):
        while tree.feature[leaf[i]] >= 0:
            node = leaf[i]
            side, feature = divmod(tree.feature[node], 3)
            passed = SOME[side](bag[:, feature], tree.threshold[node])
            # scikit-learn goes left where a value is at most the threshold.
            left = passed if side == 0 else not passed
            leaf[i] = (tree.children_left if left else tree.children_right)[node]
    odds = [
        np.log1p(weight[(leaf == n) & (data.y == 1)].sum())
        - np.log1p(weight[(leaf == n) & (data.y == 0)].sum())
        for n in leaf
    ]
    np.testing.assert_allclose(model.decision_function(data.bags), odds)


def pairs(n_bags, seed):
    """Bags are positive with a high first feature and a high second one, of different instances."""
    rng = np.random.default_rng(seed)
    bags, y = [], np.arange(n_bags) % 2
    for label in y:
        rows = rng.uniform(-1.0, 0.0, size=(rng.integers(3, 8), 5))
        rows[0, 0] = 1.0 if label or rng.random() < 0.5 else -0.5
        rows[1, 1] = 1.0 if label or rows[0, 0] < 0 else -0.5
        bags.append(rows)
    return Bags.from_list(bags), y


def test_two_instances_may_make_a_bag_positive_together():
    model = MITreeClassifier().fit(*pairs(100, seed=0))
    assert model.score(*pairs(100, seed=1)) == 1.0


def test_a_dear_leaf_is_cut_back():
    data = make_any(n_bags=100, n_features=6, separation=1.5, random_state=0)
    sizes = [
        MITreeClassifier(price, min_share=0.0).fit(data.bags, data.y).tree_.get_n_leaves()
        for price in (0.0, 0.05, 1.0)
    ]
    assert sizes[0] > sizes[1] > sizes[2] == 1


@pytest.mark.parametrize("bad", [{"ccp_alpha": -1.0}, {"min_share": 0.6}])
def test_bad_parameters_are_refused(bad):
    data = make_any(n_bags=10, random_state=0)
    with pytest.raises(ValueError, match=next(iter(bad))):
        MITreeClassifier(**bad).fit(data.bags, data.y)
