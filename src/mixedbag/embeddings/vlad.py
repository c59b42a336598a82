"""VLAD: how a bag's instances lie around the centres they are nearest to."""

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances

from mixedbag._clusters import centres_and_width
from mixedbag._parameters import whole
from mixedbag.embeddings._base import EmbeddedClassifier, signed_root

__all__ = ["VLADClassifier"]


class VLADClassifier(EmbeddedClassifier):
    """Sums of differences to the nearest centre, and any classifier of them (miVLAD).

    The instances of all bags are clustered; a bag is described by ``Σ_j (x_j − c_k)`` over its
    instances nearest to centre ``c_k`` and, one entry more than in the paper, their number times
    the typical distance to a centre, for every k; then the signed root of every entry, and length
    one (Wei, Wu and Zhou, 2017). Without the number, bags around different centres but alike in
    direction could not be told apart. Assumes nothing of how instances make a label.

    Parameters
    ----------
    n_centers : int, default=4
        Number of clusters.
    C : float, default=10.0
        Inverse strength of the penalty of the logistic regression behind it.
    estimator : scikit-learn classifier, optional
        Takes its place.
    random_state : int, RandomState instance or None, default=None
        Draws the first centres.

    Attributes
    ----------
    centers_ : array of shape (n_centers, n_features)
    width_ : float
        The typical distance to the nearest centre.
    model_ : fitted classifier
    classes_ : array

    See Also
    --------
    FisherVectorClassifier : A mixture of Gaussians in place of clusters: also tells how wide a bag
        spreads.
    VocabularyClassifier : Only the shares of each kind; instances are scored exactly.

    Examples
    --------
    >>> from mixedbag.datasets import make_any
    >>> from mixedbag.embeddings import VLADClassifier
    >>> data = make_any(n_bags=80, random_state=0)
    >>> model = VLADClassifier(random_state=0).fit(data.bags, data.y)
    >>> model.centers_.shape[0]
    4
    """

    _search_space = {"n_centers": [2, 4, 8], "C": [1.0, 10.0, 100.0]}
    _parameter_constraints = {"n_centers": [whole(1)]}

    def __init__(self, n_centers=4, *, C=10.0, estimator=None, random_state=None):
        self.n_centers = n_centers
        self.C = C
        self.estimator = estimator
        self.random_state = random_state

    def _learn_vectors(self, bags, weight, rng):
        self.centers_, self.width_ = centres_and_width(
            bags.instances, bags.spread(weight), self.n_centers, rng
        )

    def _vectors(self, bags):
        nearest = euclidean_distances(bags.instances, self.centers_).argmin(axis=1)
        away = bags.instances - self.centers_[nearest]
        away = np.column_stack([away, np.full(len(away), self.width_)])
        # Every instance is added to the place of its bag and centre.
        n, k = len(away), len(self.centers_)
        where = np.ones(n), bags.bag_of * k + nearest, np.arange(n + 1)
        sums = sparse.csc_array(where, shape=(len(bags) * k, n)) @ away
        return signed_root(sums.reshape(len(bags), -1))
