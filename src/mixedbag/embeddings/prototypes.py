"""Learned prototypes: places in feature space whose closeness to a bag tells its class."""

import numpy as np
from numba import njit
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms

from mixedbag._clusters import cluster
from mixedbag._kernels import settled_gamma
from mixedbag._parameters import above, at_least, one_of, whole
from mixedbag._wide import pieces, times, transposed_times
from mixedbag.base import BagClassifier, LogOddsMixin

__all__ = ["PrototypeClassifier"]


class PrototypeClassifier(LogOddsMixin, BagClassifier):
    """A few learned places, the closeness of a bag to each, and a linear score of these.

    As in MILES a bag is described by ``s_k = max_j exp(−γ ‖x_j − p_k‖²)``, how close its nearest
    instance comes to each concept; but the concepts are moved, not picked. The search starts from
    the centres of clusters and lowers::

        Σ_i w_i log(1 + exp(−t_i (⟨v, s_i⟩ + c))) / Σ_i w_i  +  alpha/2 ‖v‖²

    in prototypes and weights together. Prototypes may speak for the class or against it. An
    instance is scored as a bag of one.

    Parameters
    ----------
    n_prototypes : int, default=8
        Number of places.
    gamma : float or "scale", default="scale"
        How fast closeness falls with squared distance. "scale" is
        ``1 / (n_features · variance)``.
    alpha : float, default=1e-2
        Price of large weights.
    max_iter : int, default=100
        Most L-BFGS steps.
    tol : float, default=1e-6
        Stops when no component of the gradient is larger.
    random_state : int, RandomState instance or None, default=None
        Draws the first centres.

    Attributes
    ----------
    prototypes_ : array of shape (n_prototypes, n_features)
    coef_ : array of shape (n_prototypes,)
    intercept_ : float
    gamma_ : float
    objective_ : array
        The objective after each step; it never rises.
    n_iter_ : int
    classes_ : array

    See Also
    --------
    mixedbag.classics.MILES : Picks its concepts among the training instances.
    mixedbag.classics.DDSVM : Looks for points near many bags of a class first, and learns a machine
        on the distances then.
    DissimilarityClassifier : Distances to whole training bags.

    Examples
    --------
    >>> from mixedbag.datasets import make_any
    >>> from mixedbag.embeddings import PrototypeClassifier
    >>> data = make_any(n_bags=80, random_state=0)
    >>> model = PrototypeClassifier(random_state=0).fit(data.bags, data.y)
    >>> model.prototypes_.shape[0]
    8
    """

    _rules = ("any",)
    _needs_scaling = True
    _accepts_sparse = True
    _search_space = {"n_prototypes": [16]}
    _parameter_constraints = {
        "n_prototypes": [whole(1)],
        "gamma": [above(0), one_of("scale")],
        "alpha": [at_least(0)],
        "max_iter": [whole(1)],
    }

    def __init__(
        self,
        n_prototypes=8,
        *,
        gamma="scale",
        alpha=1e-2,
        max_iter=100,
        tol=1e-6,
        random_state=None,
    ):
        self.n_prototypes = n_prototypes
        self.gamma = gamma
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _fit(self, bags, sign, weight):
        rng = check_random_state(self.random_state)
        self.gamma_ = settled_gamma(self.gamma, bags.instances, bags.spread(weight))
        row_weight = bags.spread(weight)
        # Half of them where positive bags are, so that what only they have finds a prototype.
        half = max(1, self.n_prototypes // 2)
        positive = bags.spread(sign) > 0
        centers = [
            cluster(bags.instances[mask], row_weight[mask], k, rng)[0].cluster_centers_
            for mask, k in ((positive, half), (~positive, self.n_prototypes - half))
            if k > 0
        ]
        start = np.vstack(centers)
        history: list[float] = []
        result = minimize(
            objective,
            np.concatenate([start.ravel(), np.zeros(len(start) + 1)]),
            args=(bags, sign, weight, self.gamma_, self.alpha),
            jac=True,
            method="L-BFGS-B",
            callback=lambda intermediate_result: history.append(intermediate_result.fun),
            options={"maxiter": self.max_iter, "gtol": self.tol},
        )
        self.prototypes_, self.coef_, self.intercept_ = _split(result.x, bags.n_features)
        self.objective_, self.n_iter_ = np.array(history), max(1, int(result.nit))

    def _score_bags(self, bags):
        close, _ = _closeness(bags, self.prototypes_, self.gamma_)
        return close @ self.coef_ + self.intercept_


def objective(flat, bags, sign, weight, gamma, alpha):
    """The penalised mean logistic loss of bags, and its gradient by prototypes and weights."""
    prototypes, v, c = _split(flat, bags.n_features)
    close, nearest = _closeness(bags, prototypes, gamma)
    margin = sign * (close @ v + c)
    total = weight.sum()
    loss = weight @ np.logaddexp(0.0, -margin) / total + 0.5 * alpha * float(v @ v)
    by_bag = -weight * sign * expit(-margin) / total
    by_close = np.outer(by_bag, v) * close
    by_row = np.zeros((bags.n_instances, len(prototypes)))
    by_row[nearest, np.arange(len(prototypes))] = by_close
    pulled = transposed_times(bags.instances, by_row).T
    towards = pulled - by_close.sum(axis=0)[:, None] * prototypes
    by_prototype = 2.0 * gamma * towards
    gradient = np.concatenate([by_prototype.ravel(), close.T @ by_bag + alpha * v, [by_bag.sum()]])
    return loss, gradient


def _closeness(bags, prototypes, gamma):
    """How close every bag comes to every prototype, and by which row."""
    X, shape = bags.instances, (len(bags), len(prototypes))
    squared, nearest = np.empty(shape), np.empty(shape, np.int64)
    own = np.concatenate([row_norms(piece, squared=True) for _, piece in pieces(X)])
    norms = own, row_norms(prototypes, squared=True)
    _nearest_rows(times(X, prototypes.T), *norms, bags.offsets, squared, nearest)
    with np.errstate(over="ignore"):  # too far away to be told: closeness zero
        return np.exp(-gamma * squared), nearest


@njit(cache=True, nogil=True)
def _nearest_rows(products, norms, own, offsets, squared, nearest):
    """Of every bag the row nearest to each prototype, the first of equals, and how near it is."""
    for bag in range(len(nearest)):
        for k in range(len(own)):
            squared[bag, k], nearest[bag, k] = np.inf, offsets[bag]
        for row in range(offsets[bag], offsets[bag + 1]):
            for k in range(len(own)):
                distance = max(-2.0 * products[row, k] + norms[row] + own[k], 0.0)
                if distance < squared[bag, k]:
                    squared[bag, k], nearest[bag, k] = distance, row


def _split(flat, n_features):
    k = (len(flat) - 1) // (n_features + 1)
    cut = k * n_features
    return flat[:cut].reshape(k, n_features), flat[cut:-1], flat[-1]
