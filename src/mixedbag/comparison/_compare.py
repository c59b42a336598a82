"""`compare`: every suitable learner under the same nested cross-validation, and what comes out."""

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mixedbag._once import Shelf, sharing
from mixedbag._threads import one_thread
from mixedbag.bags import Bags
from mixedbag.comparison._calibration import Calibrated
from mixedbag.comparison._candidates import (
    Candidate,
    find_candidates,
    first_choice,
    for_bags,
    too_dear,
)
from mixedbag.comparison._counted import Counted
from mixedbag.comparison._leaderboard import Figures
from mixedbag.comparison._protocol import Protocol, check_whole, make_protocol, with_labels
from mixedbag.comparison._result import Comparison
from mixedbag.comparison._rules import Guess
from mixedbag.comparison._schedule import Schedule
from mixedbag.comparison._sequence import affordable_folds, on_affordable_bags
from mixedbag.comparison._stack import Stack, Stacks
from mixedbag.comparison._store import Folder, Memory
from mixedbag.comparison._trials import best_of, blocks, run_trial
from mixedbag.comparison._workers import InProcess, Workers
from mixedbag.exceptions import InputError, reading_input


def compare(
    bags: Any,
    y: ArrayLike | None = None,
    rule: str | Guess = "auto",
    *,
    bag: str | None = None,
    label: str | Sequence[str] | None = None,
    learners: Sequence[str] | None = None,
    folds: int = 10,
    repeats: int = 1,
    inner_folds: int = 5,
    time_budget: float | None = None,
    max_bags: int | None = None,
    n_jobs: int | None = None,
    client: Any = None,
    random_state: int = 0,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    metric: str | None = None,
    cost: str | ArrayLike | None = None,
    positive: Any = None,
    exposure: str | None = None,
    folder: str | Path | None = None,
    watch: Callable[[Comparison], object] | None = None,
    work: int | str | None = None,
    began: float | None = None,
    reported: bool = False,
) -> Comparison:
    """Compare every learner that suits the labels, and make the best model.

    Each learner chooses its setting inside the training bags of every fold (nested
    cross-validation), so the figures are honest. A calibration on answers about bags held out there
    turns its scores into probabilities and settles its threshold. The *stack* averages the best few
    learners, chosen and weighted inside the training bags too; the model that comes out is the
    stack, refitted on all bags.

    Parameters
    ----------
    bags : Bags, or anything that `as_bags` reads
        What to learn from.
    y : array of shape (n_bags,) or (n_bags, n_classes)
        Classes, counts or totals of the bags; bags whose label is None or NaN are left out.
    rule : {"auto", "any", "majority", "count", "proportion", "sum", "mean", "sequence"} or Guess
        What a bag's label says of its instances; "auto" guesses from the labels.
    bag, label : str, optional
        Columns of a table with the bag of each row, and with its label; counts or shares may have a
        column a class, ``["no", "yes"]``, or stand beside a size, ``"yes/voters"``.
    learners : sequence of str, optional
        Only learners whose name contains one of these.
    folds, repeats, inner_folds : int
        Outer folds, how often to cut anew, and folds inside the training bags.
    time_budget : float, optional
        Seconds after which the sequence of work is cut. The sequence follows from the data and a
        measured table: a quick strong learner first, then what promises most for its cost. Only
        what is finished from its beginning counts, so the same amount of work gives the same
        result (`Comparison.work`). When the table expects the budget to be short, fewer folds are
        made for all learners, and if that is not enough, they are compared on a sample of the
        bags. Without a budget everything runs to its end.
    max_bags : int, optional
        Compare on so many bags at most, drawn at random, of every class its share. The model that
        comes out learns from all.
    n_jobs : int, optional
        Number of worker processes. Without it, trials run in this process, and one that is running
        cannot be cut short.
    client : distributed.Client or str, optional
        A Dask cluster, or its scheduler's address, whose workers run the trials in place of
        processes here: the sequence and what it finds are the same.
    random_state : int
        Draws the folds, and whatever learners draw; the same number gives the same result.
    groups : array of shape (n_bags,), or str, optional
        What a bag belongs to, such as its patient: no group is both learned from and asked about.
        Of a table, the column with it.
    sample_weight : array of shape (n_bags,), or str, optional
        How much each bag counts, in fits and in figures. Weights are relative: they are scaled to
        a mean of one, so that settings mean what they mean without weights. Of a table, the column
        with them.
    metric : str, optional
        The measure that decides who is chosen and heads the table, by scikit-learn's name:
        "accuracy", "balanced_accuracy", "roc_auc", "average_precision", "f1", "neg_log_loss",
        "counted_right", "r2", "neg_mean_absolute_error", "neg_root_mean_squared_error", … Without
        it: accuracy, or average precision where one class has twice the bags of another; the
        mean cost where `cost` is given; counted right; R².
    cost : str or array, optional
        What mistakes cost: ``"10:1"`` if a missed positive bag costs ten false alarms, or a table
        with a row a true class and a column an answered one. Answers are those of least cost.
    positive : optional
        The positive one of two classes; without it, the one that is not a word for no (0, "no",
        …), or else the rarer.
    exposure : str, optional
        The feature, by its name, that holds the exposure of each instance (people, hours, area) of
        totals of events. `AggregatePoissonRegressor` predicts in proportion to it; to other
        learners it is a feature.
    folder : path, optional
        Where to keep finished trials; a later call with the same data goes on from there.
    watch : callable, optional
        Called with a `Comparison` of what is known so far, after every trial.
    work : int or str, optional
        Do exactly this much of the sequence, as `Comparison.work` of an earlier run says, and count
        nothing else: the result is that run's, bit for bit, whatever the machine and its load.
    began : float, optional
        When the clock of the budget began, as `time.monotonic` tells it; without it, now.
    reported : bool
        Whether a report will be written: the time of checks and of the report, like that of the
        final models, is then kept free within the budget.

    Returns
    -------
    Comparison
        Leaderboard, answers about bags that were held out, and the model.

    See Also
    --------
    mixedbag.comparison.Comparison : What comes out, and how to ask it.
    mixedbag.comparison.fit_best_setting : One learner, with its best setting, uncompared.
    mixedbag.report.write_report : The page that explains it.

    Examples
    --------
    >>> from mixedbag import compare
    >>> from mixedbag.datasets import load_digits_bags
    >>> data = load_digits_bags(n_bags=40, random_state=0)
    >>> result = compare(data.bags, data.y, learners=["bag statistics + SVM"], folds=3)
    >>> result.rule
    'any'
    """
    start = time.monotonic() if began is None else began
    if time_budget is not None and not (time_budget >= 0 and math.isfinite(time_budget)):
        raise InputError(f"time_budget must be a number of seconds, or None; got {time_budget!r}")
    told = []
    if y is None:
        bags, y, groups, sample_weight, told = _read(bags, bag, label, groups, sample_weight)
    elif bag is not None or label is not None:
        raise InputError("y has the labels already: bag and label are columns of a table without y")
    bags, y, groups, sample_weight, notes = with_labels(bags, y, groups, sample_weight)
    notes = [*told, *notes]
    guess, protocol = make_protocol(
        *(bags, y, rule),
        folds=folds,
        repeats=repeats,
        inner_folds=inner_folds,
        random_state=random_state,
        groups=groups,
        sample_weight=sample_weight,
        metric=metric,
        cost=cost,
        positive=positive,
    )
    candidates, skipped = find_candidates(
        guess.rule, protocol.bags, learners, random_state, protocol.y, exposure
    )
    if learners is None:
        skipped |= too_dear(candidates, protocol.bags)
        candidates = [candidate for candidate in candidates if candidate.name not in skipped]
    if max_bags is not None:
        check_whole("max_bags", max_bags, 1)
        protocol = protocol.on_sample(max_bags)
    if time_budget is not None and work is None:
        protocol, more = _affordable(protocol, candidates, time_budget)
        notes += more
    if protocol.larger is not None:
        candidates = [for_bags(candidate, protocol.bags) for candidate in candidates]
        notes += [_sampled(protocol)]
    store = Memory() if folder is None else Folder(folder, protocol)
    notes += store.recall(candidates)
    calibrated = Calibrated(protocol.question, protocol.bags.sizes, Counted(protocol))
    stacks = Stacks(calibrated)
    figures = Figures(protocol)
    plan = Comparison(guess, protocol, candidates, skipped, notes, stacks, figures)
    schedule = Schedule(plan, store, start, time_budget, work, watch, reported)
    # In one thread, as in the workers: the same result bit for bit, also with trials in here.
    with one_thread(), _workers(protocol, n_jobs, client) as workers:
        return schedule.run(workers)


def _workers(protocol, n_jobs, client):
    if client is not None:
        from mixedbag.comparison._cluster import Cluster

        return Cluster(protocol, client)
    return InProcess(protocol) if n_jobs is None else Workers(protocol, n_jobs)


def _read(table, bag, label, groups, sample_weight):
    """Bags, labels, groups, weights and notes of a table, which has columns for the last two."""
    from mixedbag.datasets import read

    for name, column in (("groups", groups), ("sample_weight", sample_weight)):
        if column is not None and not isinstance(column, str):
            raise InputError(f"{name} of a table is the name of a column")
    if isinstance(table, (Bags, np.ndarray, list, tuple)):
        raise InputError("labels are missing: pass y, one label a bag")
    with reading_input():
        data = read(table, bag, label, group=groups, weight=sample_weight)
    if data.y is None:
        raise InputError("the table has no column 'label': name it with label=")
    return data.bags, data.y, data.groups, data.weight, list(data.notes)


def _affordable(protocol, candidates, budget):
    """The protocol with fewer folds where the budget asks for it, and what to say of that."""
    folds, notes = affordable_folds(candidates, protocol, budget), []
    if folds < protocol.folds:
        there_are = len(protocol.splits) // protocol.repeats  # few bags have fewer than asked for
        if folds < there_are:
            told = f"{folds} folds for all, not {there_are}"
            notes = [f"{told}: the time budget has no room for more"]
        protocol = replace(protocol, folds=folds)
    return on_affordable_bags(candidates, protocol, budget), notes


def _sampled(protocol):
    return (
        f"compared on {len(protocol.bags)} of {len(protocol.whole.bags)} bags, drawn at random; "
        "the model learns from as many of all as its members can digest"
    )


class Fitted(NamedTuple):
    """One learner, fitted on all bags."""

    model: Any
    name: str
    rule: str
    setting: dict


class Chosen(NamedTuple):
    """A learner and the setting that cross-validation prefers, with what calibrates its answers."""

    protocol: Protocol
    candidate: Candidate
    setting: dict
    stack: Stack

    def model(self, fitted=MappingProxyType({})):
        """The model that gives calibrated answers; `fitted` has learners that are so already."""
        return self.stack.model(self.protocol, self.protocol.everything, fitted)


def fit_best_setting(
    bags: Any,
    y: ArrayLike,
    rule: str | Guess = "auto",
    learner: str | None = None,
    random_state: int = 0,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    positive: Any = None,
    exposure: str | None = None,
) -> Fitted:
    """Fit one learner on all bags, with the setting that cross-validation on them prefers.

    Its answers are calibrated on the same folds, as they are in `compare`. Bags without a label
    (None or NaN) are left out.

    Parameters
    ----------
    bags : Bags, or anything that `as_bags` reads
        What to learn from.
    y : array of shape (n_bags,) or (n_bags, n_classes)
        Classes, counts or totals of the bags.
    rule : str or Guess
        As in `compare`.
    learner : str, optional
        A part of the name of one learner. By default, of counts and shares
        `AggregateLogisticRegression`, of totals and means `AggregateMLPRegressor` (with an
        exposure, `AggregatePoissonRegressor`), of classes the statistics of bags with extra trees.
    random_state : int
        Draws the folds, and whatever the learner draws.
    sample_weight : array of shape (n_bags,), optional
        How much each bag counts.
    groups : array of shape (n_bags,), optional
        What a bag belongs to, such as its patient: groups stay together in a fold.
    positive : optional
        The positive one of two classes, as in `compare`.
    exposure : str, optional
        The feature that holds the exposure of each instance, as in `compare`.

    Returns
    -------
    Fitted
        A named tuple of `model`, `name`, `rule` and `setting`.

    See Also
    --------
    mixedbag.compare : Many learners, and honest figures for each.

    Examples
    --------
    >>> from mixedbag.comparison import fit_best_setting
    >>> from mixedbag.datasets import load_digits_bags
    >>> data = load_digits_bags(n_bags=20)
    >>> found = fit_best_setting(data.bags, data.y, learner="bag statistics + SVM")
    >>> found.name, found.rule, found.model.predict(data.bags).shape
    ('bag statistics + SVM', 'any', (20,))
    """
    bags, y, groups, sample_weight, _ = with_labels(bags, y, groups, sample_weight)
    chosen = choose_setting(
        *(bags, y, rule, learner, random_state, sample_weight, groups, positive, exposure)
    )
    question, name = chosen.protocol.question, chosen.candidate.name
    return Fitted(chosen.model(), name, question.rule, chosen.setting)


def choose_setting(
    bags,
    y,
    rule,
    learner,
    random_state=0,
    sample_weight=None,
    groups=None,
    positive=None,
    exposure=None,
    prepare=lambda candidate: candidate,
    from_disk=False,
):
    """One learner with the setting that cross-validation prefers; `prepare` may restrict it."""
    guess, protocol = make_protocol(
        *(bags, y, rule),
        random_state=random_state,
        groups=groups,
        sample_weight=sample_weight,
        positive=positive,
    )
    learner = learner or first_choice(guess.rule, from_disk, exposure)
    candidates, _ = find_candidates(
        guess.rule, protocol.bags, [learner], random_state, protocol.y, exposure
    )
    if len(candidates) != 1:
        names = ", ".join(candidate.name for candidate in candidates)
        raise InputError(f"{learner!r} may mean {names or 'a learner that needs dense data'}")
    candidate, everything, store = prepare(candidates[0]), protocol.everything, Memory()
    n_blocks = len(blocks(candidate))
    with warnings.catch_warnings(), sharing(Shelf()):
        warnings.simplefilter("ignore")  # a fold's: what all bags have to say, the model says
        tried = [run_trial(protocol, candidate, everything, block) for block in range(n_blocks)]
    store.put(candidate, everything, best_of(tried))
    stack = Stack(Calibrated(protocol.question, protocol.bags.sizes, store), [candidate], 1)
    return Chosen(protocol, candidate, store.get(candidate, everything).setting, stack)
