"""Fitted learners whose calibrated answers are averaged: the models of release 0.1.0."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from mixedbag import _evidence
from mixedbag.bags import as_bags


class _Blend(BaseEstimator):
    """Fitted learners, calibrated and weighted. Made by `compare`, not fitted by hand.

    Parameters
    ----------
    names : list of str
    members : list of fitted estimators
    calibrators : list of callables
        One a member: from its evidence to an answer.
    weights : list of float
        One a member; they sum to one.
    """

    def __init__(self, names, members, calibrators, weights):
        self.names = names
        self.members = members
        self.calibrators = calibrators
        self.weights = weights

    def __sklearn_is_fitted__(self):
        return True

    def __repr__(self, **_):
        parts = (f"{weight:.0%} {name}" for name, weight in zip(self.names, self.weights))
        return f"{type(self).__name__}({', '.join(parts)})"

    @property
    def n_features_in_(self):
        return self.members[0].n_features_in_

    @property
    def feature_names_in_(self):
        return self.members[0].feature_names_in_

    def _answer(self, bags, evidence):
        bags = as_bags(bags)
        return sum(
            weight * calibrate(evidence(member, bags))
            for member, calibrate, weight in zip(self.members, self.calibrators, self.weights)
        )


class ClassBlend(ClassifierMixin, _Blend):
    """A stack of classifiers: the mean of their calibrated probabilities, at both levels."""

    def __init__(self, names, members, calibrators, weights, classes):
        super().__init__(names, members, calibrators, weights)
        self.classes = classes

    @property
    def classes_(self):
        return self.classes

    def predict_proba(self, bags):
        """Probability of each class, a row a bag."""
        return self._answer(bags, _evidence.class_evidence)

    def predict_proba_instances(self, bags):
        """Probability of each class, a row an instance."""
        return self._answer(bags, _evidence.class_evidence_of_instances)

    def decision_function(self, bags):
        """Log-odds of the second class, or a column of probabilities a class."""
        return _log_odds(self.predict_proba(bags))

    def decision_function_instances(self, bags):
        """As `decision_function`, for every instance."""
        return _log_odds(self.predict_proba_instances(bags))

    def predict(self, bags):
        """The predicted class of every bag."""
        return self.classes[self.predict_proba(bags).argmax(axis=1)]

    def predict_instances(self, bags):
        """The predicted class of every instance."""
        return self.classes[self.predict_proba_instances(bags).argmax(axis=1)]


class AmountBlend(RegressorMixin, _Blend):
    """A stack of learners of counts or totals: the weighted mean of their predictions."""

    def predict(self, bags):
        """The predicted amount of every bag."""
        return flat(self._answer(bags, _evidence.amount_evidence))

    def predict_instances(self, bags):
        """The predicted amount of every instance."""
        return flat(self._answer(bags, _evidence.amount_evidence_of_instances))


def _log_odds(probability):
    if probability.shape[1] != 2:
        return probability
    return np.log(probability[:, 1].clip(1e-12)) - np.log(probability[:, 0].clip(1e-12))


def flat(answer):
    """A table of one column as that column."""
    return answer[:, 0] if answer.shape[1] == 1 else answer
