"""Set kernels: a bag is as similar to another as their instances are."""

import numpy as np

from mixedbag._once import once
from mixedbag._parameters import one_of
from mixedbag.bags import as_bags
from mixedbag.classics._kernels import BagKernelSVC, own_sums
from mixedbag.wrappers import BagFeatures

__all__ = ["SetKernelSVC"]


class SetKernelSVC(BagKernelSVC):
    """Support vector machine on set kernels (Gärtner, Flach, Kowalczyk and Smola, 2002).

    A kernel ``k`` between instances becomes a kernel between bags, and an ordinary support vector
    machine learns from it::

        K(A, B) = Σ_{a ∈ A} Σ_{b ∈ B} k(a, b), then normalised.

    Assumes only that bags of one class resemble each other as sets: no single instance has to be
    responsible. That makes it strong where the whole bag matters, and weaker where one rare
    instance decides. With bags of one it is `sklearn.svm.SVC`.

    Parameters
    ----------
    C : float
        Penalty of errors on training bags; large values fit more closely.
    kernel : {"rbf", "linear", "poly"}
        Kernel between instances (or between statistics of bags).
    method : {"normalised", "mean", "statistics"}
        "normalised" divides by ``√(K(A, A) K(B, B))``, so that every bag has length one in feature
        space; "mean" divides by the sizes of the bags; "statistics" describes a bag by the smallest
        and largest value of each feature, and applies `kernel` to that.
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
    MIGraphSVC : Instances that are alike share one vote.
    CitationKNN : Compares bags by their nearest instances, and lets neighbours vote.
    mixedbag.margin.BagMarginSVC : Where one instance decides, and the others say nothing.

    Notes
    -----
    What tables call MI-SMO, after Weka's name, is this: with its multi-instance kernels the method
    "normalised", with its "minimax" features the method "statistics".

    Examples
    --------
    >>> from mixedbag.classics import SetKernelSVC
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=60, random_state=0)
    >>> model = SetKernelSVC(method="statistics").fit(data.bags, data.y)
    >>> model.score(data.bags, data.y) > 0.9
    True
    """

    _search_space = {"method": ["normalised", "statistics"], "C": [0.1, 1.0, 10.0, 100.0]}
    _parameter_constraints = {"method": [one_of("normalised", "mean", "statistics")]}

    def __init__(
        self,
        C=1.0,
        *,
        kernel="rbf",
        method="normalised",
        gamma="scale",
        degree=3,
        coef0=1.0,
        tol=1e-4,
        n_jobs=None,
    ):
        self.C = C
        self.kernel = kernel
        self.method = method
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.n_jobs = n_jobs

    def _represent(self, bags):
        if self.method != "statistics":
            return bags
        return as_bags(BagFeatures(statistics=("min", "max")).fit_transform(bags))

    def _shares(self, bags):
        if self.method == "mean":
            return bags.spread(1.0 / bags.sizes)
        if self.method == "statistics":
            return np.ones(len(bags))

        squares = once(
            lambda: own_sums(self._settled, bags, np.ones(bags.n_instances)),
            "lengths", *self._kernel_of, self.gamma_, bags,
        )  # fmt: skip
        # A bag of zeros has length zero under a linear kernel, and stays zero.
        return bags.spread(1.0 / np.sqrt(np.maximum(squares, np.finfo(float).tiny)))
