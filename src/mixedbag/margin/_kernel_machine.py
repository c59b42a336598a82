"""Kernel support vector machines on columns of one Gram matrix, each computed at most once."""

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, solve
from scipy.linalg.lapack import dposv
from sklearn.utils.extmath import row_norms

from mixedbag._solvers.smo import add_columns, minimise_pairs
from mixedbag.margin._solution import Solution

_BLOCK = 2**23  # kernel values computed at a time
_LARGEST_SYSTEM = 2000
_MOST_WORK = 1e9  # cubed duals inside the box: what steps over them may take at a time
_MOST_ROUNDS = 1000
_STEPS = 4  # of pairs a slot, before the duals inside the box are solved for together
_LOOSE = 1e-3  # relative gap of machines on the way
_FEW = 32  # columns computed at least at a time


class GramColumns:
    """Columns of the Gram matrix of instances and centroids, computed when first asked for.

    Column `r` is in row `place[r]` of `table`, unless that is negative. `diagonal` is complete.
    """

    def __init__(self, instances, centroids, kernel, dtype=np.float64):
        self.tables = instances, centroids
        self.n_instances = instances.shape[0]
        self.n_rows = instances.shape[0] + centroids.shape[0]
        self.kernel = kernel
        self.norms = [row_norms(table, squared=True) for table in self.tables]
        self.diagonal = np.concatenate([kernel.diagonal(t) for t in self.tables if t.shape[0]])
        self.place = np.full(self.n_rows, -1)
        # The system hands out this memory only as columns are written.
        self.table = np.empty((self.n_rows, self.n_rows), dtype=dtype)
        self.used = 0

    def want(self, rows):
        """See to it that the columns of these rows are there."""
        missing = np.unique(rows[self.place[rows] < 0])
        step = max(1, _BLOCK // self.n_rows)
        for i in range(0, len(missing), step):
            self._append(missing[i : i + step])

    def fitted(self, support):
        return {"support_vectors_": self.tables[0][support]}

    def _append(self, rows):
        end = self.used + len(rows)
        is_instance = rows < self.n_instances  # sorted: instances come first
        split = self.used + is_instance.sum()
        self._compute(0, rows[is_instance], self.table[self.used : split])
        self._compute(1, rows[~is_instance] - self.n_instances, self.table[split:end])
        self.place[rows] = np.arange(self.used, end)
        self.used = end

    def _compute(self, source, index, out):
        if not len(index):
            return
        chosen, norms = self.tables[source][index], self.norms[source][index]
        ends = out[:, : self.n_instances], out[:, self.n_instances :]
        for end, table, others in zip(ends, self.tables, self.norms):
            if end.shape[1]:
                end[:] = self.kernel.from_norms(chosen, table, (norms, others))


class GivenColumns:
    """The same for a Gram matrix that is given: centroids are means in the kernel's own space."""

    def __init__(self, gram, average):
        gram = gram.toarray() if sparse.issparse(gram) else np.asarray(gram, dtype=float)
        self.n_instances = len(gram)
        cross = average @ gram
        self.table = np.block([[gram, cross.T], [cross, cross @ average.T]])
        self.diagonal = np.diag(self.table).copy()
        self.place = np.arange(len(self.table))
        self.used = len(self.table)

    def want(self, rows):
        pass

    def fitted(self, support):
        return {}


class KernelMachine:
    """Solves kernel problems by moving pairs of duals, on as few columns as will do.

    A slot without a column has dual zero. When the others have nearly converged, columns are
    computed for the slots that violate their margin worst, until none does. A problem starts
    from the duals of the one before.
    """

    def __init__(self, columns, tol=1e-6):
        self.columns = columns
        self.tol = tol

    def solve(self, problem, start=None, loose=False):
        """The solution, from that of a similar problem; a `loose` one is nearly as precise."""
        if start is None:
            dual = np.zeros(len(problem.rows))
            self.columns.want(problem.rows[_first_slots(problem)])
        else:
            dual = _feasible(start.dual, problem)
        violation, tol = 1e-3, max(self.tol, _LOOSE) if loose else self.tol
        scores = self._scores(problem, dual)
        while True:
            self._descend(problem, dual, scores, violation)
            self._polish(problem, dual, scores)
            scores = self._scores(problem, dual)  # anew: many are equal, up to rounding
            expansion = _Expansion(problem, dual, scores)
            if expansion.gap <= tol * expansion.objective or violation < 1e-6:
                return expansion.solution(self.columns.n_instances)
            violation *= 0.03

    def fitted(self, solution):
        """What an estimator keeps of a solution."""
        return {
            "support_": solution.support,
            "dual_coef_": solution.weights,
            **self.columns.fitted(solution.support),
        }

    def _descend(self, problem, dual, scores, violation):
        """Change `dual`, and `scores` with it, until margins are short by `violation` at most."""
        columns, rows = self.columns, problem.rows
        for _ in range(_MOST_ROUNDS):
            error = problem.sign - scores[rows]
            top, bottom = _extremes(problem, dual, error)
            excess = error[top] - error[bottom]
            if excess <= violation:
                return
            missing = columns.place[rows] < 0
            ends = error[list(_extremes(problem, dual, error, ~missing))]
            if ends[0] - ends[1] <= max(violation, 0.2 * excess):  # the rest will not gain much
                shortfall = np.where(missing, problem.sign * (error - ends.mean()), 0.0)
                worst = np.argsort(-shortfall, kind="stable")[: max(_FEW, columns.used // 8)]
                columns.want(rows[[*worst[shortfall[worst] > violation], top, bottom]])
            # Slots that are far inside their margin, or far outside, are left for a later round.
            middle, (can_grow, can_fall) = error[[top, bottom]].mean(), _sides(problem, dual)
            near = can_grow & (error > middle - excess) | can_fall & (error < middle + excess)
            some = np.flatnonzero(near & (columns.place[rows] >= 0))
            before = problem.sign[some] * dual[some]
            most = _STEPS * len(some)
            beta, reach = before.copy(), problem.sign[some] * problem.cost[some]
            *_, n_steps = minimise_pairs(
                columns.table, columns.place[rows[some]], rows[some], columns.diagonal[rows[some]],
                np.zeros(len(some)), np.minimum(reach, 0.0), np.maximum(reach, 0.0),
                max(violation, 0.1 * excess), 0.0, np.inf, most, beta, error[some],
            )  # fmt: skip
            dual[some] = problem.sign[some] * beta
            step = beta - before
            moved = step != 0.0
            add_columns(columns.table, columns.place[rows[some[moved]]], step[moved], scores)
            if n_steps >= most:
                self._polish(problem, dual, scores)

    def _scores(self, problem, dual):
        """Scores of all rows, without intercept."""
        support = np.flatnonzero(dual)
        rows = problem.rows[support]
        self.columns.want(rows)
        scores = np.zeros(len(self.columns.place))
        coef = problem.sign[support] * dual[support]
        add_columns(self.columns.table, self.columns.place[rows], coef, scores)
        return scores

    def _polish(self, problem, dual, scores):
        """Newton's steps over the duals inside the box, in place: the last one is exact.

        A step that would leave the box ends where the first dual meets its bound, and stays there.
        Moving pairs takes hundreds of thousands of steps to it where prices are large.
        """
        work = 0
        while work <= _MOST_WORK:
            free = np.flatnonzero((dual > 0.0) & (dual < problem.cost))
            if len(free) == 0 or len(free) > _LARGEST_SYSTEM:
                return
            work += len(free) ** 3
            step = self._newton_step(problem, free, scores)
            if step is None:
                return
            change = problem.sign[free] * step
            end = np.where(change > 0.0, problem.cost[free], 0.0)
            room = np.divide(
                end - dual[free], change, out=np.full(len(free), np.inf), where=change != 0
            )
            share = min(1.0, room.min())
            dual[free] = np.where(room <= share, end, dual[free] + share * change)
            add_columns(
                self.columns.table, self.columns.place[problem.rows[free]], share * step, scores
            )
            if share == 1.0:
                return

    def _newton_step(self, problem, free, scores):
        """The step of signed duals to where errors are the same, without changing their sum."""
        sign, rows = problem.sign[free], problem.rows[free]
        gram = self.columns.table[self.columns.place[rows][:, None], rows]
        gram = gram.astype(np.float64, copy=False)
        np.einsum("ii->i", gram)[:] *= 1 + 1e-12  # equal rows
        wanted = np.column_stack([sign - scores[rows], np.ones(len(free))])
        _, steps, failed = dposv(gram, wanted)
        if failed:  # kernels that span little, or are none
            try:
                steps = solve(gram, wanted, assume_a="sym", check_finite=False)
            except LinAlgError:
                return None
        step = steps[:, 0] - steps[:, 1] * (steps[:, 0].sum() / steps[:, 1].sum())
        return step if step @ wanted[:, 0] > 0.0 else None


def _extremes(problem, dual, error, among=True):
    """The slot with the largest error that may grow, and that with the smallest that may fall."""
    can_grow, can_fall = _sides(problem, dual)
    top = np.argmax(np.where(among & can_grow, error, -np.inf))
    return top, np.argmin(np.where(among & can_fall, error, np.inf))


def _sides(problem, dual):
    """Which slots may grow, their sign times their dual, and which may fall."""
    positive = problem.sign > 0
    filled, empty = dual >= problem.cost, dual <= 0
    return np.where(positive, ~filled, ~empty), np.where(positive, ~empty, ~filled)


def _first_slots(problem):
    """A few slots of either sign, spread evenly."""
    sides = [np.flatnonzero(problem.sign == sign) for sign in (-1.0, 1.0)]
    return np.concatenate([side[:: max(1, len(side) // _FEW)] for side in sides])


def _feasible(dual, problem):
    """The dual within the bounds of the problem, the two sides made equal."""
    dual = np.minimum(dual, problem.cost)
    positive = problem.sign > 0
    sums = dual[positive].sum(), dual[~positive].sum()
    if min(sums) == 0.0:
        return np.zeros_like(dual)
    return dual * np.where(positive, min(1.0, sums[1] / sums[0]), min(1.0, sums[0] / sums[1]))


class _Expansion:
    """A dual, the scores it gives to all rows, and how good it is."""

    def __init__(self, problem, dual, scores):
        self.problem = problem
        self.dual = dual
        at_slots = scores[problem.rows]
        self.intercept = _intercept(problem, dual, at_slots)
        self.scores = scores + self.intercept
        self.margin = problem.sign * (at_slots + self.intercept)
        half_norm = 0.5 * (problem.sign * dual) @ at_slots
        self.objective = half_norm + problem.loss(self.margin)
        self.gap = self.objective - (dual.sum() - half_norm)

    def solution(self, n_instances):
        coef = np.zeros(len(self.scores))
        np.add.at(coef, self.problem.rows, self.problem.sign * self.dual)
        support = np.flatnonzero(coef)
        return Solution(
            problem=self.problem,
            dual=self.dual,
            objective=self.objective,
            gap=self.gap,
            scores=self.scores[:n_instances],
            weights=coef[support],
            intercept=self.intercept,
            support=support,
        )


def _intercept(problem, dual, scores):
    """The mean over slots on the margin; without any, the middle of what the others allow."""
    wanted = problem.sign - scores
    free = (dual > 0) & (dual < problem.cost * (1 - 1e-9))
    if free.any():
        return wanted[free].mean()
    # A zero dual wants a larger margin still, a full one a smaller: bounds from both sides.
    at_least = (dual == 0) == (problem.sign > 0)
    return 0.5 * (wanted[at_least].max() + wanted[~at_least].min())
