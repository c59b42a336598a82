"""Kernel support vector machines on columns of one Gram matrix, each computed at most once."""

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, solve
from sklearn import config_context
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

from mixedbag.margin.problem import Solution

_BLOCK = 2**23  # kernel values computed at a time
_LARGEST_SYSTEM = 2000


class Kernel:
    """A kernel function with its parameters settled; `of(A, B)` is a table of pairs."""

    def __init__(self, kernel, gamma=1.0, degree=2, coef0=1.0):
        self.kernel = kernel
        self.parameters = {"gamma": gamma, "degree": degree, "coef0": coef0}

    def of(self, A, B):
        if callable(self.kernel):
            return np.asarray(self.kernel(A, B), dtype=float)
        with config_context(assume_finite=True):
            return pairwise_kernels(A, B, self.kernel, filter_params=True, **self.parameters)

    def expand(self, X, support, weights):
        """`Σ_k weights_k kernel(x, support_k)` for every row of `X`, a block of rows at a time."""
        step = max(1, _BLOCK // max(1, len(weights)))
        blocks = [self.of(X[i : i + step], support) @ weights for i in range(0, X.shape[0], step)]
        return np.concatenate(blocks)


class Columns:
    """Columns of the Gram matrix of instances and centroids, computed when first asked for."""

    def __init__(self, instances, centroids, kernel, dtype=np.float64):
        self.tables = instances, centroids
        self.n_instances = instances.shape[0]
        self.n_rows = instances.shape[0] + centroids.shape[0]
        self.kernel = kernel
        self._place = np.full(self.n_rows, -1)
        # The system hands out this memory only as columns are written.
        self._store = np.empty((self.n_rows, self.n_rows), dtype=dtype)
        self._used = 0

    def places(self, rows):
        """Where the columns of these rows are in `table`; missing ones are computed."""
        missing = np.unique(rows[self._place[rows] < 0])
        step = max(1, _BLOCK // self.n_rows)
        for i in range(0, len(missing), step):
            self._append(missing[i : i + step])
        return self._place[rows]

    def fitted(self, support):
        return {"support_vectors_": self.tables[0][support]}

    @property
    def table(self):
        """One stored column a row."""
        return self._store[: self._used]

    def _append(self, rows):
        end = self._used + len(rows)
        is_instance = rows < self.n_instances  # sorted: instances come first
        split = self._used + is_instance.sum()
        self._compute(self.tables[0], rows[is_instance], self._store[self._used : split])
        self._compute(self.tables[1], rows[~is_instance] - self.n_instances, self._store[split:end])
        self._place[rows] = np.arange(self._used, end)
        self._used = end

    def _compute(self, source, index, out):
        if len(index):
            chosen = source[index]
            out[:, : self.n_instances] = self.kernel.of(chosen, self.tables[0])
            if self.n_rows > self.n_instances:
                out[:, self.n_instances :] = self.kernel.of(chosen, self.tables[1])


class GivenColumns:
    """The same for a Gram matrix that is given: centroids are means in the kernel's own space."""

    def __init__(self, gram, average):
        gram = gram.toarray() if sparse.issparse(gram) else np.asarray(gram, dtype=float)
        self.n_instances = len(gram)
        cross = average @ gram
        self.table = np.block([[gram, cross.T], [cross, cross @ average.T]])

    def places(self, rows):
        return rows

    def fitted(self, support):
        return {}


class KernelMachine:
    """Solves kernel problems by scikit-learn's `SVC` on a growing set of slots that matter.

    A slot outside the working set has dual zero; those that violate their margin are added, worst
    first, until none does. Few columns of the Gram matrix are ever needed, and the working set of
    one problem starts the next.
    """

    def __init__(self, columns, tol=1e-6):
        self.columns = columns
        self.tol = tol

    def solve(self, problem, start=None, loose=False):
        """The solution, from that of a similar problem. It is precise even if `loose` would do."""
        working = _first_slots(problem) if start is None else start.dual > 0
        violation = 1e-4
        while True:
            slots = np.flatnonzero(working)
            gram = self._gram(problem.rows[slots])
            coef = _svc_coef(gram, problem.sign[slots], problem.cost[slots], violation)
            expansion = self._expand(problem, slots, coef)
            shortfall = 1.0 - expansion.margin
            shortfall[working] = 0.0
            violators = np.flatnonzero(shortfall > violation)
            if len(violators):
                most = max(100, len(slots) // 2)
                worst = np.argsort(-shortfall[violators], kind="stable")[:most]
                working[violators[worst]] = True
                continue
            coef = _polished(gram, problem.sign[slots], problem.cost[slots], coef)
            expansion = self._expand(problem, slots, coef)
            if expansion.gap <= self.tol * expansion.objective or violation < 1e-6:
                return expansion.solution(self.columns.n_instances)
            violation *= 0.03

    def fitted(self, solution):
        """What an estimator keeps of a solution."""
        return {
            "support_": solution.support,
            "dual_coef_": solution.weights,
            **self.columns.fitted(solution.support),
        }

    def _gram(self, rows):
        places = self.columns.places(rows)
        return self.columns.table[np.ix_(places, rows)].astype(np.float64, copy=False)

    def _expand(self, problem, slots, coef):
        table = self.columns.table
        per_column = np.zeros(len(table), dtype=table.dtype)
        np.add.at(per_column, self.columns.places(problem.rows[slots]), coef)
        dual = np.zeros(len(problem.rows))
        dual[slots] = problem.sign[slots] * coef
        return _Expansion(problem, dual, (per_column @ table).astype(np.float64, copy=False))


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


def _svc_coef(gram, sign, cost, violation):
    """`sign·dual` of every row, by scikit-learn."""
    with config_context(assume_finite=True, skip_parameter_validation=True):
        machine = SVC(C=1.0, kernel="precomputed", tol=violation)
        machine.fit(gram, sign, sample_weight=cost)
    coef = np.zeros(len(sign))
    coef[machine.support_] = machine.dual_coef_[0]
    return coef


def _polished(gram, sign, cost, coef):
    """`coef = sign·dual` with the duals inside the box solved for exactly.

    LIBSVM stops at a tolerance and keeps kernels in single precision. Which duals are at a
    bound is reliable all the same, and the others solve a linear system.
    """
    dual = sign * coef
    free = np.flatnonzero((dual > 0) & (dual < cost * (1 - 1e-9)))
    if len(free) == 0 or len(free) > _LARGEST_SYSTEM:
        return coef
    at_bound = np.where(dual >= cost * (1 - 1e-9), sign * cost, 0.0)
    system = np.ones((len(free) + 1, len(free) + 1))
    system[:-1, :-1] = gram[np.ix_(free, free)]
    system[np.arange(len(free)), np.arange(len(free))] *= 1 + 1e-12  # equal rows
    system[-1, -1] = 0.0
    wanted = np.append(sign[free] - gram[free] @ at_bound, -at_bound.sum())
    try:
        solved = solve(system, wanted, assume_a="sym", check_finite=False)[:-1]
    except LinAlgError:
        return coef
    if not np.all((sign[free] * solved >= 0) & (sign[free] * solved <= cost[free])):
        return coef
    at_bound[free] = solved
    return at_bound


def _first_slots(problem):
    """Up to 100 slots of either sign, spread evenly."""
    first = np.zeros(len(problem.rows), dtype=bool)
    for sign in (-1.0, 1.0):
        slots = np.flatnonzero(problem.sign == sign)
        first[slots[np.linspace(0, len(slots) - 1, min(100, len(slots))).astype(int)]] = True
    return first


def _intercept(problem, dual, scores):
    """The mean over slots on the margin; without any, the middle of what the others allow."""
    wanted = problem.sign - scores
    free = (dual > 0) & (dual < problem.cost * (1 - 1e-9))
    if free.any():
        return wanted[free].mean()
    # A zero dual wants a larger margin still, a full one a smaller: bounds from both sides.
    at_least = (dual == 0) == (problem.sign > 0)
    return 0.5 * (wanted[at_least].max() + wanted[~at_least].min())


def variance(instances, weight):
    """Weighted variance of all entries of the table, as `gamma="scale"` uses it."""
    weight = weight / weight.sum()
    mean = weight @ (instances @ np.full(instances.shape[1], 1.0 / instances.shape[1]))
    if sparse.issparse(instances):
        squares = instances.multiply(instances)
        return weight @ np.asarray(squares.mean(axis=1)).ravel() - mean**2
    return weight @ np.mean((instances - mean) ** 2, axis=1)
