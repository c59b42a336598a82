"""miGraph: a set kernel in which instances that resemble each other share one vote."""

import numpy as np

from mixedbag._once import once
from mixedbag._pairs import squared_distances, within_bags
from mixedbag._parameters import at_least
from mixedbag.classics._kernels import BagKernelSVC
from mixedbag.pooling import bag_sum, spread

__all__ = ["MIGraphSVC"]


class MIGraphSVC(BagKernelSVC):
    """Support vector machine on the miGraph kernel (Zhou, Sun and Li, 2009).

    Assumes that instances of a bag are not independent: ten nearly equal windows of a photograph
    say little more than one. Two instances of a bag are joined when they are closer than the
    average distance in the bag; an instance that is joined to ``n_a`` instances (itself included)
    counts ``u_a = 1/n_a``, so that each group of similar instances has about one vote::

        K(A, B) = Σ_a Σ_b u_a u_b k(a, b) / (Σ_a u_a · Σ_b u_b)

    With bags of one it is `sklearn.svm.SVC`.

    Parameters
    ----------
    C : float
        Penalty of errors on training bags; large values fit more closely.
    kernel : {"rbf", "linear", "poly"}
        Kernel between instances.
    threshold : float
        Two instances are joined when closer than this times the average distance in their bag.
    gamma : float, "scale" or "auto"
        Width of the "rbf" kernel and factor of "poly". "scale" is ``1 / (n_features · variance)``,
        "auto" is ``1 / n_features``.
    degree, coef0 : int, float
        Of the kernel "poly".
    tol : float
        Tolerance of the solver.
    n_jobs : int or None
        Threads that share the blocks of the kernel matrix.

    Attributes
    ----------
    support_ : array
        Indices of the support bags among the training bags.
    support_bags_ : Bags
        The support bags: all that prediction needs. Where most of a large table is support, it is
        not copied: all bags are kept then, some with a coefficient of zero.
    support_shares_ : array
        How much each instance of a support bag counts in it.
    dual_coef_, intercept_ : array, float
    gamma_ : float

    See Also
    --------
    SetKernelSVC : Every instance has a vote, however many are alike.
    EdgeGraphSVC : Also compares how instances are joined; much slower.

    Examples
    --------
    >>> from mixedbag.classics import MIGraphSVC
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=60, random_state=0)
    >>> MIGraphSVC(C=10.0).fit(data.bags, data.y).score(data.bags, data.y) > 0.9
    True
    """

    _parameter_constraints = {"threshold": [at_least(0)]}

    def __init__(
        self,
        C=1.0,
        *,
        kernel="rbf",
        threshold=1.0,
        gamma="scale",
        degree=3,
        coef0=1.0,
        tol=1e-4,
        n_jobs=None,
    ):
        self.C = C
        self.kernel = kernel
        self.threshold = threshold
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.n_jobs = n_jobs

    def _shares(self, bags):
        def shares(block, same):
            distance = np.sqrt(squared_distances(block.instances, block.instances)) * same
            pairs = np.maximum(block.sizes * (block.sizes - 1), 1)
            average = bag_sum(distance.sum(axis=1), block.offsets) / pairs
            # Rounding must not decide whether a pair at exactly the average distance is joined.
            limit = spread((1.0 - 1e-9) * self.threshold * average, block.offsets)
            joined = same & (distance < limit[:, None])
            np.fill_diagonal(joined, True)
            votes = 1.0 / joined.sum(axis=1)
            return votes / spread(bag_sum(votes, block.offsets), block.offsets)

        return once(lambda: within_bags(bags, shares), "votes", self.threshold, bags)
