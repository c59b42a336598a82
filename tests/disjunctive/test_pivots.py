"""The simplex kernel against an independent LP solver and its own optimality conditions."""

import numpy as np
import pytest
from scipy.optimize import linprog

from mixedbag._solvers import dual_simplex as _pivots
from mixedbag._solvers.highs import Clock, SolverStopped
from mixedbag.disjunctive._envelope import EnvelopeLP
from mixedbag.disjunctive._program import DisjunctiveProgram
from tests.disjunctive.oracles import margin_lp, random_program
from tests.disjunctive.test_master import full_lp

pytestmark = pytest.mark.kernel


def envelope_value(program, remaining):
    """The node LP by scipy: one row a bag, with the best value of every signed feature."""
    groups = [np.array(remaining.get(i, rows)) for i, rows in enumerate(program.bags)]
    first = np.array([group[0] for group in groups])
    A, b, c, bounds = margin_lp(program, np.concatenate([first, program.negatives]))
    m = program.n_features
    for i, group in enumerate(groups):
        A[i, :m] = -program.values[group].max(axis=0)
        A[i, m : 2 * m] = program.values[group].min(axis=0)
    return linprog(c, A, b, bounds=bounds).fun


def assert_optimal(lp, expected):
    """Equal value, feasible dual, complementary primal."""
    assert lp.value == pytest.approx(expected, rel=1e-7, abs=1e-9)
    n = lp._n_rows
    present = np.flatnonzero(lp._state[:n] != _pivots.ABSENT)
    short = np.maximum(0.0, 1.0 - lp._a[present] @ lp._w)
    boxed = np.isfinite(lp._cost[present])
    assert short[~boxed].max(initial=0.0) <= 1e-7
    primal = lp._limit @ lp._w + lp._cost[present][boxed] @ short[boxed]
    assert primal == pytest.approx(expected, rel=1e-7, abs=1e-9)
    assert (lp._u[:n] >= -1e-9).all()
    assert (lp._u[:n] <= lp._cost[:n] + 1e-9).all()
    np.testing.assert_allclose(lp._u[:n] @ lp._a[:n], lp._g, atol=1e-8)
    assert (lp._g <= lp._limit + 1e-8).all()


@pytest.mark.parametrize("seed", range(20))
def test_equals_another_solver_cold_and_warm(seed):
    program = random_program(
        seed, n_positive=12, n_negative=12, size=4, n_features=4 + seed % 12, C=0.5 + seed % 4
    )
    lp = EnvelopeLP(program, Clock())
    assert lp.solve({})
    assert_optimal(lp, envelope_value(program, {}))
    remaining, value = {}, lp.value
    for i in program.ambiguous.tolist():  # one tighter envelope at a time, from the last basis
        remaining[i] = tuple(program.bags[i].tolist()[-2:])
        assert lp.solve(remaining, lp.basis)
        assert lp.value >= value - 1e-9
        value = lp.value
    assert_optimal(lp, envelope_value(program, remaining))
    for i in program.ambiguous.tolist():
        remaining[i] = remaining[i][-1:]
        assert lp.solve(remaining, lp.basis)
    witness = np.array([rows[-1] for rows in program.bags])
    assert_optimal(lp, full_lp(program, np.concatenate([witness, program.negatives])))


def test_a_basis_can_be_kept_and_taken_up_again():
    program = random_program(7, n_positive=10, n_negative=10, n_features=8, C=2.0)
    lp = EnvelopeLP(program, Clock())
    lp.solve({})
    basis, value = lp.basis, lp.value
    bag = int(program.ambiguous[0])
    values = []
    for _ in range(2):
        for x in program.bags[bag].tolist():
            lp.solve({bag: (x,)}, basis)
            values.append(lp.value)
    assert values[: len(values) // 2] == pytest.approx(values[len(values) // 2 :])
    lp.solve({}, basis)
    assert lp.value == pytest.approx(value)


def test_the_cutoff_stops_with_a_valid_bound():
    program = random_program(3, n_positive=12, n_negative=12, n_features=8, C=3.0)
    optimum = envelope_value(program, {})
    lp = EnvelopeLP(program, Clock())
    assert not lp.solve({}, cutoff=optimum / 2)
    assert optimum / 2 <= lp.value <= optimum + 1e-9


def test_ties_and_twins_do_not_cycle():
    """Integer data with repeated rows and columns: every ratio test is a tie."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.integers(-1, 2, size=(12, 4)).astype(float), 2, axis=0)
    X = np.hstack([X, X])
    program = DisjunctiveProgram(
        X, [np.array([i]) for i in range(12)], np.arange(12, 24), np.full(24, 0.5)
    )
    lp = EnvelopeLP(program, Clock())
    lp.solve({})
    assert_optimal(lp, full_lp(program, np.arange(24)))


def test_failure_is_an_exception(monkeypatch):
    monkeypatch.setattr("mixedbag.disjunctive._envelope._MAX_PIVOTS", 1)
    with pytest.raises(SolverStopped, match="numerical trouble"):
        EnvelopeLP(random_program(3, n_positive=9, C=3.0), Clock()).solve({})
