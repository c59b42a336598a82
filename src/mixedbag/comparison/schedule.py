"""Which trial comes next: quick learners first, so that an answer stands early and grows."""

import time

import numpy as np

from mixedbag.comparison.workers import Failure, Job

_FOR_FINAL = 0.15  # share of the budget kept for the fits on all bags
_PATIENCE = 15.0  # seconds: the first fit of a learner may have to compile its kernels


class Schedule:
    """Runs the trials of a comparison on workers until they are done or the time is up.

    The first learner goes through all its folds, so that an answer stands soon. Then the learner
    with the least time left goes on, as far as its finished folds tell; one that has not begun is
    taken for an average one, or comes last where it is known to be slow. With a budget, a trial
    gets an allowance for trying settings, and is stopped when it takes a large part of all the time
    there is.
    """

    def __init__(self, result, start, budget=None, watch=None):
        self.result = result
        self.start = start
        self.budget = budget
        self.watch = watch or (lambda result: None)

    def run(self, workers):
        """All folds, then the best few on all bags; of these, at least one whatever it takes."""
        if self.budget is None:
            self._drain(workers, self._open_trials, None)
            self._drain(workers, self.result.final_trials, None)
            return
        end = self.start + self.budget
        self._drain(workers, self._open_trials, end - _FOR_FINAL * self.budget)
        self._drain(workers, self.result.final_trials, end)
        if not self.result.is_ready():
            self._drain(workers, lambda: self.result.final_trials()[:1], None)

    def _drain(self, workers, open_trials, end):
        """Keep the workers busy with what is open, until nothing is or the time is up."""
        running = self.result.running
        self.watch(self.result)
        while True:
            waiting = [t for t in open_trials() if (t[0].name, t[1].name) not in running]
            while waiting and len(running) < workers.capacity:
                if end is not None and time.monotonic() >= end:
                    break
                candidate, split = waiting.pop(0)
                running.add((candidate.name, split.name))
                workers.submit(self._job(candidate, split, end, workers.capacity))
                self.watch(self.result)
            if not running:
                return
            for job, outcome in workers.wait():
                running.discard((job.candidate.name, job.split.name))
                if not isinstance(outcome, Failure):
                    self.result.store.put(job.candidate, job.split, outcome)
                elif outcome.kind != "late":
                    self.result.fail(job.candidate, outcome)
                self.watch(self.result)

    def _open_trials(self):
        """Trials that are not done, the next one first."""
        result = self.result
        answered = bool(result.finished())
        trials = {c.name: result.trials(c) for c in result.candidates}
        paces = {n: np.mean([t.seconds for t in d.values()]) for n, d in trials.items() if d}
        average = float(np.median(list(paces.values()))) if paces else 0.0
        begun = {name for name, _ in result.running}
        ranked = []
        for candidate in result.candidates:
            name, is_new = candidate.name, candidate.name not in paces
            if name in result.failures or (is_new and name in begun):
                continue
            left = [split for split in result.splits if split.name not in trials[name]]
            later = is_new and (candidate.is_slow or not answered)
            key = (later, paces.get(name, average) * len(left))
            # One fold of a new learner is enough to tell how quick it is.
            ranked += [(key, candidate, split) for split in (left[:1] if is_new else left)]
        ranked.sort(key=lambda entry: entry[0])
        return [(candidate, split) for _, candidate, split in ranked]

    def _job(self, candidate, split, end, capacity):
        """A trial with twice an even share of the time for its settings, and limited patience."""
        if self.budget is None:
            return Job(candidate, split)
        n_trials = len(self.result.candidates) * (len(self.result.splits) + 1)
        allowance = 2 * self.budget * capacity / n_trials
        if end is None:
            return Job(candidate, split, allowance)
        return Job(candidate, split, allowance, max(_PATIENCE, self.budget / 10), end)
