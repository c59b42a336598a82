"""A linear support vector machine that is solved again and again on slightly different rows."""

import warnings
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mixedbag._solvers.dual_descent import dual_descent
from mixedbag._solvers.numbered_rows import NumberedRows
from mixedbag._solvers.proximal_newton import duality_gap, proximal_newton
from mixedbag._wide import times
from mixedbag.margin._solution import Solution

_NARROW = 1000  # features up to which a Newton system is cheap next to a pass over the data
_TALL = 2  # slots a feature, from which on it is for dense rows of more features, too
_BROAD = 4096  # features, beyond which its matrix takes more memory and time than it spares
_LOOSE = 1e3  # times the tolerance is enough while the choices still change
_FIRST = 1e5  # times it for a first machine, which only shows the way
_NEAR = 1.0  # beyond the margin, where a slot may yet come to lose when the machine moves on
_LEAST = 2  # slots a feature to begin with
_MANY = 0.2  # of all costs; with slots of less, a better start spares too little
_ROUGH = 0.1  # a duality gap that is good enough for a start
_GROUPS = 2000  # of slots, a side: more of them say no more of two numbers
_FEW = 0.7  # of all costs; with slots of more, leaving out the others spares too little
_WIDE = 128  # features up to which Newton steps cost too little to be spared by descent
_SLOTS, _LOSING = 16, 2  # a feature: with more of them, a machine will hardly separate all
_CLOSE = 0.01  # a relative duality gap from which on Newton steps are few
_EPOCHS = 100  # of descent; what takes more is not for it


class LinearMachine:
    """Solves linear problems over one set of rows, each starting from the one before.

    Narrow data (up to a thousand features, or to four thousand if dense and with several slots a
    feature) are solved by proximal Newton steps, wide data by dual coordinate descent, which also
    begins for the former where features are many and few slots lose. Both read the rows where they
    lie and never form a matrix of pairs.
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
        if self._is_narrow(problem):
            tol = self._precision(start, loose)
            if start is None:
                w, margin = np.zeros(self.rows.n_features + 1), np.zeros(len(problem.rows))
            else:
                w = self.rows.weights(start.weights, start.intercept)
                margin = self._margin(problem, start.scores, w)
            dual, w, gap, converged, scores, margin = self._newton(problem, dual, w, margin, tol)
        else:
            # Unlike Newton steps, descent depends on the order of the rows until it has converged.
            first = 0.0
            if start is not None:
                first = self.rows.weights(start.weights, start.intercept)[-1]
            dual, w, gap, converged = dual_descent(
                self.rows, problem, dual, first, self.tol, self.seed, self.max_epochs
            )
            scores = self._scores(w)
            margin = self._margin(problem, scores, w)
        if not converged:
            warnings.warn(
                f"the linear machine stopped above a relative duality gap of {self.tol:g}: scale "
                "the features, or raise tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        shift = problem.room(margin).to_middle()
        return Solution(
            problem=problem,
            dual=dual,
            objective=0.5 * w[:-1] @ w[:-1] + problem.loss(margin),
            gap=gap,
            scores=scores + shift,
            weights=w[:-1],
            intercept=self.rows.intercept(w) + shift,
        )

    def _is_narrow(self, problem):
        d = self.rows.n_features
        is_tall = self.rows.is_dense and d <= _BROAD and len(problem.rows) >= _TALL * d
        return d < _NARROW or is_tall

    def _precision(self, start, loose):
        """The relative gap to reach."""
        if not loose:
            return self.tol
        some = min(_ROUGH, _FIRST * self.tol) if start is None else min(1e-3, _LOOSE * self.tol)
        return max(self.tol, some)

    def _newton(self, problem, dual, w, margin, tol):
        """Newton steps on the slots near the margin or short of it, until no other loses anything.

        The others have no dual and no loss, so that neither the objective nor the gap knows them.
        """
        least = _LEAST * self.rows.n_features
        held = _near(dual, margin, least)
        if problem.share(held) > _MANY:
            dual, w, margin = _stretched(problem, dual, w, margin)
            held = _near(dual, margin, least)
        while True:
            held |= problem.share(held) > _FEW
            at = np.flatnonzero(held)
            some = problem.at(at)
            begun, w, near = self._descended(some, dual[at], w, margin[at])
            found = proximal_newton(self.rows, some, begun, w, near, tol)
            dual = np.zeros(len(held))
            dual[at], w, gap, converged = found
            scores = self._scores(w)
            margin = self._margin(problem, scores, w)
            if not np.any((margin < 1.0) & ~held):
                return dual, w, gap, converged, scores, margin
            held |= margin < 1.0 + _NEAR

    def _descended(self, problem, dual, w, margin):
        """A better start for Newton steps, by dual descent, where a machine may well separate all.

        Few slots bend few directions, and a Newton step goes too far in all others: it takes dozens
        to find the slots that matter. Descent finds these one by one. The rows are in an order of
        their own, so that nothing depends on that of the table.
        """
        d = self.rows.n_features
        losing = np.count_nonzero(margin < 1.0)
        if d < _WIDE or len(margin) > _SLOTS * d or losing > _LOSING * d:
            return dual, w, margin
        objective = 0.5 * w[:-1] @ w[:-1] + problem.loss(margin)
        if duality_gap(self.rows, problem, problem.evened(dual), w, margin) <= _CLOSE * objective:
            return dual, w, margin
        order = np.argsort(self.rows.along[problem.rows])
        found, v, _, _ = dual_descent(
            self.rows, problem.at(order), dual[order], w[-1], _CLOSE, seed=0, max_epochs=_EPOCHS
        )
        after = problem.sign * self.rows.scores(problem.rows, v)
        if 0.5 * v[:-1] @ v[:-1] + problem.loss(after) >= objective:
            return dual, w, margin
        dual = np.empty(len(order))
        dual[order] = found
        return dual, v, after

    def fitted(self, solution):
        """What an estimator keeps of a solution."""
        return {"coef_": solution.weights}

    def _scores(self, w):
        """Scores of all instances."""
        return times(self.rows.tables[0], w[:-1]) + self.rows.intercept(w)

    def _margin(self, problem, scores, w):
        """Margins of the slots, from the scores of all instances where these are enough."""
        if problem.rows.max() < len(scores):
            return problem.sign * scores[problem.rows]
        return problem.sign * self.rows.scores(problem.rows, w)


def _near(dual, margin, least):
    """Slots that lose something, or soon may: at least so many, if there are.

    With fewer slots than features, a machine separates whatever there is, and knows nothing of the
    others.
    """
    held = (dual > 0.0) | (margin < 1.0 + _NEAR)
    if np.count_nonzero(held) < least < len(held):
        held |= margin <= np.partition(margin, least)[least]
    return held


def _stretched(problem, dual, w, margin):
    """The start with its length and its intercept made to fit, the direction as it is.

    These two alone are a machine with one feature, the score so far, and groups of neighbours with
    one sign are enough for it: next to nothing. Where costs or many signs are others than in the
    problem before, most slots are then far from the margin.
    """
    length = np.sqrt(w[:-1] @ w[:-1])
    if length == 0.0:
        return dual, w, margin
    along = (problem.sign * margin - w[-1]) / length
    group, sign = _neighbours(problem.sign, along)
    cost, before = np.bincount(group, problem.cost), np.bincount(group, dual)
    places = np.bincount(group, problem.cost * along) / cost
    line = NumberedRows(places[:, None], np.empty((0, 1)))
    alone = replace(problem, rows=np.arange(len(cost)), sign=sign, cost=cost)
    start = line.weights(np.array([length]), w[-1])
    begin = sign * (places * length + w[-1])
    after, found, _, _ = proximal_newton(line, alone, before, start, begin, _ROUGH)
    intercept = line.intercept(found)
    w = np.append(w[:-1] * (found[0] / length), intercept)
    dual = problem.cost * (after / cost)[group]
    return dual, w, problem.sign * (along * found[0] + intercept)


def _neighbours(sign, along):
    """The group of each slot, of neighbours `along` a line with one sign, and the groups' signs."""
    group, signs = np.empty(len(sign), dtype=np.intp), np.empty(0)
    for side in (-1.0, 1.0):
        slots = np.flatnonzero(sign == side)
        n_groups = min(len(slots), _GROUPS)
        places = np.arange(len(slots)) * n_groups // max(1, len(slots))
        group[slots[np.argsort(along[slots])]] = len(signs) + places
        signs = np.append(signs, np.full(n_groups, side))
    return group, signs


# Kernel machines for data whose Gram matrix would not fit: linear ones on Nyström features.


class LandmarkMachine(LinearMachine):
    """A linear machine on features of which the kernel at some landmarks is a linear function."""

    def __init__(self, landmarks, projection, rows, tol, seed):
        super().__init__(rows, tol, seed)
        self.landmarks = landmarks
        self.projection = projection

    def fitted(self, solution):
        """What an estimator keeps of a solution."""
        return {
            "support_vectors_": self.landmarks,
            "dual_coef_": self.projection @ solution.weights,
        }


def landmark_machine(kernel, instances, average, n_components, tol, rng, seed):
    """The machine on random landmarks; `average` makes centroids of instances."""
    landmarks, projection, features = kernel.landmark_features(instances, n_components, rng)
    return LandmarkMachine(
        landmarks, projection, NumberedRows(features, average @ features), tol, seed
    )
