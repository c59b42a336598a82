"""Multipliers against a point: a valid inequality that it violates, unless it is in the hull."""

import numpy as np
import pytest
from scipy.optimize import linprog

from mixedbag._solvers.highs import Clock
from mixedbag.disjunctive._membership import multipliers_against


def inequality(seed, point, normalization):
    """(α, β) from the multipliers, and the pieces as (rows, right-hand sides): none is empty."""
    rng = np.random.default_rng(seed)
    shared, beta = rng.uniform(-0.3, 1, size=(3, 4)), rng.uniform(-1, 0, 3)
    own = rng.uniform(0, 1, size=(2, 4))
    free = np.array([False, False, False, True])
    u = multipliers_against(point, shared, beta, own, free, normalization, Clock())
    pieces = [(np.vstack([shared, row]), np.append(beta, 1.0)) for row in own]
    sums = np.array([u_x @ rows for u_x, (rows, _) in zip(u, pieces, strict=True)])
    np.testing.assert_allclose(sums[0, free], sums[1, free], atol=1e-7)
    right = min(u_x @ b for u_x, (_, b) in zip(u, pieces, strict=True))
    return sums.max(axis=0), right, pieces


BOUNDS = [(0, None)] * 3 + [(None, None)]


@pytest.mark.parametrize("normalization", ["multipliers", "coefficients"])
@pytest.mark.parametrize("seed", range(6))
def test_the_origin_is_cut_off_by_what_holds_on_every_piece(seed, normalization):
    alpha, right, pieces = inequality(seed, np.zeros(4), normalization)
    assert right > 0.01
    for rows, b in pieces:
        assert linprog(alpha, -rows, -b, bounds=BOUNDS).fun >= right - 1e-7


@pytest.mark.parametrize("seed", range(6))
def test_a_mixture_of_the_pieces_is_not_cut_off(seed):
    _, _, pieces = inequality(seed, np.zeros(4), "multipliers")
    corners = [linprog(np.ones(4), -rows, -b, bounds=[(0, 99)] * 4).x for rows, b in pieces]
    middle = (corners[0] + corners[1]) / 2
    alpha, right, _ = inequality(seed, middle, "multipliers")
    assert alpha @ middle >= right - 1e-7
