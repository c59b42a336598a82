"""Calibration: from the evidence of a learner to answers, learned on bags that it had not seen.

The home of all of it: how a calibrator is fitted, the calibrators that saved models hold, and the
calibrated answers of finished trials.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression


def calibrator(question, evidence, rows):
    """What turns evidence into answers, learned from out-of-fold evidence on the bags `rows`."""
    if question.kind != "classes":
        return AsItIs()
    codes, weight = question.codes[rows], question.weight[rows]
    return Calibration().fit(evidence, codes, len(question.classes), weight)


class AsItIs:
    """No calibration: the evidence is the answer."""

    def __call__(self, evidence):
        return evidence


class Calibration:
    """Probabilities from scores: logistic regression on squashed scores and on the decision.

    Scores of different learners live on wild scales, with far outliers. The inverse hyperbolic sine
    keeps what is near the threshold and takes the logarithm of what is far. The learner's own
    decision is told as well: it knows its threshold better than a few bags can tell.
    """

    def fit(self, evidence, codes, n_classes, weight):
        self.n_classes = n_classes
        self.scale_ = np.median(np.abs(evidence), axis=0)
        self.scale_[~(self.scale_ > 0)] = 1.0
        self.model_ = LogisticRegression(C=1.0, max_iter=1000)
        self.model_.fit(self._features(evidence), codes, sample_weight=weight)
        return self

    def __call__(self, evidence):
        answer = np.zeros((len(evidence), self.n_classes))
        answer[:, self.model_.classes_] = self.model_.predict_proba(self._features(evidence))
        return answer

    def _features(self, evidence):
        decision = np.eye(self.n_classes)[_winner(evidence)] - 0.5
        return np.hstack([np.arcsinh(evidence / self.scale_), decision[:, 1:]])


def _winner(evidence):
    if evidence.shape[1] == 1:
        return (evidence[:, 0] > 0).astype(np.int64)
    return evidence.argmax(axis=1)


class Calibrated:
    """The calibrated answers of finished trials, each calibrator fitted once.

    Parameters
    ----------
    question : question
    sizes : array of shape (n_bags,)
    store : store of trials
    """

    def __init__(self, question, sizes, store, known=None):
        self.question = question
        self.sizes = sizes
        self.store = store
        self._known = {} if known is None else known

    def on(self, store):
        """The same on other trials; what is known of those that they share is kept."""
        return Calibrated(self.question, self.sizes, store, self._known)

    def inside(self, candidate, split):
        """A candidate's out-of-fold answers on the training bags."""
        return self._of(candidate, split)[0]

    def outside(self, candidate, split):
        """Its answers on the test bags."""
        return self.calibrator(candidate, split)(self.store.get(candidate, split).outer)

    def offsets(self, rows):
        """Where the bags `rows` begin among their instances."""
        return np.concatenate([[0], np.cumsum(self.sizes[rows])])

    def calibrator(self, candidate, split):
        return self._of(candidate, split)[1]

    def _of(self, candidate, split):
        trial = self.store.get(candidate, split)
        key = (candidate.name, split.name, trial.n_settings)
        if key not in self._known:
            evidence = trial.inner
            calibrate = calibrator(self.question, evidence, split.train)
            self._known[key] = calibrate(evidence), calibrate
        return self._known[key]
