"""RELIC: a decision tree over bags, whose tests ask whether some instance passes them."""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from mixedbag._described import described
from mixedbag._parameters import at_least, between
from mixedbag.base import BagClassifier, LogOddsMixin

__all__ = ["MITreeClassifier"]


class MITreeClassifier(LogOddsMixin, BagClassifier):
    """A decision tree whose tests one instance is enough to pass: RELIC (Ruffo, 2000).

    A node sends whole bags one way or the other. It asks either of two questions, of any feature f
    and at any threshold θ, and takes the one that tells most (in bits) about the bags' labels::

        has some instance x_f > θ ?        has some instance x_f ≤ θ ?

    Questions on the way from the root to a leaf may be answered by different instances, so a bag
    can be positive for what its instances have together. The first question is about the largest
    value in the bag, the second about the smallest: the tree is scikit-learn's, grown over both.

    Parameters
    ----------
    ccp_alpha : float, default=0.01
        Price of a leaf, in bits a bag: branches that do not gain as much are cut back.
    min_share : float, default=0.02
        Smallest share of all (weighted) bags in a leaf.

    Attributes
    ----------
    tree_ : DecisionTreeClassifier
        Its columns are the smallest values of all features, then the largest.

    See Also
    --------
    MIForestClassifier : Many trees, which ask all their questions of one and the same instance.
    TwoLevelClassifier : Which leaves of trees over instances a bag occupies.
    mixedbag.wrappers.BagFeatures : The same description, for any estimator behind it.

    Notes
    -----
    Neither Ruffo's own text nor one that spells out its tests was available to us: the questions
    are those that the method is commonly said to ask. He built on C4.5, which divides the gain of a
    question by its split information and prunes by estimated errors; here the gain stands alone and
    the tree is cut back by its cost. The score of a bag is the log-odds of its leaf, with one bag
    added to either class; that of an instance is what the tree says of it alone.

    Examples
    --------
    >>> from mixedbag.classics import MITreeClassifier
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=60, n_features=2, separation=8.0, random_state=0)
    >>> model = MITreeClassifier().fit(data.bags, data.y)
    >>> bool(model.score(data.bags, data.y) > 0.9)
    True
    """

    _rules = ("any",)
    _search_space = {"ccp_alpha": [0.0, 0.01, 0.03]}
    _accepts_sparse = True
    _parameter_constraints = {"ccp_alpha": [at_least(0)], "min_share": [between(0, 0.5)]}

    def __init__(self, ccp_alpha=0.01, *, min_share=0.02):
        self.ccp_alpha = ccp_alpha
        self.min_share = min_share

    def _fit(self, bags, sign, weight):
        self.tree_ = DecisionTreeClassifier(
            criterion="entropy",
            min_weight_fraction_leaf=self.min_share,
            ccp_alpha=self.ccp_alpha,
            random_state=0,  # of equally good features, always the same
        ).fit(_extremes(bags), sign, weight)

    def _score_bags(self, bags):
        leaf = self.tree_.apply(_extremes(bags))
        grown = self.tree_.tree_
        negative, positive = (grown.value[leaf, 0] * grown.weighted_n_node_samples[leaf, None]).T
        return np.log1p(positive) - np.log1p(negative)


def _extremes(bags):
    return described(bags, ("min", "max"))
