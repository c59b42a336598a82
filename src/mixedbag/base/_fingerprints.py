"""What each bag holds, as one number.

The same whatever the order of instances and of features, in single precision as in double, sparse
as dense; equal bags have equal numbers, however often they occur.

What a feature has in a bag is the sum of its values' hashes, so that the order of instances does
not count. Features are then known by what they have in all bags, each together with what its bag
has in all features, not by their places. Only features that this does not tell apart, such as marks
of names that occur alike, are told apart by their order.
"""

from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array, issparse


def fingerprints(bags):
    """A number a bag; see above."""
    bag, feature, held = _held(bags)
    told = _added(_hashed(held), bag, len(bags)) + _hashed(bags.sizes.astype(np.uint64))
    place = _hashed(np.arange(1, bags.n_features + 1, dtype=np.uint64))

    def with_features(number):
        return _added(_hashed(held ^ number[feature]), bag, len(bags)) + told

    once = np.zeros(len(bags), dtype=bool)  # of equal bags, one
    once[np.unique(with_features(place), return_index=True)[1]] = True
    pairs = np.where(once[bag], _hashed(held ^ told[bag]), np.uint64(0))
    return with_features(_told_apart(_added(pairs, feature, bags.n_features)))


def _held(bags):
    """Bags, features, and what these have in them, where that is not zero everywhere."""
    X, n = bags.instances, len(bags)
    if issparse(X):
        each = csr_array((_of_values(X.data), X.indices, X.indptr), X.shape)
        one = np.ones(len(bags.bag_of), dtype=np.uint64)
        table = (csr_array((one, np.arange(len(one)), bags.offsets), (n, len(one))) @ each).tocoo()
        some = table.data != 0
        return table.row[some], table.col[some], table.data[some]
    table = np.array([_of_values(X[a:b]).sum(axis=0) for a, b in pairwise(bags.offsets)])
    return *np.nonzero(table), table[table != 0]


def _told_apart(numbers):
    """Other numbers, of which those that are equal become different ones by their order."""
    ranked = np.argsort(numbers, kind="stable")
    alike = np.arange(len(ranked)) - np.searchsorted(numbers[ranked], numbers[ranked])
    apart = np.empty_like(numbers)
    apart[ranked] = _hashed(_hashed(numbers[ranked]) + alike.astype(np.uint64))
    return apart


def _of_values(values):
    """A hash of every value, in single precision: of zero, with either sign, it is zero."""
    with np.errstate(over="ignore"):  # beyond single precision all is infinite
        single = values.astype(np.float32) + np.float32(0.0)
    return _hashed(single.view(np.uint32).astype(np.uint64))


def _hashed(numbers):
    """Numbers of 64 bits that are mixed well, zero to zero."""
    mixed = numbers * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return mixed ^ (mixed >> np.uint64(32))


def _added(numbers, places, n):
    """Sums of numbers by their places, modulo 2^64."""
    total = np.zeros(n, dtype=np.uint64)
    np.add.at(total, places, numbers)
    return total
