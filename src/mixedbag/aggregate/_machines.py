"""Support vector machines that are solved again and again for changing labels."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.svm import SVC

from mixedbag._kernels import bag_means
from mixedbag._solvers.interior_point import solve_box

_BAND = 0.3  # rows whose margin is within this of one are solved for first
_FEW = 5000  # rows that are solved for all at once


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
            return np.full(len(positive), self.intercept), 0.0
        sign = np.where(positive, 1.0, -1.0)
        if len(sign) <= _FEW:
            self._solve_rows(np.arange(len(sign)), sign, cost, np.zeros(len(sign)))
            return self._scores(), 0.5 * self.w @ self.w
        if self.w is None:
            some = np.linspace(0, len(sign) - 1, _FEW).astype(int)
            some = np.unique(np.r_[some, positive.argmin(), positive.argmax()])
            self._solve_rows(some, sign, cost * len(sign) / len(some), np.zeros(len(sign)))
        scores = self._scores()
        solved = _near_margin(sign, cost, scores)
        while True:
            at_bound = _at_bound(sign, cost, scores, solved)
            self._solve_rows(np.flatnonzero(solved), sign, cost, at_bound)
            scores = self._scores()
            wrong = np.where(at_bound != 0.0, sign * scores > 1.0, sign * scores < 1.0) & ~solved
            if not wrong.any():
                return scores, 0.5 * self.w @ self.w
            solved |= wrong

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
        _, w, self.intercept, _ = solve_box(X, s - X @ fixed, low, high, at_bound.sum())
        self.w = w + fixed


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
    """The same with a kernel, by LIBSVM on a Gram matrix that is computed once."""

    def __init__(self, gram, bags):
        self.gram = gram
        # Mean similarity to every bag: what a first, linear guess may use.
        self.features = bag_means(bags.with_instances(gram)).T

    def similarities(self):
        """K(x_i, x_j) of all pairs of rows."""
        return np.ascontiguousarray(self.gram, dtype=float)

    def solve(self, positive, cost):
        """Fit to labels; returns the instances' scores and ½‖w‖²."""
        self.dual = np.zeros(len(positive))
        if positive.all() or not positive.any():
            self.intercept = 1.0 if positive.all() else -1.0
            return np.full(len(positive), self.intercept), 0.0
        machine = SVC(C=1.0, kernel="precomputed", tol=1e-4)
        machine.fit(self.gram, positive, sample_weight=cost)
        self.dual[machine.support_] = machine.dual_coef_[0]
        self.intercept = float(machine.intercept_[0])
        scores = self.gram @ self.dual
        return scores + self.intercept, 0.5 * self.dual @ scores
