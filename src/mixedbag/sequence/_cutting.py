"""Series cut into windows, and values of windows brought back to the samples."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import TransformerMixin

from mixedbag._parameters import whole
from mixedbag.bags import Bags
from mixedbag.base import BagEstimator
from mixedbag.exceptions import InputError


class CutSeries(TransformerMixin, BagEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Base of the window transformers: subclasses have `size` and `step`, and describe windows."""

    _is_sequence = True
    _parameter_constraints = {"size": [whole(2)], "step": [whole(1), None]}
    size: int
    step: int | None

    @abstractmethod
    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray:
        """One name a feature of a window."""

    @abstractmethod
    def _describe(self, windows: np.ndarray) -> np.ndarray:
        """Features of windows of equal length, given as (n_windows, length, n_channels)."""

    def _series(self, bags: Bags) -> np.ndarray:
        """What is described, a row a sample."""
        return bags.instances

    def fit(self, bags: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Check the input; there is nothing to learn."""
        self._validate_params()
        if self.step is not None and self.step > self.size:
            raise InputError(f"step must be at most size, {self.size}; got {self.step}")
        self._read(bags, reset=True)
        return self

    def transform(self, bags: Any) -> Bags:
        """The same bags with windows as instances."""
        bags = self._fitted(bags)
        first, length, owner = self._windows(bags)
        series = self._series(bags)
        features = np.empty((len(first), len(self.get_feature_names_out())))
        for size in np.unique(length):
            same = length == size
            samples = first[same, None] + np.arange(size)
            features[same] = self._describe(series[samples])
        offsets = np.searchsorted(owner, np.arange(len(bags) + 1))
        return Bags(features, offsets, bags.ids, list(self.get_feature_names_out()))

    def to_samples(self, bags: Any, values: ArrayLike) -> np.ndarray:
        """One value a window as one a sample: the average over the windows that cover it.

        `values` has one entry (or row) an instance of ``transform(bags)``.
        """
        bags = self._fitted(bags)
        first, length, _ = self._windows(bags)
        values = np.asarray(values, dtype=np.float64)
        if len(values) != len(first):
            raise InputError(f"{len(values)} values for {len(first)} windows")
        # Each value enters at its window's first sample and leaves after its last.
        change = np.zeros((bags.n_instances + 1, 1 + values[:1].size))
        entry = np.column_stack([np.ones(len(first)), values.reshape(len(first), -1)])
        np.add.at(change, first, entry)
        np.add.at(change, first + length, -entry)
        total = np.cumsum(change[:-1], axis=0)
        return (total[:, 1:] / total[:, :1]).reshape(bags.n_instances, *values.shape[1:])

    def _channels(self, names):
        """The channels' names as they are given, as they were fitted, or by number."""
        if names is not None:
            return names
        return getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])

    def _windows(self, bags):
        """First sample, length and bag of every window."""
        step = self.step or max(1, self.size // 2)
        starts = [
            np.unique(np.append(np.arange(0, max(n - self.size, 0), step), max(n - self.size, 0)))
            for n in bags.sizes
        ]
        counts = np.array([len(s) for s in starts])
        owner = np.repeat(np.arange(len(bags)), counts)
        first = np.concatenate(starts) + bags.offsets[owner]
        return first, np.minimum(self.size, bags.sizes)[owner], owner

    def __sklearn_is_fitted__(self):
        return hasattr(self, "n_features_in_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags
