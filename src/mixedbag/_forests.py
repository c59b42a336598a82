"""Forests of scikit-learn on few rows: the same trees and answers, sooner.

On some hundred rows most of the time of a forest goes into what surrounds its trees: a copy of
every tree by its parameters, a new random generator each, a round through joblib for each question.
Here the first tree is grown by the forest itself, which checks everything, and the others are
copies of it; one generator is seeded again and again.
"""

from copy import copy

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn import config_context
from sklearn.utils import check_random_state

_LARGEST_SEED = np.iinfo(np.int32).max


def grow(forest, rows, labels, weight):
    """``forest.fit(rows, labels, weight)`` of extremely randomised trees, to the bit."""
    if effective_n_jobs(forest.n_jobs) > 1:
        return forest.fit(rows, labels, weight)
    n_trees, own = forest.n_estimators, forest.random_state
    seeds = check_random_state(own)
    forest.set_params(n_estimators=1, random_state=seeds).fit(rows, labels, weight)
    forest.set_params(n_estimators=n_trees, random_state=own)
    (first,) = forest.estimators_
    codes = np.searchsorted(forest.classes_, labels).astype(np.float64)
    rows = sparse.csc_array(rows, dtype=np.float32) if sparse.issparse(rows) else _single(rows)
    random = np.random.RandomState(0)
    with config_context(skip_parameter_validation=True, assume_finite=True):
        for _ in range(n_trees - 1):
            tree = copy(first)
            seed = seeds.randint(_LARGEST_SEED)
            random.seed(seed)
            tree.random_state = random
            forest.estimators_.append(tree.fit(rows, codes, weight, check_input=False))
            tree.random_state = seed
    return forest


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
