import numpy as np
import pytest

from mixedbag.sequence._exponential import shortest_sum, table


def grid_errors(exponential_sum):
    """Largest relative errors on a grid: of the sum for 1/x, and of minus its slope for 1/x²."""
    x = np.geomspace(1.0, exponential_sum.reach, 20001)
    terms = exponential_sum.amplitudes * np.exp(-np.outer(x, exponential_sum.rates))
    value, slope = terms.sum(axis=1), terms @ exponential_sum.rates
    return np.abs(x * value - 1).max(), np.abs(x**2 * slope - 1).max()


@pytest.mark.parametrize("row", table(), ids=lambda s: f"{s.reach:g}-{len(s.rates)}")
def test_shipped_sums_keep_their_promise_on_a_fine_grid(row):
    value, slope = grid_errors(row)
    assert value <= row.error * 1.01 + 4e-16
    assert slope <= 600 * row.error + 1e-14
    assert (row.amplitudes > 0).all()
    assert (row.rates > 0).all()


@pytest.mark.parametrize("omega", [0.0, 0.3, -1.0, 2.3, -4.0, 5.9])
def test_the_shortest_sum_reaches_far_enough(omega):
    found = shortest_sum(omega, 1e-7)
    assert found.reach >= np.exp(abs(omega))
    assert found.error <= 1e-7
    longer = [s for s in table() if s.reach >= np.exp(abs(omega)) and s.error <= 1e-7]
    assert len(found.rates) == min(len(s.rates) for s in longer)


def test_no_sum_beyond_the_table():
    assert shortest_sum(12.0, 1e-7) is None
    assert shortest_sum(6.5, 1e-9) is None
