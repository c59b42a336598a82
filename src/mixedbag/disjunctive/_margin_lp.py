"""The LP of chosen witnesses, without cuts, by a simplex method of its own.

It offers what `BranchAndBound` asks of a `RestrictedMaster`, and changes witnesses many times
faster: it holds all features in one dense array and nothing else.
"""

import numpy as np

from mixedbag.disjunctive import _pivots
from mixedbag.disjunctive._solver import INFINITY, SolverStopped

_MAX_PIVOTS = 5000


class MarginLP:
    """min ‖w‖₁ + Σ C_e ξ_e over the margin rows required so far; at most one row an example."""

    generates_columns = False

    def __init__(self, program, clock):
        self.program = program
        self.clock = clock
        rows = np.arange(program.values.shape[0])
        features = program.full_rows(rows)[:, : program.n_features]
        bias = program.sign[:, None] if program.intercept else np.empty((len(rows), 0))
        self._a = np.ascontiguousarray(np.hstack([features, bias]))
        self._limit = np.concatenate([np.ones(program.n_features), np.zeros(bias.shape[1])])
        self._cost = program.slack_cost[program.example]
        self._cutoff = INFINITY
        n, m = self._a.shape
        capacity = min(n, m) + 1
        self._inverse = np.zeros((capacity, capacity))
        self._g, self._w = np.zeros(m), np.zeros(m)
        self._u, self._margin = np.zeros(n), np.zeros(n)
        self._state = np.full(n, _pivots.ABSENT, dtype=np.int8)
        self._rows = np.zeros(capacity, dtype=np.int64)
        self._columns = np.zeros(capacity, dtype=np.int64)
        self._sign = np.zeros(capacity)
        self._size = 0
        self._stale = False
        self.require(program.unambiguous)

    def require(self, instances):
        for x in instances:
            if self._state[x] == _pivots.ABSENT:
                self._state[x] = _pivots.LOWER

    def release(self, instances):
        for x in instances:
            self._stale |= self._state[x] in (_pivots.UPPER, _pivots.BASIC)
            self._state[x] = _pivots.ABSENT

    def solve(self):
        """Optimise; False if the value exceeds the cutoff."""
        if self.clock.expired():
            raise SolverStopped("time limit")
        for attempt in range(2):
            if self._stale or attempt:
                self._forget_basis()
            try:
                outcome = self._run()
            except np.linalg.LinAlgError:  # a singular basis
                continue
            if outcome != _pivots.FAILED:
                return outcome == _pivots.SOLVED
        raise SolverStopped("numerical trouble")

    def _run(self):
        arrays = (self._a, self._cost, self._limit, self._state, self._rows, self._columns)
        arrays += (self._sign, self._size, self._inverse, self._u, self._g, self._w, self._margin)
        if not _pivots.refresh(*arrays):
            return _pivots.FAILED
        outcome, self._size, self.value = _pivots.pivot_until_optimal(
            *arrays, self._cutoff, _MAX_PIVOTS
        )
        # A value counts only if its dual is feasible.
        excess = np.abs(self._g) - self._limit
        return outcome if excess.max(initial=0.0) <= 1e-6 else _pivots.FAILED

    def _forget_basis(self):
        present = self._state != _pivots.ABSENT
        self._state[present] = _pivots.LOWER
        self._size = 0
        self._stale = False

    def read(self):
        m = self.program.n_features
        self.w = self._w[:m].copy()
        self.b = float(self._w[m]) if self.program.intercept else 0.0
        self.scores = self.program.scores(self.w, self.b)
        return self

    def settle(self):
        below = self.solve()
        self.read()
        return below

    @property
    def basis(self):
        k = self._size
        return (
            self._state.copy(),
            self._rows[:k].copy(),
            self._columns[:k].copy(),
            self._sign[:k].copy(),
        )

    @basis.setter
    def basis(self, basis):
        """Start the next solve here; rows required since then join at zero."""
        state, rows, columns, sign = basis
        present = self._state != _pivots.ABSENT
        known = state != _pivots.ABSENT
        self._stale = bool((known & ~present & (state != _pivots.LOWER)).any())
        self._state = np.where(present & known, state, self._state).astype(np.int8)
        self._state[present & ~known] = _pivots.LOWER
        self._size = len(rows)
        self._rows[: self._size] = rows
        self._columns[: self._size] = columns
        self._sign[: self._size] = sign

    def set_cutoff(self, value):
        self._cutoff = float(value)
