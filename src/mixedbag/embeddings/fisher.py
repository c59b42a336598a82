"""Fisher vectors: how a bag would like a mixture of Gaussians to change."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from mixedbag._parameters import between, whole
from mixedbag._wide import pieces, times, transposed_times
from mixedbag.embeddings._base import EmbeddedClassifier, signed_root
from mixedbag.embeddings._mixture import Mixture
from mixedbag.pooling import Mean

__all__ = ["FisherVectorClassifier"]


class FisherVectorClassifier(EmbeddedClassifier):
    """Fisher vectors of bags, and any classifier of them (miFV; Wei, Wu and Zhou, 2017).

    After a few principal components, a small mixture of Gaussians (shares w, means μ, standard
    deviations σ) describes the instances of all bags. A bag is described by the direction in which
    it would move that mixture, with γ the probability of a component for an instance::

        Σ_j γ_jk (x_j − μ_k) / σ_k / (n √w_k),
        Σ_j γ_jk [((x_j − μ_k) / σ_k)² − 1] / (n √(2 w_k))

    for every component k; then the signed root of every entry, and length one. Assumes nothing of
    how instances make a label: bags of a class look alike as a whole.

    Parameters
    ----------
    n_components : int, default=2
        Components of the mixture.
    variance : float, default=0.9
        Share of the variance that the principal components keep.
    C : float, default=10.0
        Inverse strength of the penalty of the logistic regression behind it.
    estimator : scikit-learn classifier, optional
        Takes its place.
    random_state : int, RandomState instance or None, default=None
        Draws the first centres of the mixture.

    Attributes
    ----------
    axes_, mean_ : arrays
        The principal components.
    shares_, means_, variances_ : arrays
        The mixture.
    model_ : fitted classifier
    classes_ : array

    See Also
    --------
    VLADClassifier : Clusters in place of a mixture: tells where instances lie, not how wide.
    VocabularyClassifier : Only the shares of each kind; instances are scored exactly.

    Examples
    --------
    >>> from mixedbag.datasets import make_any
    >>> from mixedbag.embeddings import FisherVectorClassifier
    >>> data = make_any(n_bags=80, random_state=0)
    >>> model = FisherVectorClassifier(random_state=0).fit(data.bags, data.y)
    >>> model.predict_proba(data.bags).shape
    (80, 2)
    """

    _search_space = {"n_components": [1, 2, 4], "C": [1.0, 10.0, 100.0]}
    _parameter_constraints = {
        "n_components": [whole(1)],
        "variance": [between(0, 1, closed="right")],
    }

    def __init__(self, n_components=2, *, variance=0.9, C=10.0, estimator=None, random_state=None):
        self.n_components = n_components
        self.variance = variance
        self.C = C
        self.estimator = estimator
        self.random_state = random_state

    def _learn_vectors(self, bags, weight, rng):
        row_weight = bags.spread(weight)
        principal = Principal.fit(bags.instances, row_weight, self.variance)
        self.mean_, self.axes_ = principal.mean, principal.axes
        rows = principal(bags.instances)
        mixture = Mixture.fit(rows, row_weight, self.n_components, rng)
        self.shares_, self.means_, self.variances_ = mixture.share, mixture.mean, mixture.variance

    def _vectors(self, bags):
        rows = Principal(self.mean_, self.axes_)(bags.instances)
        mixture = Mixture(self.shares_, self.means_, self.variances_)
        belongs = mixture.responsibilities(rows)
        parts = []
        for k, share in enumerate(self.shares_):
            away = (rows - self.means_[k]) / np.sqrt(self.variances_[k])
            by_mean = belongs[:, [k]] * away / np.sqrt(share)
            by_variance = belongs[:, [k]] * (away**2 - 1.0) / np.sqrt(2 * share)
            parts += [Mean().value(by_mean, bags.offsets), Mean().value(by_variance, bags.offsets)]
        return signed_root(np.hstack(parts))


@dataclass(frozen=True)
class Principal:
    """``(x − mean) @ axes``: coordinates along the main axes of weighted instances."""

    mean: np.ndarray
    axes: np.ndarray

    @classmethod
    def fit(cls, X, weight, share):
        """The fewest axes that hold `share` of the variance."""
        weight = weight / weight.sum()
        mean = transposed_times(X, weight)
        spread = np.zeros((len(mean), len(mean)))
        for rows, piece in pieces(X):
            away = piece - mean
            spread += away.T @ (weight[rows, None] * away)
        variance, axes = linalg.eigh(spread)
        variance, axes = np.clip(variance[::-1], 0.0, None), axes[:, ::-1]
        total = variance.sum()
        kept = 1
        if total > 0:
            enough = np.cumsum(variance) >= share * total * (1 - 1e-12)
            kept = int(enough.argmax()) + 1
        axes = axes[:, :kept]
        # Axes have no direction of their own: the largest entry is made positive.
        largest = axes[np.abs(axes).argmax(axis=0), np.arange(kept)]
        return cls(mean, axes * np.where(largest < 0, -1.0, 1.0))

    def __call__(self, X):
        return times(X, self.axes) - self.mean @ self.axes
