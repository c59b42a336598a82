"""Forests grown without their surroundings: scikit-learn's own, tree for tree."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from mixedbag import _forests
from mixedbag._forests import (
    ExtraTrees,
    RandomForest,
    first_splits,
    grow,
    grow_again,
    leaves,
    probabilities,
)
from mixedbag._random_trees import adds_up


def problem(n_classes=2, n_rows=60):
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((n_rows, 5)) < 0.4, 0.0, rng.normal(size=(n_rows, 5)))
    labels = np.array(["a", "b", "c"])[rng.integers(0, n_classes, n_rows)]
    return rows, labels, rng.uniform(0.0, 2.0, n_rows)


def assert_same(forest, other):
    assert len(forest.estimators_) == len(other.estimators_)
    for tree, twin in zip(forest.estimators_, other.estimators_):
        assert tree.get_params() == twin.get_params()
        for name in ("children_left", "feature", "threshold", "value"):
            np.testing.assert_array_equal(getattr(tree.tree_, name), getattr(twin.tree_, name))


@pytest.mark.parametrize("settings", [{}, {"max_leaf_nodes": 4}, {"min_weight_fraction_leaf": 0.1}])
@pytest.mark.parametrize("store", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_trees_and_answers_are_scikit_learns(settings, store, n_classes):
    rows, labels, weight = problem(n_classes)
    forest = ExtraTreesClassifier(12, random_state=3, **settings)
    expected = clone(forest).fit(store(rows), labels, weight)
    found = grow(forest, store(rows), labels, weight)
    assert_same(found, expected)
    assert found.get_params() == expected.get_params()
    new = store(np.random.default_rng(1).normal(size=(30, 5)))
    np.testing.assert_array_equal(probabilities(found, new), expected.predict_proba(new))
    np.testing.assert_array_equal(leaves(found, new), expected.apply(new))
    np.testing.assert_array_equal(found.predict(new), expected.predict(new))


def test_a_generator_goes_on_as_after_scikit_learns():
    rows, labels, weight = problem()
    ours, theirs = np.random.RandomState(5), np.random.RandomState(5)
    found = grow(ExtraTreesClassifier(4, random_state=ours), rows, labels, weight)
    assert_same(found, ExtraTreesClassifier(4, random_state=theirs).fit(rows, labels, weight))
    assert ours.randint(2**31 - 1) == theirs.randint(2**31 - 1)


def test_growing_again_is_growing_with_other_weights():
    rows, labels, weight = problem()
    for n_jobs in (1, 2):
        forest = ExtraTreesClassifier(5, random_state=0, n_jobs=n_jobs)
        found = grow_again(grow(clone(forest), rows, labels, weight), rows, labels, 2.0 - weight)
        assert_same(found, clone(forest).fit(rows, labels, 2.0 - weight))


def test_threads_grow_the_same():
    rows, labels, weight = problem()
    alone = grow(ExtraTreesClassifier(6, random_state=0), rows, labels, weight)
    threads = grow(ExtraTreesClassifier(6, random_state=0, n_jobs=2), rows, labels, weight)
    assert_same(alone, threads)


OTHERS = [{"max_depth": 2}, {"class_weight": "balanced"}, {"ccp_alpha": 0.01}, {"max_samples": 0.5}]


@pytest.mark.parametrize("settings", [{}, {"min_samples_leaf": 3}, *OTHERS])
@pytest.mark.parametrize("weighted", [False, True])
def test_drawn_rows_are_scikit_learns(settings, weighted):
    rows, labels, weight = problem()
    weight = weight if weighted else None
    found = RandomForest(8, random_state=1, **settings).fit(rows, labels, weight)
    expected = RandomForestClassifier(8, random_state=1, **settings).fit(rows, labels, weight)
    assert_same(found, expected)
    np.testing.assert_array_equal(found.predict_proba(rows), expected.predict_proba(rows))


@pytest.mark.parametrize(
    ("quick", "own"),
    [(ExtraTrees, ExtraTreesClassifier), (RandomForest, RandomForestClassifier)],
)
def test_missing_values_go_where_scikit_learn_sends_them(quick, own):
    rows, labels, _ = problem()
    rows[::7, 0] = np.nan
    found = quick(8, random_state=1).fit(rows, labels)
    expected = own(8, random_state=1).fit(rows, labels)
    assert_same(found, expected)
    np.testing.assert_array_equal(found.predict_proba(rows), expected.predict_proba(rows))


def test_rows_of_another_width_are_refused():
    rows, labels, _ = problem()
    with pytest.raises(ValueError, match="features"):
        ExtraTrees(3).fit(rows, labels).predict_proba(rows[:, 1:])


@pytest.mark.parametrize("change", [TypeError("another signature"), None])
def test_where_scikit_learn_grows_trees_otherwise_its_forests_do_it_all(monkeypatch, change):
    assert _forests._is_known()  # in this release: else the quick way is not tested at all
    grown = _forests._grown

    def otherwise(like, rows, codes, weight, random):
        if change is not None:
            raise change
        random.random_sample()
        return grown(like, rows, codes, weight, random)

    monkeypatch.setattr(_forests, "_grown", otherwise)
    _forests._is_known.cache_clear()
    try:
        assert not _forests._is_known()
        rows, labels, weight = problem()
        found = ExtraTrees(5, random_state=1).fit(rows, labels, weight)
    finally:
        _forests._is_known.cache_clear()
    expected = ExtraTreesClassifier(5, random_state=1).fit(rows, labels, weight)
    assert_same(found, expected)


@pytest.mark.parametrize("min_share", [0.0, 0.01])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_random_trees_are_scikit_learns_to_the_bit(seed, min_share, store, monkeypatch):
    """Constant features, equal values and rows, values a hair apart, zeros, weights of zero."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(300, 7))
    rows[:, 1], rows[:, 2] = 2.5, rng.integers(0, 3, 300)
    rows[:, 3] = 1.0 + 1e-7 * rng.integers(0, 3, 300)
    rows[:, 4:] *= rng.random((300, 3)) < [0.02, 0.1, 0.5]
    rows[:100] = rows[100:200]
    labels = (rows[:, 0] + rng.normal(size=300) > 0).astype(int)
    weight = rng.integers(0, 9, 300) / 2**20
    given = {"random_state": seed, "min_weight_fraction_leaf": min_share}
    assert _forests._is_known()
    monkeypatch.setattr(_forests, "_grown", None)  # not by scikit-learn's own builder
    ours = grow(ExtraTreesClassifier(8, **given), store(rows), labels, weight)
    theirs = ExtraTreesClassifier(8, **given).fit(store(rows), labels, weight)
    for tree, twin in zip(ours.estimators_, theirs.estimators_, strict=True):
        told, expected = tree.tree_.__getstate__(), twin.tree_.__getstate__()
        assert told["max_depth"] == expected["max_depth"]
        np.testing.assert_array_equal(told["values"], expected["values"])
        for name in expected["nodes"].dtype.names:
            np.testing.assert_array_equal(told["nodes"][name], expected["nodes"][name], name)


def test_weights_that_do_not_add_up_exactly_are_left_to_scikit_learn():
    assert adds_up(np.array([0.0, 3.0, 2.0**-20]))
    assert not adds_up(np.array([0.1, 3.0]))
    assert not adds_up(np.full(2, 2.0**32))


@pytest.mark.parametrize("n_rows", [12, 60, 400])
def test_first_splits_are_the_smaller_forest(n_rows):
    rows, labels, weight = problem(n_rows=n_rows)
    forest = grow(ExtraTreesClassifier(9, max_leaf_nodes=16, random_state=3), rows, labels, weight)
    for max_leaves in (2, 6, 16):
        found = first_splits(forest, max_leaves)
        expected = ExtraTreesClassifier(9, max_leaf_nodes=max_leaves, random_state=3)
        expected.fit(rows, labels, weight)
        assert found.get_params() == expected.get_params()
        for tree, twin in zip(found.estimators_, expected.estimators_, strict=True):
            assert tree.get_params() == twin.get_params()
            told, meant = tree.tree_.__getstate__(), twin.tree_.__getstate__()
            assert told["max_depth"] == meant["max_depth"]
            np.testing.assert_array_equal(told["values"], meant["values"])
            for name in meant["nodes"].dtype.names:
                np.testing.assert_array_equal(told["nodes"][name], meant["nodes"][name], name)
