"""The stable order of numbers, against NumPy's."""

import numpy as np
import pytest

from mixedbag._sorting import ascending


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 64, 100, 257])
@pytest.mark.parametrize("kind", ["floats", "many equal", "descending", "whole"])
def test_the_order_is_that_of_a_stable_sort(n, kind):
    rng = np.random.default_rng(n)
    values = {
        "floats": rng.standard_normal(n),
        "many equal": rng.integers(0, 3, n).astype(float),
        "descending": -np.arange(float(n)),
        "whole": rng.integers(-5, 5, n),
    }[kind]
    assert np.array_equal(ascending(values), np.argsort(values, kind="stable"))
