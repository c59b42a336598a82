"""The restricted master LP: some columns and some rows of a disjunctive program, in HiGHS, warm.

Columns are the bias, the slacks of all examples, and the *signed* features added so far; rows are
margin constraints of instances and lift-and-project cuts. Rows and columns come and go while the
basis stays, so that each new solution costs a few pivots.
"""

import numpy as np

from mixedbag._solvers.highs import (
    INFINITY,
    append_columns,
    append_rows,
    new_solver,
    solve_warm,
)
from mixedbag.disjunctive._cuts import Cut

# Up to this many signed features all columns enter at once: pricing would cost more than it saves.
_ALL_COLUMNS = 400
_COLUMNS_PER_ROUND = 50
_ROWS_PER_ROUND = 200
_TOLERANCE = 1e-6


class RestrictedMaster:
    """min ‖w‖₁ + Σ C ξ over the rows and signed features added so far.

    The margin rows of unambiguous instances (negatives, positive bags of one) always belong to
    the problem, but enter the LP only when violated. Witness rows are switched by `require` and
    `release`, cuts by `add_cuts` and `delete_cuts`. `settle` solves until no known row is violated
    and, unless `columns` are given, no feature has a negative reduced cost; then `value`, `w`, `b`,
    `slack` and `dual` (one per row) describe the optimum.
    """

    def __init__(self, program, clock, columns=None):
        self.program = program
        self.clock = clock
        self.active = np.empty(0, dtype=np.int64)  # signed features, in column order
        self.rows = []  # an instance (int) or a Cut, in row order
        self.first = 1 + program.n_examples  # the first feature column
        self._row_of = {}  # instance -> row
        self._waiting = np.zeros(program.values.shape[0], dtype=bool)
        self._waiting[program.unambiguous] = True
        self.generates_columns = columns is None and 2 * program.n_features > _ALL_COLUMNS
        self._columns_grew = False
        self.w = None  # until the first solution
        self.solver = new_solver()
        bias = INFINITY if program.intercept else 0.0
        lower = np.concatenate([[-bias], np.zeros(program.n_examples)])
        upper = np.concatenate([[bias], np.full(program.n_examples, INFINITY)])
        cost = np.concatenate([[0.0], program.slack_cost])
        append_columns(self.solver, cost, lower, upper, np.empty((0, self.first)))
        if columns is not None:
            self.add_columns(np.asarray(columns, dtype=np.int64))
        elif not self.generates_columns:
            self.add_columns(np.arange(2 * program.n_features))

    # Columns and rows ----------------------------------------------------------------------------

    def add_columns(self, signed):
        """Let these signed features into the LP."""
        n = len(signed)
        if n == 0:
            return
        matrix = np.empty((len(self.rows), n))
        instances = [r for r, row in enumerate(self.rows) if not isinstance(row, Cut)]
        if instances:
            matrix[instances] = self.program.block([self.rows[r] for r in instances], signed)
        for r in self._cut_rows():
            matrix[r] = self.rows[r].features[signed]
        append_columns(self.solver, np.ones(n), np.zeros(n), np.full(n, INFINITY), matrix)
        self.active = np.concatenate([self.active, signed])
        self._columns_grew = True

    def require(self, instances):
        """Enforce the margin constraints of these instances."""
        known = [x for x in map(int, instances) if x in self._row_of]
        self._set_lower(known, 1.0)
        new = [x for x in map(int, instances) if x not in self._row_of]
        if not new:
            return
        program = self.program
        matrix = np.zeros((len(new), self.first + len(self.active)))
        matrix[:, 0] = program.sign[new]
        matrix[np.arange(len(new)), 1 + program.example[new]] = 1.0
        matrix[:, self.first :] = program.block(new, self.active)
        self._append(new, np.ones(len(new)), matrix)
        self._waiting[new] = False

    def release(self, instances):
        """Drop the margin constraints of these instances (the rows stay, without effect)."""
        self._set_lower([int(x) for x in instances], -INFINITY)

    def add_cuts(self, cuts):
        matrix = np.array([np.concatenate([c.fixed, c.features[self.active]]) for c in cuts])
        self._append(list(cuts), np.array([c.beta for c in cuts]), matrix)

    def delete_cuts(self, index):
        index = np.asarray(index, dtype=np.int32)
        self.solver.deleteRows(len(index), index)
        gone = set(index.tolist())
        self.rows = [row for r, row in enumerate(self.rows) if r not in gone]
        self._row_of = {row: r for r, row in enumerate(self.rows) if not isinstance(row, Cut)}

    # Solving -------------------------------------------------------------------------------------

    def solve(self):
        """Optimise the LP as it stands."""
        solve_warm(self.solver, self.clock, primal=self._columns_grew)
        self._columns_grew = False
        self.value = self.solver.getInfo().objective_function_value

    def read(self):
        """Fetch the solution of the last `solve`: a search often needs its value only."""
        solution = self.solver.getSolution()
        x = np.array(solution.col_value)
        self.dual = np.maximum(np.array(solution.row_dual), 0.0)
        self.b = float(x[0])
        self.slack = np.maximum(x[1 : self.first], 0.0)
        self.signed_w = np.maximum(x[self.first :], 0.0)
        m = self.program.n_features
        self.w = np.zeros(m)
        np.add.at(self.w, self.active % m, np.where(self.active < m, 1.0, -1.0) * self.signed_w)
        self.scores = self.program.scores(self.w, self.b)
        return self

    def tight_rows(self):
        """Rows that hold with equality at the solution (those switched off never do)."""
        activity = np.array(self.solver.getSolution().row_value)
        beta = np.array([row.beta if isinstance(row, Cut) else 1.0 for row in self.rows])
        tight = np.abs(activity - beta) <= 1e-7 * np.maximum(1.0, abs(beta))
        return [self.rows[r] for r in np.flatnonzero(tight)]

    def settle(self):
        """Solve, adding violated rows and profitable columns until there are none."""
        while True:
            self.solve()
            self.read()
            if self._add_violated():
                continue
            if not (self.generates_columns and self.price_in(_COLUMNS_PER_ROUND)):
                return

    def _add_violated(self):
        short = np.where(self._waiting, 1.0 - self.program.sign * self.scores, 0.0)
        violated = np.flatnonzero(short > _TOLERANCE)
        worst = violated[np.argsort(-short[violated], kind="stable")[:_ROWS_PER_ROUND]]
        self.require(worst)
        return len(worst)

    # Prices and bounds ---------------------------------------------------------------------------

    def instance_duals(self):
        """The dual of every instance's margin row (0 where it has none)."""
        u = np.zeros(self.program.values.shape[0])
        ids = np.fromiter(self._row_of.keys(), dtype=np.int64, count=len(self._row_of))
        rows = np.fromiter(self._row_of.values(), dtype=np.int64, count=len(self._row_of))
        u[ids] = self.dual[rows]
        return u

    def prices(self):
        """Σ_r u_r A_rs for every signed feature s: above 1, it would lower the objective."""
        u = self.instance_duals()
        used = np.flatnonzero(u)
        plain = self.program.correlate(used, u[used])
        total = np.concatenate([plain, -plain])
        for r in self._cut_rows():
            if self.dual[r] > 0:
                total += self.dual[r] * self.rows[r].features
        return total

    def price_in(self, limit, tolerance=_TOLERANCE):
        """Add the (at most `limit`) features of most negative reduced cost. Returns how many."""
        prices = self.prices()
        prices[self.active] = -np.inf
        candidates = np.flatnonzero(prices > 1.0 + tolerance)
        best = candidates[np.argsort(-prices[candidates], kind="stable")[:limit]]
        self.add_columns(best)
        return len(best)

    def lower_bound(self, upper):
        """A bound that holds for *all* features, whatever columns are in and however HiGHS rounds.

        The duals, scaled until no column has a negative reduced cost, are feasible for the dual of
        the full LP (Farley's bound). What is missing in the bias's dual equation is charged at the
        largest |b| that matters below the objective `upper`.
        """
        program = self.program
        u = self.instance_duals()
        fixed = np.zeros(self.first)
        fixed[0] = u @ program.sign
        np.add.at(fixed, 1 + program.example, u)
        total = u.sum()
        for r in self._cut_rows():
            total += self.dual[r] * self.rows[r].beta
            fixed += self.dual[r] * self.rows[r].fixed
        scale = max(
            1.0,
            float(self.prices().max(initial=0.0)),
            float((fixed[1:] / program.slack_cost).max(initial=0.0)),
        )
        residual = abs(fixed[0]) * program.intercept_bound(upper) if program.intercept else 0.0
        return (float(total) - residual) / scale

    # HiGHS ---------------------------------------------------------------------------------------

    def _cut_rows(self):
        return [r for r, row in enumerate(self.rows) if isinstance(row, Cut)]

    def _append(self, rows, lower, matrix):
        append_rows(self.solver, lower, np.full(len(rows), INFINITY), matrix)
        for row in rows:
            if not isinstance(row, Cut):
                self._row_of[row] = len(self.rows)
            self.rows.append(row)

    def _set_lower(self, instances, value):
        rows = np.array([self._row_of[x] for x in instances], dtype=np.int32)
        if len(rows):
            bound = np.full(len(rows), value)
            self.solver.changeRowsBounds(len(rows), rows, bound, np.full(len(rows), INFINITY))
