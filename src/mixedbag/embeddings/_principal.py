"""Principal components of weighted instances, as many as hold a share of the variance."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg


@dataclass(frozen=True)
class Principal:
    """``(x − mean) @ axes``: coordinates along the main axes of the data."""

    mean: np.ndarray
    axes: np.ndarray

    @classmethod
    def fit(cls, X, weight, share):
        """The fewest axes that hold `share` of the variance."""
        weight = weight / weight.sum()
        mean = weight @ X
        rows = X - mean
        variance, axes = linalg.eigh(rows.T @ (weight[:, None] * rows))
        variance, axes = np.clip(variance[::-1], 0.0, None), axes[:, ::-1]
        total = variance.sum()
        kept = 1
        if total > 0:
            enough = np.cumsum(variance) >= share * total * (1 - 1e-12)
            kept = int(enough.argmax()) + 1
        axes = axes[:, :kept]
        # Axes have no direction of their own: the largest entry is made positive.
        largest = axes[np.abs(axes).argmax(axis=0), np.arange(kept)]
        return cls(mean, axes * np.where(largest < 0, -1.0, 1.0))

    def __call__(self, X):
        return np.asarray(X @ self.axes.astype(X.dtype), dtype=np.float64) - self.mean @ self.axes
