"""The simplex kernel against an independent LP solver and its own optimality conditions."""

import numpy as np
import pytest

from mixedbag.disjunctive import _pivots
from mixedbag.disjunctive._margin_lp import MarginLP
from mixedbag.disjunctive._solver import Clock, SolverStopped
from mixedbag.disjunctive.program import DisjunctiveProgram
from tests.disjunctive.oracles import random_program
from tests.disjunctive.test_master import full_lp


def assert_optimal(lp, expected):
    """Equal value, feasible dual, complementary primal."""
    assert lp.value == pytest.approx(expected, rel=1e-7, abs=1e-9)
    present = lp._state != _pivots.ABSENT
    cost = lp._cost[present]
    slack = np.maximum(0.0, 1.0 - lp._a[present] @ lp._w)
    primal = np.abs(lp.w).sum() + cost @ slack
    assert primal == pytest.approx(expected, rel=1e-7, abs=1e-9)
    assert (lp._u >= -1e-9).all()
    assert (lp._u <= lp._cost + 1e-9).all()
    np.testing.assert_allclose(lp._u @ lp._a, lp._g, atol=1e-8)
    assert (np.abs(lp._g) <= lp._limit + 1e-8).all()


@pytest.mark.parametrize("seed", range(20))
def test_equals_another_solver_cold_and_warm(seed):
    program = random_program(
        seed, n_positive=12, n_negative=12, size=4, n_features=4 + seed % 12, C=0.5 + seed % 4
    )
    lp = MarginLP(program, Clock())
    lp.settle()
    assert_optimal(lp, full_lp(program, program.unambiguous))
    witness = np.array([rows[-1] for rows in program.bags])
    for x in witness:  # one more row at a time, from the last basis
        lp.require([x])
        lp.settle()
    assert_optimal(lp, full_lp(program, np.concatenate([witness, program.negatives])))


def test_a_basis_can_be_kept_and_taken_up_again():
    program = random_program(7, n_positive=10, n_negative=10, n_features=8, C=2.0)
    lp = MarginLP(program, Clock())
    lp.settle()
    basis, value = lp.basis, lp.value
    bag = program.bags[program.ambiguous[0]]
    values = []
    for _ in range(2):
        for x in bag:
            lp.require([x])
            lp.basis = basis
            lp.solve()
            values.append(lp.value)
            lp.release([x])
    assert values[: len(bag)] == pytest.approx(values[len(bag) :])
    lp.basis = basis
    lp.solve()
    assert lp.value == pytest.approx(value)


def test_a_released_row_is_gone_even_without_a_new_basis():
    program = random_program(9, n_positive=8, n_features=5, C=2.0)
    lp = MarginLP(program, Clock())
    lp.settle()
    value = lp.value
    rows = [rows[-1] for rows in program.bags if len(rows) > 1]
    lp.require(rows)
    lp.settle()
    lp.release(rows)
    lp.settle()
    assert lp.value == pytest.approx(value)


def test_the_cutoff_stops_with_a_valid_bound():
    program = random_program(3, n_positive=12, n_negative=12, n_features=8, C=3.0)
    witness = np.array([rows[-1] for rows in program.bags])
    optimum = full_lp(program, np.concatenate([witness, program.negatives]))
    lp = MarginLP(program, Clock())
    lp.require(witness)
    lp.set_cutoff(optimum / 2)
    assert not lp.solve()
    assert optimum / 2 <= lp.value <= optimum + 1e-9


def test_ties_and_twins_do_not_cycle():
    """Integer data with repeated rows and columns: every ratio test is a tie."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.integers(-1, 2, size=(12, 4)).astype(float), 2, axis=0)
    X = np.hstack([X, X])
    program = DisjunctiveProgram(
        X, [np.array([i]) for i in range(12)], np.arange(12, 24), np.full(24, 0.5)
    )
    lp = MarginLP(program, Clock())
    lp.settle()
    assert_optimal(lp, full_lp(program, np.arange(24)))


def test_failure_is_an_exception(monkeypatch):
    monkeypatch.setattr("mixedbag.disjunctive._margin_lp._MAX_PIVOTS", 1)
    with pytest.raises(SolverStopped, match="numerical trouble"):
        MarginLP(random_program(3, n_positive=9, C=3.0), Clock()).settle()
