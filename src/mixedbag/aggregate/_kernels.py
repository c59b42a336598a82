"""Kernels between instances, and between bags as means over pairs of instances."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from mixedbag._gamma import settled_gamma
from mixedbag.base import check_choice

_BLOCK = 2**22  # entries of an instance kernel held at a time


def bag_means(bags):
    """Mean of the instances of each bag, dense."""
    n = bags.n_instances
    average = sparse.csr_array(
        (np.repeat(1.0 / bags.sizes, bags.sizes), np.arange(n), bags.offsets), (len(bags), n)
    )
    means = average @ bags.instances
    return means.toarray() if sparse.issparse(means) else means


@dataclass
class Kernel:
    """A kernel with its parameters settled."""

    function: object
    gamma: float
    degree: int
    coef0: float

    @classmethod
    def of(cls, learner, gamma):
        """The kernel that a learner's parameters ask for, `gamma` a number (see `width`)."""
        if not callable(learner.kernel):
            check_choice("kernel", learner.kernel, ("linear", "rbf", "poly"))
        return cls(learner.kernel, gamma, learner.degree, learner.coef0)

    def matrix(self, X, Z):
        """Kernel values of all pairs of rows."""
        if callable(self.function):
            return np.asarray(self.function(X, Z), dtype=float)
        given = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        K = pairwise_kernels(X, Z, metric=self.function, filter_params=True, **given)
        return K.toarray() if sparse.issparse(K) else K

    def between_bags(self, bags):
        """Mean kernel value over the pairs of instances of two bags, for all pairs of bags."""
        if self.function == "linear":
            means = bag_means(bags)
            return means @ means.T
        gram = np.empty((len(bags), len(bags)))
        per_block = max(1, int(_BLOCK / bags.n_instances / bags.sizes.mean()))
        for first in range(0, len(bags), per_block):
            block = bags[first : first + per_block]
            rows = np.add.reduceat(
                self.matrix(block.instances, bags.instances), block.offsets[:-1], axis=0
            )
            gram[first : first + len(block)] = np.add.reduceat(rows, bags.offsets[:-1], axis=1)
        return gram / np.outer(bags.sizes, bags.sizes)


def width(gamma, bags, weight):
    """``gamma`` as scikit-learn reads it: "scale", "auto" or a number. Weights repeat bags."""
    if isinstance(gamma, str):
        check_choice("gamma", gamma, ("scale", "auto"))
    return settled_gamma(gamma, bags.instances, bags.spread(weight))
