"""What is asked of a model: to name a bag's class, to count, or to sum.

A question says which evidence it wants, how good an answer is, and how wrong it is. Quality is
given bag by bag and averages to the measure people know (accuracy, R², …), so intervals and paired
tests need no further knowledge of the question.
"""

import numpy as np

from mixedbag import _evidence
from mixedbag.exceptions import InputError


def ask(rule, y, sizes, weight):
    """The question that bags with this rule and these labels put."""
    if rule not in ("sum", "count"):
        return Classes(np.asarray(y), weight, rule)
    try:
        amounts = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"the rule {rule!r} needs labels that are numbers; {error}") from error
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
    positive = 1  # the code of the class that makes a bag positive, of two

    def __init__(self, y, weight, rule="any"):
        super().__init__(y, weight)
        self.rule = rule
        self.classes, self.codes = np.unique(self.y, return_inverse=True)

    evidence = staticmethod(_evidence.class_evidence)
    evidence_of_instances = staticmethod(_evidence.class_evidence_of_instances)

    def loss(self, answer, rows):
        """Logarithmic loss of probabilities, bag by bag."""
        chance = answer[np.arange(len(rows)), self.codes[rows]]
        return -np.log(np.clip(chance, 1e-6, None))

    def quality(self, answer, rows):
        """One where the most probable class is right."""
        return (self.answered(answer) == self.codes[rows]).astype(np.float64)

    def answered(self, answer):
        """The codes of the predicted classes."""
        return answer.argmax(axis=1)

    def labels(self, answer):
        """The predicted classes in the words of the data."""
        return self.classes[self.answered(answer)]

    @property
    def widths(self):
        """How many columns evidence may have: one of two classes, or one a class."""
        n_classes = len(self.classes)
        return {1, 2} if n_classes == 2 else {n_classes}


class Amounts(_Question):
    """What is the total of a bag?"""

    measure, floor = "R²", -np.inf
    kind, rule = "amounts", "sum"

    def __init__(self, y, weight):
        super().__init__(y, weight)
        squares = (y - np.average(y, axis=0, weights=weight)) ** 2
        self.spread = float(np.average(squares, axis=0, weights=weight).mean()) or 1.0

    evidence = staticmethod(_evidence.amount_evidence)
    evidence_of_instances = staticmethod(_evidence.amount_evidence_of_instances)

    def loss(self, answer, rows):
        """Squared error, bag by bag."""
        error = self._of(rows) - answer
        return (error**2).sum(axis=1)

    def quality(self, answer, rows):
        """One minus the squared error over the variance: averages to R²."""
        return 1.0 - self.loss(answer, rows) / (self.spread * answer.shape[1])

    def labels(self, answer):
        return answer[:, 0] if self.y.ndim == 1 else answer

    @property
    def widths(self):
        """How many columns evidence has: one an amount."""
        return {1 if self.y.ndim == 1 else self.y.shape[1]}

    def _of(self, rows):
        return self.y[rows][:, None] if self.y.ndim == 1 else self.y[rows]


class Counts(Amounts):
    """How many of a bag's instances are positive, or of each class?"""

    measure, floor = "counted right", 0.0
    kind, rule = "counts", "count"

    def __init__(self, y, weight, sizes):
        super().__init__(y, weight)
        self.sizes = np.asarray(sizes)

    def quality(self, answer, rows):
        """The share of a bag's instances that are counted right."""
        error = np.abs(self._of(rows) - answer).sum(axis=1)
        if self.y.ndim == 2:
            error = error / 2
        return 1.0 - error / self.sizes[rows]
