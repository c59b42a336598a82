"""DPBoost's relaxation: bounds below the optimum, tighter with parallel reductions."""

import numpy as np
import pytest

from mixedbag._solvers.highs import Clock
from mixedbag.disjunctive._hull import HullRelaxation
from mixedbag.disjunctive._program import DisjunctiveProgram
from tests.disjunctive.oracles import brute_force, random_program


def relax(program, reductions):
    hull = HullRelaxation(program, Clock())
    values = []
    while True:
        hull.solve()
        while hull.price_in(3):
            hull.solve()
        values.append(hull.value)
        pairs = hull.violated_reductions(5) if reductions else []
        if not pairs:
            return hull, np.array(values)
        hull.add_reductions(pairs)


@pytest.mark.parametrize("seed", range(10))
def test_bounds_are_ordered_and_monotone(seed):
    program = random_program(seed, size=4, n_features=4, C=3.0)
    optimum = brute_force(program)
    plain, _ = relax(program, False)
    reduced, values = relax(program, True)
    assert (np.diff(values) >= -1e-7).all()
    assert plain.value <= reduced.value + 1e-7 <= optimum + 1e-6
    assert reduced.lower_bound(optimum) == pytest.approx(reduced.value, rel=1e-5)
    assert reduced.lower_bound(optimum) <= optimum + 1e-9


def test_reductions_matter():
    """Two pieces that cancel: without reductions their mixture gets away with w₁ = 0.

    One witness needs w₁ ≥ 1, the other w₁ ≤ -1; either way a negative then needs w₂ ≥ 1.9.
    """
    program = DisjunctiveProgram(
        values=np.array([[1.0, 0.0], [-1.0, 0.0], [0.9, -1.0], [-0.9, -1.0]]),
        bags=[np.array([0, 1])],
        negatives=np.array([2, 3]),
        slack_cost=np.full(3, 100.0),
        intercept=False,
    )
    plain, _ = relax(program, False)
    reduced, _ = relax(program, True)
    assert plain.value == pytest.approx(2.0)
    assert reduced.value == pytest.approx(2.9) == brute_force(program)


def test_without_reductions_the_hull_is_the_largest_instance():
    """conv ∪ {<w, x> ≥ 1} in the orthant is {<w, max x> ≥ 1}: the cheapest feature alone."""
    program = DisjunctiveProgram(
        values=np.array([[0.2, 0.1], [0.1, 0.8], [0.0, 0.0]]),
        bags=[np.array([0, 1])],
        negatives=np.array([2]),
        slack_cost=np.array([100.0, 1e-6]),
        intercept=False,
    )
    hull, _ = relax(program, False)
    assert hull.value == pytest.approx(1 / 0.8 + 1e-6, rel=1e-4)


def test_no_ambiguous_bag_is_lpboost():
    program = random_program(3, size=1, n_features=6, C=2.0)
    hull, _ = relax(program, True)
    assert hull.value == pytest.approx(brute_force(program), rel=1e-6)
