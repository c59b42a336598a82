"""Ridge regression on the means of bags: the simplest model that knows of totals and counts."""

import numpy as np
from scipy import linalg

from mixedbag._kernels import bag_means
from mixedbag._parameters import above
from mixedbag._weight_posterior import WeightPosterior
from mixedbag._wide import times
from mixedbag.base import BagRegressor
from mixedbag.counts import CountClassifier
from mixedbag.engines.local import Labelled

__all__ = ["AggregateRidgeClassifier", "AggregateRidgeRegressor"]


class _RidgeOnMeans:
    """Least squares of a bag's mean target on its mean features, each bag by its size."""

    _needs_scaling = True
    _accepts_sparse = True
    _search_space = {"alpha": [0.01, 1.0, 100.0]}
    _parameter_constraints = {"alpha": [above(0)]}

    alpha: float
    n_features_in_: int

    def _fit_blocks(self, blocks):
        total = blocks.sum(_cross_products)
        d = self.n_features_in_
        first = total[0]
        mean = first / first[0]
        # Centred sums: the intercept is free.
        square = total[1:] - np.outer(first[1:], mean)
        coef = linalg.solve(
            square[:d, 1 : d + 1] + self.alpha * np.eye(d), square[:d, d + 1 :], assume_a="pos"
        )
        self.coef_ = self._shaped(coef)
        self.intercept_ = self._shaped((mean[d + 1 :] - mean[1 : d + 1] @ coef)[None])[0]

    @staticmethod
    def _shaped(coef):
        return coef

    def _score_instances(self, bags):
        return times(bags.instances, self.coef_) + self.intercept_


def _cross_products(block):
    """Σ w n r rᵀ over bags, r being one, the bag's mean features and its mean targets."""
    bags, target, weight = block
    means = (np.asarray(target, dtype=np.float64).T / bags.sizes).T
    rows = np.column_stack([np.ones(len(bags)), bag_means(bags), means])
    return rows.T @ ((weight * bags.sizes)[:, None] * rows)


class AggregateRidgeRegressor(_RidgeOnMeans, BagRegressor):
    """Ridge regression on the means of bags, for totals (Goodman's regression, with features).

    Dividing a bag's total by its size gives an ordinary linear regression of mean targets on mean
    features; a bag counts by its size::

        min Σ_c w_c n_c (ȳ_c − ⟨w, x̄_c⟩ − b)² + alpha ‖w‖²

    The plain first answer for totals; every other learner should beat it. With bags of one it is
    `sklearn.linear_model.Ridge`.

    Parameters
    ----------
    alpha : float, default=1.0
        Price of large weights; the intercept is free.
    aggregate : {"sum", "mean"}, default="sum"
        What `y` holds and `predict` returns: totals or means of bags.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float

    See Also
    --------
    AggregateRidgeClassifier : The same for counts of classes.
    AggregatePoissonRegressor : For totals of events, which are never negative.
    AggregateSVR : Curved functions, and a tube in place of squares: one odd total weighs less.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.aggregate import AggregateRidgeRegressor
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> bags = Bags(X, np.arange(0, 301, 5))
    >>> totals = np.add.reduceat(3 * X[:, 0] - X[:, 1] + 2, bags.offsets[:-1])
    >>> np.round(AggregateRidgeRegressor(alpha=1e-6).fit(bags, totals).coef_, 3)
    array([ 3., -1.])
    """

    _linear = True

    def __init__(self, alpha=1.0, *, aggregate="sum"):
        self.alpha = alpha
        self.aggregate = aggregate

    @staticmethod
    def _shaped(coef):
        return coef[:, 0]

    def _posterior(self, blocks):
        """Weights, and their precision by bags, with the spread that they show, and by prior."""
        total = blocks.sum(_cross_products)
        square = total[:-1, :-1]
        prior = self.alpha * np.diag(np.append(0.0, np.ones(len(square) - 1)))
        error = np.append(np.append(-self.intercept_, -self.coef_), 1.0)
        used = np.trace(np.linalg.solve(square + prior, square))
        freedom = blocks.sum(Labelled.total_weight) - used
        variance = max(error @ total @ error, 0.0) / max(freedom, 1.0)
        scale = 1.0 / max(variance, np.finfo(float).tiny)
        # The constant comes first in the sums and last in the weights.
        told, prior = (np.roll(scale * part, -1, axis=(0, 1)) for part in (square, prior))
        return WeightPosterior(np.append(self.coef_, self.intercept_), told, prior)

    def _take_weights(self, flat):
        self.coef_, self.intercept_ = flat[:-1], float(flat[-1])


class AggregateRidgeClassifier(_RidgeOnMeans, CountClassifier):
    """Ridge regression of bags' shares on their means, for counts.

    A linear score a class, matched to the shares of the classes by least squares as in
    :class:`AggregateRidgeRegressor`; the largest score is the class of an instance.

    Parameters
    ----------
    alpha : float, default=1.0
        Price of large weights; intercepts are free.
    aggregate : {"sum", "mean"}, default="sum"
        Whether a one-dimensional `y` holds counts of positives or shares.

    Attributes
    ----------
    coef_ : array of shape (n_features, n_classes)
    intercept_ : array of shape (n_classes,)
    classes_ : array

    See Also
    --------
    AggregateRidgeRegressor : The same for totals.
    AggregateLogisticRegression : A likelihood of the counts, and probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.aggregate import AggregateRidgeClassifier
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> votes = X[:, 0] > X[:, 1]
    >>> precincts = Bags(X, np.arange(0, 401, 8))
    >>> model = AggregateRidgeClassifier()
    >>> model = model.fit(precincts, np.add.reduceat(votes.astype(int), precincts.offsets[:-1]))
    >>> float(np.mean(model.predict_instances(precincts) == votes)) > 0.9
    True
    """

    def __init__(self, alpha=1.0, *, aggregate="sum"):
        self.alpha = alpha
        self.aggregate = aggregate
