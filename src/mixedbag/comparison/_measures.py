"""Measures: how good answers are, in one register, with the names that scikit-learn gives them.

A measure takes `Cases` (what is true of some bags, and how much each counts) and answers: a row of
probabilities a bag, or of amounts. Larger is better for every one of them, as it is for
scikit-learn's scorers: errors are negative, and `Measure.shown` turns them round for people. Each
knows its interval (see `_intervals`), and the loss, bag by bag, that stands in for it where a
smooth one is needed.

    cases = Cases("classes", codes, weight, n_classes=2)
    for measure in suitable(cases):
        measure.words, measure.score(cases, answer), measure.interval(cases, answer)
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mixedbag._digits import in_digits
from mixedbag.comparison import _amount_measures as amounts
from mixedbag.comparison import _class_measures as classes
from mixedbag.exceptions import InputError

_TWICE = 2.0  # labels are uneven when the most frequent class has this many bags of the rarest


@dataclass(frozen=True)
class Measure:
    """One way to say how good answers are.

    Attributes
    ----------
    name : str
        scikit-learn's name of the scorer; larger is better.
    words : str
        What people call it.
    headline : str
        How a sentence goes on after the figure.
    limits : tuple
        Worst and best value.
    is_share : bool
        Whether it is shown in per cent.
    """

    name: str
    words: str
    headline: str
    _suits: Callable
    _figure: Callable  # (cases, answer) → figure, low, high
    _loss: Callable  # (cases, answer) → one loss a bag
    limits: tuple = (0.0, 1.0)
    is_share: bool = False
    _rank: Callable | None = None  # (cases, answer) → the figure alone, where order is all

    @property
    def is_ranking(self):
        """Whether only the order of answers counts.

        Choices inside training bags use the measure itself then, and the loss that stands in for
        it otherwise, which is steadier.
        """
        return self._rank is not None

    @property
    def is_error(self):
        """Whether people know it turned round: the smaller the better."""
        return self.name.startswith("neg_")

    @property
    def chosen_by(self):
        """The name of the loss that settings are chosen by: trials of equal loss are the same."""
        return self._loss.__name__.strip("_")

    def suits(self, cases):
        return self._suits(cases)

    def score(self, cases, answer):
        """The figure; NaN where the bags cannot tell, such as a ranking of one class."""
        if self._rank is not None:
            return self._rank(cases, answer)
        return self._figure(cases, answer)[0]

    def interval(self, cases, answer):
        """The figure and the ends of a 95 % interval that bags (or groups) allow."""
        return self._figure(cases, answer)

    def loss(self, cases, answer):
        """What stands in for the measure bag by bag: smaller is better."""
        return self._loss(cases, answer)

    def judge(self, cases, answer):
        """How good answers are for choices made inside training bags; larger is better."""
        if self.is_ranking:
            score = self.score(cases, answer)
            if np.isfinite(score):
                return score
        return -float(np.average(self.loss(cases, answer), weights=cases.weight))

    def shown(self, value):
        """The value as people know it: errors are positive, shares in per cent."""
        if value is None or not np.isfinite(value):
            return ""
        value = -value if self.is_error else value
        return f"{100 * value:.1f} %" if self.is_share else in_digits(value)

    def shown_interval(self, low, high):
        """Both ends as people know them, the smaller first."""
        if low is None:
            return ""
        low, high = (high, low) if self.is_error else (low, high)
        return f"{self.shown(low)} – {self.shown(high)}"

    def about(self):
        """What a page or a script must know to show values."""
        return {
            "name": self.name,
            "words": self.words,
            "headline": self.headline,
            "error": self.is_error,
            "share": self.is_share,
        }


# The register -------------------------------------------------------------------------------------


def _classes(cases):
    return cases.kind == "classes"


def _two(cases):
    return _classes(cases) and cases.n_classes == 2


def _more(cases):
    return _classes(cases) and cases.n_classes > 2


def _costly(cases):
    return _classes(cases) and cases.costs is not None


def _counts(cases):
    return cases.kind == "counts"


def _numbers(cases):
    return cases.kind != "classes"


_SHARE, _BELOW_ONE, _ERROR = (0.0, 1.0), (-np.inf, 1.0), (-np.inf, 0.0)
_RIGHT = "of unseen bags are answered right"
_ALIKE = "of unseen bags are answered right, every class counted alike (balanced accuracy)"
_COUNTED = "of instances in unseen bags are counted right"
_RANKED = "is how often a positive bag is ranked above another (ROC AUC)"
_RANKED_EACH = "area under the ROC curve on unseen bags, averaged over classes"
_EACH = "F1 on unseen bags, averaged over classes"
_COST = "is what an unseen bag costs on average"

# Name, words, how a headline goes on, whom it suits, the figure, the loss that stands in for it.
_REGISTER: tuple[Measure, ...] = (
    Measure(
        "accuracy", "accuracy", _RIGHT, _classes, classes.accuracy, classes.log_loss, _SHARE, True
    ),
    Measure(
        "balanced_accuracy",
        "balanced accuracy",
        _ALIKE,
        _classes,
        classes.balanced_accuracy,
        classes.balanced_log_loss,
        _SHARE,
        True,
    ),
    Measure(
        "roc_auc",
        "ROC AUC",
        _RANKED,
        _two,
        classes.roc_auc,
        classes.log_loss,
        _rank=classes.rank_by_auc,
    ),
    Measure(
        "roc_auc_ovr",
        "ROC AUC",
        _RANKED_EACH,
        _more,
        classes.roc_auc,
        classes.log_loss,
        _rank=classes.rank_by_auc,
    ),
    Measure(
        "average_precision",
        "average precision",
        "average precision on unseen bags",
        _classes,
        classes.precision,
        classes.log_loss,
        _rank=classes.rank_by_precision,
    ),
    Measure("f1", "F1", "F1 on unseen bags", _two, classes.f1, classes.log_loss),
    Measure("f1_macro", "F1", _EACH, _more, classes.f1, classes.log_loss),
    Measure(
        "neg_log_loss",
        "log loss",
        "log loss on unseen bags",
        _classes,
        classes.neg_log_loss,
        classes.log_loss,
        _ERROR,
    ),
    Measure(
        "neg_mean_cost",
        "mean cost",
        _COST,
        _costly,
        classes.neg_mean_cost,
        classes.log_loss,
        _ERROR,
    ),
    Measure(
        "counted_right",
        "counted right",
        _COUNTED,
        _counts,
        amounts.counted_right,
        amounts.miscounted,
        _SHARE,
        True,
    ),
    Measure("r2", "R²", "R² on unseen bags", _numbers, amounts.r2, amounts.squared, _BELOW_ONE),
    Measure(
        "neg_mean_absolute_error",
        "mean absolute error",
        "mean absolute error on unseen bags",
        _numbers,
        amounts.neg_mean_absolute_error,
        amounts.absolute,
        _ERROR,
    ),
    Measure(
        "neg_root_mean_squared_error",
        "root mean squared error",
        "root mean squared error on unseen bags",
        _numbers,
        amounts.neg_root_mean_squared_error,
        amounts.squared,
        _ERROR,
    ),
)
MEASURES = {measure.name: measure for measure in _REGISTER}


# Over candidates, with AUC (R²) of instances: benchmark counts/criteria, by its name there.
INSTANCE_CORRELATION = {"counted right": 0.48, "squared": 0.42}


def _tells(criterion):
    figure = INSTANCE_CORRELATION[criterion]
    return f"its rank correlation with the quality of instances is {figure} on development tables"


def suitable(cases):
    """The measures that suit these bags, the plainest first."""
    return [measure for measure in MEASURES.values() if measure.suits(cases)]


def choose_measure(name, cases):
    """The measure asked for, or the default; and why it is that one.

    Returns
    -------
    measure : Measure
    reason : str
    """
    if name is not None:
        measure = MEASURES.get(name) or MEASURES.get(f"neg_{name}")
        known = ", ".join(m.name for m in suitable(cases))
        if measure is None:
            raise InputError(f"no measure is called {name!r}; for these labels: {known}")
        if not measure.suits(cases):
            raise InputError(f"the measure {name!r} does not suit these labels; these do: {known}")
        return measure, "it was asked for"
    if cases.kind == "counts":
        return MEASURES["counted_right"], f"the labels are counts; {_tells('counted right')}"
    if cases.kind == "amounts":
        return MEASURES["r2"], f"the labels are amounts; {_tells('squared')}"
    if cases.costs is not None:
        return MEASURES["neg_mean_cost"], "costs were given"
    n_bags = np.bincount(cases.truth, minlength=cases.n_classes)
    if n_bags.max() >= _TWICE * n_bags.min():
        reason = (
            f"labels are uneven, {n_bags.max()} bags against {n_bags.min()}, so counting right "
            "answers would flatter whoever never names the rare one"
        )
        return MEASURES["average_precision"], reason
    return MEASURES["accuracy"], "classes are about equally frequent"
