"""The protocol: the data, the question put to it, and how its bags are cut into folds."""

import math
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mixedbag._once import once
from mixedbag._validation import alike, labelled, note_unlabelled, read_weights
from mixedbag.bags import as_bags
from mixedbag.comparison._questions import ask
from mixedbag.comparison._rules import one_label, settle_rule
from mixedbag.exceptions import InputError, reading_input
from mixedbag.model_selection import BagStratifiedKFold

_LARGEST_SEED = 2**32 - 1
_RARE = 50  # bags of the rarest class that a sample should have


class Split(NamedTuple):
    """Training and test bags; without test bags, the final fit on everything."""

    name: str
    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True)
class Protocol:
    """All that a trial depends on besides its candidate.

    Where its bags are a sample, `larger` is the protocol of all: models learn from those in the
    end. `taken` tells which of them are here.
    """

    bags: Any
    y: np.ndarray
    question: Any
    folds: int = 10
    repeats: int = 1
    inner_folds: int = 5
    random_state: int = 0
    groups: np.ndarray | None = None
    larger: "Protocol | None" = None
    taken: np.ndarray | None = None

    @property
    def whole(self):
        """The protocol of all bags."""
        return self if self.larger is None else self.larger

    def on_sample(self, max_bags):
        """The same on so many of all bags at most, drawn at random, of every class its share.

        More where a class would be too rare to be met in folds of folds.
        """
        whole, question = self.whole, self.question
        if question.kind == "classes":
            rarest = np.bincount(whole.question.codes).min()
            max_bags = max(max_bags, math.ceil(len(whole.bags) * _RARE / rarest))
        if max_bags >= len(whole.bags):
            return replace(whole, folds=self.folds)
        rows = whole.sample(whole.everything.train, max_bags)
        return replace(
            whole,
            bags=whole.bags[rows],
            y=whole.y[rows],
            question=whole.question.about(rows),
            groups=None if whole.groups is None else whole.groups[rows],
            folds=self.folds,
            larger=whole,
            taken=rows,
        )

    @cached_property
    def splits(self):
        """The outer folds, all repeats."""
        rows = self.everything.train
        return [
            Split(f"{repeat}.{k}", train, test)
            for repeat in range(self.repeats)
            for k, (train, test) in enumerate(
                self._cut(rows, self.folds, self.random_state + repeat)
            )
        ]

    @cached_property
    def everything(self):
        """The split of the final fits: all bags to learn from."""
        return Split("all", np.arange(len(self.bags)), np.arange(0))

    def sample(self, rows, max_bags=None):
        """The bags `rows`, or `max_bags` of them at random, of every class its share."""
        if max_bags is None or len(rows) <= max_bags:
            return rows
        rng = np.random.default_rng(self.random_state)
        codes = self.question.codes[rows] if self.question.kind == "classes" else None
        codes = np.zeros(len(rows), dtype=np.int64) if codes is None else codes
        place = np.empty(len(rows))
        for code in np.unique(codes):
            where = np.flatnonzero(codes == code)
            place[where] = (rng.permutation(len(where)) + 0.5) / len(where)
        return rows[np.sort(np.argsort(place, kind="stable")[:max_bags])]

    def inner_splits(self, rows):
        """Training and test places within the training bags `rows`."""
        cut = rows, self.inner_folds, self.random_state
        return once(lambda: self._cut(*cut), "inner splits", self.bags, self.y, self.groups, *cut)

    def _cut(self, rows, n_folds, random_state):
        """Training and test places within `rows`, stratified as far as rare labels allow."""
        y = self.y[rows]
        groups = None if self.groups is None else self.groups[rows]
        n_folds = min(n_folds, _smallest_class(self.question, y, groups))
        folds = BagStratifiedKFold(n_folds, random_state=random_state)
        y = y if self.question.kind == "classes" else _as_shares(y)
        with warnings.catch_warnings():
            # Amounts that occur once cannot be in every fold.
            warnings.filterwarnings("ignore", "The least populated class")
            return list(folds.split(self.bags[rows], y, groups))


def make_protocol(
    bags,
    y,
    rule="auto",
    *,
    folds=10,
    repeats=1,
    inner_folds=5,
    random_state=0,
    groups=None,
    sample_weight=None,
    metric=None,
    cost=None,
    positive=None,
):
    """The rule, settled, and the protocol; labels that no cross-validation can answer are refused.

    Returns
    -------
    rule : Guess
    protocol : Protocol
    """
    check_whole("folds", folds, 2)
    check_whole("repeats", repeats, 1)
    check_whole("inner_folds", inner_folds, 2)
    check_whole("random_state", random_state, 0, _LARGEST_SEED - repeats)
    with reading_input():
        bags, y = as_bags(bags), np.asarray(y)
        weight = read_weights(bags, sample_weight)
    if len(y) != len(bags):
        raise InputError(f"{len(y)} labels for {len(bags)} bags")
    guess = settle_rule(rule, y, bags.sizes)
    weight = _relative(weight, bags)
    question = ask(guess.rule, y, bags.sizes, weight, metric, cost, positive)
    _refuse_hopeless(bags, question)
    groups = _checked_groups(groups, question)
    return guess, Protocol(
        bags, y, question, folds, repeats, inner_folds, int(random_state), groups
    )


class Labelled(NamedTuple):
    """The bags that have a label, with what belongs to them, and a word on the others."""

    bags: Any
    y: np.ndarray
    groups: np.ndarray | None
    weight: np.ndarray | None
    notes: list


def with_labels(bags, y, groups=None, sample_weight=None):
    """Leave out the bags whose label is None or NaN: nothing can be learned or measured there."""
    with reading_input():
        bags, y = as_bags(bags), np.asarray(y)
    known, labels = labelled(y)
    if len(y) != len(bags) or known.all():
        return Labelled(bags, y, groups, sample_weight, [])
    if not known.any():
        raise InputError("no bag has a label")
    groups, weight = (
        None if part is None else np.asarray(part)[known] for part in (groups, sample_weight)
    )
    notes = note_unlabelled(int((~known).sum()))
    return Labelled(bags[known], labels, groups, weight, list(notes))


def check_whole(name, value, low, high=None):
    """Refuse anything but a whole number between `low` and `high`."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_whole or value < low or (high is not None and value > high):
        limits = f"of at least {low}" if high is None else f"between {low} and {high}"
        raise InputError(f"{name} must be a whole number {limits}; got {value!r}")


def _relative(weight, bags):
    if not weight.all():
        raise InputError(f"{bags.name(int(weight.argmin()))} has weight zero: leave it out")
    return weight / weight.mean()


def _as_shares(y):
    """Amounts as a table of two shares: where there are but two of them, they are no classes."""
    if y.ndim == 2 and y.shape[1] > 1:
        return y
    y = y.reshape(-1).astype(np.float64)
    return np.column_stack([y.max() - y, y - y.min()])


def _refuse_hopeless(bags, question):
    """Labels that no cross-validation can work with, named before any time is spent."""
    if question.kind != "classes":
        if not np.isfinite(question.y).all():
            raise InputError("a label is missing or infinite")
        if len(bags) < 4:
            raise InputError(f"{len(bags)} bags are too few to compare learners; 4 are needed")
        # The same count in bags of different sizes is not the same share, and tells something.
        per = bags.sizes if question.rule in ("count", "sum") else np.ones(len(bags))
        if alike((question.y.T / per).T):
            raise InputError(one_label(len(bags), question.y[0].tolist()))
        return
    if len(question.classes) < 2:
        raise InputError(one_label(len(bags), question.classes.tolist()[0]))
    counts = np.bincount(question.codes)
    if counts.min() < 4:
        rare = question.classes.tolist()[int(counts.argmin())]
        few = "1 bag has" if counts.min() == 1 else f"{counts.min()} bags have"
        raise InputError(
            f"only {few} the label {rare!r}: cross-validation inside cross-validation needs 4 of "
            "each" + _or_counts(question.classes)
        )


def _or_counts(classes):
    numbers = classes.dtype.kind in "iuf" and classes.max() > 1
    if not numbers:
        return ""
    return "; if labels are counts, say so with the rule 'count', or with --label yes/voters"


def _checked_groups(groups, question):
    """One group a bag, and enough of them to cut folds inside folds."""
    if groups is None:
        return None
    groups = np.asarray(groups)
    if len(groups) != len(question.y):
        raise InputError(f"{len(groups)} groups for {len(question.y)} bags")
    found = _smallest_class(question, question.y, groups)
    if found < 4:
        label = " of every label" if question.kind == "classes" else ""
        raise InputError(
            f"bags{label} come from only {found} groups: cross-validation inside cross-validation "
            "needs 4"
        )
    return groups


def _smallest_class(question, y, groups=None):
    """How many folds can have every class: the size of the rarest (amounts: all the bags).

    Groups count in place of their bags, as they are never cut.
    """
    units = np.arange(len(y)) if groups is None else groups
    if question.kind != "classes":
        return len(np.unique(units))
    return min(len(np.unique(units[y == label])) for label in np.unique(y))
