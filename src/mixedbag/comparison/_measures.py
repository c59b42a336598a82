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
from dataclasses import dataclass, replace

import numpy as np

from mixedbag.comparison import _intervals
from mixedbag.exceptions import InputError

_TWICE = 2.0  # labels are uneven when the most frequent class has this many bags of the rarest


@dataclass(frozen=True, eq=False)
class Cases:
    """What is true of some bags.

    Attributes
    ----------
    kind : {"classes", "counts", "amounts"}
    truth : array
        Codes of classes, of shape (n_bags,), the positive class last; or amounts, of shape
        (n_bags, n_outputs).
    weight : array of shape (n_bags,)
    n_classes : int
    sizes : array of shape (n_bags,), optional
        For counts: how many instances each bag has (ones for proportions).
    groups : array of shape (n_bags,), optional
        What belongs together, such as the bags of a patient.
    costs : array of shape (n_classes, n_classes), optional
        What an answer costs: a row a true class, a column an answered one.
    decided : array of int, shape (n_bags,), optional
        Codes of the classes answered, where these do not follow from probabilities and costs.
    centre, spread : array of shape (n_outputs,), optional
        Mean and variance of all amounts, when these are some of them.
    """

    kind: str
    truth: np.ndarray
    weight: np.ndarray
    n_classes: int = 0
    sizes: np.ndarray | None = None
    groups: np.ndarray | None = None
    costs: np.ndarray | None = None
    decided: np.ndarray | None = None
    centre: np.ndarray | None = None
    spread: np.ndarray | None = None

    def __post_init__(self):
        if self.kind != "classes" and self.spread is None:
            centre = np.average(self.truth, axis=0, weights=self.weight)
            spread = np.average((self.truth - centre) ** 2, axis=0, weights=self.weight)
            object.__setattr__(self, "centre", centre)
            object.__setattr__(self, "spread", np.where(spread > 0, spread, 1.0))

    def __len__(self):
        return len(self.truth)

    def __getitem__(self, rows):
        """Some of the bags; amounts are still measured against the spread of all."""
        return replace(
            self,
            truth=self.truth[rows],
            weight=self.weight[rows],
            sizes=None if self.sizes is None else self.sizes[rows],
            groups=None if self.groups is None else self.groups[rows],
            decided=None if self.decided is None else self.decided[rows],
        )

    def decide(self, answer):
        """Codes of the classes answered: the most probable ones, or those of least cost."""
        return decide(answer, self.costs) if self.decided is None else self.decided

    def per_class(self):
        """The bags of every class, as masks."""
        return [self.truth == k for k in range(self.n_classes)]


def decide(answer, costs=None):
    """Codes of the classes of least expected cost, one a row of probabilities.

    Without costs every mistake costs the same, and that is the most probable class.
    """
    if costs is None:
        return answer.argmax(axis=1)
    return (answer @ costs).argmin(axis=1)


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
        return f"{100 * value:.1f} %" if self.is_share else f"{value + 0.0:.3f}"

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


# Losses that stand in -----------------------------------------------------------------------------


def _log_loss(cases, answer):
    chance = answer[np.arange(len(cases)), cases.truth]
    return -np.log(np.clip(chance, np.finfo(np.float64).eps, None))


def _balanced_log_loss(cases, answer):
    share = np.array([cases.weight[of].sum() for of in cases.per_class()]) / cases.weight.sum()
    return _log_loss(cases, answer) / (cases.n_classes * share[cases.truth])


def _squared(cases, answer):
    """Squared errors over the variance, averaged over outputs."""
    return ((cases.truth - answer) ** 2 / cases.spread).mean(axis=1)


def _absolute(cases, answer):
    return np.abs(cases.truth - answer).mean(axis=1)


def _miscounted(cases, answer):
    """The share of a bag's instances that are counted in a wrong class."""
    error = np.abs(cases.truth - answer).sum(axis=1)
    return error / cases.sizes / (2 if answer.shape[1] > 1 else 1)


# Classes ------------------------------------------------------------------------------------------


def _accuracy(cases, answer):
    right = cases.decide(answer) == cases.truth
    return _intervals.share_interval(right, cases.weight, cases.groups)


def _balanced_accuracy(cases, answer):
    right = cases.decide(answer) == cases.truth
    parts = [
        _intervals.share_interval(right[of], cases.weight[of], _some(cases.groups, of))
        for of in cases.per_class()
        if of.any()
    ]
    return _intervals.mean_of_shares(parts)


def _f1(cases, answer):
    """F1 = 2J / (1 + J) grows with J, the share of true positives among all bags that are
    positive or called so: the interval of that share, carried over."""
    decided = cases.decide(answer)
    classes = [1] if cases.n_classes == 2 else range(cases.n_classes)
    parts = []
    for k in classes:
        asked = (cases.truth == k) | (decided == k)
        if not asked.any():
            continue
        both = (cases.truth == k) & (decided == k)
        share = _intervals.share_interval(
            both[asked], cases.weight[asked], _some(cases.groups, asked)
        )
        parts.append([2 * j / (1 + j) for j in share])
    return _intervals.mean_of_shares(parts) if parts else _UNKNOWN


def _rank_by_auc(cases, answer):
    return float(np.mean([ranked_area(*pair, cases.weight) for pair in _each(cases, answer)]))


def _rank_by_precision(cases, answer):
    return float(np.mean([average_precision(*pair, cases.weight) for pair in _each(cases, answer)]))


def _each(cases, answer):
    """The positive class, or each class against the others: which bags have it, and the scores."""
    classes = [1] if cases.n_classes == 2 else np.unique(cases.truth)
    return [(cases.truth == k, answer[:, k]) for k in classes]


def _roc_auc(cases, answer):
    """Classes share their bags, so the ends of their intervals are averaged as they are."""
    parts = []
    for positive, score in _each(cases, answer):
        area = ranked_area(positive, score, cases.weight)
        n = _n_units(cases, positive), _n_units(cases, ~positive)
        parts.append(_UNKNOWN if np.isnan(area) else (area, *_intervals.ranking_interval(area, *n)))
    return tuple(np.mean(parts, axis=0).tolist())


def _average_precision(cases, answer):
    """A mean over positive bags of values from 0 to 1: no such mean varies more than a share."""
    parts = []
    for positive, score in _each(cases, answer):
        value, n = average_precision(positive, score, cases.weight), _n_units(cases, positive)
        parts.append(_UNKNOWN if np.isnan(value) else (value, *_intervals.wilson(value, n)))
    return tuple(np.mean(parts, axis=0).tolist())


def ranked_area(positive, score, weight):
    """Area under the ROC curve: how often a positive is above a negative, ties counted half."""
    true, false = _cumulated(positive, score, weight)
    if not true[-1] * false[-1]:
        return np.nan
    steps = np.diff(false, prepend=0.0)
    area = (steps * (true + np.concatenate([[0.0], true[:-1]]))).sum() / 2
    return float(area / (true[-1] * false[-1]))


def average_precision(positive, score, weight):
    """The mean precision at the places of the positives."""
    true, false = _cumulated(positive, score, weight)
    if not true[-1] * false[-1]:
        return np.nan
    precision = true / np.maximum(true + false, np.finfo(np.float64).tiny)  # weights may be zero
    return float((np.diff(true, prepend=0.0) * precision).sum() / true[-1])


def _cumulated(positive, score, weight):
    """Weight of positives and negatives at or above each distinct score, the largest first."""
    order = np.argsort(-score, kind="stable")
    last = np.append(np.flatnonzero(np.diff(score[order])), len(score) - 1)
    ordered, is_positive = weight[order], positive[order]
    return np.cumsum(ordered * is_positive)[last], np.cumsum(ordered * ~is_positive)[last]


def _neg_log_loss(cases, answer):
    return _neg_mean(cases, _log_loss(cases, answer), _log_loss(cases, _shares(cases)))


def _neg_mean_cost(cases, answer):
    rows = cases.truth
    plain = cases.costs[rows, decide(_shares(cases), cases.costs)]
    return _neg_mean(cases, cases.costs[rows, cases.decide(answer)], plain)


def _shares(cases):
    """The answer that has learned nothing but how frequent classes are."""
    return np.tile(
        np.bincount(cases.truth, cases.weight, cases.n_classes) / cases.weight.sum(),
        (len(cases), 1),
    )


# Amounts ------------------------------------------------------------------------------------------


def _r2(cases, answer):
    error = _squared(cases, answer)
    whole = ((cases.truth - cases.centre) ** 2 / cases.spread).mean(axis=1)
    # Of some of the bags: against the spread of all, or a fold of equal labels would know nothing.
    whole = whole if whole.any() else np.ones(len(cases))
    _, low, high = _intervals.ratio_interval(error, whole, cases.weight, cases.groups)
    ratio = np.average(error, weights=cases.weight)
    return 1.0 - ratio, 1.0 - max(high, ratio), 1.0 - max(min(low, ratio), 0.0)


def _neg_mean_absolute_error(cases, answer):
    return _neg_mean(cases, _absolute(cases, answer), _absolute(cases, cases.centre))


def _neg_root_mean_squared_error(cases, answer):
    def squares(answer):
        return ((cases.truth - answer) ** 2).mean(axis=1)

    ends = _neg_mean(cases, squares(answer), squares(cases.centre))
    return tuple(-np.sqrt(max(-end, 0.0)) for end in ends)


def _counted_right(cases, answer):
    share = cases.truth.sum(axis=0) / cases.sizes.sum()
    plain = _miscounted(cases, share * cases.sizes[:, None])
    figure, low, high = _neg_mean(cases, _miscounted(cases, answer), plain)
    return 1.0 + figure, max(1.0 + low, 0.0), 1.0 + high


def _neg_mean(cases, losses, plain):
    """Minus the mean of losses, none of them negative."""
    plain = float(np.average(plain, weights=cases.weight))
    whole = np.ones(len(cases))
    mean, low, high = _intervals.ratio_interval(losses, whole, cases.weight, cases.groups, plain)
    return -mean, -high, -max(low, 0.0)


_UNKNOWN = (np.nan, np.nan, np.nan)


def _some(values, rows):
    return None if values is None else values[rows]


def _n_units(cases, rows):
    """How many equal units (bags, or groups) some bags amount to."""
    return _intervals.kish(_intervals.units(cases.weight[rows], _some(cases.groups, rows))[1])


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
    Measure("accuracy", "accuracy", _RIGHT, _classes, _accuracy, _log_loss, _SHARE, True),
    Measure(
        "balanced_accuracy",
        "balanced accuracy",
        _ALIKE,
        _classes,
        _balanced_accuracy,
        _balanced_log_loss,
        _SHARE,
        True,
    ),
    Measure("roc_auc", "ROC AUC", _RANKED, _two, _roc_auc, _log_loss, _rank=_rank_by_auc),
    Measure("roc_auc_ovr", "ROC AUC", _RANKED_EACH, _more, _roc_auc, _log_loss, _rank=_rank_by_auc),
    Measure(
        "average_precision",
        "average precision",
        "average precision on unseen bags",
        _classes,
        _average_precision,
        _log_loss,
        _rank=_rank_by_precision,
    ),
    Measure("f1", "F1", "F1 on unseen bags", _two, _f1, _log_loss),
    Measure("f1_macro", "F1", _EACH, _more, _f1, _log_loss),
    Measure(
        "neg_log_loss",
        "log loss",
        "log loss on unseen bags",
        _classes,
        _neg_log_loss,
        _log_loss,
        _ERROR,
    ),
    Measure("neg_mean_cost", "mean cost", _COST, _costly, _neg_mean_cost, _log_loss, _ERROR),
    Measure(
        "counted_right",
        "counted right",
        _COUNTED,
        _counts,
        _counted_right,
        _miscounted,
        _SHARE,
        True,
    ),
    Measure("r2", "R²", "R² on unseen bags", _numbers, _r2, _squared, _BELOW_ONE),
    Measure(
        "neg_mean_absolute_error",
        "mean absolute error",
        "mean absolute error on unseen bags",
        _numbers,
        _neg_mean_absolute_error,
        _absolute,
        _ERROR,
    ),
    Measure(
        "neg_root_mean_squared_error",
        "root mean squared error",
        "root mean squared error on unseen bags",
        _numbers,
        _neg_root_mean_squared_error,
        _squared,
        _ERROR,
    ),
)
MEASURES = {measure.name: measure for measure in _REGISTER}


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
        return MEASURES["counted_right"], "the labels are counts"
    if cases.kind == "amounts":
        return MEASURES["r2"], "the labels are amounts"
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


def confusion(cases, answer):
    """Weights of bags, a row a true class, a column an answered one."""
    table = np.zeros((cases.n_classes, cases.n_classes))
    np.add.at(table, (cases.truth, cases.decide(answer)), cases.weight)
    return table
