"""Transduction: an unlabelled example is a bag of its two readings (thesis, 3.2.1 and 7.7.6)."""

import numpy as np
from scipy.sparse import issparse, vstack
from sklearn.base import clone

from mixedbag._parameters import at_least, having
from mixedbag.bags import Bags
from mixedbag.base import BagClassifier
from mixedbag.disjunctive._features import make_features
from mixedbag.disjunctive.lnpboost import LNPBoost
from mixedbag.exceptions import InputError

__all__ = ["TransductiveClassifier"]

UNLABELLED = -1


class TransductiveClassifier(BagClassifier):
    """Learn from a few labelled examples and many unlabelled ones.

    For a classifier through the origin, f(-x) = -f(x). So "x is positive or negative, with a
    margin" is the same as "the bag {x, -x} contains a positive instance, with a margin": every
    unlabelled example becomes a positive bag of two, and any bag learner of the *any* rule without
    a bias can use it. For radial basis features it is the mapped vector that is negated.

    Labels follow scikit-learn's `semi_supervised` module: classes are numbers, and -1 marks an
    unlabelled example. It must be a single instance; labelled examples may be whole bags.

    Parameters
    ----------
    estimator : bag classifier or None, default None
        Learns from the enlarged set of bags; its bias, if it has one, is switched off. If it has
        `features` and `gamma`, they describe the feature map. None means
        ``LNPBoost(features="rbf", random_state=0)``.
    unlabelled_weight : float, default 1.0
        Weight of all unlabelled examples together, as a multiple of that of the labelled ones.

    Attributes
    ----------
    estimator_ : the fitted bag classifier (two classes)
    transduction_ : array
        A label for every training example: the given one, or the inferred one.
    classes_ : array
        The classes, without -1.

    See Also
    --------
    LNPBoost : A learner that it can use; says how far the result can be from the best.
    SparseBagMarginSVC : Another, by a local search without a bound.
    sklearn.semi_supervised.SelfTrainingClassifier : Labels what it is sure of, round by round.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.disjunctive import SparseBagMarginSVC, TransductiveClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-2, 1, (30, 2)), rng.normal(2, 1, (30, 2))])
    >>> y = np.full(60, -1)
    >>> y[[0, 1]], y[[30, 31]] = 0, 1
    >>> model = TransductiveClassifier(SparseBagMarginSVC()).fit(X, y)
    >>> print(model.transduction_)
    [0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1
     1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1]
    """

    _rules = ("any",)
    _compared = False
    _needs_scaling = True
    _accepts_sparse = True

    _parameter_constraints = {
        "estimator": [having("fit", "decision_function_instances"), None],
        "unlabelled_weight": [at_least(0)],
    }

    def __init__(self, estimator=None, *, unlabelled_weight=1.0):
        self.estimator = estimator
        self.unlabelled_weight = unlabelled_weight

    @staticmethod
    def _is_unlabelled(y):
        return y == UNLABELLED if y.dtype.kind in "iuf" else np.zeros(len(y), dtype=bool)

    def _learn(self, bags, y, weight):
        unlabelled = self._is_unlabelled(y)
        large = np.flatnonzero(unlabelled & (bags.sizes > 1))
        if len(large):
            raise InputError(
                f"{bags.name(large[0])} is unlabelled and has {bags.sizes[large[0]]} instances: "
                "only single instances may be unlabelled"
            )
        self.classes_, codes = np.unique(y[~unlabelled], return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(
                f"{type(self).__name__} needs at least two classes besides {UNLABELLED}, which "
                f"marks unlabelled examples; the labelled bags contain one class only: "
                f"{self.classes_.tolist()}"
            )
        if len(self.classes_) == 2:
            sign = np.zeros(len(y))
            sign[~unlabelled] = 2.0 * codes - 1.0
            self._fit(bags, sign, weight)
        else:

            def train(one, k):
                target = np.full(len(y), UNLABELLED)
                target[~unlabelled] = codes == k
                one.fit(bags, target, sample_weight=weight)

            self._fit_one_vs_rest(train)
        self.transduction_ = np.empty(len(y), dtype=self.classes_.dtype)
        self.transduction_[~unlabelled] = self.classes_[codes]
        if unlabelled.any():
            scores = self._class_scores(bags[unlabelled], "_score_bags")
            self.transduction_[unlabelled] = self._labels(scores)

    def _fit(self, bags, sign, weight):
        default = LNPBoost(features="rbf", random_state=0)
        learner = default if self.estimator is None else clone(self.estimator)
        described = learner.get_params()
        self.feature_map_ = make_features(
            described.get("features", "linear"),
            bags.instances,
            bags.spread(weight),
            described.get("gamma", "scale"),
            described.get("n_thresholds", 5),
        )
        unknown = sign == 0
        mapped = bags.with_instances(self.feature_map_.transform(bags.instances))
        known = mapped[~unknown]
        readings = _both_readings(mapped[unknown].instances)
        stacked = _stack(known.instances, readings)
        sizes = np.concatenate([known.sizes, np.full(unknown.sum(), 2)])
        together = Bags(stacked, np.concatenate([[0], np.cumsum(sizes)]))
        target = np.concatenate([sign[~unknown], np.ones(unknown.sum())])
        cost = self._weights(sign, weight, bags.sizes)
        used = cost > 0
        # Through the origin, over features that are mapped already, with costs as given.
        wanted = {"fit_intercept": False, "features": "linear", "class_weight": None}
        learner.set_params(**{name: v for name, v in wanted.items() if name in described})
        self.estimator_ = learner.fit(together[used], target[used], sample_weight=cost[used])

    def _weights(self, sign, weight, sizes):
        """Bag weights: labelled ones first, balanced between the classes, then unlabelled ones."""
        total = weight.sum()
        share = self.unlabelled_weight / (1.0 + self.unlabelled_weight) if (sign == 0).any() else 0
        cost = np.empty(len(sign))
        for s in (1.0, -1.0):
            # A negative bag is charged for each of its instances.
            size = sizes[sign == s] if s < 0 else 1.0
            mass = weight[sign == s] / (weight[sign == s] * size).sum()
            cost[sign == s] = mass * total * (1.0 - share) / 2
        if share:
            cost[sign == 0] = weight[sign == 0] / weight[sign == 0].sum() * total * share
        return np.concatenate([cost[sign != 0], cost[sign == 0]])

    def _score_instances(self, bags):
        mapped = bags.with_instances(self.feature_map_.transform(bags.instances))
        return self.estimator_.decision_function_instances(mapped)


def _both_readings(rows):
    """x, -x, x', -x', …"""
    order = np.arange(2 * rows.shape[0]).reshape(2, -1).T.ravel()
    return _stack(rows, -rows)[order]


def _stack(a, b):
    return vstack([a, b], format="csr") if issparse(a) else np.vstack([a, b])
