"""DPMIL: a mixture of Gaussians for either class of instances, with as many parts as it takes."""

import numpy as np
from sklearn.utils import check_random_state

from mixedbag._annealing import soft_labels
from mixedbag._clusters import cluster
from mixedbag._parameters import above, whole
from mixedbag.base import BagClassifier, LogOddsMixin
from mixedbag.classics._dirichlet_mixture import DirichletMixture, Prior, SquaredRows, log_sum
from mixedbag.classics._rows import feature_moments
from mixedbag.pooling import bag_argmax

__all__ = ["DirichletMixtureClassifier"]

_LARGEST = 1e3  # log-odds: beyond, certain is certain


class DirichletMixtureClassifier(LogOddsMixin, BagClassifier):
    """Dirichlet process mixtures of both classes (DPMIL, Kandemir and Hamprecht, 2014).

    For labels that say "at least one instance is positive". Negative instances come from one
    mixture of Gaussians, positive ones from another; a Dirichlet process prior lets each use as few
    of its components as explain the data. Three things are revised by turns (variational Bayes):
    which component each instance belongs to, the components, and how probable each instance of a
    positive bag is positive::

        p = σ( log f₁(x) − log f₀(x) + log π/(1−π) + λ ),   the least λ ≥ 0 with Σ_j p_j ≥ 1

    where f are the densities and π the share of positive instances in positive bags. A generative
    model: it also knows what negative instances look like, and needs few bags, if Gaussians with
    independent features describe them.

    Parameters
    ----------
    n_components : int, default=10
        Most components of either mixture.
    concentration : float, default=1.0
        Of the Dirichlet process: larger uses more components.
    max_iter : int, default=100
        Most rounds.
    tol : float, default=1e-4
        Rounds end when no probability changes by more.
    random_state : int, RandomState or None
        For the first components.

    Attributes
    ----------
    means_, widths_ : arrays of shape (2, n_components, n_features)
        Of the components of either class, the negative first: expected mean and standard deviation.
    shares_ : array of shape (2, n_components)
        Expected share of each component, before scaling.
    posterior_ : dict of arrays
        What the scores are computed from.
    prior_log_odds_ : float
        log π/(1−π)
    witness_ : array
        Row of the most positive instance of each positive training bag.
    n_iter_ : int

    See Also
    --------
    DiverseDensity : Describes positive instances by one point alone, and no negative ones.
    MIForestClassifier : Revises the probabilities of instances in the same way, around a forest: no
        assumption on the shape of the classes.
    mixedbag.embeddings.FisherVectorClassifier : A mixture too, but of all instances together, to
        describe whole bags.

    Notes
    -----
    The score of a bag is that of its most positive instance. The paper predicts instances; its
    covariances are not said to be diagonal, ours are.

    Examples
    --------
    >>> from mixedbag.classics import DirichletMixtureClassifier
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=60, n_features=3, separation=5.0, random_state=0)
    >>> model = DirichletMixtureClassifier(random_state=0).fit(data.bags, data.y)
    >>> bool(model.score(data.bags, data.y) > 0.8)
    True
    """

    _rules = ("any",)
    _search_space = {"n_components": [3, 10], "concentration": [0.1, 10.0]}
    _needs_scaling = True
    _parameter_constraints = {
        "n_components": [whole(1)],
        "concentration": [above(0)],
        "max_iter": [whole(1)],
    }

    def __init__(
        self, n_components=10, *, concentration=1.0, max_iter=100, tol=1e-4, random_state=None
    ):
        self.n_components = n_components
        self.concentration = concentration
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _fit(self, bags, sign, weight):
        mean, variance = feature_moments(bags, weight)
        largest = float(variance.max()) or 1.0
        prior = Prior(mean, np.maximum(variance, 1e-6 * largest), self.concentration)
        rng = check_random_state(self.random_state)
        X, weight = bags.instances, bags.spread(weight)
        inside = bags.spread(sign) > 0
        offsets = np.concatenate([[0], np.cumsum(bags.sizes[sign > 0])])
        negative = _start(X, weight * ~inside, prior, self.n_components, rng)
        # At first, one instance a bag is positive: if all were, both mixtures would hold what is
        # common to all bags, and nothing would tell whose it is.
        rows = SquaredRows.of(X)
        strange = np.where(inside, -negative.log_density(rows), -np.inf)
        p = np.zeros(len(X))
        p[bag_argmax(strange, bags.offsets)[sign > 0]] = 1.0
        mixtures = [negative, _start(X, weight * p, prior, self.n_components, rng)]
        known = rows, SquaredRows.of(X[inside])  # what each mixture may hold
        joint = [m.log_joint(some) for m, some in zip(mixtures, known)]
        self.n_iter_ = 0
        for _ in self._iterations(self.max_iter):
            self.n_iter_ += 1
            shares = weight * (1.0 - p), weight[inside] * p[inside]
            mixtures = [
                DirichletMixture.updated(*made_of, prior) for made_of in zip(known, joint, shares)
            ]
            joint = [m.log_joint(some) for m, some in zip(mixtures, known)]
            some = weight[inside] @ p[inside], weight[inside] @ (1.0 - p[inside])
            self.prior_log_odds_ = float(np.log((some[0] + 1.0) / (some[1] + 1.0)))
            ratio = log_sum(joint[1]) - log_sum(joint[0][inside])
            after = soft_labels(_limited(ratio + self.prior_log_odds_), offsets, 1.0)
            moved = np.abs(after - p[inside]).max()
            p[inside] = after
            if moved <= self.tol:
                break
        names = ("log_share", "mean", "precision", "shape", "rate")
        self.posterior_ = {name: np.array([getattr(m, name) for m in mixtures]) for name in names}
        self.means_ = self.posterior_["mean"]
        self.widths_ = np.sqrt(self.posterior_["rate"] / self.posterior_["shape"][..., None])
        self.shares_ = np.exp(self.posterior_["log_share"])
        self.witness_ = bag_argmax(self._score_instances(bags), bags.offsets)[sign > 0]

    def _score_instances(self, bags):
        rows = SquaredRows.of(bags.instances)
        mixtures = [
            DirichletMixture(**{name: values[c] for name, values in self.posterior_.items()})
            for c in (0, 1)
        ]
        ratio = mixtures[1].log_density(rows) - mixtures[0].log_density(rows)
        return _limited(ratio + self.prior_log_odds_)


def _limited(log_odds):
    return np.clip(log_odds, -_LARGEST, _LARGEST)


def _start(X, weight, prior, n_components, rng):
    """A mixture around clusters of the rows that count."""
    rows = weight > 0
    found, some, counted = cluster(X[rows], weight[rows], n_components, rng)
    belongs = np.eye(n_components)[found.labels_]
    return DirichletMixture.of(SquaredRows.of(some), counted[:, None] * belongs, prior)
