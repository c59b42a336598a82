"""Kernel machines for data whose Gram matrix would not fit: linear ones on Nyström features."""

import numpy as np

from mixedbag.margin.linear import LinearMachine, Rows

_BLOCK = 10_000


class LandmarkMachine(LinearMachine):
    """A linear machine on features of which the kernel at some landmarks is a linear function."""

    def __init__(self, landmarks, projection, rows, tol, seed):
        super().__init__(rows, tol, seed)
        self.landmarks = landmarks
        self.projection = projection

    def fitted(self, solution):
        """What an estimator keeps of a solution."""
        return {
            "support_vectors_": self.landmarks,
            "dual_coef_": self.projection @ solution.weights,
        }


def landmark_machine(kernel, instances, average, n_components, tol, rng, seed):
    """The machine on random landmarks; `average` makes centroids of instances."""
    n = instances.shape[0]
    landmarks = instances[np.sort(rng.choice(n, min(n, n_components), replace=False))]
    values, vectors = np.linalg.eigh(kernel.of(landmarks, landmarks))
    keep = values > values[-1] * 1e-12
    projection = vectors[:, keep] / np.sqrt(values[keep])
    features = np.empty((n, keep.sum()))
    for i in range(0, n, _BLOCK):
        features[i : i + _BLOCK] = kernel.of(instances[i : i + _BLOCK], landmarks) @ projection
    return LandmarkMachine(landmarks, projection, Rows(features, average @ features), tol, seed)
