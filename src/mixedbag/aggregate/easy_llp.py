"""EasyLLP: labels that are wrong one by one and right on average."""

import numpy as np

from mixedbag._kernels import bag_means
from mixedbag.aggregate._sufficient import SufficientLogistic

__all__ = ["AggregateEasyLLPClassifier"]


class AggregateEasyLLPClassifier(SufficientLogistic):
    """Logistic regression on debiased shares (EasyLLP; Busa-Fekete and others, 2023).

    In bags filled at random, the share of a bag tells of one of its instances

        ỹ = n_c (share_c − π) + π,    π the share over all bags,

    a label whose expectation, given the instance, is the true one, however noisy it is alone. The
    logistic loss is linear in labels, so it is fitted to ỹ without bias::

        min_W  ½ ‖W‖² + C Σ_i [log Σ_k exp⟨W_k, x_i⟩ − Σ_k ỹ_ik ⟨W_k, x_i⟩]

    Quick and convex; the noise grows with the size of bags, and bags that were not filled at random
    (sorted, by place, by time) bias it. With bags of one it is
    `sklearn.linear_model.LogisticRegression`.

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
    coef_ : array of shape (n_features, n_outputs)
        One output for two classes, else one a class.
    intercept_ : array of shape (n_outputs,)
    objective_ : array
        The objective after each step; it never rises.
    n_iter_ : int
    classes_ : array

    See Also
    --------
    AggregateMeanMapClassifier : Another quick guess, for bags that are not filled at random.
    AggregateLogisticRegression : Fits shares directly.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.aggregate import AggregateEasyLLPClassifier
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> votes = X[:, 0] > X[:, 1]
    >>> precincts = Bags(X, np.arange(0, 401, 4))
    >>> model = AggregateEasyLLPClassifier(C=0.1)
    >>> model = model.fit(precincts, np.add.reduceat(votes.astype(int), precincts.offsets[:-1]))
    >>> float(np.mean(model.predict_instances(precincts) == votes)) > 0.85
    True
    """

    def _estimate(self, blocks):
        total = blocks.sum(_counts_and_instances)
        return blocks.sum(_debiased_sums, total[:-1] / total[-1])


def _counts_and_instances(block):
    return np.append(block.weight @ block.target, block.weight @ block.bags.sizes)


def _debiased_sums(block, overall):
    """Σ_i x_i ỹ_iᵀ: a bag's total of the features times its debiased label."""
    bags, counts, weight = block
    sizes = bags.sizes[:, None]
    label = sizes * (counts / sizes - overall) + overall
    return bag_means(bags).T @ (weight[:, None] * sizes * label)
