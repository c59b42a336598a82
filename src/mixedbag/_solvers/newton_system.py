"""Newton's linear system, of which few rows come and go from one step to the next.

The problem::

    (P + Σ_inside x xᵀ) step = gradient        P the identity, but for the intercept

Certificate: none; what steps it makes, a search along them answers for.
Callers: `proximal_newton`.
Library: LAPACK's Cholesky factor. Where few rows came or went, that of the step before and
Woodbury's formula spare most of the work; where many rows and many features make the matrix dear,
conjugate gradients with a factor of what is similar.
"""

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dposv, dpotrf, dpotrs, dtrtrs

_BLOCK = 4096  # rows at a time
_SIMILAR = 0.2  # of the slots inside may be others before some of them are asked anew
_WIDE = 128  # columns from which on a factor is worth keeping
_WIDER = 256  # columns from which on conjugate gradients are quicker than many rows' sum
_MANY = 2  # rows a column
_ROUNDS = 12  # of conjugate gradients at most
_PRECISE = 1e-2  # what may be left of the gradient, squared, as the factor measures it
_KEPT = 4  # a row that came or went for so many columns is too many for an old factor
_HELD = 1e-7  # least share of what bends a direction that may be left when rows go


class NewtonSystem:
    """The system over the slots inside, whose rows are in `table`.

    Of more than `most`, some must do, evenly `along` a direction. Where features are many, some of
    them are too rough a guide, and conjugate gradients look at all: with the factor of some, or
    with `rough`, that of a system before, which knows by and large how the rows bend.
    """

    def __init__(self, table, n_slots, n_columns, most=np.inf, along=None, rough=None):
        self._table, self._most = table, most
        self._wide = n_columns >= _WIDE
        self._many = _MANY * n_columns if n_columns >= _WIDER else np.inf
        self._curvature = Curvature(table.dense, n_slots, n_columns, most, along)
        self._factor: _Factor | None = None
        self.rough = rough

    def solve(self, inside, gradient, floor):
        """The step. A slope of the intercept below `floor` is rounding, and moves nothing."""
        if abs(gradient[-1]) <= floor:
            gradient = np.append(gradient[:-1], 0.0)
        step = None if self._factor is None else self._factor.solve(inside, gradient)
        if step is None and self.rough is not None and np.count_nonzero(inside) > self._many:
            step = self._conjugate(inside, gradient)
        return self._anew(inside, gradient) if step is None else step

    def _anew(self, inside, gradient):
        """The step by a factor of its own."""
        n_inside = np.count_nonzero(inside)
        matrix = self._curvature.at(inside)
        bend = _penalise(matrix, gradient)
        lower, step, failed = dposv(matrix, gradient, lower=True, overwrite_a=True)
        if failed:
            raise LinAlgError("the Newton matrix is not positive definite: scale the features")
        self._factor = None
        if n_inside > self._many:
            self.rough = lower
        if n_inside <= self._most:
            if self._wide:
                self._factor = _Factor(lower, bend, inside, self._table.dense)
        elif n_inside > self._many:
            step = self._conjugate(inside, gradient)
        return step

    def _conjugate(self, inside, gradient):
        """Nearly the step, by conjugate gradients. A factor that makes them slow is given up."""
        slots = np.flatnonzero(inside)
        ridge = np.ones(len(gradient))
        ridge[-1] = max(0.0, abs(gradient[-1]) - self._table.tilt(slots))  # as in `_penalise`
        turned = dpotrs(self.rough, gradient, lower=True)[0]
        step, left, way, energy = np.zeros(len(gradient)), gradient, turned, gradient @ turned
        enough = _PRECISE * energy
        for _ in range(_ROUNDS):
            if energy <= enough:
                return step
            bent = ridge * way + self._table.times(slots, way)
            size = energy / (way @ bent)
            step += size * way
            left = left - size * bent
            turned = dpotrs(self.rough, left, lower=True)[0]
            before, energy = energy, left @ turned
            way = turned + energy / before * way
        self.rough = None
        return step


def _penalise(curvature, gradient):
    """Add P, in place; what the slots inside bend the intercept.

    Nothing but these bends the objective along the intercept. Where they are few, P makes it move
    by no more than one, the distance of the margins; else P is zero there.
    """
    diagonal = np.einsum("ii->i", curvature)  # a view
    bend = diagonal[-1]
    diagonal[:-1] += 1.0
    diagonal[-1] = 1e-13 + max(bend, abs(gradient[-1]))
    diagonal *= 1.0 + 1e-15 * len(diagonal)  # against rounding, whatever the features' scales
    return bend


class _Factor:
    """A Cholesky factor `L`, and the rows `V = L⁻¹ x` of slots that came or went since it was made.

    The matrix is then `L (I + V' ± V) L'`, and its inverse takes no more than a system of as many
    unknowns as rows.
    """

    def __init__(self, lower, bend, inside, dense):
        self._lower, self._bend, self._inside, self._dense = lower, bend, inside, dense
        self._slots = np.empty(0, dtype=np.intp)
        self._rows = np.empty((0, len(lower)))
        self._bends = np.empty(0)  # what each of them bends the intercept

    def solve(self, inside, gradient):
        """The step, or nothing where this factor is too old for it."""
        changed = np.flatnonzero(inside != self._inside)
        if len(changed) > len(self._lower) // _KEPT:
            return None
        at = self._places(changed)
        sign = np.where(inside[changed], 1.0, -1.0)
        bend = self._bend + sign @ self._bends[at]
        if abs(gradient[-1]) > min(bend, self._bend):
            return None  # P is another
        V = self._rows[at]
        pairs = V @ V.T
        went = sign < 0.0
        if not _held(pairs[np.ix_(went, went)]):
            return None
        np.einsum("ii->i", pairs)[:] += sign
        error = dtrtrs(self._lower, gradient, lower=True)[0]
        error -= np.linalg.solve(pairs, V @ error) @ V
        return dtrtrs(self._lower, error, lower=True, trans=True)[0]

    def _places(self, slots):
        """Where the rows of these slots are kept, new ones among them."""
        new = slots[~np.isin(slots, self._slots)]
        if len(new):
            x = self._dense(new)
            self._slots = np.append(self._slots, new)
            self._rows = np.concatenate([self._rows, dtrtrs(self._lower, x.T, lower=True)[0].T])
            self._bends = np.append(self._bends, x[:, -1] ** 2)
        order = np.argsort(self._slots)
        return order[np.searchsorted(self._slots, slots, sorter=order)]


def _held(pairs):
    """Whether directions still bend without the rows of these products: else rounding is left."""
    lower, failed = dpotrf(np.eye(len(pairs)) - pairs, lower=True)
    return not failed and np.diag(lower).min(initial=1.0) ** 2 > _HELD


class Curvature:
    """`Σ x xᵀ` over the slots inside, of which few come and go from one step to the next.

    Its lower half, as LAPACK has it.
    """

    def __init__(self, dense, n_slots, n_columns, most=np.inf, along=None):
        self._dense, self._most, self._along = dense, most, along
        self._inside = np.zeros(n_slots, dtype=bool)
        self._total: np.ndarray = np.zeros((n_columns, n_columns), order="F")
        self._some = False
        self._largest = 0.0  # trace since the sum was made anew: what rounding is relative to

    def at(self, inside):
        """The sum over the slots inside."""
        changed = np.flatnonzero(inside != self._inside)
        n_inside = np.count_nonzero(inside)
        some = n_inside > self._most
        if some and self._some and len(changed) <= _SIMILAR * n_inside:
            return self._total.copy(order="F")
        anew = some or self._some or 2 * len(changed) > n_inside
        if not anew:
            came = inside[changed]
            self._add(changed[came])
            self._add(changed[~came], -1.0)
            trace = np.trace(self._total)
            self._largest = max(self._largest, trace)
            anew = trace < 0.1 * self._largest
        if anew:
            slots, every = np.flatnonzero(inside), 1
            if some:
                every = -(-n_inside // self._most)
                slots = slots[np.argsort(self._along[slots], kind="stable")[::every]]
            self._total = np.zeros_like(self._total)
            self._add(slots, float(every))
            self._largest = np.trace(self._total)
        self._inside, self._some = inside, some
        return self._total.copy(order="F")

    def _add(self, slots, times=1.0):
        """Add the sum over some slots, a block of rows at a time."""
        for i in range(0, len(slots), _BLOCK):
            part = self._dense(slots[i : i + _BLOCK])
            self._total = dsyrk(times, part.T, 1.0, self._total, lower=True, overwrite_c=True)
