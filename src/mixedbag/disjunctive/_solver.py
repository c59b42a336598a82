"""HiGHS, kept on a leash: warm starts, a clock, and one exception for everything that fails."""

import time

import highspy
import numpy as np

INFINITY = highspy.kHighsInf
_DUAL, _PRIMAL = 1, 4  # HiGHS simplex strategies


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
    """A silent single-threaded simplex solver that never presolves: bases stay valid."""
    solver = highspy.Highs()
    for option, value in (
        ("output_flag", False),
        ("threads", 1),
        ("presolve", "off"),
        ("solver", "simplex"),
    ):
        solver.setOptionValue(option, value)
    return solver


def solve_warm(solver, clock, *, primal=False):
    """Optimise from the current basis; a second try from scratch; then `SolverStopped`."""
    status = None
    for attempt in range(2):
        if clock.expired():
            raise SolverStopped("time limit")
        if attempt:
            solver.clearSolver()
        solver.setOptionValue("simplex_strategy", _PRIMAL if primal else _DUAL)
        # HiGHS counts its time limit over the life of the solver.
        solver.setOptionValue("time_limit", solver.getRunTime() + clock.left())
        solver.run()
        status = solver.getModelStatus()
        if status == highspy.HighsModelStatus.kOptimal:
            return
        if status == highspy.HighsModelStatus.kTimeLimit:
            break
    raise SolverStopped(solver.modelStatusToString(status))


def append_columns(solver, cost, lower, upper, matrix):
    """Add columns; `matrix` is (rows so far, new columns)."""
    start, index, value = _compressed(matrix.T)
    solver.addCols(len(cost), cost, lower, upper, len(value), start, index, value)


def append_rows(solver, lower, upper, matrix):
    """Add rows; `matrix` is (new rows, columns so far)."""
    start, index, value = _compressed(matrix)
    solver.addRows(len(lower), lower, upper, len(value), start, index, value)


def _compressed(matrix):
    """Row-compressed (start, index, value) of a dense or sparse matrix."""
    if not isinstance(matrix, np.ndarray):
        matrix = matrix.tocsr()
        return matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32), matrix.data
    i, j = np.nonzero(matrix)
    start = np.searchsorted(i, np.arange(matrix.shape[0])).astype(np.int32)
    return start, j.astype(np.int32), np.ascontiguousarray(matrix[i, j])
