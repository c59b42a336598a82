"""What boosting has learned: weak learners, and their sums, which score instances."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from scipy import sparse

from mixedbag._tables import frozen


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


@njit(cache=True, nogil=True)
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


class WeightedEstimator:
    """A fitted estimator times its weight."""

    def __init__(self, estimator: Any, weight: float):
        self.estimator, self.weight = estimator, weight

    def score(self, instances) -> np.ndarray:
        """The weighted prediction for every instance."""
        return self.weight * np.asarray(self.estimator.predict(instances), dtype=np.float64)


class EstimatorEnsemble:
    """Weighted sum of fitted estimators."""

    def __init__(self, members: list[WeightedEstimator], n_features: int):
        self.members, self.n_features = members, n_features

    def __len__(self):
        return len(self.members)

    def score(self, instances) -> np.ndarray:
        """Weighted sum of all predictions."""
        total = np.zeros(instances.shape[0])
        for member in self.members:
            total += member.score(instances)
        return total

    def staged(self, instances):
        """Scores after each member."""
        total = np.zeros(instances.shape[0])
        for member in self.members:
            total = total + member.score(instances)
            yield total

    def importances(self, gains) -> np.ndarray:
        """The members' own importances, averaged by the gain that each brought."""
        total = np.zeros(self.n_features)
        for member, gain in zip(self.members, gains):
            total += gain * member.estimator.feature_importances_
        return total / total.sum() if total.sum() > 0 else total
