"""`compare`: every suitable learner under the same nested cross-validation, and what comes out."""

import time
from typing import NamedTuple

import numpy as np

from mixedbag._validation import read_weights
from mixedbag.bags import as_bags
from mixedbag.base import check_choice
from mixedbag.comparison.candidates import find_candidates
from mixedbag.comparison.questions import ask
from mixedbag.comparison.result import Comparison
from mixedbag.comparison.rules import RULES, Guess, guess_rule
from mixedbag.comparison.schedule import Schedule
from mixedbag.comparison.stack import Calibrated, Stack
from mixedbag.comparison.store import Folder, Memory
from mixedbag.comparison.trial import Protocol, Split, smallest_class
from mixedbag.comparison.workers import InProcess, Workers


def compare(
    bags,
    y,
    rule="auto",
    *,
    learners=None,
    folds=10,
    repeats=1,
    inner_folds=5,
    time_budget=None,
    n_jobs=None,
    random_state=0,
    groups=None,
    sample_weight=None,
    folder=None,
    watch=None,
):
    """Compare every learner that suits the labels, and make the best model.

    Each learner chooses its setting inside the training bags of every fold (nested
    cross-validation), so the figures are honest. A calibration on answers about bags held out there
    turns its scores into probabilities and settles its threshold. The *stack* averages the best few
    learners, chosen and weighted inside the training bags too; the model that comes out is the
    stack, refitted on all bags.

    Parameters
    ----------
    bags : Bags, or anything that `as_bags` reads
    y : array of shape (n_bags,) or (n_bags, n_classes)
        Classes, counts or totals of the bags.
    rule : {"auto", "any", "majority", "count", "sum", "sequence"} or Guess
        What a bag's label says of its instances; "auto" guesses from the labels.
    learners : sequence of str, optional
        Only learners whose name contains one of these.
    folds, repeats, inner_folds : int
        Outer folds, how often to cut anew, and folds inside the training bags.
    time_budget : float, optional
        Seconds after which no new trial begins. Quick learners go first; what is not finished is
        shown as such. Without it everything runs to its end.
    n_jobs : int, optional
        Number of worker processes. Without it, trials run in this process, and one that is running
        cannot be cut short.
    random_state : int
    groups : array of shape (n_bags,), optional
        What a bag belongs to, such as its patient: no group is both learned from and asked about.
    sample_weight : array of shape (n_bags,), optional
        How much each bag counts, in fits and in figures. Weights are relative: they are scaled to
        a mean of one, so that settings mean what they mean without weights.
    folder : path, optional
        Where to keep finished trials; a later call with the same data goes on from there.
    watch : callable, optional
        Called with a `Comparison` of what is known so far, after every trial.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from mixedbag import compare
    >>> from mixedbag.datasets import load_digits_bags
    >>> data = load_digits_bags(n_bags=40, random_state=0)
    >>> result = compare(data.bags, data.y, learners=["bag statistics + SVM"], folds=3)
    >>> result.rule
    'any'
    """
    start = time.monotonic()
    bags, y = as_bags(bags), np.asarray(y)
    guess, question = _question(rule, bags, y, sample_weight)
    groups = _checked_groups(groups, question)
    protocol = Protocol(bags, y, question, inner_folds, random_state, groups)
    splits = _splits(protocol, folds, repeats)
    candidates, skipped = find_candidates(guess.rule, bags, learners, random_state)
    store = Memory() if folder is None else Folder(folder, protocol, splits)
    result = Comparison(guess, protocol, splits, candidates, skipped, store)
    store.recall(candidates, [*splits, result.everything])
    with InProcess(protocol) if n_jobs is None else Workers(protocol, n_jobs) as workers:
        Schedule(result, start, time_budget, watch).run(workers)
    return result


class Fitted(NamedTuple):
    """One learner, fitted on all bags."""

    model: object
    name: str
    rule: str
    setting: dict


def fit_best_setting(
    bags,
    y,
    rule="auto",
    learner="bag statistics + extra",
    random_state=0,
    sample_weight=None,
    groups=None,
):
    """Fit one learner on all bags, with the setting that cross-validation on them prefers.

    Its answers are calibrated on the same folds, as they are in `compare`.
    """
    bags, y = as_bags(bags), np.asarray(y)
    guess, question = _question(rule, bags, y, sample_weight)
    candidates, _ = find_candidates(guess.rule, bags, [learner], random_state)
    if len(candidates) != 1:
        names = ", ".join(candidate.name for candidate in candidates)
        raise ValueError(f"{learner!r} may mean {names or 'a learner that needs dense data'}")
    groups = _checked_groups(groups, question)
    protocol = Protocol(bags, y, question, random_state=random_state, groups=groups)
    everything = Split("all", np.arange(len(bags)), np.arange(0))
    trial, store = protocol.run(candidates[0], everything), Memory()
    store.put(candidates[0], everything, trial)
    model = Stack(Calibrated(question, store), candidates, 1).model(protocol, everything)
    return Fitted(model, candidates[0].name, guess.rule, trial.setting)


def _question(rule, bags, y, sample_weight):
    """The rule and the question it puts, unless no cross-validation can answer it."""
    if len(y) != len(bags):
        raise ValueError(f"{len(y)} labels for {len(bags)} bags")
    guess = _rule(rule, y, bags)
    question = ask(guess.rule, y, bags.sizes, _relative_weights(bags, sample_weight))
    _refuse_hopeless(bags, question)
    return guess, question


def _relative_weights(bags, sample_weight):
    weight = read_weights(bags, sample_weight)
    if not weight.all():
        raise ValueError(f"{bags.name(int(weight.argmin()))} has weight zero: leave it out")
    return weight / weight.mean()


def _rule(rule, y, bags):
    if isinstance(rule, Guess):
        return rule
    if rule == "auto":
        return guess_rule(y, bags.sizes)
    check_choice("rule", rule, tuple(RULES))
    return Guess(rule, "it was asked for")


def _refuse_hopeless(bags, question):
    """Labels that no cross-validation can work with, named before any time is spent."""
    if question.kind != "classes":
        if not np.isfinite(question.y).all():
            raise ValueError("a label is missing or infinite")
        if len(bags) < 4:
            raise ValueError(f"{len(bags)} bags are too few to compare learners; 4 are needed")
        return
    if len(question.classes) < 2:
        only = question.classes.tolist()[0]
        raise ValueError(f"all {len(bags)} bags have the same label, {only!r}: nothing to learn")
    counts = np.bincount(question.codes)
    if counts.min() < 4:
        rare = question.classes.tolist()[int(counts.argmin())]
        raise ValueError(
            f"only {counts.min()} bags have the label {rare!r}: cross-validation inside "
            "cross-validation needs 4 of each"
        )


def _checked_groups(groups, question):
    """One group a bag, and enough of them to cut folds inside folds."""
    if groups is None:
        return None
    groups = np.asarray(groups)
    if len(groups) != len(question.y):
        raise ValueError(f"{len(groups)} groups for {len(question.y)} bags")
    found = smallest_class(question, question.y, groups)
    if found < 4:
        label = " of every label" if question.kind == "classes" else ""
        raise ValueError(
            f"bags{label} come from only {found} groups: cross-validation inside cross-validation "
            "needs 4"
        )
    return groups


def _splits(protocol, folds, repeats):
    everything = np.arange(len(protocol.bags))
    return [
        Split(f"{repeat}.{k}", train, test)
        for repeat in range(repeats)
        for k, (train, test) in enumerate(
            protocol.cut(everything, folds, protocol.random_state + repeat)
        )
    ]
