"""The restricted master LP against an independent LP solver."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from mixedbag._solvers.highs import Clock, SolverStopped
from mixedbag.disjunctive._incumbent import Incumbent
from mixedbag.disjunctive._local_search import local_search
from mixedbag.disjunctive._master import RestrictedMaster
from mixedbag.disjunctive._program import DisjunctiveProgram
from tests.disjunctive.oracles import brute_force, margin_lp, random_program


def full_lp(program, rows):
    A, b, c, bounds = margin_lp(program, rows)
    return linprog(c, A, b, bounds=bounds).fun


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("limit", [0, 400])
def test_generated_rows_and_columns_reach_the_full_lp(seed, limit, monkeypatch):
    monkeypatch.setattr("mixedbag.disjunctive._master._ALL_COLUMNS", limit)
    monkeypatch.setattr("mixedbag.disjunctive._master._COLUMNS_PER_ROUND", 2)
    monkeypatch.setattr("mixedbag.disjunctive._master._ROWS_PER_ROUND", 3)
    program = random_program(seed, n_positive=8, n_negative=8, n_features=12, C=2.0)
    witness = np.array([rows[-1] for rows in program.bags])
    master = RestrictedMaster(program, Clock())
    master.require(witness)
    master.settle()
    optimum = full_lp(program, np.concatenate([witness, program.negatives]))
    assert master.value == pytest.approx(optimum, rel=1e-6)
    # Scaled duals prove the same value without any trust in the solver.
    assert master.lower_bound(100.0) == pytest.approx(optimum, rel=1e-5)
    assert master.lower_bound(100.0) <= optimum + 1e-9


def test_switching_witnesses_is_the_same_as_starting_afresh():
    program = random_program(5, n_positive=6, n_features=5, C=3.0)
    master = RestrictedMaster(program, Clock())
    for choice in (0, -1, 0):
        witness = np.array([rows[choice] for rows in program.bags])
        master.require(witness)
        master.settle()
        expected = full_lp(program, np.concatenate([witness, program.negatives]))
        assert master.value == pytest.approx(expected, rel=1e-6)
        ambiguous = [x for x in witness if x not in program.unambiguous]
        master.release(ambiguous)


def test_bound_of_a_few_columns_holds_for_all():
    program = random_program(2, n_features=12, C=2.0)
    optimum = brute_force(program)
    master = RestrictedMaster(program, Clock(), columns=[0, 1])
    master.settle()
    assert master.lower_bound(2 * optimum) <= optimum + 1e-9


def test_local_search_never_rises_and_ends_at_consistent_witnesses():
    program = random_program(1, n_positive=10, n_negative=10, size=5, n_features=4, C=2.0)
    incumbent = Incumbent(program, Clock())
    master = RestrictedMaster(program, incumbent.clock)
    start = np.array([rows[0] for rows in program.bags])
    values = []
    settle = master.settle

    def spy():
        settle()
        values.append(master.value)

    master.settle = spy
    local_search(master, incumbent, start)
    assert np.all(np.diff(values) <= 1e-7)
    assert incumbent.upper <= values[-1] + 1e-7
    assert program.objective(incumbent.w, incumbent.b) == pytest.approx(incumbent.upper)


def test_sparse_values_give_the_same_program():
    dense = random_program(4, n_features=6)
    sparse = DisjunctiveProgram(
        csr_array(dense.values), dense.bags, dense.negatives, dense.slack_cost, dense.intercept
    )
    rows, signed = np.array([0, 2, 3]), np.array([0, 5, 7, 11])
    np.testing.assert_array_equal(dense.block(rows, signed), sparse.block(rows, signed))
    np.testing.assert_array_equal(dense.full_rows(rows), sparse.full_rows(rows))
    np.testing.assert_array_equal(dense.full_rows(rows)[:, signed], dense.block(rows, signed))
    w = np.arange(6.0)
    assert dense.objective(w, 0.3) == pytest.approx(sparse.objective(w, 0.3))


def test_the_bias_need_not_exceed_its_bound():
    program = random_program(1, C=5.0, intercept=True)
    w = np.array([0.3, -0.2, 0.1])
    limit = program.intercept_bound(np.abs(w).sum())
    inside = [program.objective(w, b) for b in np.linspace(-limit, limit, 201)]
    outside = [program.objective(w, s * limit * k) for s in (-1, 1) for k in (1.1, 2, 10)]
    assert min(inside) <= min(outside)


def test_out_of_time_is_an_exception_not_a_zero_model():
    master = RestrictedMaster(random_program(0), Clock(0.0))
    with pytest.raises(SolverStopped, match="time limit"):
        master.settle()


def test_a_search_that_is_stopped_keeps_what_it_had(monkeypatch):
    """Out of time between two LPs of one descent: the first LP's classifier survives."""
    monkeypatch.setattr("mixedbag.disjunctive._master._ALL_COLUMNS", 0)
    monkeypatch.setattr("mixedbag.disjunctive._master._COLUMNS_PER_ROUND", 1)
    program = random_program(1, n_positive=8, n_negative=8, n_features=12, C=5.0)
    incumbent = Incumbent(program, Clock())
    trivial = incumbent.upper
    master = RestrictedMaster(program, incumbent.clock)
    solve, calls = master.solve, iter(range(100))

    def stops_later():
        if next(calls) > 4:
            raise SolverStopped("time limit")
        return solve()

    master.solve = stops_later
    with pytest.raises(SolverStopped):
        local_search(master, incumbent, np.array([rows[0] for rows in program.bags]))
    assert incumbent.upper < trivial
