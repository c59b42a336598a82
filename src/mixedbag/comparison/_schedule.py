"""Which trial comes next: quick learners first, so that an answer stands early and grows."""

import time
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from mixedbag.comparison._result import Progress
from mixedbag.comparison._workers import Failure, Job

_FOR_FINAL = 0.15  # share of the budget kept for the fits on all bags
_PATIENCE = 15.0  # seconds: the first fit of a learner may have to compile its kernels


class Schedule:
    """Runs the trials of a comparison on workers until they are done or the time is up.

    The first learner goes through all its folds, so that an answer stands soon. Then the learner
    with the least time left goes on, as far as its finished folds tell; one that has not begun is
    taken for an average one, or comes last where it is known to be slow. With a budget, a trial
    gets an allowance for trying settings, and is stopped when it takes a large part of all the time
    there is.

    Parameters
    ----------
    plan : Comparison
        What is known before the first trial.
    store : Memory
        Where trials are and go.
    start : float
        When the clock of the budget began.
    budget : float, optional
    watch : callable, optional
        Told what is known after every step.
    """

    def __init__(self, plan, store, start, budget=None, watch=None):
        self._plan = plan
        self._store = store
        self._start = start
        self._budget = budget
        self._watch = watch or (lambda known: None)
        self._failures = {}
        self._running = set()  # names of a candidate and a split

    def run(self, workers):
        """All folds, then the best few on all bags; of these, at least one whatever it takes."""
        try:
            self._run(workers)
        except BaseException:
            self._watch(self._known())  # whatever ended it, the last word is what is kept
            raise
        return self._known()

    def _run(self, workers):
        if self._budget is None:
            self._drain(workers, self._open_trials, None)
            self._drain(workers, self._final_trials, None)
            return
        end = self._start + self._budget
        self._drain(workers, self._open_trials, end - _FOR_FINAL * self._budget)
        self._drain(workers, self._final_trials, end)
        if not self._known().ready():
            self._drain(workers, lambda: self._final_trials()[:1], None)

    def _known(self):
        """What is known now; nothing that happens later changes it."""
        return replace(
            self._plan,
            progress=Progress(
                self._store.trials(),
                MappingProxyType(dict(self._failures)),
                frozenset(name for name, _ in self._running),
            ),
        )

    def _drain(self, workers, open_trials, end):
        """Keep the workers busy with what is open, until nothing is or the time is up."""
        self._watch(self._known())
        while True:
            waiting = [t for t in open_trials() if (t[0].name, t[1].name) not in self._running]
            while waiting and len(self._running) < workers.capacity:
                if end is not None and time.monotonic() >= end:
                    break
                candidate, split = waiting.pop(0)
                self._running.add((candidate.name, split.name))
                workers.submit(self._job(candidate, split, end, workers.capacity))
                self._watch(self._known())
            if not self._running:
                return
            for job, outcome in workers.wait():
                self._running.discard((job.candidate.name, job.split.name))
                if not isinstance(outcome, Failure):
                    self._store.put(job.candidate, job.split, outcome)
                elif outcome.kind != "late":
                    self._failures[job.candidate.name] = outcome
                self._watch(self._known())

    def _open_trials(self):
        """Trials that are not done, the next one first."""
        known = self._known()
        answered = bool(known.finished())
        trials = {c.name: known.trials(c) for c in known.candidates}
        paces = {n: np.mean([t.seconds for t in d.values()]) for n, d in trials.items() if d}
        average = float(np.median(list(paces.values()))) if paces else 0.0
        ranked = []
        for candidate in known.candidates:
            name, is_new = candidate.name, candidate.name not in paces
            if name in known.failures or (is_new and name in known.running):
                continue
            left = [split for split in known.splits if split.name not in trials[name]]
            later = is_new and (candidate.is_slow or not answered)
            key = (later, paces.get(name, average) * len(left))
            # One fold of a new learner is enough to tell how quick it is.
            ranked += [(key, candidate, split) for split in (left[:1] if is_new else left)]
        ranked.sort(key=lambda entry: entry[0])
        return [(candidate, split) for _, candidate, split in ranked]

    def _final_trials(self):
        """Trials on all bags that the model still needs: those of the best few, judged inside."""
        known, everything = self._known(), self._plan.protocol.everything
        ready = known.ready()
        return [
            (candidate, everything)
            for candidate in known.finalists()
            if candidate not in ready and candidate.name not in known.failures
        ]

    def _job(self, candidate, split, end, capacity):
        """A trial with twice an even share of the time for its settings, and limited patience."""
        if self._budget is None:
            return Job(candidate, split)
        n_trials = len(self._plan.candidates) * (len(self._plan.splits) + 1)
        allowance = 2 * self._budget * capacity / n_trials
        if end is None:
            return Job(candidate, split, allowance)
        return Job(candidate, split, allowance, max(_PATIENCE, self._budget / 10), end)
