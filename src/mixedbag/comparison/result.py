"""`Comparison`: what is known so far, and at the end: leaderboard, predictions and the model."""

from typing import NamedTuple

import numpy as np

from mixedbag.comparison.leaderboard import Row, fold_interval, paired_p_value
from mixedbag.comparison.stack import Calibrated, Stack
from mixedbag.comparison.trial import Split

STACK = "stack of the best"
CHOICE = "best single, chosen inside"
_N_BEST = 5


class OutOfFold(NamedTuple):
    """What the chosen model answered about bags it had not seen.

    `bags` and `instances` are probabilities, a column a class, or amounts; `labels` the predictions
    in the words of the data; `quality` how good each was.
    """

    name: str
    bags: np.ndarray
    instances: np.ndarray
    labels: np.ndarray
    quality: np.ndarray


class Comparison:
    """The outcome of `compare`.

    Attributes
    ----------
    rule, reason : str
        The rule that was used, and why.
    measure : str
        What the leaderboard's mean is: "accuracy", "counted right" or "R²".
    bags, y
        The data.
    candidates : list of Candidate
    skipped : dict
        Learners that cannot take part, and why.
    failures : dict
        Learners that failed or were stopped, and how.
    """

    def __init__(self, guess, protocol, splits, candidates, skipped, store):
        self.rule, self.reason = guess
        self.protocol = protocol
        self.question = protocol.question
        self.measure = self.question.measure
        self.bags, self.y = protocol.bags, protocol.y
        self.splits = splits
        self.candidates = candidates
        self.skipped = skipped
        self.store = store
        self.failures = {}
        self.running = set()
        self.everything = Split("all", np.arange(len(self.bags)), np.arange(0))
        self._calibrated = Calibrated(self.question, store)
        self._model = None

    def __repr__(self):
        best = self.chosen()
        if best is None:
            return f"Comparison(rule={self.rule!r}, nothing finished)"
        return f"Comparison(rule={self.rule!r}, {best.name}: {self.measure} {best.mean:.3f})"

    # Trials --------------------------------------------------------------------------------------

    def fail(self, candidate, failure):
        """Note that a candidate gave up."""
        self.failures[candidate.name] = failure

    def trials(self, candidate):
        """Finished trials of a candidate, by the name of their split."""
        found = ((split.name, self.store.get(candidate, split)) for split in self.splits)
        return {name: trial for name, trial in found if trial is not None}

    def finished(self):
        """Candidates that have met every fold."""
        return [c for c in self.candidates if len(self.trials(c)) == len(self.splits)]

    def final_trials(self):
        """Trials on all bags that the model still needs: those of the best few, judged inside."""
        return [
            (candidate, self.everything)
            for candidate in self._best_inside()
            if self.store.get(candidate, self.everything) is None
            and candidate.name not in self.failures
        ]

    def _best_inside(self):
        """The finished candidates of smallest loss inside the training bags."""
        finished = self.finished()
        losses = [np.mean([t.loss for t in self.trials(c).values()]) for c in finished]
        return [finished[i] for i in np.argsort(losses, kind="stable")[:_N_BEST]]

    # The leaderboard -----------------------------------------------------------------------------

    def leaderboard(self):
        """A `Row` a learner, the best first, then those that have not met every fold."""
        by_name = {c.name: self._fold_quality(c) for c in self.candidates}
        finished = self.finished()
        if finished:
            by_name[CHOICE] = self._quality_of(self._stack(finished, 1))
        if len(finished) > 1:
            by_name[STACK] = self._quality_of(self._stack(finished, _N_BEST))
        means = {n: np.mean(list(q.values())) for n, q in by_name.items() if self._is_whole(q)}
        best = by_name[max(means, key=means.get)] if means else {}
        rows = [self._row(name, quality, best) for name, quality in by_name.items()]
        return sorted(rows, key=lambda row: (row.status != "done", -(row.mean or 0.0)))

    def _is_whole(self, quality):
        return len(quality) == len(self.splits)

    def _fold_quality(self, candidate):
        """Of one learner, calibrated as members of the stack are."""
        known = self.trials(candidate)
        return {
            s.name: self._mean_quality(self._calibrated.outside(candidate, s, "outer"), s)
            for s in self.splits
            if s.name in known
        }

    def _quality_of(self, stack):
        return {s.name: self._mean_quality(stack.answer(s), s) for s in self.splits}

    def _mean_quality(self, answer, split):
        return self.question.mean(self.question.quality(answer, split.test), split.test)

    def _row(self, name, quality, best):
        kind = {STACK: "stack", CHOICE: "choice"}.get(name, "learner")
        failure = self.failures.get(name)
        seconds = 0.0
        if kind == "learner":
            candidate = next(c for c in self.candidates if c.name == name)
            seconds = sum(trial.seconds for trial in self.trials(candidate).values())
        note = failure.message if failure else ""
        status = failure.kind if failure else "partial" if quality else "waiting"
        if not quality:
            return Row(name, kind, status, 0, seconds=seconds, note=note)
        share = len(self.splits[0].test) / len(self.bags)
        mean, low, high = fold_interval(list(quality.values()), share, self.question.floor)
        p_value = None
        if self._is_whole(quality):
            status = "done"
            if quality is not best:
                p_value = paired_p_value(list(quality.values()), list(best.values()), share)
        return Row(name, kind, status, len(quality), mean, low, high, p_value, seconds, note)

    def chosen(self):
        """The row of the model that comes out: the stack, or the only learner that finished.

        Which one that is does not depend on the figures, so its figure is honest.
        """
        rows = {row.kind: row for row in self.leaderboard()}
        return rows.get("stack") or rows.get("choice")

    # What comes out ------------------------------------------------------------------------------

    def _stack(self, candidates, n_best=_N_BEST):
        return Stack(self._calibrated, candidates, n_best)

    def out_of_fold(self, candidate=None):
        """Answers on bags that were unseen: the chosen model's, or those of one candidate.

        Means over repeats; None while nothing is finished.
        """
        finished = self.finished() if candidate is None else [candidate]
        if not finished:
            return None
        stack = self._stack(finished)
        width = stack.answer(self.splits[0]).shape[1]
        of_bags = np.zeros((len(self.bags), width))
        of_instances = np.zeros((self.bags.n_instances, width))
        repeats = np.zeros(len(self.bags))
        rows = np.split(np.arange(self.bags.n_instances), self.bags.offsets[1:-1])
        for split in self.splits:
            of_bags[split.test] += stack.answer(split)
            where = np.concatenate([rows[i] for i in split.test])
            of_instances[where] += stack.answer(split, "instances")
            repeats[split.test] += 1
        of_bags /= repeats[:, None]
        of_instances /= self.bags.spread(repeats)[:, None]
        everything = np.arange(len(self.bags))
        return OutOfFold(
            STACK if len(finished) > 1 else finished[0].name,
            of_bags,
            of_instances,
            self.question.labels(of_bags),
            self.question.quality(of_bags, everything),
        )

    def is_ready(self):
        """Whether the model can be made, or nothing is there to make it of."""
        return bool(self._ready()) or not self.finished()

    def _ready(self):
        """The best candidates that have met all bags."""
        everything = self.everything
        return [c for c in self._best_inside() if self.store.get(c, everything) is not None]

    @property
    def model(self):
        """The chosen model, refitted on all bags; None while nothing is finished."""
        if self._model is None and self._ready():
            self._model = self._stack(self._ready()).model(self.protocol, self.everything)
        return self._model
