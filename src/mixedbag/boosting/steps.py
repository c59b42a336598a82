"""What a stump adds to the scores, chosen from sums at every candidate threshold.

A step names the ``sums`` it needs from the codes and derivatives of a block of bags, and turns the
sums of all blocks into ``candidates``: a value for either side of a threshold, and how far to go.
The loss itself then decides between the best candidate of each of the most promising features
(``n_candidates`` of them; None: between all thresholds of all features), and how far to go along it
(to the minimum if the step is ``exact``).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from mixedbag._solvers import INNER
from mixedbag.boosting._codes import Codes
from mixedbag.boosting._grid import Grid
from mixedbag.boosting._scores import Derivatives

__all__ = ["NewtonStep", "PartitionStep", "SignStep"]

LONGEST = 10.0  # a stump without error would get an infinite weight
_kernel = njit(cache=True, nogil=True, error_model="numpy")
TIE = 1e-9  # gains this close are equal: the first wins, whatever the order of summation


class Candidates(NamedTuple):
    """Stumps to try: the cell each cuts at, its two values, and how far to go along them."""

    cell: np.ndarray
    left: np.ndarray
    right: np.ndarray
    length: np.ndarray

    def take(self, rows) -> "Candidates":
        return Candidates(*(values[rows] for values in self))


def class_sums(codes: Codes, here: Derivatives) -> np.ndarray:
    """Gradient sizes left of every threshold: of negative bags, of positive bags."""
    return codes.class_sums(here.gradient(), (here.at.sign > 0).astype(np.int64))


def newton_sums(codes: Codes, here: Derivatives) -> np.ndarray:
    """(v_L, u_LL, u_LR) at every threshold: slope and curvature in a stump's two values."""
    curvature = here.whole, here.bend, here.slope, here.cross, here.way.even_lam
    return codes.newton_sums(here.weights, *curvature)


@dataclass(frozen=True)
class SignStep:
    """A binary stump: ±1 a side, the sign of the side's summed weights; exact line search.

    The candidates are those with the largest edge ``|v_L| + |v_R|``. On bags of one instance and
    the exponential loss this is discrete AdaBoost.

    Parameters
    ----------
    n_candidates : int
        Number of features whose best stump is tried along its line.

    See Also
    --------
    NewtonStep : Two values of a stump's own, in place of ±1.
    PartitionStep : Values from the weights of either class.

    Examples
    --------
    >>> from mixedbag.boosting import PooledBoostingClassifier, SignStep
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=20, random_state=0)
    >>> model = PooledBoostingClassifier(step=SignStep(n_candidates=4), n_rounds=5)
    >>> model.fit(data.bags, data.y).predict(data.bags).shape
    (20,)
    """

    n_candidates: int | None = 16

    sums = staticmethod(class_sums)
    exact = True

    def candidates(self, sums: np.ndarray, grid: Grid, loss: float, weight: float) -> Candidates:
        """The steepest stump of each of the most promising slots."""
        edge = class_gains(False, sums, grid)
        cell = _worth_trying(edge, grid, self.n_candidates)
        left, right = (np.where(n > p, -1.0, 1.0) for n, p in _sides(sums, grid, cell))
        # AdaBoost's weight, exact for bags of one and a good start for others.
        length = np.arctanh(np.clip(edge[cell] / loss, 1e-3, 1 - 1e-9))
        return Candidates(cell, left, right, np.minimum(length, LONGEST))


@dataclass(frozen=True)
class NewtonStep:
    """A real-valued stump: the guarded Newton step in its two values, halved until the loss falls.

    ``longest`` bounds the step: curvature says little about places far away.

    Parameters
    ----------
    n_candidates : int
        Number of features whose best stump is tried.
    longest : float
        The longest step.

    See Also
    --------
    SignStep : Stumps of ±1 and an exact line search.
    PartitionStep : Values from the weights of either class.

    Examples
    --------
    >>> from mixedbag.boosting import NewtonStep, PooledBoostingClassifier
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=20, random_state=0)
    >>> model = PooledBoostingClassifier(step=NewtonStep(longest=2.0), n_rounds=5)
    >>> model.fit(data.bags, data.y).predict(data.bags).shape
    (20,)
    """

    n_candidates: int | None = 8
    longest: float = 4.0

    sums = staticmethod(newton_sums)
    exact = False

    def candidates(self, sums: np.ndarray, grid: Grid, loss: float, weight: float) -> Candidates:
        """The Newton step of each of the slots where it promises most."""
        gain = newton_gains(sums, grid.cells, grid.is_cut, self.longest)
        cell = _worth_trying(gain, grid, self.n_candidates)
        v_l, a, b = sums[cell].T
        v_all, u_all, _ = sums[grid.cells[grid.slot[cell] + 1] - 1].T
        left, right = guarded_steps(v_l, v_all - v_l, a, b, u_all - a - 2.0 * b, self.longest)
        return Candidates(cell, left, right, np.ones(len(cell)))


@dataclass(frozen=True)
class PartitionStep:
    """Real AdaBoost: ``½ log(W₊/W₋)`` a side, halved until the loss falls.

    The weights are smoothed by half a bag's share of the total, as Schapire and Singer advise, so
    that a pure side gets a finite value.

    Parameters
    ----------
    n_candidates : int
        Number of features whose best stump is tried.

    See Also
    --------
    SignStep : Stumps of ±1 and an exact line search.
    NewtonStep : Values from slope and curvature of the loss.

    Examples
    --------
    >>> from mixedbag.boosting import PartitionStep, PooledBoostingClassifier
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=20, random_state=0)
    >>> model = PooledBoostingClassifier(step=PartitionStep(), n_rounds=5)
    >>> model.fit(data.bags, data.y).predict(data.bags).shape
    (20,)
    """

    n_candidates: int | None = 8

    sums = staticmethod(class_sums)
    exact = False

    def candidates(self, sums: np.ndarray, grid: Grid, loss: float, weight: float) -> Candidates:
        """The purest partition of each of the most promising slots."""
        gain = class_gains(True, sums, grid)
        cell = _worth_trying(gain, grid, self.n_candidates)
        smooth = sums[grid.cells[1] - 1].sum() / (2.0 * weight)
        left, right = (
            0.5 * np.log((np.maximum(p, 0.0) + smooth) / (np.maximum(n, 0.0) + smooth))
            for n, p in _sides(sums, grid, cell)
        )
        return Candidates(cell, left, right, np.ones(len(cell)))


def _worth_trying(gain, grid, n):
    """The best cells of the `n` most promising slots; all cells that are cuts if `n` is None."""
    if n is None:
        return np.flatnonzero(grid.is_cut)
    best = best_cells(gain, grid.cells)
    return best[most_promising(gain[best], n)]


def most_promising(gain, n):
    """Which `n` slots have the largest gains, best first."""
    # Ten digits decide, so that the order in which bags were summed does not.
    top = np.abs(gain[np.isfinite(gain)]).max(initial=0.0)
    digits = np.round(gain / top, 10) if top > 0 else gain
    return np.argsort(-digits, kind="stable")[:n]


def best_cells(gain, cells) -> np.ndarray:
    """The cell with the largest gain in every slot; the first of those that tie."""
    best = np.empty(len(cells) - 1, np.int64)
    _fill_best_cells(gain, cells, best)
    return best


@_kernel
def _fill_best_cells(gain, cells, best):
    for slot in range(len(best)):
        first, last = cells[slot], cells[slot + 1]
        # Four at a time: one after the other, each would wait for the one before.
        a = b = c = d = -np.inf
        for cell in range(first, last - 3, 4):
            a, b = max(a, gain[cell]), max(b, gain[cell + 1])
            c, d = max(c, gain[cell + 2]), max(d, gain[cell + 3])
        top = max(max(a, b), max(c, d))
        for cell in range(last - (last - first) % 4, last):
            top = max(top, gain[cell])
        cell = first
        while gain[cell] < top - TIE * abs(top):
            cell += 1
        best[slot] = cell


def _sides(sums, grid, cell):
    """Sums of negative and of positive bags, left and right of some cuts."""
    left = sums[cell].T
    return left, sums[grid.cells[grid.slot[cell] + 1] - 1].T - left


def class_gains(by_purity, sums, grid):
    """How well every cell tells the classes apart, by signs (|v_L| + |v_R|) or by purity."""
    gain, sides = np.empty(len(sums)), np.empty((2, np.diff(grid.cells).max()))
    _fill_class_gains(by_purity, sums, grid.cells, grid.is_cut, sides, gain)
    return gain


@_kernel
def _fill_class_gains(by_purity, sums, cells, is_cut, sides, gain):
    a, b = sides[0], sides[1]  # of one slot, each by itself: roots are then taken four at a time
    for slot in range(len(cells) - 1):
        first, here = cells[slot], gain[cells[slot] : cells[slot + 1]]
        for k in range(len(here)):
            a[k], b[k] = sums[first + k, 0], sums[first + k, 1]
        n, p = a[len(here) - 1], b[len(here) - 1]
        for k in range(len(here)):
            if by_purity:  # rounding may leave less than nothing
                left = np.sqrt(max(a[k], 0.0) * max(b[k], 0.0))
                right = np.sqrt(max(n - a[k], 0.0) * max(p - b[k], 0.0))
                here[k] = (n + p) - 2.0 * (left + right)
            else:
                here[k] = abs(b[k] - a[k]) + abs((p - n) - (b[k] - a[k]))
    for cell in range(len(gain)):
        if not is_cut[cell]:
            gain[cell] = -np.inf


def newton_gains(sums, cells, is_cut, longest):
    """The decrease of the loss that the guarded Newton step of every cell promises."""
    gain = np.empty(len(is_cut))
    _fill_newton_gains(sums, cells, is_cut, longest, gain)
    return gain


@_kernel
def _fill_newton_gains(sums, cells, is_cut, longest, gain):
    for slot in range(len(cells) - 1):
        last = cells[slot + 1] - 1
        v_all, u_all = sums[last, 0], sums[last, 1]
        for cell in range(cells[slot], last + 1):
            gain[cell] = -np.inf
            if is_cut[cell]:
                v, a, b = sums[cell, 0], sums[cell, 1], sums[cell, 2]
                c = u_all - a - 2.0 * b
                gain[cell] = plain_newton_gain(v, v_all - v, a, b, c, longest)
                if np.isnan(gain[cell]):
                    gain[cell] = guarded_step(v, v_all - v, a, b, c, longest)[2]


@njit(error_model="numpy", inline="always", **INNER)
def plain_newton_gain(v_l, v_r, a, b, c, longest):
    """The decrease that the plain Newton step promises; NaN where it needs a guard."""
    determinant = a * c - b * b
    left, right = c * v_l - b * v_r, a * v_r - b * v_l
    bound = longest * determinant
    is_safe = (a > 0.0) & (bound > 0.0) & (left * left + right * right <= bound * bound)
    return 0.5 * (v_l * left + v_r * right) / (determinant if is_safe else np.nan)


def guarded_steps(v_l, v_r, a, b, c, longest: float):
    """Steps (left, right) for slopes (v_l, v_r) and curvatures [[a, b], [b, c]], arrays all."""
    steps = [guarded_step(*system, longest)[:2] for system in zip(v_l, v_r, a, b, c)]
    return np.array(steps).reshape(-1, 2).T


@_kernel
def guarded_step(v_l, v_r, a, b, c, longest):
    """The step for one system, and the decrease that it promises.

    The curvature is indefinite where positive bags weigh in, and a plain Newton step then climbs.
    Each eigenvector is walked by its slope over the *size* of its eigenvalue, at most `longest`.
    """
    middle, half = 0.5 * (a + c), 0.5 * (a - c)
    radius = np.sqrt(half * half + b * b)
    # The eigenvector of the larger eigenvalue, as the cosine and sine of its angle.
    tilt = half / radius if radius > 0.0 else 1.0
    cosine = np.sqrt(max(0.0, 0.5 * (1.0 + tilt)))
    sine = np.copysign(np.sqrt(max(0.0, 0.5 * (1.0 - tilt))), b)
    left = right = gain = 0.0
    for x, y, size in ((cosine, sine, middle + radius), (-sine, cosine, middle - radius)):
        slope, size = x * v_l + y * v_r, abs(size)
        step = abs(slope) / size if abs(slope) < longest * size else longest
        gain += abs(slope) * step - 0.5 * size * step * step
        step = np.copysign(step, -slope) if slope != 0.0 else 0.0
        left += x * step
        right += y * step
    return left, right, gain
