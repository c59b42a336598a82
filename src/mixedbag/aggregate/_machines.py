"""Support vector machines that are solved again and again for changing labels."""

from typing import Any

import numpy as np
from scipy import sparse

from mixedbag._kernels import bag_means
from mixedbag._solvers.interior_point import solve_box
from mixedbag._solvers.smo import MOST_STEPS, climb
from mixedbag.aggregate._count_program import signs
from mixedbag.aggregate._descent import carry_over, dual_value

_BAND = 0.3  # rows whose margin is within this of one are solved for first
_FEW = 5000  # rows that are solved for all at once
_GAP = 1e-12  # of a linear machine, relatively: its scores are told to eight digits
_PRECISION = 1e-6  # of a kernel machine: how far its objective may be above its bound, relatively


class RelabelledLinearMachine:
    """½‖w‖² + Σ_i cost_i max(0, 1 − s_i (w·x_i + b)), solved by an interior point method.

    Of many rows only those near the margin of the last solution are solved for. The others sit at
    the bound that their margin tells; those found on the wrong one join in, until there are none:
    the solution is that of all rows.
    """

    def __init__(self, X):
        self.X = X
        self.features = X
        self.w: Any = None

    def solve(self, positive, cost):
        """Fit to labels; returns the instances' scores and ½‖w‖²."""
        if positive.all() or not positive.any():  # everything on one side costs nothing
            self.w, self.intercept = np.zeros(self.X.shape[1]), 1.0 if positive.all() else -1.0
            self.scores, self.dual = self._scores(), np.zeros(len(positive))
        else:
            self.scores = self._solved(signs(positive), cost)
        return self.scores, 0.5 * self.w @ self.w

    def _solved(self, sign, cost):
        """The scores of all rows once none is at the wrong bound."""
        if len(sign) <= _FEW:
            self._solve_rows(np.arange(len(sign)), sign, cost, np.zeros(len(sign)))
            return self._scores()
        if self.w is None:
            some = np.linspace(0, len(sign) - 1, _FEW).astype(int)
            some = np.unique(np.r_[some, sign.argmin(), sign.argmax()])
            self._solve_rows(some, sign, cost * len(sign) / len(some), np.zeros(len(sign)))
        scores = self._scores()
        solved = _near_margin(sign, cost, scores)
        while True:
            at_bound = _at_bound(sign, cost, scores, solved)
            self._solve_rows(np.flatnonzero(solved), sign, cost, at_bound)
            scores = self._scores()
            wrong = np.where(at_bound != 0.0, sign * scores > 1.0, sign * scores < 1.0) & ~solved
            if not wrong.any():
                return scores
            solved |= wrong

    def distances(self, some, others):
        """Squared, between two sets of rows."""
        a, b = self.X[some], self.X[others]
        if sparse.issparse(a):
            a, b = a.toarray(), b.toarray()
        return (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2.0 * a @ b.T

    def similarities(self):
        """x_i·x_j of all pairs of rows."""
        gram = self.X @ self.X.T
        return gram.toarray() if sparse.issparse(gram) else np.ascontiguousarray(gram, dtype=float)

    def _scores(self):
        return self.X @ self.w + self.intercept

    def _solve_rows(self, rows, sign, cost, at_bound):
        """Solve for some rows, the multipliers of the others being `at_bound`."""
        X, s, c = self.X[rows], sign[rows], cost[rows]
        low, high = np.minimum(s, 0.0) * c, np.maximum(s, 0.0) * c
        fixed = self.X.T @ at_bound
        beta, w, self.intercept, _ = solve_box(
            X, s - X @ fixed, low, high, at_bound.sum(), tol=_GAP
        )
        self.w, self.dual = w + fixed, at_bound.copy()
        self.dual[rows] = beta


def _near_margin(sign, cost, scores):
    """Rows near the margin: enough to balance the multipliers of all the others."""
    band = _BAND
    while True:
        near = np.abs(sign * scores - 1.0) < band
        needed = -_at_bound(sign, cost, scores, near).sum()
        room = sign[near] * cost[near]
        if room[room < 0].sum() < needed < room[room > 0].sum():
            return near
        band *= 2.0


def _at_bound(sign, cost, scores, solved):
    """Multipliers of the rows that are not solved for: all or nothing, as their margin tells."""
    return np.where((sign * scores < 1.0) & ~solved, sign * cost, 0.0)


class RelabelledKernelMachine:
    """The same with a kernel: steps of two multipliers, from those of the last labels."""

    def __init__(self, gram, bags):
        self.gram = np.ascontiguousarray(gram, dtype=float)
        # Mean similarity to every bag: what a first, linear guess may use.
        self.features = bag_means(bags.with_instances(gram)).T
        self.offsets, self.sign, self.dual = bags.offsets, None, np.zeros(len(gram))

    def similarities(self):
        """K(x_i, x_j) of all pairs of rows."""
        return self.gram

    def distances(self, some, others):
        """Squared, between two sets of rows, in the space of the kernel."""
        own = np.diagonal(self.gram)
        return own[some, None] + own[others] - 2.0 * self.gram[np.ix_(some, others)]

    def solve(self, positive, cost):
        """Fit to labels; returns the instances' scores and ½‖w‖²."""
        sign = signs(positive)
        if self.sign is not None:
            self.dual = carry_over(self.offsets, self.sign, sign, self.dual)
        self.sign = sign
        error, value = dual_value(self.gram, sign, self.dual)
        *_, self.intercept, _ = climb(
            self.gram, sign, cost, self.dual, error, value, np.inf, 0.0, _PRECISION, MOST_STEPS
        )
        self.scores = sign - error + self.intercept
        return self.scores, 0.5 * self.dual @ (sign - error)
