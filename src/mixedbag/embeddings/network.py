"""A mean-pooled network of one layer: a learned embedding, instance by instance."""

import numpy as np
from scipy.special import expit
from sklearn.utils import check_random_state

from mixedbag._parameters import at_least, whole
from mixedbag._solvers.batch_lbfgs import BatchLBFGS
from mixedbag.base import BagClassifier, LogOddsMixin
from mixedbag.pooling import Mean

__all__ = ["MeanNetworkClassifier"]

_AT_ONCE = 2**23  # activations of networks that are learned together


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
    tol : float, default=1e-4
        A network has converged when a step lowers its objective by less than this share.
    random_state : int, RandomState instance or None, default=None
        First weights.

    Attributes
    ----------
    weights_ : array of shape (n_init, n_weights)
        All weights and biases of every network, in one row each.
    objective_ : array
        The objective after each step, the mean over networks; it never rises.
    n_iter_ : int
        Number of steps.
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
    _search_space = {"hidden": [16], "alpha": [1e-3, 1e-2, 1e-1]}
    _parameter_constraints = {
        "hidden": [whole(1)],
        "alpha": [at_least(0)],
        "max_iter": [whole(1)],
        "n_init": [whole(1)],
    }

    def __init__(
        self, hidden=32, *, alpha=1e-2, max_iter=200, n_init=3, tol=1e-4, random_state=None
    ):
        self.hidden = hidden
        self.alpha = alpha
        self.max_iter = max_iter
        self.n_init = n_init
        self.tol = tol
        self.random_state = random_state

    def _fit(self, bags, sign, weight):
        rng = check_random_state(self.random_state)
        d, h, n = bags.n_features, self.hidden, self.n_init
        starts = np.hstack(
            [
                rng.standard_normal((n, d * h)) * np.sqrt(2.0 / max(d, 1)),
                np.zeros((n, h)),
                rng.standard_normal((n, h)) / np.sqrt(h),
                np.zeros((n, 1)),
            ]
        )
        n_parts = min(n, -(-bags.n_instances * n * h // _AT_ONCE))
        given = bags, sign, weight, h, self.alpha, self._pooling
        searches = [
            BatchLBFGS(lambda points: objective(points, *given), part, self.tol)
            for part in np.array_split(starts, n_parts)
        ]
        for _ in self._iterations(self.max_iter):
            for search in searches:
                if not search.converged:
                    search.step()
            if all(search.converged for search in searches):
                break
        self.weights_ = np.concatenate([search.points for search in searches])
        self.objective_ = _mean_history(searches)
        self.n_iter_ = len(self.objective_)

    def _score_instances(self, bags):
        W, b, v, c = _split(self.weights_, bags.n_features, self.hidden)
        scores = 0.0
        for k in range(len(c)):
            one = _activations(W[[k]], b[[k]], bags.instances)[:, 0]
            scores = scores + one @ v[k] + c[k]
        return scores / len(c)


def _mean_history(searches):
    """Mean over all starts after each step; those that have converged keep their values."""
    n_steps = max(len(search.history) for search in searches)
    values = [
        np.vstack([*search.history, *[search.values] * (n_steps - len(search.history))])
        for search in searches
    ]
    return np.hstack(values).mean(axis=1)[1:]


def objective(points, bags, sign, weight, hidden, alpha, pooling):
    """The penalised mean logistic loss of bags and its gradient, for a network a row."""
    X, n, n_bags = bags.instances, bags.n_instances, len(bags)
    W, b, v, c = _split(points, bags.n_features, hidden)
    active = _activations(W, b, X)
    each = range(len(points))
    scores = np.array([active[:, k] @ v[k] + c[k] for k in each])
    # The bags of all networks, laid end to end.
    shifts = n * np.arange(len(points))[:, None]
    offsets = np.append((shifts + bags.offsets[:-1]).ravel(), n * len(points))
    pooled = pooling.value(scores.ravel(), offsets).reshape(-1, n_bags)
    margin, total = sign * pooled, weight.sum()
    loss = np.logaddexp(0.0, -margin) @ weight / total
    by_bag = -weight * sign * expit(-margin) / total
    by_score = np.repeat(by_bag, bags.sizes, axis=1)
    by_score *= pooling.weights(scores.ravel(), offsets).reshape(-1, n)
    by_v = np.array([by_score[k] @ active[:, k] for k in each])
    is_active = active > 0
    by_active = np.multiply(by_score.T[:, :, None], v, out=active)  # activations are done with
    by_active *= is_active
    by_active = by_active.reshape(n, -1)
    by_W = np.asarray(X.T @ by_active.astype(X.dtype, copy=False), dtype=np.float64)
    by_W = by_W.reshape(bags.n_features, len(points), hidden).transpose(1, 0, 2) + alpha * W
    parts = by_W, np.ones(n) @ by_active, by_v + alpha * v, by_score.sum(axis=1)
    gradient = np.hstack([part.reshape(len(points), -1) for part in parts])
    return loss + 0.5 * alpha * ((W**2).sum(axis=(1, 2)) + (v**2).sum(axis=1)), gradient


def _activations(W, b, X):
    """Of the units of every network, shape (n_instances, n_networks, hidden): one product."""
    wide = W.transpose(1, 0, 2).reshape(W.shape[1], -1).astype(X.dtype, copy=False)
    active = np.asarray(X @ wide, dtype=np.float64)
    active += b.ravel()
    return np.maximum(active, 0.0, out=active).reshape(X.shape[0], *b.shape)


def _split(points, n_features, hidden):
    """Weights and biases of the units, weights of the score, its constant; a network a row."""
    cut = n_features * hidden
    return (
        points[:, :cut].reshape(-1, n_features, hidden),
        points[:, cut : cut + hidden],
        points[:, cut + hidden : -1],
        points[:, -1],
    )
