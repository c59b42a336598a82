"""What is asked of a model: to name a bag's class, to count, or to sum.

A question says how evidence becomes an answer, how good an answer is, and how wrong it is. Quality
is given bag by bag and averages to the measure people know (accuracy, R², …), so intervals and
paired tests need no further knowledge of the question.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression

from mixedbag.comparison import levels
from mixedbag.comparison.blend import AmountBlend, ClassBlend


def ask(rule, y, sizes, weight):
    """The question that bags with this rule and these labels put."""
    if rule not in ("sum", "count"):
        return Classes(np.asarray(y), weight)
    try:
        amounts = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the rule {rule!r} needs labels that are numbers; {error}") from error
    return Amounts(amounts, weight) if rule == "sum" else Counts(amounts, weight, sizes)


class _Question:
    """Labels of bags, and how much each bag counts."""

    def __init__(self, y, weight):
        self.y = y
        self.weight = weight

    def mean(self, values, rows):
        """The mean of one value a bag, over some bags."""
        return float(np.average(values, weights=self.weight[rows]))


class Classes(_Question):
    """Which class does a bag have?"""

    measure, floor = "accuracy", 0.0
    kind = "classes"

    def __init__(self, y, weight):
        super().__init__(y, weight)
        self.classes, self.codes = np.unique(self.y, return_inverse=True)

    evidence = staticmethod(levels.class_evidence)
    evidence_of_instances = staticmethod(levels.class_evidence_of_instances)

    def calibrator(self, evidence, rows):
        """Turns evidence into probabilities, learned from out-of-fold evidence on some bags."""
        return Calibration().fit(evidence, self.codes[rows], len(self.classes), self.weight[rows])

    def loss(self, answer, rows):
        """Logarithmic loss of probabilities, bag by bag."""
        chance = answer[np.arange(len(rows)), self.codes[rows]]
        return -np.log(np.clip(chance, 1e-6, None))

    def quality(self, answer, rows):
        """One where the most probable class is right."""
        return (answer.argmax(axis=1) == self.codes[rows]).astype(np.float64)

    def labels(self, answer):
        """The predicted classes in the words of the data."""
        return self.classes[answer.argmax(axis=1)]

    def blend(self, names, members, calibrators, weights):
        return ClassBlend(names, members, calibrators, weights, self.classes)


class Amounts(_Question):
    """What is the total of a bag?"""

    measure, floor = "R²", -np.inf
    kind = "amounts"

    def __init__(self, y, weight):
        super().__init__(y, weight)
        squares = (y - np.average(y, axis=0, weights=weight)) ** 2
        self.spread = float(np.average(squares, axis=0, weights=weight).mean()) or 1.0

    evidence = staticmethod(levels.amount_evidence)
    evidence_of_instances = staticmethod(levels.amount_evidence_of_instances)

    def calibrator(self, evidence, rows):
        return AsItIs()

    def loss(self, answer, rows):
        """Squared error, bag by bag."""
        error = self._of(rows) - answer
        return (error**2).sum(axis=1)

    def quality(self, answer, rows):
        """One minus the squared error over the variance: averages to R²."""
        return 1.0 - self.loss(answer, rows) / (self.spread * answer.shape[1])

    def labels(self, answer):
        return answer[:, 0] if self.y.ndim == 1 else answer

    def blend(self, names, members, calibrators, weights):
        return AmountBlend(names, members, calibrators, weights)

    def _of(self, rows):
        return self.y[rows][:, None] if self.y.ndim == 1 else self.y[rows]


class Counts(Amounts):
    """How many of a bag's instances are positive, or of each class?"""

    measure, floor = "counted right", 0.0
    kind = "counts"

    def __init__(self, y, weight, sizes):
        super().__init__(y, weight)
        self.sizes = np.asarray(sizes)

    def quality(self, answer, rows):
        """The share of a bag's instances that are counted right."""
        error = np.abs(self._of(rows) - answer).sum(axis=1)
        if self.y.ndim == 2:
            error = error / 2
        return 1.0 - error / self.sizes[rows]


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
