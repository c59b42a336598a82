"""How instances are shown: as images, as a series in time, or as bars of their features."""

import base64

import numpy as np

from mixedbag._tables import short

_BARS = 12
_CHANNELS = 6
_SAMPLES = 400
_PIECE = 2**20  # values looked at at a time


def view_of(result, data):
    """The way to show these instances."""
    image_shape = getattr(data, "image_shape", None)
    if image_shape is not None and len(image_shape) == 2:
        return Images(result.bags, image_shape)
    if result.rule == "sequence":
        return Series(result.bags)
    return Bars(result.bags)


class Images:
    """Instances are grey images: their pixels as bytes."""

    def __init__(self, bags, image_shape):
        values = bags.instances
        self._low, self._span = float(values.min()), float(np.ptp(values)) or 1.0
        self.about = {"kind": "images", "height": image_shape[0], "width": image_shape[1]}

    def show(self, X, rows):
        pixels = ((X[rows] - self._low) / self._span * 255).round().astype(np.uint8)
        return {"pixels": base64.b64encode(pixels.tobytes()).decode()}


class Series:
    """A bag is a series: each channel as a line, thinned to what a screen can show."""

    def __init__(self, bags):
        names = bags.feature_names or [f"channel {j}" for j in range(bags.n_features)]
        self._channels = np.arange(min(_CHANNELS, bags.n_features))
        self.about = {"kind": "series", "channels": [names[j] for j in self._channels]}

    def show(self, X, rows):
        step = max(1, -(-len(X) // _SAMPLES))
        lines = X[::step][:, self._channels].T
        return {"lines": [[short(v) for v in line] for line in lines], "step": step}


class Bars:
    """Instances are rows: the features in which the bag's first instance stands out."""

    def __init__(self, bags):
        X = bags.instances
        self._names = bags.feature_names or [f"feature {j}" for j in range(bags.n_features)]
        if bags.is_sparse:
            self._mean = np.asarray(X.mean(axis=0)).ravel()
            square = np.asarray(X.power(2).mean(axis=0)).ravel()
            self._scale = np.sqrt(np.maximum(square - self._mean**2, 0))
        else:
            self._mean, self._scale = _mean_and_scale(X)
        self.about = {"kind": "bars"}

    def show(self, X, rows):
        X = X[rows].toarray() if hasattr(X, "toarray") else X[rows]
        scale = np.where(self._scale > 0, self._scale, np.inf)
        z = np.nan_to_num((X - self._mean) / scale)
        features = np.argsort(-np.abs(z[0]), kind="stable")[:_BARS]
        return {
            "features": [self._names[j] for j in features],
            "z": [[round(float(v), 1) for v in row[features]] for row in z],
            "values": [[short(v) for v in row[features]] for row in X],
        }


def _mean_and_scale(X):
    """Mean and standard deviation of the known values of each column, a piece of rows at a time."""
    step = max(1, _PIECE // X.shape[1])
    parts = [X[i : i + step] for i in range(0, len(X), step)]
    n_known = np.maximum(sum((~np.isnan(part)).sum(axis=0) for part in parts), 1)
    mean = sum(np.nansum(part, axis=0, dtype=np.float64) for part in parts) / n_known
    square = sum(np.nansum((part - mean) ** 2, axis=0) for part in parts) / n_known
    return mean, np.sqrt(square)
