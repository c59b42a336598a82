"""Probabilities for classifiers that have none: honest ones cost fits, so they are asked for.

Scores on the bags that a learner has learned from do not tell how sure it may be: a flexible one
separates them all. Honest scores are those of bags left out, and no learner here gets them for
free. So fitting stays as quick as it was, and `calibrate` fits `cv` further models, each without
some of the bags, whose scores there settle one sigmoid a class (Platt's, never falling) for bags,
and one account for instances (see `mixedbag._account`).
"""

from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.metaestimators import available_if

from mixedbag._account import InstanceOdds
from mixedbag._validation import read_weights
from mixedbag.base._levels import LogOddsMixin
from mixedbag.exceptions import InputError


def _is_calibrated(learner):
    if not hasattr(learner, "calibration_"):
        raise AttributeError(
            f"{type(learner).__name__} has scores, not probabilities: "
            "calibrate(bags, y) finds out, on bags left out, what they mean"
        )
    return True


class Calibrating:
    """Adds `calibrate`, and after it probabilities at both levels that agree with each other."""

    def calibrate(
        self, bags: Any, y: Any, sample_weight: Any = None, *, cv: int = 3, random_state: Any = 0
    ) -> Self:
        """Learn what scores mean, so that `predict_proba` can say it.

        Parameters
        ----------
        bags, y, sample_weight
            What the learner was fitted on, or other bags with known labels.
        cv : int
            How many further models are fitted, each without one part of the bags.
        random_state : int or RandomState
            How the bags are parted.

        Returns
        -------
        self
        """
        learner: Any = self
        if isinstance(self, LogOddsMixin):
            raise TypeError(f"{type(self).__name__} has probabilities of its own")
        bags = learner._fitted(bags)
        codes = np.searchsorted(learner.classes_, learner._read_targets(bags, y))
        codes = np.minimum(codes, len(learner.classes_) - 1)
        if not np.array_equal(learner.classes_[codes], np.asarray(y).ravel()):
            raise InputError(f"y holds classes that {type(self).__name__} has not learned")
        weight = read_weights(bags, sample_weight)
        of_bags: Any = None
        of_instances: Any = None
        places = np.split(np.arange(bags.n_instances), bags.offsets[1:-1])
        parts = StratifiedKFold(cv, shuffle=True, random_state=random_state)
        for train, test in parts.split(codes, codes):
            one = clone(learner).fit(bags[train], codes[train], sample_weight=weight[train])
            scores = one.decision_function(bags[test])
            inner = one.decision_function_instances(bags[test])
            if of_bags is None:
                of_bags = np.empty((len(bags), *scores.shape[1:]))
                of_instances = np.empty((bags.n_instances, *inner.shape[1:]))
            of_bags[test] = scores
            of_instances[np.concatenate([places[i] for i in test])] = inner
        classes = [1] if len(learner.classes_) == 2 else list(range(len(learner.classes_)))
        alone, in_time = np.arange(len(bags) + 1), "sequence" in learner._rules
        learner.calibration_ = {
            "bags": [
                InstanceOdds.fit(_of(of_bags, k), alone, codes == k, weight, dependence=1.0)
                for k in classes
            ],
            "instances": [
                InstanceOdds.fit(
                    _of(of_instances, k), bags.offsets, codes == k, weight, in_time=in_time
                )
                for k in classes
            ],
        }
        return self

    @available_if(_is_calibrated)
    def predict_proba(self, bags: Any) -> np.ndarray:
        """Probability of each class, a row a bag, once `calibrate` has been called."""
        learner: Any = self
        scores = learner.decision_function(bags)
        odds = learner.calibration_["bags"]
        if len(odds) == 1:
            positive = expit(odds[0](scores))
            return np.column_stack([1.0 - positive, positive])
        each = expit(np.column_stack([odd(scores[:, k]) for k, odd in enumerate(odds)]))
        each = np.maximum(each, 1e-12)
        return each / each.sum(axis=1, keepdims=True)

    @available_if(_is_calibrated)
    def predict_proba_instances(self, bags: Any) -> np.ndarray:
        """Probability of each class, a row an instance, once `calibrate` has been called.

        They agree with those of the bags. No probability passes that of the bag, so of more than
        two classes they may add up to less than one: an instance may show none of them.
        """
        learner: Any = self
        bags = learner._fitted(bags)
        answer, scores = self.predict_proba(bags), learner.decision_function_instances(bags)
        odds = learner.calibration_["instances"]
        if len(odds) == 1:
            q = expit(odds[0].agree(odds[0](scores), bags.offsets, answer[:, 1]))
            return np.column_stack([1.0 - q, q])
        columns = [
            expit(odd.agree(odd(scores[:, k]), bags.offsets, answer[:, k]))
            for k, odd in enumerate(odds)
        ]
        return np.column_stack(columns)


def _of(scores, k):
    return scores if scores.ndim == 1 else scores[:, k]
