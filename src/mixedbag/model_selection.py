"""Cross-validation that knows about bags."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from mixedbag.bags import as_bags

__all__ = ["BagStratifiedKFold"]


class BagStratifiedKFold(StratifiedKFold):
    """Folds of whole bags with the same mix of labels, and of sizes or proportions, in each.

    Class labels are balanced as they are. Counts, totals and proportions (many different values,
    or a table with a column a class) are balanced by quantile bins. Bins of bag size can be
    balanced as well, where large and small bags behave differently.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    n_bins : int
        Number of quantile bins for targets that are not classes.
    size_bins : int
        Number of quantile bins of bag size to balance besides the label; 1 ignores sizes.
    shuffle : bool
        Whether to draw the bags of a fold at random; without, they follow the order of the bags.
    random_state : int, RandomState or None
        Draws the folds; a number gives the same ones every time.

    See Also
    --------
    sklearn.model_selection.StratifiedKFold : Balances classes only.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.model_selection import BagStratifiedKFold
    >>> bags = Bags(np.zeros((8, 1)), [0, 1, 2, 3, 4, 6, 7, 8])
    >>> y = np.array([0, 0, 0, 1, 1, 1, 0])
    >>> [y[test].tolist() for _, test in BagStratifiedKFold(3, shuffle=False).split(bags, y)]
    [[0, 0, 1], [0, 1], [1, 0]]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        n_bins: int = 5,
        size_bins: int = 1,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_splits, shuffle=shuffle, random_state=random_state)
        self.n_bins = n_bins
        self.size_bins = size_bins

    def split(
        self, X: Any, y: ArrayLike, groups: ArrayLike | None = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the indices of the training and test bags of each fold.

        Bags of one of the `groups`, such as those of one patient, stay in one fold together.
        """
        strata = self._strata(y)
        if self.size_bins > 1:
            bins = _quantile_bins(as_bags(X).sizes, self.size_bins)
            strata = _merge_rare(strata * self.size_bins + bins, strata, self.n_splits)
        rows = np.zeros(len(strata))
        if groups is None:
            yield from super().split(rows, strata)
            return
        together = StratifiedGroupKFold(
            self.n_splits, shuffle=self.shuffle, random_state=self.random_state
        )
        yield from together.split(rows, strata, groups)

    def _strata(self, y):
        """Strata that all folds can have a part of: numbers fall back to fewer, wider bins."""
        strata = _target_strata(y, self.n_bins)
        if not _is_amount(y) or _rarest(strata) >= self.n_splits:
            return strata
        bins = _quantile_bins(_one_amount(y), max(1, len(strata) // self.n_splits))
        return bins if _rarest(bins) >= self.n_splits else np.zeros_like(bins)


def _is_amount(y):
    """Whether labels are no classes: a table, or numbers with fractions or of many values."""
    y = np.asarray(y)
    if y.ndim == 2 or y.dtype.kind not in "iuf":
        return y.ndim == 2
    return bool((y != np.round(y)).any()) or len(np.unique(y)) > 2


def _rarest(strata):
    return np.unique(strata, return_counts=True)[1].min()


def _target_strata(y, n_bins):
    """Class codes of `y`, or quantile bins where it is not made of classes."""
    y = _one_amount(y)
    values, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if y.dtype.kind in "iufb" and (len(values) > 2 * n_bins or counts.max() < 2):
        return _quantile_bins(y, n_bins)
    return codes


def _one_amount(y):
    """One value a bag: of counts or proportions of classes, the share of the most telling one.

    It differs most between bags; of classes that differ as much, such as two, it is the rarest. So
    the order of columns does not matter.
    """
    y = np.asarray(y)
    if y.ndim < 2:
        return y
    shares = y / np.maximum(y.sum(axis=1, keepdims=True), 1e-300)
    spread = shares.std(axis=0)
    most = spread >= (1.0 - 1e-9) * spread.max()
    return shares[:, np.where(most, shares.mean(axis=0), np.inf).argmin()]


def _quantile_bins(values, n_bins):
    """Codes of at most `n_bins` bins with about equally many values each."""
    values = np.asarray(values)
    edges = np.unique(np.quantile(values, np.linspace(0, 1, n_bins + 1)[1:-1]))
    return np.searchsorted(edges, values, side="left")


def _merge_rare(fine, coarse, n_splits):
    """Fine strata that are too small to spread over the folds fall back to their coarse one."""
    codes, counts = np.unique(fine, return_inverse=True, return_counts=True)[1:]
    rare = counts[codes] < n_splits
    return np.where(rare, -1 - coarse, fine)


def __dir__():
    return __all__
