"""Windows of a time series, described by quantiles of their parts."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from mixedbag._parameters import whole
from mixedbag.sequence._cutting import CutSeries

__all__ = ["QuantileWindows"]

EVERY = 4  # values of a part for each quantile of it


class QuantileWindows(CutSeries):
    """Describe each bag's time series by quantiles of halves, quarters, … of sliding windows.

    Every window becomes one instance. Four views of a channel, the window itself, its first and
    second differences and the magnitudes of its frequencies, are cut into the whole, halves,
    quarters and so on, and each of these again at places half a part later. Of a part, every fourth
    quantile is kept, every other of them without the part's mean (QUANT, for windows). These are
    many features, of which few matter: forests take them as they are.

    Parameters
    ----------
    size : int, default=50
        Samples in a window. A bag with fewer samples becomes one shorter window.
    step : int, optional
        Samples from one window's start to the next; half of `size` by default. The last window ends
        with the bag, so every sample is in some window.
    depth : int, default=4
        How often parts are halved, the whole included: 4 ends with eighths.

    See Also
    --------
    SlidingWindows : Fewer features, for linear learners and machines.
    StateWindows : Windows described by the hidden states of models.
    mixedbag.classics.MIForestClassifier : A forest that asks which windows are positive.
    mixedbag.wrappers.BagPipeline : Puts a learner behind the windows, and answers about samples.

    References
    ----------
    Dempster, Schmidt, Webb. "QUANT: a minimalist interval method for time series classification."
    Data Mining and Knowledge Discovery 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.sequence import QuantileWindows
    >>> wave = np.sin(np.arange(100.0))[:, None]
    >>> windows = QuantileWindows(size=20, depth=1).fit([wave, wave[:30]])
    >>> windows.transform([wave, wave[:30]])
    Bags(2 bags, 11 instances × 18 features)
    >>> windows.get_feature_names_out()[:3].tolist()
    ['series0-20_q0_x0', 'series0-20_q25_x0', 'series0-20_q50_x0']
    """

    _parameter_constraints = CutSeries._parameter_constraints | {"depth": [whole(1)]}

    def __init__(self, size=50, *, step=None, depth=4):
        self.size = size
        self.step = step
        self.depth = depth

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray:
        """Names such as ``change0-24_q50_x``: view, part, quantile in percent, channel."""
        channels = self._channels(input_features)
        names = [
            f"{view}{first}-{last}_q{100 * q:.0f}_{channel}"
            for view, length in self._views().items()
            for first, last in self._parts(length)
            for q in _quantiles_of(last - first)
            for channel in channels
        ]
        return np.asarray(names, dtype=object)

    def _views(self):
        """Lengths of the views of a whole window."""
        n = self.size
        return {"series": n, "change": n - 1, "bend": max(n - 2, 1), "spectrum": n // 2 + 1}

    def _parts(self, n):
        """First and last of the dyadic parts of n values that hold any."""
        for level in range(self.depth):
            edges = np.linspace(0, n, 2**level + 1).astype(int)
            middles = (edges[:-1] + edges[1:]) // 2
            for first, last in (*pairwise(edges.tolist()), *pairwise(middles.tolist())):
                if first < last:
                    yield first, last

    def _describe(self, windows):
        spectrum = np.abs(np.fft.rfft(windows, axis=1))
        views = windows, np.diff(windows, axis=1), np.diff(windows, n=2, axis=1), spectrum
        return np.hstack(
            [
                _described(view, first, last, length)
                for view, length in zip(views, self._views().values(), strict=True)
                for first, last in self._parts(length)
            ]
        )


def _quantiles_of(n):
    """Which quantiles a part of n values is described by."""
    k = 1 + (n - 1) // EVERY
    return np.linspace(0, 1, k) if k > 1 else np.array([0.5])


def _described(view, first, last, length):
    """Quantiles of a part, every other without its mean; of a shorter view, of the like part."""
    n = view.shape[1]
    if n == 0:  # a window too short for differences
        view, n = np.zeros((len(view), 1, view.shape[2])), 1
    start = min(first * n // length, n - 1)
    part = view[:, start : max(start + 1, -(-last * n // length))]
    found = np.quantile(part, _quantiles_of(last - first), axis=1)
    found[1::2] -= part.mean(axis=1)
    return found.transpose(1, 0, 2).reshape(len(view), -1)
