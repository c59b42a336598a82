"""What `SpreadLabels` does for each kind of label: an estimator fitted on labelled instances."""

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from mixedbag.base import BagClassifier, BagEstimator, BagRegressor
from mixedbag.base._calibrating import has_probabilities
from mixedbag.base._levels import decided, winners
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


def _log(probability):
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(probability), -700.0)


class _SpreadClasses(_Spread, BagClassifier):
    _multiclass = True

    def _fit(self, bags, codes, weight):
        self._fit_rows(bags.instances, bags.spread(codes), bags.spread(weight))

    def _score_instances(self, bags):
        if hasattr(self.estimator_, "decision_function"):
            return self.estimator_.decision_function(bags.instances)
        if hasattr(self.estimator_, "predict_proba"):
            log = _log(self.estimator_.predict_proba(bags.instances))
            return log[:, 1] - log[:, 0] if log.shape[1] == 2 else log
        codes = self.estimator_.predict(bags.instances)
        if len(self.classes_) == 2:
            return 2.0 * codes - 1.0
        return np.eye(len(self.classes_))[codes]

    @property
    def _estimator_proba(self):
        return hasattr(self.estimator, "predict_proba")

    @available_if(lambda learner: learner._estimator_proba or hasattr(learner, "predict_proba"))
    def predict_proba_instances(self, bags):
        if not self._estimator_proba:
            return super().predict_proba_instances(bags)
        p = self.estimator_.predict_proba(self._fitted(bags).instances)
        return decided(p, winners(self.decision_function_instances(bags)))


class SpreadAny(_SpreadClasses):
    _pooling = Max()

    @property
    def _own_proba(self):  # type: ignore[override]
        return self._estimator_proba

    def _score_instances(self, bags):
        """Of more than two classes, log-probabilities: only they compare between instances."""
        if len(self.classes_) > 2 and self._estimator_proba:
            return _log(self.estimator_.predict_proba(bags.instances))
        return super()._score_instances(bags)

    @has_probabilities
    def predict_proba(self, bags):
        if not self._own_proba:
            return super().predict_proba(bags)
        bags = self._fitted(bags)
        p = bag_max(self.estimator_.predict_proba(bags.instances), bags.offsets)
        if len(self.classes_) == 2:
            p[:, 0] = 1.0 - p[:, 1]
        else:
            p /= p.sum(axis=1, keepdims=True)
        return decided(p, winners(self.decision_function(bags)))


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
    def _own_proba(self):  # type: ignore[override]
        return hasattr(self.estimator, "predict_proba")

    def _fit(self, bags, counts, weight):
        share = bags.spread(counts / bags.sizes[:, None] * weight[:, None])
        row, code = np.nonzero(share)
        self._fit_rows(bags.instances[row], code, share[row, code])
        self._sharpen(bags, counts, weight)

    def _timid_scores(self, bags):
        if self._own_proba:
            return self.estimator_.predict_proba(bags.instances)
        if not hasattr(self.estimator_, "decision_function"):
            return np.eye(len(self.classes_))[self.estimator_.predict(bags.instances)]
        scores = self.estimator_.decision_function(bags.instances)
        return np.column_stack([-scores, scores]) / 2 if scores.ndim == 1 else scores
