"""Folds of bags that learners use inside: what a bag holds decides its fold, not where it stands.

So the order of bags changes nothing, two equal bags are held out together, and a bag of weight two
is the same as two bags. Bags are dealt out in the order of their targets, which balances folds.
"""

import numpy as np

from mixedbag.pooling import bag_sum


def content_folds(bags, target, n_folds):
    """The fold of every bag, at most `n_folds`; `target` has one number a bag."""
    key = _key(bags)
    order = np.lexsort((key, target))
    new = (np.diff(target[order]) != 0) | (np.diff(key[order]) != 0)
    fold = np.empty(len(bags), dtype=np.int64)
    fold[order] = np.concatenate([[0], np.cumsum(new)]) % n_folds
    return fold


def _key(bags):
    """One number a bag: a fixed combination of its mean features, without their rounding errors."""
    mixed = bags.instances @ np.cos(np.arange(1.0, bags.n_features + 1.0))
    mean = bag_sum(np.asarray(mixed, dtype=np.float64), bags.offsets) / bags.sizes
    scale = np.abs(mean).max() or 1.0
    return np.round(mean / scale, 9)
