"""Poisson regression of instances that is told totals of bags."""

import numpy as np

from mixedbag._account.counts import share_out
from mixedbag._parameters import above, whole
from mixedbag.aggregate._linear import linear_scores, minimise, posterior, with_gradient
from mixedbag.base import BagRegressor
from mixedbag.exceptions import InputError
from mixedbag.pooling import bag_logsumexp, bag_sum, spread

__all__ = ["AggregatePoissonRegressor"]


_LARGEST = 500.0  # a trial step may be absurdly long: its loss must compare as large, not overflow
_ROUNDED = 1e-12  # of a total: what is left of it where all rates are equal


class AggregatePoissonRegressor(BagRegressor):
    """Poisson regression that learns from totals of bags: events, sales, cases.

    Every instance has a rate ``exp(⟨w, x⟩ + b)``, times its exposure where it has one; the total of
    a bag is Poisson with the sum of its instances' rates as mean. The weights minimise::

        ½ ‖w‖² + C Σ_c w_c (μ_c − y_c log μ_c),    μ_c = Σ_{i∈c} e_i exp(⟨w, x_i⟩ + b)

    With bags of one instance this is `sklearn.linear_model.PoissonRegressor`. Totals that are no
    whole numbers count nobody knows what: they are learned in a unit of which bags, were all rates
    equal, would differ by as much as by chance. So it does not matter what they are counted in.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty on weights; the intercept is free.
    exposure : int or str, optional
        The column (its place or its name) that holds each instance's exposure: people, hours,
        area. It is no feature then, and predictions are in proportion to it. An offset of the
        logarithm is an exposure of its exponential. To scale all other features, say
        ``InstanceWise(StandardScaler(), keep=exposure)``.
    max_iter : int, default=1000
        Most L-BFGS steps.
    tol : float, default=1e-6
        Stops when no component of the gradient is larger than this times ``C`` and the total
        weight of the bags.
    n_jobs : int, optional
        Threads over blocks of bags.
    aggregate : {"sum", "mean"}, default="sum"
        What `y` holds and `predict` returns: totals or means of bags.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Zero for the exposure.
    intercept_ : float
    unit_ : float
        What totals are counted in; 1 of whole ones.
    objective_ : array
        The objective after each step; it never rises.
    n_iter_ : int

    See Also
    --------
    AggregateLogisticRegression : For counts that cannot pass the size of the bag.
    AggregateRidgeRegressor : For totals that may be negative.
    mixedbag.uncertainty.posterior : How sure the answers of the fitted model are.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.aggregate import AggregatePoissonRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 2))
    >>> cases = rng.poisson(np.exp(X[:, 0] - 1))
    >>> districts = Bags(X, np.arange(0, 3001, 10))
    >>> model = AggregatePoissonRegressor()
    >>> model = model.fit(districts, np.add.reduceat(cases, districts.offsets[:-1]))
    >>> bool(np.abs(model.coef_ - [1.0, 0.0]).max() < 0.1)
    True
    """

    _of_events = True
    _to_totals = staticmethod(share_out)
    _needs_scaling = True
    _accepts_sparse = True
    _search_space = {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}
    _parameter_constraints = {
        "C": [above(0)],
        "exposure": [whole(0), str, None],
        "max_iter": [whole(1)],
    }

    def __init__(
        self, C=1.0, *, exposure=None, max_iter=1000, tol=1e-6, n_jobs=None, aggregate="sum"
    ):
        self.C = C
        self.exposure = exposure
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.aggregate = aggregate

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    def _fit_blocks(self, blocks):
        column = self.exposure_column_ = self._column_of("exposure")
        total, exposure, broken = blocks.sum(_check_amounts, column)
        self.unit_ = 1.0
        if broken and total:
            squares, weight = blocks.sum(_squares, total / exposure, column)
            if squares > _ROUNDED**2 * total:
                self.unit_ = squares / weight
        start = np.zeros((self.n_features_in_ + 1, 1))
        # The rate that all instances would share; a tiny one where nothing ever happened.
        start[-1] = np.log((total / self.unit_ or 1e-3) / exposure)
        weights = minimise(self, blocks, start, _poisson_loss, self.unit_, column)
        self.coef_ = weights[:-1, 0]
        self.intercept_ = float(weights[-1, 0] + np.log(self.unit_))

    def _posterior(self, blocks):
        unit = getattr(self, "unit_", 1.0)  # models of 0.1.0 count in ones
        weights = np.append(self.coef_, self.intercept_ - np.log(unit))[:, None]
        return posterior(self, blocks, weights, _poisson_loss, unit, self.exposure_column_)

    def _take_weights(self, flat):
        unit = getattr(self, "unit_", 1.0)
        self.coef_, self.intercept_ = flat[:-1].copy(), float(flat[-1] + np.log(unit))
        if self.exposure_column_ is not None:
            self.coef_[self.exposure_column_] = 0.0

    def _exposures(self, bags):
        if self.exposure_column_ is None:
            return np.ones(bags.n_instances)
        return _exposure(bags, self.exposure_column_)

    def _score_instances(self, bags):
        weights = np.append(self.coef_, self.intercept_)[:, None]
        return np.exp(np.minimum(_log_rates(bags, weights, self.exposure_column_), _LARGEST))


def _log_rates(bags, weights, exposure_column):
    z = linear_scores(bags.instances, weights)[:, 0]
    return z + np.log(_exposure(bags, exposure_column)) if exposure_column is not None else z


def _exposure(bags, column):
    values = bags.instances[:, [column]]
    values = np.asarray(values.toarray() if bags.is_sparse else values, dtype=np.float64)[:, 0]
    if (values <= 0).any():
        row = int((values <= 0).argmax())
        bag = int(np.searchsorted(bags.offsets, row, side="right")) - 1
        raise InputError(
            f"an instance of {bags.name(bag)} has exposure {values[row]:g}; it must be positive"
        )
    return values


def _check_amounts(block, exposure_column):
    """Total amount and exposure of a block, and if amounts are no counts; it checks targets."""
    bags, total, weight = block
    if (total < 0).any():
        i = int((total < 0).argmax())
        raise InputError(
            f"Some value(s) of y are out of the valid range of a Poisson total: {bags.name(i)} has "
            f"{total[i]:g}, which is negative"
        )
    broken = (np.abs(total - np.round(total)) > 1e-12 * total) & (weight > 0)
    return np.array([weight @ total, weight @ _exposures(bags, exposure_column), broken.any()])


def _exposures(bags, exposure_column):
    """The exposure of every bag."""
    if exposure_column is None:
        return bags.sizes.astype(np.float64)
    return bag_sum(_exposure(bags, exposure_column), bags.offsets)


def _squares(block, rate, exposure_column):
    """Pearson's statistic of a block if all rates were this one, and its weight."""
    bags, total, weight = block
    mean = rate * _exposures(bags, exposure_column)
    return np.array([weight @ ((total - mean) ** 2 / mean), weight.sum()])


def _poisson_loss(block, weights, unit, exposure_column):
    bags, total, weight = block
    total = total / unit
    log_rate = _log_rates(bags, weights, exposure_column)
    log_mean = bag_logsumexp(log_rate, bags.offsets)
    mean = np.exp(np.minimum(log_mean, _LARGEST))
    loss = float(weight @ (mean - total * log_mean))
    share = np.exp(log_rate - spread(log_mean, bags.offsets))
    by_z = (spread(weight * (mean - total), bags.offsets) * share)[:, None]
    result = with_gradient(bags.instances, loss, by_z)
    if exposure_column is not None:
        result[1 + exposure_column] = 0.0
    return result
