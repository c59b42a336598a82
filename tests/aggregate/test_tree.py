"""Aggregate trees: the incremental sweeps against brute force, and the classical limits."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from mixedbag import Bags
from mixedbag.aggregate import (
    AggregateForestClassifier,
    AggregateForestRegressor,
    AggregateTreeClassifier,
    AggregateTreeRegressor,
)
from mixedbag.aggregate._criteria import LabelCriterion, ValueCriterion
from mixedbag.aggregate._growth import SortedRows, grow, rows_of


def problem(seed, n_classes=2, n=40, integer_features=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    if integer_features:
        X = np.round(2 * X)  # ties between rows
    offsets = np.unique(np.r_[0, rng.choice(np.arange(1, n), 9, replace=False), n])
    bags = Bags(X, offsets)
    label = np.clip(np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [0.0, 1.0]), 0, n_classes - 1)
    counts = np.add.reduceat(np.eye(n_classes)[label], offsets[:-1])
    return bags, counts, rng.integers(1, 4, size=len(bags)).astype(float)


def all_splits(bags, members):
    """For every split of a node, the members that go left."""
    X = bags.instances[members]
    for feature in range(X.shape[1]):
        values = np.unique(X[:, feature])
        for value in values[:-1]:
            yield members[X[:, feature] <= value]


def eq12(bags, counts, weight, label_of):
    predicted = np.add.reduceat(np.eye(counts.shape[1])[label_of], bags.offsets[:-1])
    return weight @ ((counts - predicted) ** 2).sum(axis=1)


def eq14(bags, total, weight, ridge, leaf_of, slope):
    """The least value of eq. 14 by one big least squares problem."""
    leaves = np.unique(leaf_of)
    k = np.column_stack(
        [np.add.reduceat(slope * (leaf_of == l), bags.offsets[:-1]) for l in leaves]
    )
    root = np.sqrt(weight)[:, None]
    A = np.column_stack([k.sum(axis=1), k])
    penalty = np.sqrt(ridge) * np.eye(A.shape[1])[1:]
    stacked = np.vstack([root * A, penalty])
    target = np.r_[root[:, 0] * total, np.zeros(len(penalty))]
    solution = np.linalg.lstsq(stacked, target, rcond=None)[0]
    return np.sum((stacked @ solution - target) ** 2), dict(zip(leaves, solution[0] + solution[1:]))


@pytest.mark.kernel
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_label_split_is_the_best_by_brute_force(seed, n_classes):
    bags, counts, weight = problem(seed, n_classes, integer_features=seed % 2 == 1)
    label_of = np.empty(bags.n_instances, dtype=int)
    checked = []

    class Checked(LabelCriterion):
        def best_split(self, rows, leaf, features, min_leaf):
            split = super().best_split(rows, leaf, features, min_leaf)
            members = rows_of(rows, leaf)
            label_of[members] = self.label[leaf.number]
            assert self.error == pytest.approx(eq12(bags, counts, weight, label_of))
            best, best_unequal = np.inf, np.inf
            for left in all_splits(bags, members):
                for p in range(n_classes):
                    for q in range(n_classes):
                        tried = label_of.copy()
                        tried[members], tried[left] = q, p
                        value = eq12(bags, counts, weight, tried)
                        best = min(best, value)
                        best_unequal = min(best_unequal, value if p != q else np.inf)
            if split is not None:
                left = members[bags.instances[members, split.feature] <= split.threshold]
                assert len(left) == split.n_left
                chosen = label_of.copy()
                chosen[members], chosen[left] = split.detail[1], split.detail[0]
                assert eq12(bags, counts, weight, chosen) == pytest.approx(best)
                if split.detail[0] != split.detail[1]:
                    assert best_unequal == pytest.approx(best)
                label_of[:] = chosen
                checked.append(split)
            return split

    rows = SortedRows.of(bags.instances, bags.bag_of)
    criterion = Checked(counts, bags.sizes.astype(float), weight)
    tree, errors = grow(rows, criterion, weight, max_depth=4)
    assert len(checked) == tree.n_leaves - 1 >= 4
    assert (np.diff(errors) <= 1e-9).all()
    final = tree.predict(bags.instances).argmax(axis=1)
    assert errors[-1] >= eq12(bags, counts, weight, final) - 1e-9  # a last relabelling may help


@pytest.mark.kernel
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ridge", [0.05, 3.0])
def test_every_value_split_is_the_best_by_brute_force(seed, ridge):
    bags, counts, weight = problem(seed, integer_features=seed % 2 == 1)
    rng = np.random.default_rng(seed)
    total = counts[:, 1] + rng.normal(size=len(bags))
    slope = rng.uniform(0.2, 1.0, size=bags.n_instances) if seed > 1 else np.ones(bags.n_instances)
    leaf_of = np.zeros(bags.n_instances, dtype=int)
    checked = []

    class Checked(ValueCriterion):
        def best_split(self, rows, leaf, features, min_leaf):
            split = super().best_split(rows, leaf, features, min_leaf)
            members = rows_of(rows, leaf)
            now = eq14(bags, total, weight, ridge, leaf_of, slope)[0]
            assert self.error == pytest.approx(now, rel=1e-6)
            best = np.inf
            for left in all_splits(bags, members):
                tried = leaf_of.copy()
                tried[left] = -1
                best = min(best, eq14(bags, total, weight, ridge, tried, slope)[0])
            if split is None:
                assert best >= now * (1 - 1e-6)
            else:
                left = members[bags.instances[members, split.feature] <= split.threshold]
                assert len(left) == split.n_left
                assert now - split.detail[0] == pytest.approx(best, rel=1e-6)
                leaf_of[left] = leaf_of.max() + 1
                checked.append(split)
            return split

    rows = SortedRows.of(bags.instances, bags.bag_of)
    criterion = Checked(total, bags.bag_of, weight, ridge, slope)
    tree, errors = grow(rows, criterion, weight, max_depth=3)
    assert len(checked) == tree.n_leaves - 1 >= 3
    assert (np.diff(errors) < 0).all()
    value, solution = eq14(bags, total, weight, ridge, leaf_of, slope)
    assert errors[-1] == pytest.approx(value, rel=1e-6)
    expected = [solution[l] for l in leaf_of]
    np.testing.assert_allclose(tree.predict(bags.instances), expected, rtol=1e-5, atol=1e-7)


def test_the_fullest_leaf_is_split_next():
    bags, counts, weight = problem(0, n=60)
    seen = []

    class Watched(ValueCriterion):
        def best_split(self, rows, leaf, features, min_leaf):
            open_leaves = np.array([self.column[n] @ weight for n in self.column])
            seen.append((self.column[leaf.number] @ weight, open_leaves.max()))
            return super().best_split(rows, leaf, features, min_leaf)

    rows = SortedRows.of(bags.instances, bags.bag_of)
    grow(rows, Watched(counts[:, 1], bags.bag_of, weight, 0.05), weight, max_depth=None)
    assert len(seen) > 5
    order = [size for size, _ in seen]
    assert order == sorted(order, reverse=True)
    assert seen[0][0] == seen[0][1]


def test_bags_of_one_without_ridge_are_the_ordinary_regression_tree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).astype(np.float32).astype(float)  # scikit-learn rounds to float32
    y = np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=300)
    weight = rng.uniform(0.5, 2.0, size=300)
    ours = AggregateTreeRegressor(max_depth=5, ridge=0.0).fit(X, y, sample_weight=weight)
    theirs = DecisionTreeRegressor(max_depth=5).fit(X, y, sample_weight=weight)
    assert ours.tree_.n_leaves == theirs.get_n_leaves()
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6, atol=1e-8)


def test_bags_of_one_give_each_leaf_its_majority():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=200) > 0, "yes", "no")
    model = AggregateTreeClassifier(max_depth=3).fit(X, y)
    leaf = model.tree_.apply(X)
    for l in np.unique(leaf):
        share = np.mean(y[leaf == l] == "yes")
        assert (model.predict(X)[leaf == l] == "yes").all() == (share > 0.5) or share == 0.5
    assert model.objective_[-1] == 2 * np.sum(model.predict(X) != y)


def test_a_tree_finds_the_labels_behind_random_counts():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(2000, 5))
    label = X[:, 3] > 0.3
    bags = Bags(X, np.arange(0, 2001, 5))
    counts = np.add.reduceat(label.astype(int), bags.offsets[:-1])
    model = AggregateTreeClassifier(max_depth=2).fit(bags, counts)
    assert np.mean(model.predict_instances(bags) == label) > 0.99
    np.testing.assert_array_equal(model.predict(bags), model.predict_counts(bags)[:, 1])


def test_three_classes_from_proportions_of_unequal_bags():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 2))
    label = np.digitize(X[:, 0], [-0.5, 0.5])
    offsets = np.r_[0, np.sort(rng.choice(np.arange(1, 1500), 300, replace=False)), 1500]
    bags = Bags(X, offsets)
    shares = np.add.reduceat(np.eye(3)[label], offsets[:-1]) / bags.sizes[:, None]
    for model in (AggregateTreeClassifier(), AggregateForestClassifier(20, random_state=0)):
        model.fit(bags, shares)
        assert np.mean(model.predict_instances(bags) == label) > 0.9
        np.testing.assert_allclose(model.predict(bags).sum(axis=1), 1.0)


def test_leaves_keep_their_minimum_and_depth():
    bags, counts, _ = problem(5, n=80)
    model = AggregateTreeClassifier(max_depth=None, min_samples_leaf=7).fit(bags, counts)
    reached = np.unique(model.tree_.apply(bags.instances), return_counts=True)[1]
    assert reached.min() >= 7
    stump = AggregateTreeRegressor(max_depth=1).fit(bags, counts[:, 1])
    assert stump.tree_.n_leaves == 2


@pytest.mark.parametrize("forest", [AggregateForestClassifier, AggregateForestRegressor])
def test_without_bootstrap_order_and_duplicates_do_not_matter(forest):
    bags, counts, _ = problem(6)
    y = counts[:, 1]
    model = forest(5, bootstrap=False, random_state=0)
    copies = np.arange(len(bags)) % 2 + 1
    index = np.random.default_rng(0).permutation(np.repeat(np.arange(len(bags)), copies))
    weighted = model.fit(bags, y, sample_weight=copies).predict(bags.instances)
    repeated = model.fit(bags[index], y[index]).predict(bags.instances)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-6, atol=1e-8)


def test_forest_in_threads_is_the_same():
    bags, counts, _ = problem(7)
    one, two = (
        AggregateForestRegressor(6, random_state=0, n_jobs=n).fit(bags, counts[:, 1])
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.predict_instances(bags), two.predict_instances(bags))
