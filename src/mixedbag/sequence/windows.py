"""Windows of a time series as instances, so that any other learner can learn from time series."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import TransformerMixin

from mixedbag._parameters import whole
from mixedbag.bags import Bags
from mixedbag.base import BagEstimator
from mixedbag.exceptions import InputError

__all__ = ["SlidingWindows"]

STATISTICS = ("mean", "std", "min", "max", "slope")


class SlidingWindows(TransformerMixin, BagEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Describe each bag's time series by statistics and frequencies of sliding windows.

    Every window becomes one instance: of each channel its mean, standard deviation, extremes and
    mean absolute change from sample to sample, and the magnitudes of its lowest frequencies (the
    discrete Fourier transform after the mean is taken out, divided by the window's length); of each
    pair of channels their correlation.

    Parameters
    ----------
    size : int, default=50
        Samples in a window. A bag with fewer samples becomes one shorter window.
    step : int, optional
        Samples from one window's start to the next; half of `size` by default. The last window ends
        with the bag, so every sample is in some window.
    n_frequencies : int, default=8
        How many frequencies above zero to keep, if the window has as many.

    See Also
    --------
    ARHMMClassifier : Models the series itself, sample by sample.
    mixedbag.wrappers.BagPipeline : Puts a learner behind the windows, and answers about samples.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.sequence import SlidingWindows
    >>> wave = np.sin(np.arange(100.0))[:, None]
    >>> windows = SlidingWindows(size=20, n_frequencies=4)
    >>> windows.fit_transform([wave, wave[:30]])
    Bags(2 bags, 11 instances × 9 features)
    """

    _is_sequence = True
    _parameter_constraints = {
        "size": [whole(2)],
        "step": [whole(1), None],
        "n_frequencies": [whole(0)],
    }

    def __init__(self, size=50, *, step=None, n_frequencies=8):
        self.size = size
        self.step = step
        self.n_frequencies = n_frequencies

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
        features = np.empty((len(first), len(self.get_feature_names_out())))
        for size in np.unique(length):
            same = length == size
            samples = first[same, None] + np.arange(size)
            features[same] = self._describe(bags.instances[samples])
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

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray:
        """Names such as ``mean_x``, ``frequency2_x`` and ``correlation_x_y``."""
        if input_features is None:
            input_features = getattr(
                self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)]
            )
        kinds = [*STATISTICS, *(f"frequency{k + 1}" for k in range(self._kept_frequencies()))]
        names = [f"{kind}_{name}" for kind in kinds for name in input_features]
        a, b = (i.tolist() for i in np.triu_indices(len(input_features), 1))
        names += [f"correlation_{input_features[i]}_{input_features[j]}" for i, j in zip(a, b)]
        return np.asarray(names, dtype=object)

    def _kept_frequencies(self):
        return min(self.n_frequencies, self.size // 2)

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

    def _describe(self, windows):
        """Features of windows of equal length, given as (n_windows, length, n_channels)."""
        length = windows.shape[1]
        mean = windows.mean(axis=1)
        centered = windows - mean[:, None]
        std = np.sqrt((centered**2).mean(axis=1))
        change = np.abs(np.diff(windows, axis=1)).sum(axis=1) / max(length - 1, 1)
        magnitude = np.abs(np.fft.rfft(centered, n=self.size, axis=1)) / length
        magnitude = magnitude[:, 1 : self._kept_frequencies() + 1]
        a, b = np.triu_indices(windows.shape[2], 1)
        together = np.einsum("wtc,wtd->wcd", centered, centered)[:, a, b] / length
        spread = std[:, a] * std[:, b]
        correlation = np.divide(together, spread, out=np.zeros_like(together), where=spread > 0)
        parts = [mean, std, windows.min(axis=1), windows.max(axis=1), change]
        return np.hstack([*parts, magnitude.reshape(len(windows), -1), correlation])

    def __sklearn_is_fitted__(self):
        return hasattr(self, "n_features_in_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags
