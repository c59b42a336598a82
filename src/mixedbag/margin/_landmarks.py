"""Kernel machines for data whose Gram matrix would not fit: linear ones on Nyström features."""

from mixedbag._solvers.numbered_rows import NumberedRows
from mixedbag.margin._linear import LinearMachine


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
    landmarks, projection, features = kernel.landmark_features(instances, n_components, rng)
    return LandmarkMachine(
        landmarks, projection, NumberedRows(features, average @ features), tol, seed
    )
