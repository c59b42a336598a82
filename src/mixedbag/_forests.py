"""Forests of scikit-learn on few rows: the same trees and answers, sooner.

On some hundred rows most of the time of a forest goes into what surrounds its trees: a copy of
every tree by its parameters, a new random generator each, a round through joblib for each question.
Here the first tree is grown by the forest itself, which checks everything, and the others are
copies of it, grown by what scikit-learn's own trees are grown by; one generator is seeded again and
again.
"""

from copy import copy

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.tree import _tree
from sklearn.tree._classes import CRITERIA_CLF, DENSE_SPLITTERS, SPARSE_SPLITTERS
from sklearn.utils import check_random_state

_LARGEST_SEED = np.iinfo(np.int32).max
_DEEPEST = np.iinfo(np.int32).max


def grow(forest, rows, labels, weight):
    """``forest.fit(rows, labels, weight)`` of extremely randomised trees, to the bit."""
    if effective_n_jobs(forest.n_jobs) > 1:
        return forest.fit(rows, labels, weight)
    n_trees, own = forest.n_estimators, forest.random_state
    seeds = check_random_state(own)
    forest.set_params(n_estimators=1, random_state=seeds).fit(rows, labels, weight)
    forest.set_params(n_estimators=n_trees, random_state=own)
    (first,) = forest.estimators_
    codes = np.searchsorted(forest.classes_, labels).astype(np.float64)[:, None]
    rows = sparse.csc_array(rows, dtype=np.float32) if sparse.issparse(rows) else _single(rows)
    weight = np.ascontiguousarray(weight, dtype=np.float64)
    random = np.random.RandomState(0)
    for _ in range(n_trees - 1):
        tree = copy(first)
        tree.random_state = seeds.randint(_LARGEST_SEED)
        random.seed(tree.random_state)
        tree.tree_ = _grown(first, rows, codes, weight, random)
        forest.estimators_.append(tree)
    return forest


def _grown(like, rows, codes, weight, random):
    """The tree that `like`, a fitted one that is not pruned, would grow with another generator."""
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


def probabilities(forest, rows):
    """``forest.predict_proba(rows)`` of a fitted classifier."""
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
