"""MeanMap: the means of the classes, solved from the means of bags."""

import numpy as np
from scipy import linalg

from mixedbag._kernels import bag_means
from mixedbag.aggregate._sufficient import SufficientLogistic

__all__ = ["AggregateMeanMapClassifier"]


class AggregateMeanMapClassifier(SufficientLogistic):
    """Logistic regression from the classes' means, which the bags' means reveal (MeanMap).

    If the instances of a class look alike in all bags, the mean of a bag is the mean of the
    classes' means, weighted by its shares. As many different shares as there are classes reveal
    them, by least squares over bags (Quadrianto and others, 2009)::

        min_μ Σ_c w_c n_c ‖x̄_c − Σ_k share_ck μ_k‖²

    and the class means are all that a logistic regression must know of the labels::

        min_W  ½ ‖W‖² + C Σ_i log Σ_k exp⟨W_k, x_i⟩ − C Σ_k n_k ⟨W_k, μ_k⟩

    Quick and convex. It fails where bags differ in what their instances look like within a class.
    With bags of one it is `sklearn.linear_model.LogisticRegression`.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty on weights; intercepts are free.
    max_iter : int, default=1000
        Most L-BFGS steps.
    tol : float, default=1e-6
        Stops when no component of the gradient is larger than this times ``C`` and the total
        weight of the bags.
    n_jobs : int, optional
        Threads over blocks of bags.
    aggregate : {"sum", "mean"}, default="sum"
        Whether a one-dimensional `y` holds counts of positives or shares.

    Attributes
    ----------
    means_ : array of shape (n_classes, n_features)
        The estimated means of the classes.
    coef_ : array of shape (n_features, n_outputs)
        One output for two classes, else one a class.
    intercept_ : array of shape (n_outputs,)
    objective_ : array
        The objective after each step; it never rises.
    n_iter_ : int
    classes_ : array

    See Also
    --------
    AggregateLogisticRegression : Fits shares directly; needs no such assumption.
    AggregateEasyLLPClassifier : Another unbiased guess at the same sums.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.aggregate import AggregateMeanMapClassifier
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> votes = X[:, 0] > X[:, 1]
    >>> precincts = Bags(X, np.arange(0, 401, 8))
    >>> model = AggregateMeanMapClassifier()
    >>> model = model.fit(precincts, np.add.reduceat(votes.astype(int), precincts.offsets[:-1]))
    >>> float(np.mean(model.predict_instances(precincts) == votes)) > 0.9
    True
    """

    def _estimate(self, blocks):
        total = blocks.sum(_cross_products, len(self.classes_))
        k = len(self.classes_)
        square, mixed = total[:, :k], total[:, k:]
        # Shares that are the same in all bags cannot tell classes apart: a trace of ridge.
        ridge = 1e-8 * max(float(np.trace(square)), 1.0) * np.eye(k)
        overall = mixed.sum(axis=0) / square.sum()
        self.means_ = overall + linalg.solve(
            square + ridge, mixed - np.outer(square.sum(axis=1), overall), assume_a="pos"
        )
        return (square.sum(axis=1)[:, None] * self.means_).T


def _cross_products(block, n_classes):
    """Σ w n share shareᵀ and, beside it, Σ w n share x̄ᵀ."""
    bags, counts, weight = block
    share = counts / bags.sizes[:, None]
    columns = np.hstack([share, bag_means(bags)])
    return share.T @ ((weight * bags.sizes)[:, None] * columns)
