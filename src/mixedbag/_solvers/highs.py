"""HiGHS, kept on a leash: warm starts, a clock, and one exception for everything that fails.

The problem: min cᵀx over A x ≥ b and bounds, again and again as rows and columns come and go.

Certificate: HiGHS's own status, looked at before any value or dual is read.
Callers: all learners of `disjunctive`: restricted masters, hulls, membership of cuts.
Library: this is the library.
"""

import time

import highspy
import numpy as np

INFINITY = highspy.kHighsInf
_OPTIMAL = highspy.HighsModelStatus.kOptimal
LARGEST = 1e15  # coefficients that HiGHS takes for finite
_TIME_LIMIT = highspy.HighsModelStatus.kTimeLimit
_DUAL, _PRIMAL = 1, 4  # HiGHS simplex strategies
_UNSCALED, _EQUILIBRATED = 0, 2  # HiGHS scaling strategies


class SolverStopped(Exception):
    """HiGHS found no optimal solution: out of time, or numerical trouble."""


class Clock:
    """Seconds since a fit began, and seconds left."""

    def __init__(self, time_limit=None):
        self._limit = np.inf if time_limit is None else float(time_limit)
        self._start = time.perf_counter()

    def elapsed(self):
        return time.perf_counter() - self._start

    def left(self):
        return self._limit - self.elapsed()

    def expired(self):
        return self.left() <= 0


def new_solver():
    """A silent single-threaded simplex solver that never presolves: bases stay valid.

    Nor does it scale: features come on one scale already.
    """
    solver = highspy.Highs()
    for option, value in (
        ("output_flag", False),
        ("threads", 1),
        ("presolve", "off"),
        ("solver", "simplex"),
        ("simplex_scale_strategy", _UNSCALED),
    ):
        solver.setOptionValue(option, value)
    return solver


def solve_warm(solver, clock, *, primal=False):
    """Optimise from the current basis; again from scratch and scaled; then `SolverStopped`."""
    solver.setOptionValue("simplex_strategy", _PRIMAL if primal else _DUAL)
    status = _run(solver, clock)
    if status not in (_OPTIMAL, _TIME_LIMIT):
        solver.clearSolver()
        solver.setOptionValue("simplex_scale_strategy", _EQUILIBRATED)
        status = _run(solver, clock)
    if status == _TIME_LIMIT:
        raise SolverStopped("time limit")
    if status != _OPTIMAL:
        raise SolverStopped(solver.modelStatusToString(status))


def _run(solver, clock):
    """The status of HiGHS after a run; ours is the clock that decides when time is up."""
    status = _TIME_LIMIT
    while status == _TIME_LIMIT and not clock.expired():
        # HiGHS counts its time limit over the life of the solver.
        solver.setOptionValue("time_limit", solver.getRunTime() + clock.left())
        solver.run()
        status = solver.getModelStatus()
    return status


def append_columns(solver, cost, lower, upper, matrix):
    """Add columns; `matrix` is (rows so far, new columns)."""
    start, index, value = _compressed(matrix.T)
    _accepted(solver.addCols(len(cost), cost, lower, upper, len(value), start, index, value), value)


def append_rows(solver, lower, upper, matrix):
    """Add rows; `matrix` is (new rows, columns so far)."""
    start, index, value = _compressed(matrix)
    _accepted(solver.addRows(len(lower), lower, upper, len(value), start, index, value), value)


def _accepted(status, value):
    """Stop when HiGHS has refused rows or columns: there would be no solution, and no duals."""
    if status == highspy.HighsStatus.kError:
        raise SolverStopped(
            f"HiGHS refuses coefficients as large as {np.abs(value).max(initial=0.0):.2g}; scale "
            "the features"
        )


def _compressed(matrix):
    """Row-compressed (start, index, value) of a dense or sparse matrix."""
    if not isinstance(matrix, np.ndarray):
        matrix = matrix.tocsr()
        return matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32), matrix.data
    i, j = np.nonzero(matrix)
    start = np.searchsorted(i, np.arange(matrix.shape[0])).astype(np.int32)
    return start, j.astype(np.int32), np.ascontiguousarray(matrix[i, j])
