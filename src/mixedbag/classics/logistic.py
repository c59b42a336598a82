"""Logistic regression on instances, with the labels of bags."""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from mixedbag._once import once
from mixedbag._parameters import above, one_of, whole
from mixedbag._wide import times, transposed_times
from mixedbag.base import BagClassifier, LogOddsMixin
from mixedbag.engines.local import Labelled, LocalBlocks
from mixedbag.pooling import Mean, MeanProbability, NoisyOr

__all__ = ["MILogisticRegression"]

_POOLINGS = {"any": NoisyOr(), "mean": Mean(), "mean_probability": MeanProbability()}


class _Minimum(NamedTuple):
    parameters: np.ndarray
    objective: np.ndarray  # after each step
    n_iter: int


class MILogisticRegression(LogOddsMixin, BagClassifier):
    """Multiple-instance logistic regression (Xu and Frank, 2004; Ray and Craven, 2005).

    Every instance has log-odds ``F_ij = ⟨w, x_ij⟩ + b``; the bag's log-odds ``Y_i`` pool them, and
    the weights minimise::

        ½ ‖w‖² + C Σ_i log(1 + exp(−t_i Y_i)),   t_i = ±1

    With ``pooling="any"`` the bag is positive when some instance is, each independently (noisy-or);
    with "mean" all instances matter alike, and the problem is convex: Xu and Frank's geometric
    mean. With "mean_probability" the probability of a bag is the arithmetic mean of those of its
    instances, their other model, which the boosting literature calls MI-LR. With bags of one all
    are `sklearn.linear_model.LogisticRegression`.

    Parameters
    ----------
    C : float
        Inverse strength of the penalty on weights; the intercept is free.
    pooling : {"any", "mean", "mean_probability"}
        How instances make the bag's label.
    max_iter : int
        Most L-BFGS steps.
    tol : float
        Stops when no component of the gradient is larger than this times ``C`` and the total
        weight of the bags.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    objective_ : array
        The objective after each step; without those towards the start, except for "mean".
    n_iter_ : int
        Number of steps, those towards the start included.

    See Also
    --------
    mixedbag.margin.BagMarginSVC : A wide margin in place of a likelihood; kernels for curved
        boundaries.
    mixedbag.boosting.NoisyOrBoost : The same noisy-or over sums of stumps: curved, and blind to the
        scale of features.
    mixedbag.embeddings.MINetworkClassifier : A hidden layer before the instances' scores.

    Notes
    -----
    Only "mean" is convex; other searches start from its solution, so fits are repeatable.

    Examples
    --------
    >>> from mixedbag.classics import MILogisticRegression
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=60, random_state=0)
    >>> model = MILogisticRegression().fit(data.bags, data.y)
    >>> model.predict_proba_instances(data.bags).shape[1]
    2
    """

    _rules = ("any",)
    _linear = True
    _search_space = {"pooling": ["any", "mean"], "C": [0.01, 0.1, 1.0, 10.0]}
    _needs_scaling = True
    _accepts_sparse = True
    _parameter_constraints = {
        "C": [above(0)],
        "pooling": [one_of(*_POOLINGS)],
        "max_iter": [whole(1)],
    }

    def __init__(self, C=1.0, *, pooling="any", max_iter=1000, tol=1e-6):
        self.C = C
        self.pooling = pooling
        self.max_iter = max_iter
        self.tol = tol

    @property
    def _pooling(self):  # type: ignore[override]
        return _POOLINGS[self.pooling]

    def _fit_blocks(self, blocks):
        # The mean is a convex problem, and a start for the others.
        zeros = np.zeros(self.n_features_in_ + 1)
        first = partial(self._minimise, Mean(), blocks, zeros)
        if isinstance(blocks, LocalBlocks):
            values = [value for block in blocks.blocks for value in block]
            found = once(first, "mean logistic", self.C, self.max_iter, self.tol, *values)
        else:
            found = first()
        self.n_iter_ = found.n_iter
        if self._pooling != Mean():
            found = self._minimise(self._pooling, blocks, found.parameters)
            self.n_iter_ += found.n_iter
        self.objective_ = found.objective
        self.coef_, self.intercept_ = found.parameters[:-1], found.parameters[-1]

    def _minimise(self, pooling, blocks, parameters):
        arguments = (pooling, blocks, self.C)
        history = [penalised_loss(parameters, *arguments)[0]]
        result = minimize(
            penalised_loss,
            parameters,
            arguments,
            jac=True,
            method="L-BFGS-B",
            callback=lambda intermediate_result: history.append(intermediate_result.fun),
            options={
                "maxiter": self.max_iter,
                "gtol": self.tol * self.C * blocks.sum(Labelled.total_weight),
                "ftol": 16 * np.finfo(float).eps,
                "maxcor": 20,
            },
        )
        return _Minimum(result.x, np.array(history), int(result.nit))

    def _score_instances(self, bags):
        return times(bags.instances, self.coef_) + self.intercept_


def penalised_loss(parameters, pooling, blocks, C):
    """The objective and its gradient by weights and intercept, over blocks of labelled bags."""
    coef = parameters[:-1]
    total = C * blocks.sum(block_loss, parameters, pooling)
    return 0.5 * coef @ coef + total[0], np.append(coef, 0.0) + total[1:]


def block_loss(block, parameters, pooling):
    """The weighted logistic loss of a block's bags, and its gradient behind it."""
    bags, sign, weight = block
    scores = times(bags.instances, parameters[:-1]) + parameters[-1]
    pooled, shares, *_ = pooling.derivatives(scores, bags.offsets)
    margin = sign * pooled
    by_bag = -weight * sign * expit(-margin)
    by_instance = bags.spread(by_bag) * shares
    loss = weight @ np.logaddexp(0.0, -margin)
    by_weight = transposed_times(bags.instances, by_instance)
    return np.concatenate([[loss], by_weight, [by_instance.sum()]])
