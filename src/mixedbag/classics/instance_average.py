"""The wrapper of Frank and Xu: all instances of a bag have the same say."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from mixedbag._forests import grow, probabilities
from mixedbag._once import once
from mixedbag._parameters import having, one_of
from mixedbag.base import BagClassifier
from mixedbag.pooling import Mean

__all__ = ["InstanceAverageClassifier"]

_SURE = 1e-6  # probabilities nearer to 0 or 1 than this count as this near
_WHOLE = 2**20  # weights are whole numbers of this unit: these add up exactly in any order


class InstanceAverageClassifier(BagClassifier):
    """Any classifier of single instances, averaged over the bag (Frank and Xu, 2003).

    Assumes that all instances of a bag tell something of its class, equally and on their own. The
    classifier learns from instances that take their bag's label, each with weight ``1/size``, so
    that large bags count no more than small ones; the probability of a bag is the average of those
    of its instances.

    Parameters
    ----------
    estimator : scikit-learn classifier with probabilities and weights, optional
        By default, a hundred random trees.
    average : {"arithmetic", "geometric"}, default="arithmetic"
        The mean of probabilities, or of their logarithms: the second lets one instance that is sure
        outvote many that are not.
    random_state : int, RandomState or None
        For the random trees.
    n_jobs : int or None
        Threads that grow them.

    Attributes
    ----------
    estimator_ : fitted classifier
    classes_ : array

    See Also
    --------
    mixedbag.wrappers.SpreadLabels : Every instance counts the same; the largest score, or the
        majority, decides.
    MILogisticRegression : With ``pooling="mean"``, averages log-odds and fits the bags' labels
        directly.

    Examples
    --------
    >>> from mixedbag.classics import InstanceAverageClassifier
    >>> from mixedbag.datasets import make_majority
    >>> data = make_majority(n_bags=60, random_state=0)
    >>> model = InstanceAverageClassifier(random_state=0).fit(data.bags, data.y)
    >>> bool(model.score(data.bags, data.y) > 0.9)
    True
    """

    _rules = ("any", "majority")
    _multiclass = True
    _accepts_sparse = True
    _own_proba = True
    _search_space = {"average": ["arithmetic", "geometric"]}
    _parameter_constraints = {
        "estimator": [having("fit", "predict_proba"), None],
        "average": [one_of("arithmetic", "geometric")],
    }

    def __init__(self, estimator=None, *, average="arithmetic", random_state=None, n_jobs=None):
        self.estimator = estimator
        self.average = average
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, bags, codes, weight):
        labels = bags.spread(codes)
        share = bags.spread(weight * np.round(_WHOLE / bags.sizes)) / _WHOLE
        if self.estimator is None:
            learned = ("random trees", bags, codes, weight, self.random_state)
            self.estimator_ = once(lambda: self._trees(bags.instances, labels, share), *learned)
            return
        model = clone(self.estimator)
        if not has_fit_parameter(model, "sample_weight"):
            raise ValueError(f"{type(model).__name__} takes no weights, and instances need them")
        self.estimator_ = model.fit(bags.instances, labels, sample_weight=share)

    def _trees(self, rows, labels, weight):
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        return grow(
            ExtraTreesClassifier(random_state=seed, n_jobs=self.n_jobs), rows, labels, weight
        )

    def _probabilities(self, bags):
        """A row of probabilities a bag."""
        if self.estimator is None:
            table = probabilities(self.estimator_, bags.instances)
        else:
            table = self.estimator_.predict_proba(bags.instances)
        if self.average == "arithmetic":
            return Mean().value(table, bags.offsets)
        logs = Mean().value(np.log(np.clip(table, _SURE, 1.0)), bags.offsets)
        product = np.exp(logs - logs.max(axis=1, keepdims=True))
        return product / product.sum(axis=1, keepdims=True)

    def _score_bags(self, bags):
        logs = np.log(np.clip(self._probabilities(bags), _SURE, 1.0 - _SURE))
        return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs

    def predict_proba(self, bags: Any) -> np.ndarray:
        """Probability of each class, a row a bag."""
        return self._probabilities(self._fitted(bags))

    def predict_proba_instances(self, bags: Any) -> np.ndarray:
        """Probability of each class, a row an instance."""
        return self._probabilities(self._fitted(bags).singletons())
