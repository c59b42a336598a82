"""Vocabulary counts: which kinds of instances a bag is made of."""

import numpy as np
from scipy.special import softmax
from sklearn.metrics.pairwise import euclidean_distances

from mixedbag._clusters import centres_and_width
from mixedbag._parameters import whole
from mixedbag.embeddings._base import EmbeddedClassifier
from mixedbag.pooling import Mean

__all__ = ["VocabularyClassifier"]


class VocabularyClassifier(EmbeddedClassifier):
    """The shares of a bag's instances that are each of a few kinds, and any classifier of them.

    The instances of all bags are clustered into words. An instance belongs to each word by
    ``exp(−‖x − c_k‖² / 2s²)``, scaled to sum to one, with s the typical distance to the nearest
    centre; a bag is described by the mean over its instances. So the vector of a bag is the mean of
    those of its instances, and a linear model behind it scores every instance exactly: the bag's
    score is the mean of its instances' scores.

    Parameters
    ----------
    n_words : int, default=32
        Number of clusters.
    C : float, default=10.0
        Inverse strength of the penalty of the logistic regression behind it.
    estimator : scikit-learn classifier, optional
        Takes its place.
    random_state : int, RandomState instance or None, default=None
        Draws the first centres.

    Attributes
    ----------
    centers_ : array of shape (n_words, n_features)
    width_ : float
    model_ : fitted classifier
    classes_ : array

    See Also
    --------
    FisherVectorClassifier : Also tells where, within each kind, the instances of a bag lie.
    mixedbag.classics.TwoLevelClassifier : Regions that trees find with the help of the labels.
    mixedbag.wrappers.BagFeatures : Plain statistics of each feature over a bag.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.datasets import make_any
    >>> from mixedbag.embeddings import VocabularyClassifier
    >>> data = make_any(n_bags=80, random_state=0)
    >>> model = VocabularyClassifier(random_state=0).fit(data.bags, data.y)
    >>> bag = data.bags[:1]
    >>> scores = model.decision_function_instances(bag)
    >>> bool(np.isclose(scores.mean(), model.decision_function(bag)[0]))
    True
    """

    _accepts_sparse = True
    _search_space = {"n_words": [16, 64], "C": [1.0, 10.0, 100.0]}
    _parameter_constraints = {"n_words": [whole(1)]}

    def __init__(self, n_words=32, *, C=10.0, estimator=None, random_state=None):
        self.n_words = n_words
        self.C = C
        self.estimator = estimator
        self.random_state = random_state

    def _learn_vectors(self, bags, weight, rng):
        self.centers_, self.width_ = centres_and_width(
            bags.instances, bags.spread(weight), self.n_words, rng
        )

    def _vectors(self, bags):
        squared = euclidean_distances(bags.instances, self.centers_, squared=True)
        # Times the root of their number: shares of many words would all be tiny.
        words = softmax(-0.5 * squared / self.width_**2, axis=1) * np.sqrt(len(self.centers_))
        return Mean().value(np.asarray(words, dtype=np.float64), bags.offsets)
