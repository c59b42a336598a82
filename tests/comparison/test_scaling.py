"""Scaling before learners: by feature, by row, and when."""

import numpy as np
import pytest
from scipy import sparse

from mixedbag import Bags
from mixedbag.comparison._scaling import in_one_unit, scaling

RNG = np.random.default_rng(0)
WORDS = RNG.poisson(0.3, (60, 20)).astype(float)
UNITS = WORDS * 10.0 ** np.arange(-4, 16, dtype=float)[RNG.permutation(20)]


def _scaled(rule, table):
    bags = Bags(table, np.arange(0, 61, 3))
    for _, step in scaling(rule, bags):
        bags = step.fit_transform(bags)
    return bags.instances.toarray() if bags.is_sparse else bags.instances


def _of_length_one(table):
    length = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(length > 0, length, 1.0)


@pytest.mark.parametrize("rule", ["any", "majority"])
def test_words_keep_their_sizes_and_rows_get_length_one(rule):
    np.testing.assert_allclose(_scaled(rule, sparse.csr_array(WORDS)), _of_length_one(WORDS))


def test_units_are_brought_to_one_size_first():
    expected = _of_length_one(UNITS / UNITS.max(axis=0))
    np.testing.assert_allclose(_scaled("any", sparse.csr_array(UNITS)), expected)


@pytest.mark.parametrize("table", [WORDS, UNITS])
def test_amounts_in_rows_are_kept_where_labels_add_up(table):
    np.testing.assert_allclose(_scaled("sum", sparse.csr_array(table)), table / table.max(axis=0))


def test_dense_features_are_standardised():
    scaled = _scaled("any", UNITS)
    np.testing.assert_allclose(scaled.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(scaled.std(axis=0), 1.0)


def test_units_do_not_depend_on_gaps_signs_or_zeros():
    for table, expected in ((WORDS, True), (UNITS, False)):
        odd = sparse.csr_array(-table)
        odd.data[::7], odd.data[1::7] = np.nan, 0.0
        assert in_one_unit(odd) is expected
        assert in_one_unit(1e6 * sparse.csr_array(table)) is expected
    assert in_one_unit(sparse.csr_array((5, 3)))
