"""What `SpreadLabels` does for each kind of label: an estimator fitted on labelled instances."""

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from mixedbag.base import BagClassifier, BagEstimator, BagRegressor
from mixedbag.counts import SharpenedCounts
from mixedbag.exceptions import InputError
from mixedbag.pooling import Majority, Max, bag_max


class _Spread(BagEstimator):
    """What the delegates of `SpreadLabels` share: fitting an estimator on labelled instances."""

    def __init__(self, estimator):
        self.estimator = estimator

    @property
    def _accepts_sparse(self):  # type: ignore[override]
        return get_tags(self.estimator).input_tags.sparse

    @property
    def _accepts_nan(self):  # type: ignore[override]
        return get_tags(self.estimator).input_tags.allow_nan

    def _fit_rows(self, X, target, weight):
        estimator = clone(self.estimator)
        if has_fit_parameter(estimator, "sample_weight"):
            self.estimator_ = estimator.fit(X, target, sample_weight=weight)
        elif np.ptp(weight) == 0:
            self.estimator_ = estimator.fit(X, target)
        else:
            name = type(estimator).__name__
            raise InputError(f"{name} takes no weights, and these bags differ in theirs")


class _SpreadClasses(_Spread, BagClassifier):
    _multiclass = True

    def _fit(self, bags, codes, weight):
        self._fit_rows(bags.instances, bags.spread(codes), bags.spread(weight))

    def _score_instances(self, bags):
        if hasattr(self.estimator_, "decision_function"):
            return self.estimator_.decision_function(bags.instances)
        if hasattr(self.estimator_, "predict_proba"):
            with np.errstate(divide="ignore"):
                log = np.maximum(np.log(self.estimator_.predict_proba(bags.instances)), -700.0)
            return log[:, 1] - log[:, 0] if log.shape[1] == 2 else log
        codes = self.estimator_.predict(bags.instances)
        if len(self.classes_) == 2:
            return 2.0 * codes - 1.0
        return np.eye(len(self.classes_))[codes]

    @available_if(lambda learner: hasattr(learner.estimator, "predict_proba"))
    def predict_proba_instances(self, bags):
        return self.estimator_.predict_proba(self._fitted(bags).instances)


class SpreadAny(_SpreadClasses):
    _pooling = Max()

    @available_if(lambda learner: hasattr(learner.estimator, "predict_proba"))
    def predict_proba(self, bags):
        bags = self._fitted(bags)
        largest = bag_max(self.estimator_.predict_proba(bags.instances), bags.offsets)
        if len(self.classes_) == 2:
            return np.column_stack([1.0 - largest[:, 1], largest[:, 1]])
        return largest / largest.sum(axis=1, keepdims=True)


class SpreadMajority(_SpreadClasses):
    _pooling = Majority()


class SpreadTotals(_Spread, BagRegressor):
    def __init__(self, estimator, *, aggregate="sum"):
        self.estimator = estimator
        self.aggregate = aggregate

    def _fit(self, bags, total, weight):
        self._fit_rows(bags.instances, bags.spread(total / bags.sizes), bags.spread(weight))

    def _score_instances(self, bags):
        return self.estimator_.predict(bags.instances)


class SpreadCounts(_Spread, SharpenedCounts):
    def __init__(self, estimator, *, aggregate="sum"):
        self.estimator = estimator
        self.aggregate = aggregate

    @property
    def _has_proba(self):  # type: ignore[override]
        return hasattr(self.estimator, "predict_proba")

    def _fit(self, bags, counts, weight):
        share = bags.spread(counts / bags.sizes[:, None] * weight[:, None])
        row, code = np.nonzero(share)
        self._fit_rows(bags.instances[row], code, share[row, code])
        self._sharpen(bags, counts, weight)

    def _timid_scores(self, bags):
        if self._has_proba:
            return self.estimator_.predict_proba(bags.instances)
        if not hasattr(self.estimator_, "decision_function"):
            return np.eye(len(self.classes_))[self.estimator_.predict(bags.instances)]
        scores = self.estimator_.decision_function(bags.instances)
        return np.column_stack([-scores, scores]) / 2 if scores.ndim == 1 else scores
