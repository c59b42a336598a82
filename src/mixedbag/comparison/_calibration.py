"""Calibration: from the evidence of a learner to answers, learned on bags that it had not seen.

The home of all of it: how a calibrator is fitted, the calibrators that saved models hold, and the
calibrated answers of finished trials.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression

_STRENGTH = 10.0  # at 1, means of several answers are not sure enough


def calibrator(question, evidence, rows):
    """What turns evidence into answers, learned from out-of-fold evidence on the bags `rows`."""
    if question.kind != "classes":
        return AsItIs()
    codes, weight = question.codes[rows], question.weight[rows]
    return Rising().fit(evidence, codes, len(question.classes), weight)


class AsItIs:
    """No calibration: the evidence is the answer."""

    def __call__(self, evidence):
        return evidence


class Rising:
    """Probabilities from scores: the larger the score of a class, the more probable it is.

    Scores of different learners live on wild scales, with far outliers. The inverse hyperbolic sine
    keeps what is near the threshold and takes the logarithm of what is far. The learner's own
    decision is told as well: it knows its threshold better than a few bags can tell. So the
    log-odds of class k are, but for what all classes share,

        slope · asinh(score_k / scale) + bonus / 2 · [k wins] + level_k,    slope, bonus ≥ 0.

    Slope and bonus are drawn a little towards zero: where bags are few, or scores tell nothing,
    answers stay near the frequencies of the classes.

    Parameters
    ----------
    strength : float
        How little they are: one over the weight of their squares beside the loss of a bag.
    """

    def __init__(self, strength=_STRENGTH):
        self.strength = strength

    def fit(self, evidence, codes, n_classes, weight):
        self.scale_ = float(np.median(np.abs(evidence))) or 1.0
        share = np.bincount(codes, weight, n_classes) / weight.sum()
        met = np.flatnonzero(share)
        table, won = (part[:, met] for part in self._features(evidence))
        is_true = codes[:, None] == met

        def surprise(x):
            z = x[0] * table + x[1] * won + x[2:]
            log_p = log_softmax(z, axis=1)
            by_z = weight[:, None] * (np.exp(log_p) - is_true)
            by_x = [(by_z * table).sum(), (by_z * won).sum(), *by_z.sum(axis=0)]
            pull = np.concatenate([x[:2] / self.strength, np.zeros(len(met))])
            return pull @ x / 2 - weight @ log_p[is_true], by_x + pull

        start = np.concatenate([[0.0, 0.0], np.log(share[met])])
        bounds = [(0.0, None)] * 2 + [(None, None)] * len(met)
        found = minimize(surprise, start, jac=True, method="L-BFGS-B", bounds=bounds).x
        self.slope_, self.bonus_ = float(found[0]), float(found[1])
        self.level_ = np.full(n_classes, -np.inf)  # a class that no bag has
        self.level_[met] = found[2:]
        return self

    def __call__(self, evidence):
        table, won = self._features(evidence)
        return softmax(self.slope_ * table + self.bonus_ * won + self.level_, axis=1)

    def _features(self, evidence):
        """Squashed scores, a column a class, and a half where it wins."""
        won = np.eye(max(2, evidence.shape[1]))[_winner(evidence)] / 2
        squashed = np.arcsinh(evidence / self.scale_)
        if evidence.shape[1] == 1:
            squashed = np.hstack([np.zeros_like(squashed), squashed])
        return squashed, won


class Calibration:
    """What `Rising` is now, in the models of release 0.1.0: it may fall where scores rise."""

    n_classes: int
    scale_: np.ndarray
    model_: LogisticRegression

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
