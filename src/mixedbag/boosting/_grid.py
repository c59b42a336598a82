"""Stumps: the fixed grid of thresholds to choose from, where missing values go, and sums of stumps.

A *slot* is a feature together with a place for its missing values: a feature without any has one
slot; a feature with some has two, with missing values below or above all others, so that the search
for a threshold also finds their better side. A slot's axis is cut into *cells*; the candidate
``cut`` of a cell sends the codes up to that cell to the left.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy import sparse

from mixedbag._solvers import INNER
from mixedbag._tables import frozen
from mixedbag.engines._sampling import sample_rows

_COLUMNS = 16  # copied at a time, to be sorted: of single precision, what a line of the cache holds
_VALUES = 2**20  # looked at a time
MAX_CELLS = 255  # of values; one more code is left for missing ones, and a code fits a byte


@dataclass(frozen=True)
class Stump:
    """``left`` where the feature is at most the threshold, ``right`` above, ``missing`` if NaN."""

    feature: int
    threshold: float
    left: float
    right: float
    missing: float

    def score(self, instances) -> np.ndarray:
        """The stump's value for every instance."""
        column = instances[:, [self.feature]]
        column = (column.toarray() if sparse.issparse(column) else column)[:, 0]
        sided = np.where(column <= self.threshold, self.left, self.right)
        return np.where(np.isnan(column), self.missing, sided)


class StumpEnsemble:
    """Sum of stumps, as arrays."""

    def __init__(self, stumps: list[Stump], n_features: int):
        self.n_features = n_features
        self.feature = np.array([s.feature for s in stumps], dtype=np.int64)
        self.threshold = np.array([s.threshold for s in stumps], dtype=np.float64)
        self.left = np.array([s.left for s in stumps], dtype=np.float64)
        self.right = np.array([s.right for s in stumps], dtype=np.float64)
        self.missing = np.array([s.missing for s in stumps], dtype=np.float64)

    def __len__(self):
        return len(self.feature)

    def score(self, instances) -> np.ndarray:
        """Summed values of all stumps."""
        columns, feature = self._used(instances)
        stumps = feature, self.threshold, self.left, self.right, self.missing
        # All read-only, as saved models may be: else it would be compiled for either.
        total = np.zeros(len(columns))
        _add_scores(*map(frozen, (columns, *stumps)), total)
        return total

    def staged(self, instances):
        """Scores after each stump."""
        total = np.zeros(instances.shape[0])
        for k in range(len(self)):
            stump = (self.feature, self.threshold, self.left, self.right, self.missing)
            total = total + Stump(*(column[k] for column in stump)).score(instances)
            yield total

    def importances(self, gains) -> np.ndarray:
        """Share of the gain that each feature brought."""
        total = np.bincount(self.feature, weights=gains, minlength=self.n_features)
        return total / total.sum() if total.sum() > 0 else total

    def _used(self, instances):
        """Dense columns of the features in use, and the stumps' columns among them."""
        if not sparse.issparse(instances):
            return instances, self.feature
        used, feature = np.unique(self.feature, return_inverse=True)
        return instances[:, used].toarray(), feature


@njit(cache=True, nogil=True, error_model="numpy")
def _add_scores(instances, feature, threshold, left, right, missing, total):
    for row in range(len(instances)):
        for k in range(len(feature)):
            x = instances[row, feature[k]]
            if x <= threshold[k]:
                total[row] += left[k]
            elif x > threshold[k]:
                total[row] += right[k]
            else:
                total[row] += missing[k]


@dataclass(frozen=True)
class Grid:
    """Thresholds of all features, and the slots and cells they make.

    Attributes
    ----------
    thresholds, start : arrays
        Thresholds of all features; those of feature ``f`` are ``start[f]:start[f + 1]``.
    feature, shift, missing : arrays of shape (n_slots,)
        The slot's feature, the code of its lowest value, and the code of a missing value.
    cells : array of shape (n_slots + 1,)
        Where the cells of each slot begin.
    cut : array of shape (n_cells,)
        The threshold that has the cells up to this one on its left; NaN where there is none.
    is_cut : array of shape (n_cells,)
        Whether there is one.
    slot : array of shape (n_cells,)
        The slot of each cell.
    sees_missing : array of shape (n_slots,)
        Whether the slot's feature has missing values.
    """

    thresholds: np.ndarray
    start: np.ndarray
    feature: np.ndarray
    shift: np.ndarray
    missing: np.ndarray
    cells: np.ndarray
    cut: np.ndarray
    is_cut: np.ndarray
    slot: np.ndarray
    sees_missing: np.ndarray

    def place(self, cell):
        """Slot of a cell, and the code that is the last on its left."""
        slot = self.slot[cell]
        return slot, cell - self.cells[slot]

    def stump(self, cell, left: float, right: float) -> Stump:
        """The stump that is cut there."""
        slot = self.slot[cell]
        if not self.sees_missing[slot]:
            missing = 0.0  # never missing in training: the stump abstains
        else:
            missing = left if self.missing[slot] == 0 else right
        return Stump(int(self.feature[slot]), float(self.cut[cell]), left, right, missing)

    @classmethod
    def from_instances(cls, instances, missing=None) -> "Grid":
        """Midpoints between distinct values; beyond `MAX_CELLS` of them, evenly spread ones.

        `missing` says which features have missing values, if these rows alone do not tell.
        """
        if missing is None:
            missing = has_missing(instances)
        thresholds = [_midpoints(values) for values in _distinct_values(instances)]
        return cls.from_thresholds(thresholds, missing)

    @classmethod
    def from_thresholds(cls, thresholds, has_missing) -> "Grid":
        """Build from the thresholds of each feature, and whether it has missing values."""
        counts = np.array([len(t) for t in thresholds])
        start = np.concatenate([[0], np.cumsum(counts)])
        slots, cuts = [], []
        for f, between in enumerate(thresholds):
            if has_missing[f]:
                slots += [(f, 0, len(between) + 1, True), (f, 1, 0, True)]
                cuts += [[*between, np.inf, np.nan], [-np.inf, *between, np.nan]]
            elif len(between):
                slots.append((f, 0, len(between), False))
                cuts.append([*between, np.nan])
        if not slots:  # nothing varies: all that can be learned is a constant
            slots.append((0, 0, 0, False))
            cuts.append([np.inf])
        feature, shift, missing, sees_missing = (np.array(column) for column in zip(*slots))
        lengths = [len(cut) for cut in cuts]
        cut = np.concatenate(cuts)
        return cls(
            thresholds=np.concatenate([*thresholds, np.empty(0)]),
            start=start,
            feature=feature,
            shift=shift,
            missing=missing,
            cells=np.concatenate([[0], np.cumsum(lengths)]),
            cut=cut,
            is_cut=~np.isnan(cut),
            slot=np.repeat(np.arange(len(slots)), lengths),
            sees_missing=sees_missing,
        )


@njit(inline="always", **INNER)
def code_of(x, thresholds, first, last, shift, missing):
    """Number of the cell that holds `x`: how many thresholds lie below it."""
    if np.isnan(x):
        return missing
    low, width = np.uint64(first), np.uint64(last - first)
    while width > 0:
        half = width >> np.uint64(1)
        # Branch-free but for the loop: a wrong guess would cost more than the search.
        step = np.uint64(thresholds[low + half] < x) * (half + np.uint64(1))
        low += step
        width = half - np.uint64(step > 0) * (np.uint64(1) - (width & np.uint64(1)))
    return np.int64(low) - first + shift


def common_grid(blocks) -> Grid:
    """One grid of thresholds for blocks of labelled bags, from a sample of all their rows."""
    rows, _, step = sample_rows(blocks)
    # A sample may have missed the only missing value of a feature: then every row is asked.
    return Grid.from_instances(rows, None if step == 1 else blocks.sum(_count_missing) > 0)


def _count_missing(labelled):
    return has_missing(labelled.bags.instances).astype(np.int64)


def has_missing(instances) -> np.ndarray:
    """Which features have missing values."""
    if sparse.issparse(instances):
        found = np.zeros(instances.shape[1], dtype=bool)
        found[instances.indices[np.isnan(instances.data)]] = True
        return found
    return np.logical_or.reduce([np.isnan(rows).any(axis=0) for rows in _runs(instances)])


def _runs(instances):
    """Rows, a part at a time."""
    step = max(1, _VALUES // instances.shape[1])
    return [instances[i : i + step] for i in range(0, max(1, len(instances)), step)]


def _distinct_values(instances):
    """The sorted distinct values of each feature, without missing ones."""
    if not sparse.issparse(instances):
        for first in range(0, instances.shape[1], _COLUMNS):
            for column in np.ascontiguousarray(instances[:, first : first + _COLUMNS].T):
                yield _without_nan(np.unique(column))
        return
    columns = sparse.csc_array(instances)
    for f in range(columns.shape[1]):
        stored = columns.data[columns.indptr[f] : columns.indptr[f + 1]]
        if len(stored) < columns.shape[0]:
            stored = np.append(stored, 0.0)
        yield _without_nan(np.unique(stored))


def _without_nan(values):
    return values[:-1] if len(values) and np.isnan(values[-1]) else values  # NaN sorts last


def _midpoints(values):
    """At most ``MAX_CELLS − 1`` thresholds strictly between distinct `values`.

    When there are more, they are even in rank among the *distinct* values, so that repeating a row
    changes nothing.
    """
    if len(values) > MAX_CELLS:
        upper = np.unique(np.linspace(0, len(values), MAX_CELLS + 1)[1:-1].astype(int))
    else:
        upper = np.arange(1, len(values))
    low, high = values[upper - 1].astype(np.float64), values[upper].astype(np.float64)
    with np.errstate(over="ignore"):  # values as far apart as floats go: the lower one will do
        middle = low + (high - low) / 2
    return np.where(middle < high, middle, low)  # rounding must not move a value across
