"""The LP at a node of the search for witnesses, by a simplex method of its own.

Every ambiguous bag takes part through an *envelope* row. With R the instances that may still be
the witness of bag i,

    Σ_k (w⁺_k max_{x∈R} h_k(x) - w⁻_k min_{x∈R} h_k(x)) + b + ξ_i ≥ 1

holds whichever of them it is. With R = {x} it is the margin row of x. Without these rows, a bias
would make every open bag vanish from the LP: b = -1 and w = 0 satisfy all negatives at no cost.
"""

import numpy as np

from mixedbag._solvers import dual_simplex
from mixedbag._solvers.highs import INFINITY, SolverStopped

_MAX_PIVOTS = 5000
_SMALL = 1e-3


class EnvelopeLP:
    """min ‖w‖₁ + Σ C_e ξ_e over unambiguous margin rows, cuts, and one envelope for each bag.

    It holds all features in one dense array. Envelope rows are made once and kept; the rows of a
    bag share its slack, so that a basis stays dual feasible when its envelope tightens.

    Parameters
    ----------
    cuts : list of Cut
        Inequalities that hold for the whole program, made at the root of the search.
    """

    def __init__(self, program, clock, cuts=()):
        self.program = program
        self.clock = clock
        rows, bags = program.unambiguous, program.ambiguous
        cuts = [cut for cut in cuts if cut.beta > _SMALL]  # the others cannot be scaled to β = 1
        n, m, bias = len(rows), 2 * program.n_features, int(program.intercept)
        shared = _shared_slacks(program, cuts)
        width = m + bias + len(shared)  # signed features, the bias, shared slacks
        self._slack = m + bias
        self._position = {int(i): k for k, i in enumerate(bags)}
        self._n_plain = self._n_rows = n + len(cuts)
        self._row_of = {}  # (bag, instances) -> row
        self._a = np.zeros((self._n_plain + 2 * len(bags) + 1, width))
        self._a[:n, :m] = program.full_rows(rows)
        if bias:
            self._a[:n, m] = program.sign[rows]
        examples = program.example[rows]
        self._a[:n, self._slack :] = examples[:, None] == shared
        self._cost = np.full(len(self._a), INFINITY)
        self._cost[:n] = np.where(np.isin(examples, shared), INFINITY, program.slack_cost[examples])
        for r, cut in enumerate(cuts, start=n):
            fixed = np.concatenate([cut.fixed[:bias], cut.fixed[1 + shared]])
            self._a[r] = np.concatenate([cut.features, fixed]) / cut.beta
        self._limit = np.concatenate([np.ones(m), np.zeros(bias), program.slack_cost[shared]])
        self._state = np.full(len(self._a), dual_simplex.ABSENT, dtype=np.int8)
        self._u, self._margin = np.zeros(len(self._a)), np.zeros(len(self._a))
        self._g, self._w = np.zeros(width), np.zeros(width)
        capacity = min(width, self._n_plain + 4 * len(bags)) + 1
        self._inverse = np.zeros((capacity, capacity))
        self._rows = np.zeros(capacity, dtype=np.int64)
        self._columns = np.zeros(capacity, dtype=np.int64)
        self._size = 0

    def solve(self, remaining, basis=None, cutoff=INFINITY):
        """Optimise, with `remaining` = {bag: its instances left} for the bags that lost some.

        Starts from a basis of an LP with the same or weaker envelopes. False if the value reaches
        the cutoff; `value` is a lower bound in any case.
        """
        if self.clock.expired():
            raise SolverStopped("time limit")
        envelopes = [
            self._envelope(i, remaining.get(i) or tuple(self.program.bags[i].tolist()))
            for i in self._position
        ]
        for start in (basis, None):
            self._load(envelopes, start)
            outcome = self._run(cutoff)  # fails where the basis is singular
            if outcome != dual_simplex.FAILED:
                return outcome == dual_simplex.SOLVED
        raise SolverStopped("numerical trouble")

    @property
    def basis(self):
        """(rows at their upper bound, basic rows, basic columns)."""
        upper = np.flatnonzero(self._state[: self._n_rows] == dual_simplex.UPPER)
        return upper, self._rows[: self._size].copy(), self._columns[: self._size].copy()

    def read(self):
        """The solution of the last `solve`: w, b, slack (of the ambiguous bags), scores."""
        m = self.program.n_features
        self.w = self._w[:m] - self._w[m : 2 * m]
        self.b = float(self._w[2 * m]) if self.program.intercept else 0.0
        self.slack = self._w[self._slack : self._slack + len(self._position)].copy()
        self.scores = self.program.scores(self.w, self.b)
        return self

    def _envelope(self, bag, instances):
        """The row of these instances of a bag, made when first asked for."""
        row = self._row_of.get((bag, instances))
        if row is None:
            if self._n_rows == len(self._a):
                self._grow()
            row = self._row_of[bag, instances] = self._n_rows
            self._n_rows += 1
            m = 2 * self.program.n_features
            self._a[row, :m] = self.program.full_rows(np.array(instances)).max(axis=0)
            self._a[row, m : self._slack] = 1.0
            self._a[row, self._slack + self._position[bag]] = 1.0
        return row

    def _grow(self):
        more = len(self._a)
        self._a = np.vstack([self._a, np.zeros_like(self._a)])
        self._cost = np.concatenate([self._cost, np.full(more, INFINITY)])
        absent = np.full(more, dual_simplex.ABSENT, dtype=np.int8)
        self._state = np.concatenate([self._state, absent])
        self._u, self._margin = np.zeros(2 * more), np.zeros(2 * more)

    def _load(self, envelopes, basis):
        self._state[: self._n_plain] = dual_simplex.LOWER
        self._state[self._n_plain :] = dual_simplex.ABSENT
        self._state[envelopes] = dual_simplex.LOWER
        self._size = 0
        if basis is not None:
            upper, rows, columns = basis
            self._size = len(rows)
            self._state[upper] = dual_simplex.UPPER
            self._state[rows] = dual_simplex.BASIC  # weaker envelopes among them still hold
            self._rows[: self._size], self._columns[: self._size] = rows, columns

    def _run(self, cutoff):
        n = self._n_rows
        rows = (self._a[:n], self._cost[:n], self._limit, self._state[:n], self._rows)
        arrays = (*rows, self._columns, self._size, self._inverse, self._u[:n], self._g, self._w)
        arrays += (self._margin[:n],)
        if not dual_simplex.refresh(*arrays):
            return dual_simplex.FAILED
        outcome, self._size, self.value = dual_simplex.pivot_until_optimal(
            *arrays, cutoff, _MAX_PIVOTS
        )
        # A value counts only if its dual is feasible.
        excess = self._g - self._limit
        bias = slice(2 * self.program.n_features, self._slack)
        excess[bias] = np.abs(excess[bias])
        return outcome if excess.max(initial=0.0) <= 1e-6 else dual_simplex.FAILED


def _shared_slacks(program, cuts):
    """Examples whose slack is a column, ambiguous bags first.

    A slack that is in one row only need not be: it is a bound on the multiplier of that row.
    """
    used = np.zeros(program.n_examples, dtype=bool)
    for cut in cuts:
        used |= cut.fixed[1:] != 0
    used[program.ambiguous] = False
    return np.concatenate([program.ambiguous, np.flatnonzero(used)])
