"""Clusters: a sparse table has the distinct rows of the dense one, in the same order."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from mixedbag._clusters import distinct_rows


def test_sparse_rows_are_those_of_the_dense_table():
    rng = np.random.default_rng(0)
    for draw in range(30):
        X = rng.integers(-1, 2, size=(20, 3)) * rng.choice([0.5, 1.0], size=(20, 3))
        X, weight = X if draw else np.zeros((20, 3)), rng.uniform(size=20)
        rows, total = distinct_rows(X, weight)
        found, weights = distinct_rows(csr_array(X), weight)
        assert_array_equal(found.toarray(), rows)
        assert_allclose(weights, total)


def test_zeros_that_are_written_down_are_zeros():
    X = csr_array((np.array([0.0, 1.0, 1.0]), np.array([0, 1, 1]), np.array([0, 2, 3])))
    rows, weight = distinct_rows(X, np.array([1.0, 2.0]))
    assert_array_equal(rows.toarray(), [[0.0, 1.0]])
    assert_array_equal(weight, [3.0])
