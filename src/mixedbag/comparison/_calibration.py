"""Calibration: from the evidence of a learner to answers, learned on bags that it had not seen.

The home of all of it: how a calibrator is fitted, the calibrators that saved models hold, and the
calibrated answers of finished trials.
"""

import numpy as np
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

_STRENGTH = 10.0  # at 1, means of several answers are not sure enough
_STEPS = 50  # of Newton, and halvings of one
_TINY = 1e-300


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
        columns = np.empty((len(codes), len(met), 2 + len(met)))
        columns[..., 0], columns[..., 1], columns[..., 2:] = table, won, np.eye(len(met))
        start = np.concatenate([[0.0, 0.0], np.log(share[met])])
        found = _least_surprised(columns, codes[:, None] == met, weight, self.strength, start)
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


def _least_surprised(columns, is_true, weight, strength, x):
    """The first two of `x` not negative: Newton steps in those that are free, from `x`.

    Row i, class k of `columns` times `x` is the log-odds of the class, but for what all share.
    """
    flat, count = columns.reshape(-1, len(x)), weight[:, None]
    pull = np.zeros(len(x))
    pull[:2] = 1.0 / strength
    penalty = np.diag(pull)
    penalty[2:, 2:] += 1.0  # levels that move together change nothing, and the loss cannot tell

    def surprise(x):
        z = (flat @ x).reshape(is_true.shape)
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return 0.5 * pull @ x**2 - weight @ np.log(np.maximum(p[is_true], _TINY)), p

    value, p = surprise(x)
    for _ in range(_STEPS):
        gradient = pull * x + (count * (p - is_true)).ravel() @ flat
        mean = (p[..., None] * columns).sum(axis=1)
        hessian = ((count * p).reshape(-1, 1) * flat).T @ flat - (count * mean).T @ mean + penalty
        free = np.flatnonzero((x > 0) | (gradient < 0) | (pull == 0))
        step = np.zeros(len(x))
        step[free] = np.linalg.solve(hessian[np.ix_(free, free)], -gradient[free])
        if -gradient @ step <= 1e-12 * value:
            break
        for _ in range(_STEPS):
            after = x + step
            after[:2] = np.maximum(after[:2], 0.0)
            new = surprise(after)
            if new[0] <= value:
                break
            step = 0.5 * step
        x, (value, p) = after, new
    return x


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
