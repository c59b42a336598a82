"""What is asked of a model: to name a bag's class, to count, or to sum.

A question knows what is true (`cases`), which evidence it wants, by which measure answers are
judged, and how to say an answer in the words of the data.
"""

from copy import copy
from dataclasses import replace

import numpy as np

from mixedbag import _evidence
from mixedbag.comparison._cases import Cases
from mixedbag.comparison._costs import read_costs
from mixedbag.comparison._measures import choose_measure
from mixedbag.exceptions import InputError

CLASS_RULES = ("any", "majority", "sequence")
_NOES = {
    *("0", "-1", "-1.0", "0.0", "n", "no", "f", "false", "neg", "negative", "none", "never"),
    *("absent", "benign", "control", "healthy", "inactive", "normal"),
    # Tables come in other languages: without these, "nein" would be what makes a bag positive.
    *("nein", "non", "nee", "não", "nao", "nej", "nei", "nie", "ne", "falsch", "faux", "falso"),
    *("negativ", "négatif", "negatif", "negativo", "gesund", "sain", "sano", "inaktiv", "inactif"),
    *("inactivo", "inattivo", "inativo"),
}


def ask(rule, y, sizes, weight, metric=None, cost=None, positive=None):
    """The question that bags with this rule and these labels put.

    Parameters
    ----------
    rule : str
    y, sizes, weight : arrays
        Labels, sizes and weights of the bags.
    metric : str, optional
        The measure that decides; see `mixedbag.comparison._measures`.
    cost : str or array, optional
        What mistakes cost; see `mixedbag.comparison._costs`.
    positive : optional
        The positive one of two classes.
    """
    if rule in CLASS_RULES:
        return Classes(rule, np.asarray(y), weight, metric, cost, positive)
    for name, given in (("cost", cost), ("positive", positive)):
        if given is not None:
            raise InputError(f"{name} is for classes; the rule {rule!r} has numbers")
    try:
        amounts = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the rule {rule!r} needs labels that are numbers, none where one is not known; {error}"
        ) from error
    if rule in ("sum", "mean"):
        return Amounts(rule, amounts, weight, metric)
    return Counts(rule, amounts, weight, metric, sizes)


class _Question:
    """Labels of bags, how much each bag counts, and the measure of answers.

    Attributes
    ----------
    rule, kind : str
    y : array
        The labels, in the words of the data.
    targets : array
        The labels as learners get them.
    cases : Cases
    measure, why_measure
        The measure that decides, and why it is that one.
    """

    kind = ""

    def __init__(self, rule, y, weight, cases, metric):
        self.rule = rule
        self.y = y
        self.weight = weight
        self.cases = cases
        self.measure, self.why_measure = choose_measure(metric, cases)

    def about(self, rows):
        """The same question about some of the bags."""
        some = copy(self)
        some.y, some.weight, some.cases = self.y[rows], self.weight[rows], self.cases[rows]
        return some

    def mean(self, values, rows):
        """The mean of one value a bag, over some bags."""
        return float(np.average(values, weights=self.weight[rows]))

    def loss(self, answer, rows):
        """What stands in for the measure, bag by bag: smaller is better."""
        return self.measure.loss(self.cases[rows], answer)

    def judge(self, rows):
        """How good an answer about the bags `rows` is for its order alone, with weights of bags;
        None where the loss decides."""
        if not self.measure.is_ranking:
            return None
        cases = self.cases[rows]
        return lambda answer, weight: self.measure.judge(replace(cases, weight=weight), answer)

    def constant(self, sizes):
        """What can be answered about bags of these sizes by who only knows the labels."""
        raise NotImplementedError


class Classes(_Question):
    """Which class does a bag have? Of two, the second is positive.

    Attributes
    ----------
    classes : array
        The classes in the words of the data, the positive one of two last.
    codes : array of int
        The class of each bag.
    costs : array or None
        What an answer costs, a row a true class; None where all mistakes are alike.
    """

    kind = "classes"
    positive = 1

    def __init__(self, rule, y, weight, metric=None, cost=None, positive=None):
        self.classes, self.codes = np.unique(y, return_inverse=True)
        self.why_positive = ""
        if len(self.classes) == 2:
            last, self.why_positive = choose_positive(self.classes, self.codes, positive)
            if last == 0:
                self.classes, self.codes = self.classes[::-1], 1 - self.codes
        elif positive is not None:
            raise InputError(f"positive chooses between two classes, not {len(self.classes)}")
        n_classes = len(self.classes)
        self.costs = read_costs(cost, self.classes)
        cases = Cases("classes", self.codes, weight, n_classes, costs=self.costs)
        super().__init__(rule, y, weight, cases, metric)
        if self.measure.name == "balanced_accuracy" and self.costs is None:
            # To be right on every class alike, mistakes on a rare one must weigh more.
            share = np.bincount(self.codes, weight, n_classes) / weight.sum()
            self.costs = (1.0 - np.eye(n_classes)) / np.maximum(share, 1e-12)[:, None]
            self.cases = Cases("classes", self.codes, weight, n_classes, costs=self.costs)

    evidence = staticmethod(_evidence.class_evidence)
    evidence_of_instances = staticmethod(_evidence.class_evidence_of_instances)

    def about(self, rows):
        some = super().about(rows)
        some.codes = self.codes[rows]
        return some

    @property
    def targets(self):
        return self.codes

    def quality(self, answer, rows):
        """One where the class is right."""
        return (self.answered(answer) == self.codes[rows]).astype(np.float64)

    def answered(self, answer):
        """The codes of the predicted classes."""
        return self.cases.decide(answer)

    def labels(self, answer):
        """The predicted classes in the words of the data."""
        return self.classes[self.answered(answer)]

    def constant(self, sizes):
        """How frequent each class is."""
        share = np.bincount(self.codes, self.weight, len(self.classes))
        return np.tile(share / share.sum(), (len(sizes), 1))

    @property
    def widths(self):
        """How many columns evidence may have: one of two classes, or one a class."""
        n_classes = len(self.classes)
        return {1, 2} if n_classes == 2 else {n_classes}


def choose_positive(classes, codes, asked=None):
    """The place of the positive one of two classes, and why.

    The one asked for; or the one that is not a word for no (0, -1, "no", "negative", …); or the
    rarer one; or, of equally many, the last.
    """
    words = [str(label) for label in classes.tolist()]
    if asked is not None:
        if str(asked) not in words:
            raise InputError(f"no bag is labelled {str(asked)!r}; there are {words}")
        return words.index(str(asked)), "it was asked for"
    noes = [_says_no(word, other) for word, other in (words, words[::-1])]
    if sum(noes) == 1:
        return noes.index(False), f"{words[noes.index(True)]!r} says no"
    n_bags = np.bincount(codes, minlength=2)
    if n_bags[0] == n_bags[1]:
        return 1, "both are equally frequent, and it is the last"
    return int(n_bags[1] < n_bags[0]), "it is the rarer one"


def _says_no(word, other):
    word, other = word.strip().lower(), other.strip().lower()
    return word in _NOES or word in (f"not {other}", f"no {other}", f"non-{other}", f"non{other}")


class Amounts(_Question):
    """What is the total, or the mean, of a bag?"""

    kind = "amounts"

    def __init__(self, rule, y, weight, metric=None, sizes=None):
        table = y[:, None] if y.ndim == 1 else y
        super().__init__(rule, y, weight, Cases(self.kind, table, weight, sizes=sizes), metric)

    evidence = staticmethod(_evidence.amount_evidence)
    evidence_of_instances = staticmethod(_evidence.amount_evidence_of_instances)

    @property
    def targets(self):
        return self.y

    def quality(self, answer, rows):
        """One minus the squared error over the variance: averages to R²."""
        cases = self.cases[rows]
        return 1.0 - ((cases.truth - answer) ** 2 / cases.spread).mean(axis=1)

    def labels(self, answer):
        return answer[:, 0] if self.y.ndim == 1 else answer

    def constant(self, sizes):
        """The mean label."""
        mean = np.average(self.cases.truth, axis=0, weights=self.weight)
        return np.tile(mean, (len(sizes), 1))

    @property
    def widths(self):
        """How many columns evidence has: one an amount."""
        return {1 if self.y.ndim == 1 else self.y.shape[1]}


class Counts(Amounts):
    """How many of a bag's instances, or which share of them, are positive, or of each class?"""

    kind = "counts"

    def __init__(self, rule, y, weight, metric, sizes):
        sizes = np.ones(len(y)) if rule == "proportion" else np.asarray(sizes)
        super().__init__(rule, y, weight, metric, sizes)

    def quality(self, answer, rows):
        """The share of a bag's instances that are counted right."""
        cases = self.cases[rows]
        error = np.abs(cases.truth - answer).sum(axis=1) / (2 if self.y.ndim == 2 else 1)
        return 1.0 - error / cases.sizes

    def constant(self, sizes):
        """The same share of every bag."""
        share = self.weight @ self.cases.truth / (self.weight @ self.cases.sizes)
        sizes = np.ones(len(sizes)) if self.rule == "proportion" else sizes
        return share * np.asarray(sizes)[:, None]
