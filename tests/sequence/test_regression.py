"""Rows and moments of the states' regressions, against NumPy."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mixedbag.sequence._regression import chunk, embed, second_moments

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize("order", [0, 1, 3])
def test_rows_hold_the_past_latest_first(order):
    rng = np.random.default_rng(0)
    x, offsets = rng.normal(size=(17, 2)), np.array([0, 4, 11, 17])
    center, scale = np.array([0.5, -1.0]), np.array([2.0, 0.1])
    rows = embed(x, offsets, order, center, scale)
    z = (x - center) / scale
    expected = [
        np.concatenate([*(z[t - lag] for lag in range(1, order + 1)), [1.0], z[t]])
        for first, end in pairwise(offsets)
        for t in range(first + order, end)
    ]
    assert_allclose(rows, expected, rtol=1e-14)


@pytest.mark.parametrize("n", [1, chunk(4), 3 * chunk(4) + 5])
def test_second_moments_sum_over_all_rows(n):
    rng = np.random.default_rng(n)
    rows, weights = rng.normal(size=(n, 4)), rng.random((n, 3))
    expected = np.einsum("tj,tx,ty->jxy", weights, rows, rows)
    assert_allclose(second_moments(rows, weights), expected, rtol=1e-10, atol=1e-12)
