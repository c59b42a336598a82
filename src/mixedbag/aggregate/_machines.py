"""Support vector machines that are solved again and again for changing labels."""

import numpy as np
from scipy import sparse
from sklearn.svm import SVC

from mixedbag.aggregate._interior_point import solve_box


class LinearMachine:
    """½‖w‖² + Σ_i cost_i max(0, 1 − s_i (w·x_i + b)), solved by an interior point method."""

    def __init__(self, X):
        self.X = X
        self.features = X

    def solve(self, positive, cost):
        """Fit to labels; returns the instances' scores and ½‖w‖²."""
        if positive.all() or not positive.any():  # everything on one side costs nothing
            self.w, self.intercept = np.zeros(self.X.shape[1]), 1.0 if positive.all() else -1.0
        else:
            sign = np.where(positive, 1.0, -1.0)
            low, high = np.where(positive, 0.0, -cost), np.where(positive, cost, 0.0)
            _, self.w, self.intercept, _ = solve_box(self.X, sign, low, high)
        return self.X @ self.w + self.intercept, 0.5 * self.w @ self.w


class KernelMachine:
    """The same with a kernel, by LIBSVM on a Gram matrix that is computed once."""

    def __init__(self, gram, bags):
        self.gram = gram
        # Mean similarity to every bag: what a first, linear guess may use.
        average = sparse.csr_array(
            (1.0 / bags.spread(bags.sizes), np.arange(bags.n_instances), bags.offsets)
        )
        self.features = (average @ gram).T

    def solve(self, positive, cost):
        """Fit to labels; returns the instances' scores and ½‖w‖²."""
        self.dual = np.zeros(len(positive))
        if positive.all() or not positive.any():
            self.intercept = 1.0 if positive.all() else -1.0
            return np.full(len(positive), self.intercept), 0.0
        machine = SVC(C=1.0, kernel="precomputed", tol=1e-4)
        machine.fit(self.gram, positive, sample_weight=cost)
        self.dual[machine.support_] = machine.dual_coef_[0]
        self.intercept = float(machine.intercept_[0])
        scores = self.gram @ self.dual
        return scores + self.intercept, 0.5 * self.dual @ scores
