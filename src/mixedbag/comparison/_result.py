"""`Comparison`: what is known so far, and at the end: leaderboard, predictions and the model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from mixedbag._evidence import knows_instances
from mixedbag._threads import one_thread
from mixedbag.comparison._candidates import Candidate
from mixedbag.comparison._cases import confusion
from mixedbag.comparison._leaderboard import Entry, Figures, Row, make_rows
from mixedbag.comparison._protocol import Protocol
from mixedbag.comparison._rules import Guess
from mixedbag.comparison._sequence import Work
from mixedbag.comparison._stack import Stack, Stacks
from mixedbag.comparison._trials import Trial, settings
from mixedbag.comparison.checks import Finding, run_checks

STACK = "stack of the best"
CHOICE = "best single, chosen inside"
CONSTANT = "always the same answer"
_N_BEST = 5
_N_WITNESSES = 2
_NOTHING: Mapping = MappingProxyType({})


class OutOfFold(NamedTuple):
    """What the chosen model answered about bags it had not seen.

    `bags` and `instances` are probabilities, a column a class, or amounts, and agree with each
    other; `labels` the predictions in the words of the data; `quality` how good each was;
    `instance_labels` the classes of instances, None where the answers are amounts.
    """

    name: str
    bags: np.ndarray
    instances: np.ndarray
    labels: np.ndarray
    quality: np.ndarray
    instance_labels: np.ndarray | None = None


class Progress(NamedTuple):
    """How far the work is: trials by the names of candidate and split, failures, who is at work,
    how much of the sequence counts, of how many units, and models fitted on all bags."""

    trials: Mapping = _NOTHING
    failures: Mapping = _NOTHING
    running: frozenset = frozenset()
    work: Work = Work(0)
    n_units: int = 0
    models: Mapping = _NOTHING


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The outcome of `compare`. It is read, never changed.

    Parameters
    ----------
    guess : Guess
        The rule, and why.
    protocol : Protocol
        The data, its folds, and what is asked of them.
    candidates : list of Candidate
        The learners that take part.
    skipped : dict
        Learners that cannot take part, and why.
    notes : list of str
        What else there is to know, such as kept trials that had to be done again.
    stacks : Stacks
        Answers of learners and of their stack, as they are asked for.
    figures : Figures
        Figures of learners, as they are asked for.
    progress : Progress
        How far the work is.

    Attributes
    ----------
    rule, reason : str
        The rule that was used, and why.
    metric, measure, why_metric : str
        What the leaderboard's mean is, by scikit-learn's name and in words ("accuracy", "R²", …),
        and why it is that.
    bags, y
        The data; of many bags, where time was short or `max_bags` was given, the sample of them
        that learners were compared on.
    splits : list of Split
        The outer folds.
    candidates : list of Candidate
        The learners that take part.
    skipped : dict
        Learners that cannot take part, and why.
    failures : dict
        Learners that failed or were stopped, and how.
    running : frozenset of str
        Learners at work at that moment, for those who `watch`.
    work : Work
        How much of the sequence of work counts: ``compare(..., work=str(result.work))`` on the
        same data gives the same result, bit for bit, on any machine.
    notes : list of str
        What else there is to know, such as kept trials that had to be done again.

    See Also
    --------
    mixedbag.compare : Makes it.
    mixedbag.report.write_report : The page that explains it.

    Examples
    --------
    >>> from mixedbag import compare
    >>> from mixedbag.datasets import load_digits_bags
    >>> data = load_digits_bags(n_bags=20)
    >>> quick = dict(learners=["bag statistics + SVM"], folds=2, inner_folds=2)
    >>> result = compare(data.bags, data.y, **quick)
    >>> result.rule, result.metric, len(result.splits)
    ('any', 'accuracy', 2)
    """

    guess: Guess
    protocol: Protocol
    candidates: list
    skipped: Mapping
    notes: list
    stacks: Stacks
    figures: Figures
    progress: Progress = field(default_factory=Progress)

    rule = property(lambda self: self.guess.rule)
    reason = property(lambda self: self.guess.reason)
    question = property(lambda self: self.protocol.question)
    metric = property(lambda self: self.question.measure.name)
    measure = property(lambda self: self.question.measure.words)
    why_metric = property(lambda self: self.question.why_measure)
    bags = property(lambda self: self.protocol.bags)
    y = property(lambda self: self.protocol.y)
    splits = property(lambda self: self.protocol.splits)
    failures = property(lambda self: self.progress.failures)
    running = property(lambda self: self.progress.running)
    work = property(lambda self: self.progress.work)

    def __repr__(self):
        best = self.chosen()
        if best is None:
            return f"Comparison(rule={self.rule!r}, nothing finished)"
        figure = self.question.measure.shown(best.mean)
        return f"Comparison(rule={self.rule!r}, {best.name}: {self.measure} {figure})"

    # Trials --------------------------------------------------------------------------------------

    def trials(self, candidate: Candidate) -> dict[str, Trial]:
        """Finished trials of a candidate, by the name of their split."""
        done = self.progress.trials
        found = ((split.name, done.get((candidate.name, split.name))) for split in self.splits)
        return {name: trial for name, trial in found if trial is not None}

    def finished(self) -> list[Candidate]:
        """Candidates that have met every fold."""
        return [c for c in self.candidates if len(self.trials(c)) == len(self.splits)]

    def finalists(self) -> list[Candidate]:
        """The few finished candidates that are best inside the training bags.

        Among them, where there are such, are a few that know instances.
        """
        finished = self.finished()
        badness = [self._badness(candidate) for candidate in finished]
        ranked = [finished[i] for i in np.argsort(badness, kind="stable")]
        able = [candidate for candidate in ranked[_N_BEST:] if knows_instances(candidate.estimator)]
        best = ranked[:_N_BEST]
        n_able = sum(knows_instances(candidate.estimator) for candidate in best)
        return best + able[: max(0, _N_WITNESSES - n_able)]

    def _badness(self, candidate):
        """The loss inside the training bags, or how badly it orders them where that is asked."""
        measure, cases = self.question.measure, self.question.cases
        if not measure.is_ranking:
            return np.mean([trial.loss for trial in self.trials(candidate).values()])
        inside = self.stacks.calibrated.inside
        judged = [measure.judge(cases[s.train], inside(candidate, s)) for s in self.splits]
        return -np.mean(judged)

    def final_fits(self) -> list[tuple[Candidate, dict]]:
        """Candidates and settings to fit on all bags: the model is made of these."""
        everything, finalists = self.protocol.everything, self.finalists()
        if not finalists:
            return []
        stack = self.stack_of(finalists)
        return [(c, stack.setting(c, everything)) for c in stack.taking_part(everything)]

    def left_undone(self) -> dict[str, list[str]]:
        """What the clock cut: learners never begun, not through, or with settings not tried."""
        if self.work.n_units == self.progress.n_units:
            return {}
        found: dict = {"never begun": [], "not through all folds": [], "not all settings": []}
        for candidate in self.candidates:
            trials = self.trials(candidate)
            if candidate.name in self.failures:
                continue
            if not trials:
                found["never begun"].append(candidate.name)
            elif len(trials) < len(self.splits):
                found["not through all folds"].append(candidate.name)
            elif self._tried(candidate) < len(settings(candidate)):
                found["not all settings"].append(candidate.name)
        return {what: names for what, names in found.items() if names}

    def _tried(self, candidate):
        """How many settings count."""
        return self.stacks.calibrated.store.n_settings(candidate)

    # The leaderboard -----------------------------------------------------------------------------

    def leaderboard(self) -> list[Row]:
        """A `Row` a learner, the best first, then those that have not met every fold."""
        return list(self._rows)

    @cached_property
    @one_thread()
    def _rows(self):
        entries = [self._entry(candidate) for candidate in self.candidates]
        entries.append(Entry(CONSTANT, "constant", self._figure(CONSTANT, self._constant)))
        finished = self.finished()
        for name, kind, n_best in ((CHOICE, "choice", 1), (STACK, "stack", _N_BEST)):
            if len(finished) >= min(n_best, 2):
                key = (name, *((c.name, self._tried(c)) for c in finished))
                figure = self._figure(key, self.stack_of(finished, n_best).answer)
                entries.append(Entry(name, kind, figure))
        share = len(self.splits[0].test) / len(self.bags)
        return make_rows(entries, len(self.splits), share, self.question.measure)

    def _entry(self, candidate):
        """One learner, calibrated as members of the stack are."""
        known, calibrated = self.trials(candidate), self.stacks.calibrated
        met = [split for split in self.splits if split.name in known]
        figure = None
        if met:
            key = (candidate.name, self._tried(candidate))
            figure = self._figure(key, lambda s: calibrated.outside(candidate, s), met)
        seconds = sum(trial.seconds for trial in known.values())
        failure = self.failures.get(candidate.name)
        return Entry(candidate.name, "learner", figure, seconds, failure)

    def _figure(self, key, answer, splits=None):
        return self.figures.of(key, self.splits if splits is None else splits, answer)

    def _constant(self, split):
        """What can be answered without looking into the bags: one answer for all of them.

        It knows all labels. One that knew those of the training part would lean away from the bags
        left out, as rare there as they are frequent here, and be worse than a constant is.
        """
        return self.question.constant(self.bags.sizes[split.test])

    def constant(self) -> Row:
        """The row of who always gives the same answer: the best that one can be."""
        return next(row for row in self._rows if row.kind == "constant")

    def chosen(self) -> Row | None:
        """The row of the model that comes out: the stack, or the only learner that finished.

        Which one that is does not depend on the figures, so its figure is honest.
        """
        rows = {row.kind: row for row in self._rows}
        return rows.get("stack") or rows.get("choice")

    # What comes out ------------------------------------------------------------------------------

    def stack_of(self, candidates: Sequence[Candidate], n_best: int = _N_BEST) -> Stack:
        """The stack of some candidates that have met the bags asked about."""
        return self.stacks.of(candidates, n_best)

    def out_of_fold(self, candidate: Candidate | None = None) -> OutOfFold | None:
        """Answers on bags that were unseen: the chosen model's, or those of one candidate.

        Means over repeats; None while nothing is finished.
        """
        if candidate is not None:
            return self._unseen([candidate])
        return self._of_chosen

    @cached_property
    def _of_chosen(self):
        finished = self.finished()
        return self._unseen(finished) if finished else None

    def unseen_bags(self, candidates: Sequence[Candidate]) -> np.ndarray:
        """Answers of a stack of candidates about unseen bags alone: means over repeats."""
        stack = self.stack_of(candidates)
        total: Any = 0.0
        repeats = np.zeros(len(self.bags))
        for split in self.splits:
            answer = stack.answer(split)
            part = np.zeros((len(self.bags), answer.shape[1]))
            part[split.test] = answer
            total = total + part
            repeats[split.test] += 1
        return total / repeats[:, None]

    @one_thread()
    def _unseen(self, finished):
        stack, bags = self.stack_of(finished), self.bags
        of_bags = self.unseen_bags(finished)
        of_instances = np.zeros((bags.n_instances, of_bags.shape[1]))
        repeats = np.zeros(bags.n_instances)
        for split in self.splits:
            where = bags.rows_of(split.test)
            of_instances[where] += stack.answer_of_instances(split)
            repeats[where] += 1
        of_instances /= repeats[:, None]
        _, account = stack.witnesses(self.splits[0])
        if repeats.max() > 1:
            of_instances = account.agree_again(of_instances, of_bags, bags.offsets)
        named = None
        if self.question.kind == "classes":
            answered = self.question.answered(of_bags)
            named = self.question.classes[account.name(of_instances, bags.offsets, answered)]
        return OutOfFold(
            STACK if len(finished) > 1 else finished[0].name,
            of_bags,
            of_instances,
            self.question.labels(of_bags),
            self.question.quality(of_bags, np.arange(len(bags))),
            named,
        )

    def checks(self) -> list[Finding]:
        """What may be wrong with the data or the answer, and what to do: a list of `Finding`."""
        return list(self._findings)

    @cached_property
    @one_thread()
    def _findings(self):
        return run_checks(self)

    def confusion(self) -> np.ndarray | None:
        """Weights of unseen bags, a row a true class and a column an answered one, in the order
        of ``question.classes``; None for amounts, or while nothing is finished."""
        answers = self.out_of_fold()
        if answers is None or self.question.kind != "classes":
            return None
        return confusion(self.question.cases, answers.bags)

    @cached_property
    @one_thread()
    def model(self) -> Any:
        """The chosen model, refitted on all bags; None while nothing is finished."""
        members = self.finalists()
        if not members:
            return None
        everything = self.protocol.everything
        return self.stack_of(members).model(self.protocol, everything, self.progress.models)
