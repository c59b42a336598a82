"""Forests of scikit-learn on few rows: the same trees and answers, sooner.

On some hundred rows most of the time of a forest goes into what surrounds its trees: a copy of
every tree by its parameters, a new random generator each, a round through joblib for each question.
Here the first tree is grown by the forest itself, which checks everything, and the others are
copies of it, grown by what scikit-learn's own trees are grown by; one generator is seeded again and
again. That is no public part of scikit-learn: where a release does it in another way, its forests
do it all.
"""

from copy import copy
from functools import cache

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mixedbag._random_trees import RandomTrees, adds_up

_LARGEST_SEED = np.iinfo(np.int32).max
_DEEPEST = np.iinfo(np.int32).max
_MANY = 200  # rows from which trees of our own are worth being compiled


class ExtraTrees(ExtraTreesClassifier):
    """Scikit-learn's, sooner on few rows."""

    def fit(self, X, y, sample_weight=None):
        return grow(self, X, y, sample_weight)

    def predict_proba(self, X):
        return probabilities(self, _checked(self, X))


class RandomForest(RandomForestClassifier):
    """Scikit-learn's, sooner on few rows."""

    def fit(self, X, y, sample_weight=None):
        return grow(self, X, y, sample_weight)

    def predict_proba(self, X):
        return probabilities(self, _checked(self, X))


def grow(forest, rows, labels, weight=None):
    """``forest.fit(rows, labels, weight)`` of a classifier, to the bit."""
    if not _may_be_quick(forest, rows):
        return _learn(forest, rows, labels, weight)
    return _grow_quickly(forest, rows, labels, weight)


_learn = ExtraTreesClassifier.fit  # that of all forests


@cache
def _is_known():
    """Whether trees are grown in this release as `_grown` does it, with the same outcome."""
    rows = np.random.RandomState(0).normal(size=(_MANY, 4))
    labels, weight = (rows[:, 0] > rows[:, 1]).astype(np.int64), 1.0 + np.arange(_MANY) % 3
    try:
        for kind in (ExtraTreesClassifier, RandomForestClassifier):
            for table in (rows, sparse.csr_array(rows)):
                told = table, labels, weight
                ours = _grow_quickly(kind(3, random_state=0), *told)
                theirs = kind(3, random_state=0).fit(*told)
                for tree, twin in zip(ours.estimators_, theirs.estimators_, strict=True):
                    if not np.array_equal(tree.tree_.threshold, twin.tree_.threshold):
                        return False
    except Exception:
        return False
    return True


def _grow_quickly(forest, rows, labels, weight):
    n_trees, own = forest.n_estimators, forest.random_state
    seeds = check_random_state(own)
    _learn(forest.set_params(n_estimators=1, random_state=seeds), rows, labels, weight)
    forest.set_params(n_estimators=n_trees, random_state=own)
    forest.estimators_ += _trees(forest, n_trees - 1, seeds, rows, labels, weight)
    return forest


def grow_again(forest, rows, labels, weight):
    """A forest like this one, grown before from the same rows and labels, for other weights."""
    if not _may_be_quick(forest, rows):
        return clone(forest).fit(rows, labels, weight)
    again, seeds = copy(forest), check_random_state(forest.random_state)
    again.estimators_ = _trees(forest, forest.n_estimators, seeds, rows, labels, weight)
    return again


def _trees(forest, n_trees, seeds, rows, labels, weight):
    """Further trees like the forest's first."""
    first, grown = forest.estimators_[0], []
    codes = np.searchsorted(forest.classes_, labels).astype(np.float64)[:, None]
    rows = sparse.csc_array(rows, dtype=np.float32) if sparse.issparse(rows) else _single(rows)
    n_rows, share = len(codes), None
    counted = np.ones(n_rows) if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
    if forest.bootstrap and weight is not None:
        share = counted / counted.sum()
    random = np.random.RandomState(0)
    grower = _twin(first, rows, codes[:, 0], counted, forest.bootstrap)
    for _ in range(n_trees):
        tree = _copied(first)
        tree.random_state = seeds.randint(_LARGEST_SEED)
        random.seed(tree.random_state)
        if forest.bootstrap:
            drawn = random.choice(n_rows, n_rows, p=share)
            counted = np.bincount(drawn, minlength=n_rows).astype(np.float64)
            random.seed(tree.random_state)
        tree.tree_ = grower(random) or _grown(first, rows, codes, counted, random)
        grown.append(tree)
    return grown


def _copied(tree):
    """What `copy` gives, without scikit-learn's note of its version."""
    twin = object.__new__(type(tree))
    twin.__dict__.update(tree.__dict__)
    return twin


def _twin(like, rows, codes, weight, is_drawn):
    """Trees by `RandomTrees` from a generator, where these are the same; else nothing."""
    if (
        (like.splitter, like.criterion, like.n_classes_) != ("random", "gini", 2)
        or len(codes) < _MANY
        or is_drawn
        or like.max_leaf_nodes is not None
        or (like.min_samples_leaf, like.min_samples_split) != (1, 2)
        or not adds_up(weight)
    ):
        return lambda random: None
    from sklearn.tree._tree import Tree

    trees = RandomTrees(rows, codes.astype(np.int64), weight)
    shape = like.n_features_in_, np.array([2], dtype=np.intp), 1
    lightest = like.min_weight_fraction_leaf * weight.sum()
    nodes = like.tree_.__getstate__()["nodes"].dtype

    def grown(random):
        tree = Tree(*shape)
        tree.__setstate__(trees.grow(random, like.max_features_, lightest, nodes))
        return tree

    return grown


def _may_be_quick(forest, rows):
    return _is_plain(forest) and not _is_missing(rows) and _is_known()


def _is_plain(forest):
    """Whether trees depend on nothing that `_grown` does not know."""
    unknown = (
        *("class_weight", "max_depth", "monotonic_cst", "max_samples", "ccp_alpha", "verbose"),
        *("min_impurity_decrease", "oob_score", "warm_start"),
    )
    counts = forest.min_samples_leaf, forest.min_samples_split
    return (
        effective_n_jobs(forest.n_jobs) == 1
        and not any(getattr(forest, name) for name in unknown)
        and all(isinstance(count, int) for count in counts)
    )


def _is_missing(rows):
    return not np.isfinite(rows.data if sparse.issparse(rows) else rows).all()


def _checked(forest, rows):
    check_is_fitted(forest)
    return validate_data(
        forest, rows, reset=False, accept_sparse="csr", dtype=np.float32,
        ensure_all_finite="allow-nan",
    )  # fmt: skip


def _grown(like, rows, codes, weight, random):
    """The tree that `like`, a fitted one that is not pruned, would grow with another generator."""
    from sklearn.tree import _tree
    from sklearn.tree._classes import CRITERIA_CLF, DENSE_SPLITTERS, SPARSE_SPLITTERS

    n_features, n_classes = like.n_features_in_, np.array([like.n_classes_], dtype=np.intp)
    lightest = like.min_weight_fraction_leaf * weight.sum()
    least = like.min_samples_leaf, lightest
    splitters = SPARSE_SPLITTERS if sparse.issparse(rows) else DENSE_SPLITTERS
    criterion = CRITERIA_CLF[like.criterion](1, n_classes)
    splitter = splitters[like.splitter](criterion, like.max_features_, *least, random, None)
    limits = max(like.min_samples_split, 2 * like.min_samples_leaf), *least, _DEEPEST
    if like.max_leaf_nodes is None:
        builder = _tree.DepthFirstTreeBuilder(splitter, *limits, 0.0)
    else:
        builder = _tree.BestFirstTreeBuilder(splitter, *limits, like.max_leaf_nodes, 0.0)
    grown = _tree.Tree(n_features, n_classes, 1)
    builder.build(grown, rows, codes, weight, None)
    return grown


def first_splits(forest, max_leaves):
    """The forest as it would be with fewer leaves: best splits come first, nodes in their order."""
    if max_leaves == forest.max_leaf_nodes:
        return forest
    smaller = copy(forest).set_params(max_leaf_nodes=max_leaves)
    smaller.estimators_ = [_cut_back(tree, max_leaves) for tree in forest.estimators_]
    return smaller


def _cut_back(tree, max_leaves):
    from sklearn.tree._tree import TREE_LEAF, TREE_UNDEFINED, Tree

    state, twin = tree.tree_.__getstate__(), _copied(tree)
    nodes = state["nodes"][: 2 * max_leaves - 1].copy()
    n_nodes, depth = len(nodes), np.zeros(len(nodes), dtype=np.intp)
    gone = nodes["left_child"] >= n_nodes
    nodes["left_child"][gone] = nodes["right_child"][gone] = TREE_LEAF
    nodes["feature"][gone] = nodes["threshold"][gone] = TREE_UNDEFINED
    for node in np.flatnonzero(nodes["left_child"] != TREE_LEAF):  # parents come before children
        depth[[nodes["left_child"][node], nodes["right_child"][node]]] = depth[node] + 1
    twin.max_leaf_nodes = max_leaves
    twin.tree_ = Tree(twin.n_features_in_, np.array([twin.n_classes_], dtype=np.intp), 1)
    twin.tree_.__setstate__(
        {
            "max_depth": int(depth.max()),
            "node_count": n_nodes,
            "nodes": nodes,
            "values": state["values"][:n_nodes].copy(),
        }
    )
    return twin


def probabilities(forest, rows):
    """``forest.predict_proba(rows)`` of a classifier."""
    rows, total = _single(rows), np.zeros((rows.shape[0], len(forest.classes_)))
    for tree in forest.estimators_:
        total += tree.tree_.predict(rows)
    return total / len(forest.estimators_)


def leaves(forest, rows):
    """``forest.apply(rows)``: the leaf of every row in every tree."""
    rows = _single(rows)
    return np.column_stack([tree.tree_.apply(rows) for tree in forest.estimators_])


def _single(rows):
    """Rows as trees read them."""
    if sparse.issparse(rows):
        return sparse.csr_array(rows, dtype=np.float32)
    return np.ascontiguousarray(rows, dtype=np.float32)
