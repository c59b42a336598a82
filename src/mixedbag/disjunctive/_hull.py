"""The hull relaxation of the disjunctive program, in lifted form (thesis sections 6.2.4-6.2.8).

Every instance x of an ambiguous bag gets a copy (w^x, b^x, ξ^x) of the classifier and a share η^x;
the copies of a bag add up to the classifier, its shares to one. The copy of x satisfies the margin
row of x scaled by its share (eq. 6.40). *Parallel reductions* ask the same of an unambiguous
example j (eq. 6.41): each pair (x, j) makes the relaxation tighter.
"""

import numpy as np
from scipy.sparse import csr_array

from mixedbag._solvers.highs import (
    INFINITY,
    append_columns,
    append_rows,
    new_solver,
    solve_warm,
)

_TOLERANCE = 1e-6


class HullRelaxation:
    """The lifted LP over the signed features and parallel reductions added so far.

    After `solve`: `value`, `w`, `b`, `scores` of the relaxed classifier.
    """

    def __init__(self, program, clock):
        self.program = program
        self.clock = clock
        rows = [program.bags[i] for i in program.ambiguous]
        self.instances = np.concatenate([np.empty(0, dtype=np.int64), *rows])
        sizes = np.array([len(program.bags[i]) for i in program.ambiguous], dtype=np.int64)
        self.starts = np.cumsum(sizes) - sizes
        self.bag_of = np.repeat(np.arange(len(sizes)), sizes)  # among the ambiguous bags
        self.active = np.empty(0, dtype=np.int64)
        self.reductions = []  # (position of x in `instances`, unambiguous instance j)
        self._reduction_rows = []
        self._slack_links = {}  # (bag, example of j) -> row
        self._copies = []  # per feature: first of its columns (w_k, then w_k^x)
        self.solver = new_solver()
        self._n_columns = self._n_rows = 0
        self._columns_grew = False
        self._build()

    def _build(self):
        program, q, p = self.program, len(self.instances), len(self.starts)
        e = program.n_examples
        bias = INFINITY if program.intercept else 0.0
        # Columns: b, ξ_e, then for every x: b^x, ξ^x, η^x.
        own = program.slack_cost[program.example[self.instances]]
        self._slack = 1
        self._bx, self._xx, self._eta = 1 + e, 1 + e + q, 1 + e + 2 * q
        zeros = np.zeros
        cost = np.concatenate([[0.0], program.slack_cost, zeros(q), own, zeros(q)])
        lower = np.concatenate([[-bias], zeros(e), np.full(q, -bias), zeros(2 * q)])
        upper = np.full(len(cost), INFINITY)
        upper[0] = bias
        upper[self._bx : self._xx] = bias
        self._add_columns(cost, lower, upper, np.empty((0, len(cost))))
        n = len(cost)
        # Rows: margins of x (6.40), sums of b^x, sums of η (6.45), unreduced margins (6.49).
        x = np.arange(q)
        margin = np.zeros((q, n))
        margin[x, self._bx + x] = margin[x, self._xx + x] = 1.0
        margin[x, self._eta + x] = -1.0
        bias_sum = np.zeros((p, n))
        bias_sum[:, 0] = -1.0
        bias_sum[self.bag_of, self._bx + x] = 1.0
        share = np.zeros((p, n))
        share[self.bag_of, self._eta + x] = 1.0
        rows = program.unambiguous
        plain = np.zeros((len(rows), n))
        plain[:, 0] = program.sign[rows]
        plain[np.arange(len(rows)), 1 + program.example[rows]] = 1.0
        self._margin_rows = self._add_rows(zeros(q), np.full(q, INFINITY), margin)
        self._add_rows(zeros(p), zeros(p), bias_sum)
        self._add_rows(np.ones(p), np.ones(p), share)
        self._plain_rows = self._add_rows(np.ones(len(rows)), np.full(len(rows), INFINITY), plain)

    def add_features(self, signed):
        """Add w_k and all its copies, and the rows that make the copies add up (eq. 6.43)."""
        program, q, p = self.program, len(self.instances), len(self.starts)
        for s in signed:
            one = np.array([s])
            column = np.zeros(self._n_rows)
            column[self._plain_rows] = program.block(program.unambiguous, one)[:, 0]
            copies = np.zeros((self._n_rows, q))
            copies[self._margin_rows, np.arange(q)] = program.block(self.instances, one)[:, 0]
            if self.reductions:
                x, j = map(np.array, zip(*self.reductions, strict=True))
                copies[self._reduction_rows, x] = program.block(j, one)[:, 0]
            first = self._n_columns
            matrix = np.column_stack([column, copies])
            cost = np.concatenate([[1.0], np.zeros(q)])
            self._add_columns(cost, np.zeros(q + 1), np.full(q + 1, INFINITY), matrix)
            link = csr_array(
                (
                    np.concatenate([np.ones(q), -np.ones(p)]),
                    (
                        np.concatenate([self.bag_of, np.arange(p)]),
                        np.concatenate([first + 1 + np.arange(q), np.full(p, first)]),
                    ),
                ),
                shape=(p, self._n_columns),
            )
            self._add_rows(np.zeros(p), np.zeros(p), link)
            self._copies.append(first)
        self.active = np.concatenate([self.active, signed])
        self._columns_grew = True

    def add_reductions(self, pairs):
        """Fold unambiguous examples j into the pieces of x (eqs. 6.41, 6.42).

        With only some of the pairs, (6.42) must read Σ_x ξ_j^x ≤ ξ_j: an equality would force
        slack on examples whose other copies are not constrained.
        """
        program = self.program
        for x, j in pairs:
            e, bag = program.example[j], self.bag_of[x]
            column = np.zeros((self._n_rows, 1))
            if (bag, e) in self._slack_links:
                column[self._slack_links[bag, e]] = -1.0
            slack = self._n_columns
            self._add_columns(np.zeros(1), np.zeros(1), np.full(1, INFINITY), column)
            if (bag, e) not in self._slack_links:
                link = np.zeros((1, self._n_columns))
                link[0, self._slack + e], link[0, slack] = 1.0, -1.0
                rows = self._add_rows(np.zeros(1), np.full(1, INFINITY), link)
                self._slack_links[bag, e] = int(rows[0])
            row = np.zeros((1, self._n_columns))
            row[0, slack] = 1.0
            row[0, self._bx + x] = program.sign[j]
            row[0, self._eta + x] = -1.0
            row[0, np.array(self._copies, dtype=np.int64) + 1 + x] = program.block(
                np.array([j]), self.active
            )[0]
            rows = self._add_rows(np.zeros(1), np.full(1, INFINITY), row)
            self._reduction_rows.append(int(rows[0]))
            self.reductions.append((x, j))

    def solve(self):
        solve_warm(self.solver, self.clock, primal=self._columns_grew)
        self._columns_grew = False
        solution = self.solver.getSolution()
        self._x = np.array(solution.col_value)
        self._dual = np.array(solution.row_dual)
        self.value = self.solver.getInfo().objective_function_value
        m = self.program.n_features
        self.w = np.zeros(m)
        weights = self._x[np.array(self._copies, dtype=np.int64)]
        np.add.at(self.w, self.active % m, np.where(self.active < m, weights, -weights))
        self.b = float(self._x[0])
        self.scores = self.program.scores(self.w, self.b)

    # Prices, violated reductions, bound ----------------------------------------------------------

    def _margin_duals(self):
        """u^x, u_j of the unreduced rows, and u_j^x of the reductions, none negative."""
        u = np.maximum(self._dual, 0.0)
        return u[self._margin_rows], u[self._plain_rows], u[self._reduction_rows]

    def prices(self):
        """S(k) + 1 for every signed feature: eq. 6.47 with the unreduced rows of eq. 6.49 added."""
        program = self.program
        own, plain, reduced = self._margin_duals()
        parts = own[:, None] * _dense(program.values[self.instances])
        for (x, j), u in zip(self.reductions, reduced, strict=True):
            if u > 0:
                parts[x] += u * program.sign[j] * _dense(program.values[[j]])[0]
        rest = program.correlate(program.unambiguous, plain)
        total = np.concatenate([rest, -rest])
        if len(self.starts):
            total += np.concatenate(
                [
                    np.maximum.reduceat(parts, self.starts).sum(axis=0),
                    np.maximum.reduceat(-parts, self.starts).sum(axis=0),
                ]
            )
        return total

    def price_in(self, limit):
        """Add the features of best price; returns how many."""
        prices = self.prices()
        prices[self.active] = -np.inf
        candidates = np.flatnonzero(prices > 1.0 + _TOLERANCE)
        best = candidates[np.argsort(-prices[candidates], kind="stable")[:limit]]
        self.add_features(best)
        return len(best)

    def violated_reductions(self, limit):
        """Pairs (x, j) whose reduced margin row is violated most (eq. 6.48)."""
        if not self.instances.size:
            return []
        program, q = self.program, len(self.instances)
        rows = program.unambiguous
        first = np.array(self._copies, dtype=np.int64)
        weights = self._x[first[:, None] + 1 + np.arange(q)]  # (features, q)
        share = self._x[self._eta : self._eta + q]
        bias = self._x[self._bx : self._bx + q]
        margins = program.block(rows, self.active) @ weights
        short = share - margins - program.sign[rows][:, None] * bias
        position = {int(j): r for r, j in enumerate(rows)}
        for x, j in self.reductions:
            short[position[int(j)], x] = -np.inf
        r, x = np.nonzero(short > _TOLERANCE)
        order = np.argsort(-short[r, x], kind="stable")[:limit]
        return [(int(x[o]), int(rows[r[o]])) for o in order]

    def lower_bound(self, upper):
        """A bound for all features: the duals scaled until they are feasible (cf. the master's)."""
        program = self.program
        own, plain, reduced = self._margin_duals()
        x = np.array([x for x, _ in self.reductions], dtype=np.int64)
        j = np.array([j for _, j in self.reductions], dtype=np.int64)
        slack = np.zeros(program.n_examples)
        np.add.at(slack, program.example[program.unambiguous], plain)
        largest: dict = {}
        for k in range(len(x)):
            key = (self.bag_of[x[k]], program.example[j[k]])
            largest[key] = max(largest.get(key, 0.0), reduced[k])
        for (_, e), u in largest.items():
            slack[e] += u
        np.maximum.at(slack, program.example[self.instances], own)
        scale = max(
            1.0,
            float(self.prices().max(initial=0.0)),
            float((slack / program.slack_cost).max(initial=0.0)),
        )
        total, bias = own.copy(), own.copy()
        np.add.at(total, x, reduced)
        np.add.at(bias, x, reduced * program.sign[j])
        value = plain.sum()
        middle, disagreement = plain @ program.sign[program.unambiguous], 0.0
        if len(self.starts):
            value += np.minimum.reduceat(total, self.starts).sum()
            # The bias has no sign: the copies of a bag must agree on its price, and all prices
            # must cancel. What they miss is charged at the largest |b| that matters.
            high = np.maximum.reduceat(bias, self.starts)
            low = np.minimum.reduceat(bias, self.starts)
            middle += ((high + low) / 2).sum()
            disagreement = ((high - low) / 2).sum()
        residual = abs(middle) + disagreement
        if program.intercept:
            value -= residual * program.intercept_bound(upper)
        return float(value) / scale

    # HiGHS ---------------------------------------------------------------------------------------

    def _add_columns(self, cost, lower, upper, matrix):
        append_columns(self.solver, cost, lower, upper, matrix)
        self._n_columns += len(cost)

    def _add_rows(self, lower, upper, matrix):
        append_rows(self.solver, lower, upper, matrix)
        self._n_rows += len(lower)
        return np.arange(self._n_rows - len(lower), self._n_rows)


def _dense(part):
    return part if isinstance(part, np.ndarray) else part.toarray()
