"""A linear support vector machine that is solved again and again on slightly different rows."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from mixedbag.margin._dual_descent import descend, row_scores, row_sum
from mixedbag.margin.problem import Solution
from mixedbag.margin.proximal import proximal_newton

_NARROW = 1000  # features up to which a Newton system is cheap next to a pass over the data
_LOOSE = 1e3  # times the tolerance is enough while the choices still change
_NO_INDEX = np.empty(0, dtype=np.int32)


class Rows:
    """Instances and, numbered after them, centroids of bags; with a constant feature `bias`."""

    def __init__(self, instances, centroids, bias=1.0):
        self.tables = instances, centroids
        self.n_instances, self.n_features = instances.shape
        self.bias = float(bias)
        self._arguments = (*_buffers(instances), *_buffers(centroids), self.n_instances, self.bias)

    def scores(self, rows, w):
        """`w·x` for every row."""
        return row_scores(*self._arguments, rows, w)

    def total(self, rows, coef):
        """`Σ coef x`, as a weight vector."""
        w = np.zeros(self.n_features + 1)
        row_sum(*self._arguments, rows, coef, w)
        return w

    def descend(self, rows, *arguments):
        return descend(*self._arguments, rows, *arguments)

    def dense(self, rows):
        """The given rows as a dense table, the constant feature last."""
        table = np.empty((len(rows), self.n_features + 1))
        table[:, -1] = self.bias
        is_instance = rows < self.n_instances
        for source, chosen, first in zip(
            self.tables, (is_instance, ~is_instance), (0, self.n_instances)
        ):
            if chosen.any():
                part = source[rows[chosen] - first]
                table[chosen, :-1] = part.toarray() if sparse.issparse(part) else part
        return table

    def squared_norms(self, rows):
        norms = np.concatenate([_squared_norms(table) for table in self.tables])
        return norms[rows] + self.bias**2


class LinearMachine:
    """Solves linear problems over one set of rows, each starting from the one before.

    Narrow data (up to a thousand features) are solved by proximal Newton steps, wide data by dual
    coordinate descent. Both read the rows where they lie and never form a matrix of pairs.
    """

    def __init__(self, rows, tol=1e-6, seed=0, max_epochs=10_000):
        self.rows = rows
        self.tol = tol
        self.max_epochs = max_epochs
        self.seed = seed

    def solve(self, problem, start=None, loose=False):
        """The solution, from that of a similar problem; `loose` spares the last digits."""
        dual = np.zeros(len(problem.rows))
        if start is not None:
            dual = np.minimum(start.dual, problem.upper)  # its costs may have been others
        if self.rows.n_features < _NARROW:
            tol = max(self.tol, min(1e-3, _LOOSE * self.tol)) if loose else self.tol
            if start is None:
                w, margin = np.zeros(self.rows.n_features + 1), np.zeros(len(problem.rows))
            else:
                w = np.append(start.weights, start.intercept / self.rows.bias)
                margin = self._margin(problem, start.scores, w)
            dual, w, gap, converged = proximal_newton(self.rows, problem, dual, w, margin, tol)
        else:
            # Unlike Newton steps, descent depends on the order of the rows until it has converged.
            dual, w, gap, converged = self._descend(problem, dual)
        if not converged:
            warnings.warn(
                f"the linear machine stopped above a relative duality gap of {self.tol:g}: scale "
                "the features, or raise tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        scores = self.rows.tables[0] @ w[:-1] + self.rows.bias * w[-1]
        return Solution(
            problem=problem,
            dual=dual,
            objective=0.5 * w @ w + problem.loss(self._margin(problem, scores, w)),
            gap=gap,
            scores=scores,
            weights=w[:-1],
            intercept=self.rows.bias * w[-1],
        )

    def fitted(self, solution):
        """What an estimator keeps of a solution."""
        return {"coef_": solution.weights}

    def _margin(self, problem, scores, w):
        """Margins of the slots, from the scores of all instances where these are enough."""
        if problem.rows.max() < len(scores):
            return problem.sign * scores[problem.rows]
        return problem.sign * self.rows.scores(problem.rows, w)

    def _descend(self, problem, dual):
        """Coordinate descent, tightened until the relative duality gap is below `tol`."""
        norms = self.rows.squared_norms(problem.rows)
        epochs, violation = 0, 0.01
        while True:
            w = self.rows.total(problem.rows, problem.sign * dual)  # anew: rounding adds up
            epochs += self.rows.descend(
                problem.rows, problem.sign, problem.upper, problem.ridge, norms,
                violation, self.max_epochs - epochs, self.seed, dual, w,
            )  # fmt: skip
            margin = problem.sign * self.rows.scores(problem.rows, w)
            objective = 0.5 * w @ w + problem.loss(margin)
            gap = problem.slackness(dual, margin)
            converged = gap <= self.tol * objective
            if converged or epochs >= self.max_epochs:
                return dual, w, gap, converged
            violation *= 0.1


def _buffers(table):
    if sparse.issparse(table):
        return table.data, table.indices, table.indptr
    return table, _NO_INDEX, _NO_INDEX


def _squared_norms(table):
    if sparse.issparse(table):
        return np.asarray(table.multiply(table).sum(axis=1), dtype=float).ravel()
    return np.einsum("ij,ij->i", table, table, dtype=float)
