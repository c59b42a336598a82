"""Windows of a time series as instances, so that any other learner can learn from time series."""

from collections.abc import Sequence

import numpy as np

from mixedbag._parameters import whole
from mixedbag.sequence._cutting import CutSeries

__all__ = ["SlidingWindows"]

STATISTICS = ("mean", "std", "min", "max", "slope")


class SlidingWindows(CutSeries):
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
    QuantileWindows : More features of a window, for forests.
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

    _parameter_constraints = CutSeries._parameter_constraints | {"n_frequencies": [whole(0)]}

    def __init__(self, size=50, *, step=None, n_frequencies=8):
        self.size = size
        self.step = step
        self.n_frequencies = n_frequencies

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray:
        """Names such as ``mean_x``, ``frequency2_x`` and ``correlation_x_y``."""
        input_features = self._channels(input_features)
        kinds = [*STATISTICS, *(f"frequency{k + 1}" for k in range(self._kept_frequencies()))]
        names = [f"{kind}_{name}" for kind in kinds for name in input_features]
        a, b = (i.tolist() for i in np.triu_indices(len(input_features), 1))
        names += [f"correlation_{input_features[i]}_{input_features[j]}" for i, j in zip(a, b)]
        return np.asarray(names, dtype=object)

    def _kept_frequencies(self):
        return min(self.n_frequencies, self.size // 2)

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
