"""Logistic regression that sees labels only through their sums with the features.

The likelihood of a logistic regression needs of the labels nothing but ``T_k = Σ_i [y_i = k] x_i``.
Learners that can guess these sums from counts of bags are one convex problem away from a model.
"""

import numpy as np
from scipy.special import log_softmax, logsumexp

from mixedbag._parameters import above, whole
from mixedbag.aggregate._linear import linear_scores, minimise, with_gradient
from mixedbag.counts import CountClassifier


class SufficientLogistic(CountClassifier):
    """Base of classifiers that estimate the sums T; they define ``_estimate(blocks)``.

    It returns an array of shape (n_features, n_classes).
    """

    _own_proba = True
    _needs_scaling = True
    _accepts_sparse = True
    _search_space = {"C": [0.001, 0.01, 0.1, 1.0, 10.0]}
    _parameter_constraints = {"C": [above(0)], "max_iter": [whole(1)]}

    def __init__(self, C=1.0, *, max_iter=1000, tol=1e-6, n_jobs=None, aggregate="sum"):
        self.C = C
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.aggregate = aggregate

    def _fit_blocks(self, blocks):
        # How many instances a class has is known; only where they lie is guessed.
        known = blocks.sum(_total_counts)
        sums = np.vstack([self._estimate(blocks), known])
        if len(self.classes_) == 2:
            sums = sums[:, 1:]
        weights = minimise(self, blocks, np.zeros(sums.shape), _log_normaliser, minus=sums)
        self.coef_, self.intercept_ = weights[:-1], weights[-1]

    def _score_instances(self, bags):
        z = linear_scores(bags.instances, np.vstack([self.coef_, self.intercept_]))
        return np.exp(_log_probabilities(z))


def _total_counts(block):
    return block.weight @ block.target


def _log_normaliser(block, weights):
    """Σ_i log Σ_k exp(z_ik), and its gradient; one column of z stands against a zero."""
    bags, _, weight = block
    z = linear_scores(bags.instances, weights)
    by_bag = bags.spread(weight)
    full = _against_zero(z)
    p = by_bag[:, None] * np.exp(log_softmax(full, axis=1))
    loss = float(by_bag @ logsumexp(full, axis=1))
    return with_gradient(bags.instances, loss, p[:, full.shape[1] - z.shape[1] :])


def _log_probabilities(z):
    return log_softmax(_against_zero(z), axis=1)


def _against_zero(z):
    return np.column_stack([np.zeros(len(z)), z]) if z.shape[1] == 1 else z
