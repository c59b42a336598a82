"""A mean-pooled network of one layer: a learned embedding, instance by instance."""

import numpy as np
from numba import njit
from scipy.special import expit
from sklearn.utils import check_random_state

from mixedbag._parameters import at_least, whole
from mixedbag._solvers.batch_lbfgs import BatchLBFGS
from mixedbag.bags import Bags
from mixedbag.base import BagClassifier, LogOddsMixin
from mixedbag.pooling import Mean

__all__ = ["MeanNetworkClassifier"]

_AT_ONCE = 2**23  # activations of networks that are learned together
_LARGE = 2**15  # entries of a table whose products take half the time in single precision


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
    _search_space = {"hidden": [16], "alpha": [1e-3, 1e-2, 1e-1], "max_iter": [100]}
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
        if bags.n_instances * d > _LARGE:
            bags = Bags(bags.instances.astype(np.float32, copy=False), bags.offsets)
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
            one = np.maximum(_product(W[[k]], bags.instances)[:, 0] + b[k], 0.0)
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
    """The penalised mean logistic loss of bags and its gradient, for a network a row.

    Units are computed in the precision of the instances, all else in double precision.
    """
    X, n, n_bags = bags.instances, bags.n_instances, len(bags)
    W, b, v, c = _split(points, bags.n_features, hidden)
    active = _product(W, X)
    scores = np.empty((len(points), n))
    _activate(active, b, v, c, scores)
    # The bags of all networks, laid end to end.
    shifts = n * np.arange(len(points))[:, None]
    offsets = np.append((shifts + bags.offsets[:-1]).ravel(), n * len(points))
    pooled, shares, *_ = pooling.derivatives(scores.ravel(), offsets)
    margin, total = sign * pooled.reshape(-1, n_bags), weight.sum()
    loss = np.logaddexp(0.0, -margin) @ weight / total
    by_bag = -weight * sign * expit(-margin) / total
    by_score = np.repeat(by_bag, bags.sizes, axis=1)
    by_score *= shares.reshape(-1, n)
    by_v, by_b = np.zeros_like(v), np.zeros_like(b)
    _step_back(active, by_score, v, by_v, by_b)  # activations become the derivatives by them
    by_W = X.T @ active.reshape(n, -1)
    gradient = alpha * points
    to_W, to_b, to_v, to_c = _split(gradient, bags.n_features, hidden)
    to_W += by_W.reshape(-1, *b.shape).transpose(1, 0, 2)
    to_v += by_v
    to_b[:], to_c[:] = by_b, by_score.sum(axis=1)  # constants are free
    weights = points[:, : W[0].size]
    size = np.vecdot(weights, weights) + np.vecdot(v, v)
    return loss + 0.5 * alpha * size, gradient


def _product(W, X):
    """What the units of every network get, shape (n_instances, n_networks, hidden): one product."""
    wide = W.transpose(1, 0, 2).reshape(W.shape[1], -1).astype(X.dtype, copy=False)
    return np.asarray(X @ wide).reshape(X.shape[0], len(W), W.shape[2])


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _activate(active, b, v, c, scores):
    """What units get becomes what they give, and makes the scores, a row a network."""
    for row in range(len(active)):
        for k in range(len(c)):
            score = c[k]
            for unit in range(b.shape[1]):
                x = max(active[row, k, unit] + b[k, unit], 0.0)
                active[row, k, unit] = x
                score += x * v[k, unit]
            scores[k, row] = score


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _step_back(active, by_score, v, by_v, by_b):
    """From the derivatives by scores those by what units give and, in its place, by what they get.

    By the weights and the constants of all rows they add up.
    """
    for row in range(len(active)):
        for k in range(len(v)):
            slope = by_score[k, row]
            for unit in range(v.shape[1]):
                x = active[row, k, unit]
                by_v[k, unit] += slope * x
                by_unit = slope * v[k, unit] if x > 0.0 else 0.0
                by_b[k, unit] += by_unit
                active[row, k, unit] = by_unit


def _split(points, n_features, hidden):
    """Weights and biases of the units, weights of the score, its constant; a network a row."""
    cut = n_features * hidden
    return (
        points[:, :cut].reshape(-1, n_features, hidden),
        points[:, cut : cut + hidden],
        points[:, cut + hidden : -1],
        points[:, -1],
    )
