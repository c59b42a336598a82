"""A mean-pooled network of one layer: a learned embedding, instance by instance."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.utils import check_random_state

from mixedbag._parameters import at_least, whole
from mixedbag.base import BagClassifier, LogOddsMixin
from mixedbag.pooling import Mean

__all__ = ["MeanNetworkClassifier"]


class MeanNetworkClassifier(LogOddsMixin, BagClassifier):
    """One layer of rectified units, averaged over a bag, and a linear score of the average.

    A bag has the log-odds ``Y = ⟨v, mean_j max(0, W x_j + b)⟩ + c``; the weights minimise::

        Σ_i w_i log(1 + exp(−t_i Y_i)) / Σ_i w_i  +  alpha/2 (‖W‖² + ‖v‖²)

    The mean is taken before the score, so the score of a bag is the mean of the scores of its
    instances, exactly. Suits bags that differ in what they are made of, more than in one witness.

    Parameters
    ----------
    hidden : int, default=32
        Number of units.
    alpha : float, default=1e-2
        Price of large weights.
    max_iter : int, default=200
        Most L-BFGS steps.
    n_init : int, default=3
        Networks from different random starts, whose scores are averaged.
    tol : float, default=1e-6
        Stops when no component of the gradient is larger.
    random_state : int, RandomState instance or None, default=None
        First weights.

    Attributes
    ----------
    weights_ : array of shape (n_init, n_weights)
        All weights and biases of every network, in one row each.
    objective_ : array
        The objective after each step of the last network; it never rises.
    n_iter_ : int
    classes_ : array

    See Also
    --------
    MINetworkClassifier : Pools scores by a soft maximum, for bags that one instance decides.
    mixedbag.classics.MILogisticRegression : Without a hidden layer: linear, and quicker.
    mixedbag.deep.AttentionClassifier : Learns how much each instance counts; wants many bags.

    Examples
    --------
    >>> from mixedbag.datasets import make_any
    >>> from mixedbag.embeddings import MeanNetworkClassifier
    >>> data = make_any(n_bags=80, random_state=0)
    >>> model = MeanNetworkClassifier(random_state=0).fit(data.bags, data.y)
    >>> model.predict_proba_instances(data.bags).shape[1]
    2
    """

    _rules = ("any", "majority")
    _needs_scaling = True
    _accepts_sparse = True
    _pooling = Mean()
    _search_space = {"hidden": [16, 64], "alpha": [1e-3, 1e-2, 1e-1]}
    _parameter_constraints = {
        "hidden": [whole(1)],
        "alpha": [at_least(0)],
        "max_iter": [whole(1)],
        "n_init": [whole(1)],
    }

    def __init__(
        self, hidden=32, *, alpha=1e-2, max_iter=200, n_init=3, tol=1e-6, random_state=None
    ):
        self.hidden = hidden
        self.alpha = alpha
        self.max_iter = max_iter
        self.n_init = n_init
        self.tol = tol
        self.random_state = random_state

    def _fit(self, bags, sign, weight):
        rng = check_random_state(self.random_state)
        d, h = bags.n_features, self.hidden
        networks = []
        for _ in self._iterations(self.n_init):
            start = np.concatenate(
                [
                    rng.standard_normal(d * h) * np.sqrt(2.0 / max(d, 1)),
                    np.zeros(h),
                    rng.standard_normal(h) / np.sqrt(h),
                    [0.0],
                ]
            )
            networks.append(self._minimise(start, bags, sign, weight))
        self.weights_ = np.array(networks)

    def _minimise(self, start, bags, sign, weight):
        history = []
        result = minimize(
            objective,
            start,
            args=(bags, sign, weight, self.hidden, self.alpha, self._pooling),
            jac=True,
            method="L-BFGS-B",
            callback=lambda intermediate_result: history.append(intermediate_result.fun),
            options={"maxiter": self.max_iter, "gtol": self.tol},
        )
        self.objective_, self.n_iter_ = np.array(history), max(1, int(result.nit))
        return result.x

    def _score_instances(self, bags):
        scores = [_forward(flat, bags.instances, self.hidden)[1] for flat in self.weights_]
        return np.mean(scores, axis=0)


def objective(flat, bags, sign, weight, hidden, alpha, pooling):
    """The penalised mean logistic loss of bags, and its gradient."""
    active, scores = _forward(flat, bags.instances, hidden)
    W, _, v, _ = _split(flat, bags.n_features, hidden)
    margin = sign * pooling.value(scores, bags.offsets)
    total = weight.sum()
    loss = weight @ np.logaddexp(0.0, -margin) / total
    by_score = bags.spread(-weight * sign * expit(-margin) / total)
    by_score *= pooling.weights(scores, bags.offsets)
    by_active = np.outer(by_score, v) * (active > 0)
    X = bags.instances
    gradient = np.concatenate(
        [
            np.asarray(X.T @ by_active.astype(X.dtype), dtype=np.float64).ravel()
            + alpha * W.ravel(),
            by_active.sum(axis=0),
            active.T @ by_score + alpha * v,
            [by_score.sum()],
        ]
    )
    return loss + 0.5 * alpha * (float((W**2).sum()) + float(v @ v)), gradient


def _forward(flat, X, hidden):
    """Activations of the units, and scores of the instances."""
    W, b, v, c = _split(flat, X.shape[1], hidden)
    active = np.maximum(np.asarray(X @ W.astype(X.dtype), dtype=np.float64) + b, 0.0)
    return active, active @ v + c


def _split(flat, n_features, hidden):
    """Weights and biases of the units, weights of the score, its constant: views of `flat`."""
    cut = n_features * hidden
    return (
        flat[:cut].reshape(n_features, hidden),
        flat[cut : cut + hidden],
        flat[cut + hidden : -1],
        flat[-1],
    )
