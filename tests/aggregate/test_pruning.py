"""Pruned trees and linear leaves: brute force over subtrees, and the classical limits."""

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from mixedbag import Bags
from mixedbag.aggregate import AggregateTreeClassifier, AggregateTreeRegressor
from mixedbag.aggregate._leaf_models import _solve
from tests.aggregate.test_tree import eq12, eq14, problem


@pytest.mark.parametrize("share", [0.002, 0.01, 0.1, 10.0])
def test_bags_of_one_are_pruned_like_an_ordinary_tree(share):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=80)
    ours = AggregateTreeRegressor(5, ridge=0.0, ccp_alpha=80 * share).fit(X, y)
    theirs = DecisionTreeRegressor(max_depth=5, ccp_alpha=share, random_state=0).fit(X, y)
    assert ours.tree_.n_leaves == theirs.get_n_leaves()
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-6)


def cut_back(tree, node, kept):
    """All sets of nodes that are the leaves of a pruned tree below a node."""
    yield [node]
    if tree.left[node] >= 0:
        for pair in itertools.product(
            cut_back(tree, tree.left[node], kept), cut_back(tree, tree.right[node], kept)
        ):
            yield pair[0] + pair[1]


def leaf_of(tree, X, leaves):
    """The one of `leaves` that each row passes."""
    found = np.empty(len(X), dtype=int)
    for i, x in enumerate(X):
        node = 0
        while node not in leaves:
            side = tree.left if x[tree.feature[node]] <= tree.threshold[node] else tree.right
            node = side[node]
        found[i] = node
    return found


@pytest.mark.parametrize("ridge", [0.05, 2.0])
def test_pruned_values_are_those_of_eq_14(ridge):
    bags, counts, weight = problem(0)
    total = counts[:, 1] + 0.3 * np.arange(len(bags))
    options = {"max_depth": 3, "ridge": ridge}
    full = AggregateTreeRegressor(**options).fit(bags, total, sample_weight=weight)
    sizes = [full.tree_.n_leaves]
    ones = np.ones(bags.n_instances)
    for price in (0.1, 1.0, 10.0):
        pruned = AggregateTreeRegressor(ccp_alpha=price, **options)
        pruned.fit(bags, total, sample_weight=weight)
        reached = pruned.tree_.apply(bags.instances)
        error, values = eq14(bags, total, weight, ridge, reached, ones)
        for leaf, value in values.items():
            assert pruned.tree_.value[leaf] == pytest.approx(value, abs=1e-8)
        sizes.append(pruned.tree_.n_leaves)
        # No subtree that was taken away would have paid for its leaves on its own.
        options_ = list(cut_back(full.tree_, 0, None))
        least = min(
            eq14(bags, total, weight, ridge, leaf_of(full.tree_, bags.instances, set(one)), ones)[0]
            + price * len(one)
            for one in options_
        )
        assert error + price * pruned.tree_.n_leaves <= least + 2 * price
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < sizes[0]


def test_pruned_labels_are_the_best_for_their_leaves():
    bags, counts, weight = problem(1)
    full = AggregateTreeClassifier(4).fit(bags, counts, sample_weight=weight)
    few = AggregateTreeClassifier(4, ccp_alpha=3.0).fit(bags, counts, sample_weight=weight)
    assert 1 <= few.tree_.n_leaves < full.tree_.n_leaves
    label = few.tree_.predict(bags.instances).argmax(axis=1)
    error = eq12(bags, counts, weight, label)
    leaves = few.tree_.apply(bags.instances)
    last = eq12(bags, counts, weight, full.tree_.predict(bags.instances).argmax(axis=1))
    assert last == pytest.approx(full.objective_[-1])
    assert error <= last + 3.0 * (full.tree_.n_leaves - few.tree_.n_leaves) + 1e-9
    for leaf in np.unique(leaves):  # the merged leaf has the label that suits it best
        other = np.where(leaves == leaf, 1 - label, label)
        if (few.tree_.left[leaf] < 0).all() and few.tree_.n_leaves == 1:
            assert eq12(bags, counts, weight, other) >= error
    nothing_gained = AggregateTreeClassifier(4, ccp_alpha=1e-9)
    nothing_gained.fit(bags, counts, sample_weight=weight)
    same = nothing_gained.tree_.predict(bags.instances).argmax(axis=1)
    assert eq12(bags, counts, weight, same) <= full.objective_[-1] + 1e-6


def test_linear_leaves_of_bags_of_one_are_ordinary_regressions():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 2)) * [1.0, 50.0]
    y = np.where(X[:, 0] > 0, 3.0 + X[:, 1], 1.0 - 2.0 * X[:, 0]) + 0.1 * rng.normal(size=120)
    model = AggregateTreeRegressor(2, ridge=0.0, leaf="linear", min_samples_leaf=10).fit(X, y)
    leaves, predicted = model.tree_.apply(X), model.predict(X)
    for leaf in np.unique(leaves):
        here = leaves == leaf
        expected = LinearRegression().fit(X[here], y[here]).predict(X[here])
        np.testing.assert_allclose(predicted[here], expected, atol=1e-6)


@pytest.mark.parametrize("n_bags", [12, 60])
def test_leaf_models_minimise_their_objective(n_bags):
    """Fewer bags than coefficients, or more: the gradient vanishes."""
    rng = np.random.default_rng(3)
    A, sizes, total = (
        rng.normal(size=(n_bags, 20)),
        rng.uniform(1, 4, n_bags),
        rng.normal(size=n_bags),
    )
    baseline, coef = _solve(A, sizes, total, 0.3)
    error = A @ coef + baseline * sizes - total
    np.testing.assert_allclose(A.T @ error + 0.3 * coef, 0.0, atol=1e-9)
    assert sizes @ error == pytest.approx(0.0, abs=1e-8)


def test_linear_leaves_know_slopes_that_totals_tell():
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, size=(600, 2))
    value = np.where(X[:, 0] > 0, 3 + 2 * X[:, 1], -2 * X[:, 1])
    bags = Bags(X, np.arange(0, 601, 4))
    total = np.add.reduceat(value, bags.offsets[:-1])
    errors = {
        leaf: np.mean(
            (AggregateTreeRegressor(3, leaf=leaf).fit(bags, total).predict_instances(bags) - value)
            ** 2
        )
        for leaf in ("constant", "linear")
    }
    assert errors["linear"] < 0.5 * errors["constant"]


def test_units_of_features_do_not_matter_to_linear_leaves():
    bags, counts, _ = problem(5)
    other = bags.with_instances(100.0 * bags.instances + 7.0)
    a, b = (
        AggregateTreeRegressor(2, leaf="linear").fit(x, counts[:, 1]).predict_instances(x)
        for x in (bags, other)
    )
    np.testing.assert_allclose(a, b, atol=1e-6)
