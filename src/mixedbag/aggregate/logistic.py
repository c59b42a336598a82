"""Logistic regression of instances that is told counts of bags."""

import numpy as np

from mixedbag._parameters import above, one_of, whole
from mixedbag.aggregate._linear import linear_scores, minimise, posterior, with_gradient
from mixedbag.aggregate._network import ExactCounts, MeanShares, broken_and_work, exact_suits
from mixedbag.counts import CountClassifier
from mixedbag.exceptions import InputError

__all__ = ["AggregateLogisticRegression"]

_LIKELIHOODS = {"mean": MeanShares(), "exact": ExactCounts()}


class AggregateLogisticRegression(CountClassifier):
    """Logistic regression that learns from counts or shares of bags (label proportions).

    Every instance has the class probabilities ``p(x) = softmax(Wᵀx + b)`` of an ordinary logistic
    regression; known is only how many instances of a bag are of each class. The weights minimise::

        ½ ‖W‖² + C Σ_c w_c · loss(counts_c, {p(x_i), i ∈ c})

    With ``likelihood="mean"`` the loss is ``−Σ_k count_ck log(mean_i p_k(x_i))``: the counts as
    draws with the bag's mean probabilities. It works from shares as well. With "exact" it is
    ``−log P(count_c)`` of the Poisson-binomial law, in which each instance is drawn once; it makes
    more of the counts, is surer for good reason, takes time in proportion to size times count, and
    needs whole counts. With bags of one instance both are
    `sklearn.linear_model.LogisticRegression`.

    The quick first choice for label proportions and ecological inference: it assumes that one
    linear rule holds in all bags, and asks little of the data.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty on weights; intercepts are free.
    likelihood : {"auto", "mean", "exact"}, default="auto"
        How counts are scored, as above. "auto" is "exact" for two classes where counts are whole
        (or shares that were rounded) and the rarer class has less than about 200 instances in a
        bag.
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
    likelihood_ : str
        "mean" or "exact": the likelihood that "auto" took.
    classes_ : array

    See Also
    --------
    AggregateMLPClassifier : The same with a hidden layer.
    AggregatePoissonRegressor : For totals without an upper limit.
    AggregateMeanMapClassifier : Quicker and convex, where a class looks alike in all bags.
    mixedbag.uncertainty.posterior : How sure the answers of the fitted model are.

    Notes
    -----
    Not convex: the search starts from zero weights, where all instances of a bag are alike, so fits
    are repeatable.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.aggregate import AggregateLogisticRegression
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> votes = X[:, 0] > X[:, 1]
    >>> precincts = Bags(X, np.arange(0, 401, 8))
    >>> model = AggregateLogisticRegression()
    >>> model = model.fit(precincts, np.add.reduceat(votes.astype(int), precincts.offsets[:-1]))
    >>> float(np.mean(model.predict_instances(precincts) == votes)) > 0.9
    True
    """

    _own_proba = True
    _needs_scaling = True
    _accepts_sparse = True
    _search_space = {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}
    _parameter_constraints = {
        "C": [above(0)],
        "likelihood": [one_of("auto", *_LIKELIHOODS)],
        "max_iter": [whole(1)],
    }

    def __init__(
        self, C=1.0, *, likelihood="auto", max_iter=1000, tol=1e-6, n_jobs=None, aggregate="sum"
    ):
        self.C = C
        self.likelihood = likelihood
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.aggregate = aggregate

    def _fit_blocks(self, blocks):
        self.likelihood_ = self.likelihood
        if self.likelihood == "exact":
            blocks.sum(_refuse_broken_counts)
        elif self.likelihood == "auto":
            exact = len(self.classes_) == 2 and exact_suits(*blocks.sum(_exactness))
            self.likelihood_ = "exact" if exact else "mean"
        head = _LIKELIHOODS[self.likelihood_]
        n_outputs = 1 if len(self.classes_) == 2 else len(self.classes_)
        start = np.zeros((self.n_features_in_ + 1, n_outputs))
        weights = minimise(self, blocks, start, _counted_loss, head)
        self.coef_, self.intercept_ = weights[:-1], weights[-1]

    def _posterior(self, blocks):
        weights = np.vstack([self.coef_, self.intercept_])
        # Models of 0.1.0 do not say which.
        head = _LIKELIHOODS[getattr(self, "likelihood_", self.likelihood)]
        return posterior(self, blocks, weights, _counted_loss, head)

    def _take_weights(self, flat):
        weights = flat.reshape(-1, self.coef_.shape[1])
        self.coef_, self.intercept_ = weights[:-1], weights[-1]

    def _score_instances(self, bags):
        z = linear_scores(bags.instances, np.vstack([self.coef_, self.intercept_]))
        p = _LIKELIHOODS["mean"].outputs(z)
        return np.hstack([1.0 - p, p]) if p.shape[1] == 1 else p


def _counted_loss(block, weights, head):
    bags, counts, weight = block
    target = counts[:, 1:] if weights.shape[1] == 1 else counts
    z = linear_scores(bags.instances, weights)
    return with_gradient(bags.instances, *head.loss(z, bags.offsets, target, weight))


def _exactness(block):
    return broken_and_work(block.target, block.bags.sizes)


def _refuse_broken_counts(block):
    broken = (np.abs(block.target - np.round(block.target)) > 1e-6).any(axis=1)
    if broken.any():
        raise InputError(
            f"{block.bags.name(int(broken.argmax()))} has a count that is no whole number, which "
            "likelihood='exact' needs: take likelihood='mean'"
        )
    return 0
