"""When work is done: the sequence from its beginning, until it ends or the clock cuts it."""

import time
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from mixedbag.comparison._afterwards import seconds_of_models, seconds_of_report
from mixedbag.comparison._candidates import samples
from mixedbag.comparison._counted import Counted
from mixedbag.comparison._result import Progress
from mixedbag.comparison._sequence import Work, read_work, sequence
from mixedbag.comparison._workers import Failure, Final

_PATIENCE = 15.0  # seconds: the first fit of a learner may have to compile its kernels
_SHARE = 0.1  # of the time budget, if that is more
_LATE = 5.0  # times the expected seconds, after which a unit holds up the others too long
_A_TRIAL = 0.03  # seconds at least that one takes, however quick its fits are
_MOST_KEPT = 0.5  # of the budget at most is for what comes after
_MOST_A_STEP = 0.5  # of it at most is for a learner with one block of settings


class _Fall(NamedTuple):
    """How a learner left: from this block of settings on it does not count.

    It was the unit at `place` in the sequence; nothing before it knows of it. Whoever has not
    `begun` was left out, as the time that is left is too short.
    """

    block: int
    failure: Failure
    place: int = -1
    begun: bool = True


class Schedule:
    """Does the units of the sequence in their order, and counts those finished from its beginning.

    Units end in any order on several workers; what counts is the longest part of the sequence
    without a gap. So the outcome follows from its length alone, whatever the load. Steps that are
    too long for the budget by the table are left out before anything begins: the pace of today does
    not decide who takes part, it only cuts. A learner that fails, or that holds up the others too
    long, leaves the sequence with the block of settings it failed on. The work says who left,
    unless by an error that will be met again (`Work.without`).

    The first learner goes through its folds whatever the clock says: a model always comes out.

    Parameters
    ----------
    plan : Comparison
        What is known before the first trial.
    store : Memory
        Where trials are and go.
    start : float
        When the clock of the budget began.
    budget : float, optional
    work : int or str, optional
        Do and count exactly this much, whatever the time.
    watch : callable, optional
        Told what is known after every step.
    reported : bool
        Whether a report comes out of it, whose time is within the budget.
    """

    def __init__(self, plan, store, start, budget=None, work=None, watch=None, reported=False):
        self._plan = plan
        self._store = store
        self._units = sequence(plan.candidates, plan.protocol)
        self._places = {unit.key: place for place, unit in enumerate(self._units)}
        self._steps: dict[Any, list] = {}
        for unit in self._units:
            self._steps.setdefault((unit.candidate.name, unit.block), []).append(unit)
        self._budget = np.inf if budget is None or work is not None else budget
        self._end = start + self._budget
        self._patience = max(_PATIENCE, _SHARE * self._budget)
        self._reported = reported
        self._n_workers = 1
        self._watch = watch or (lambda known: None)
        self._falls: dict[str, _Fall] = {}
        self._running: dict[Any, Any] = {}  # keys to units or final fits, and when they began
        self._models: dict[str, Any] = {}
        self._n_done = 0
        self._n_wanted = len(self._units)
        self._paces: dict[str, list[float]] = {}  # seconds taken a second expected, by learner
        self._reserve = 0.0
        self._most_kept = 0.0 if budget is None else _MOST_KEPT * budget
        if work is not None:
            self._n_wanted, without = read_work(work, plan.candidates, len(self._units))
            for name, block in without:
                failure = Failure("stopped", "left out, as the work asks")
                self._falls[name] = _Fall(block, failure)
        self._advance()
        self._watch(self._known())  # what an earlier run left, before any worker is there to end

    def run(self, workers):
        """The units, as many as there is time for, then the models of those that are chosen."""
        self._n_workers = workers.capacity
        self._leave_out_long_steps()
        try:
            self._work(workers)
            self._make_models(workers)
        except BaseException:
            self._advance()  # it may have ended between a trial's end and its counting
            self._watch(self._known())  # whatever ended it, the last word is what is kept
            raise
        return self._known()

    # The sequence --------------------------------------------------------------------------------

    def _work(self, workers):
        while True:
            self._fill(workers)
            if not self._running:
                return
            for unit, outcome in workers.wait(self._next_limit() - time.monotonic()):
                self._take(unit, outcome)
            for unit, began in list(self._running.values()):
                if self._limit(unit, began) <= time.monotonic() and workers.stop(unit.key):
                    self._take(unit, self._late(unit))
            self._watch(self._known())

    def _fill(self, workers):
        """Keep the workers busy with what comes next."""
        held = []
        for unit in self._units[self._n_done : self._n_wanted]:
            if len(self._running) >= workers.capacity:
                return
            if self._is_over(unit) or unit.key in self._running:
                continue
            if self._may_compile_elsewhere(unit):
                held.append(unit)
                continue
            left = self._cut(unit) - time.monotonic()
            if max(self._expected(unit), self._seconds_of_step(unit)) > left:
                return
            self._begin(workers, unit)
        for unit in held[: workers.capacity - len(self._running)]:
            self._begin(workers, unit)

    def _may_compile_elsewhere(self, unit):
        """Whether a worker meets this learner for the first time and may compile its kernels.

        Others then do something else first and find them compiled; not where the clock may cut
        what is done ahead of its turn.
        """
        name = unit.candidate.name
        met = any(name == running for running, *_ in self._running)
        return self._end == np.inf and met and name not in self._paces

    def _seconds_of_step(self, unit):
        """What a learner will take on all folds with settings that it has not begun with.

        Nothing once it has begun: what is begun goes on as far as it gets.
        """
        step = self._steps[unit.candidate.name, unit.block]
        if any(u.key in self._running or self._is_over(u) for u in step):
            return 0.0
        return sum(map(self._expected, step)) / self._n_workers

    def _leave_out_long_steps(self):
        """Steps that the table has for most of the budget do not begin; those after them may.

        All but the first, whatever the time.
        """
        for name, block in [*self._steps][1:]:
            step = self._steps[name, block]
            needed = sum(unit.seconds for unit in step) / self._n_workers
            if needed > _MOST_A_STEP * self._budget and not all(map(self._is_over, step)):
                told = f"{needed:.0f} s expected are too much of the time budget"
                failure = Failure("stopped", f"left out before it began: {told}")
                self._fall(name, block, failure, self._places[step[0].key], begun=False)

    def _begin(self, workers, unit):
        workers.submit(unit)
        self._running[unit.key] = unit, time.monotonic()
        self._watch(self._known())

    def _take(self, unit, outcome):
        _, began = self._running.pop(unit.key)
        if not isinstance(outcome, Failure):
            self._store.put(unit.candidate, unit.split, outcome, unit.block)
            pace = (time.monotonic() - began) / max(unit.seconds, _A_TRIAL)
            self._paces.setdefault(unit.candidate.name, []).append(pace)
        elif outcome.kind != "late":
            self._fall(unit.candidate.name, unit.block, outcome, self._places[unit.key])
        self._advance()

    def _fall(self, name, block, failure, place=-1, begun=True):
        before = self._falls.get(name)
        if before is None or (block, place) < (before.block, before.place):
            self._falls[name] = _Fall(block, failure, place, begun)

    def _is_over(self, unit):
        """Whether a unit is finished, or will never be begun."""
        fall = self._falls.get(unit.candidate.name)
        if fall is not None and unit.block >= fall.block:
            return True
        return self._store.get(unit.candidate, unit.split, unit.block) is not None

    def _advance(self):
        """Count what is finished from the beginning without a gap.

        Learners that were left out count when something after them is finished.
        """
        before = place = self._n_done
        while place < self._n_wanted and self._is_over(self._units[place]):
            unit = self._units[place]
            place += 1
            fall = self._falls.get(unit.candidate.name)
            if fall is None or fall.block > unit.block or fall.begun:
                self._n_done = place
        if self._end < np.inf and self._n_done > before:
            self._reserve = min(self._kept_for_later(), self._most_kept)

    # The clock, which may only cut ---------------------------------------------------------------

    def _cut(self, unit):
        """The time at which a unit is of no use any more."""
        if unit.block == 0 and unit.candidate.name == self._indispensable():
            return np.inf
        return self._end - self._reserve

    def _indispensable(self):
        """The learner without which there is no answer yet, by name."""
        standing = [u.candidate.name for u in self._units if self._stands(u.candidate.name)]
        if not standing:
            return None
        name = standing[0]
        mine = [u for u in self._units if u.candidate.name == name and u.block == 0]
        return None if all(map(self._is_over, mine)) else name

    def _stands(self, name):
        return name not in self._falls or self._falls[name].block > 0

    def _limit(self, unit, began):
        """When to stop waiting for a unit."""
        cut = self._cut(unit)
        if cut == np.inf:
            return cut
        patience = max(self._patience, _LATE * self._expected(unit))
        return min(cut, began + patience)

    def _next_limit(self):
        return min(self._limit(*running) for running in self._running.values())

    def _late(self, unit):
        if time.monotonic() >= self._cut(unit):
            return Failure("late", "a trial was stopped at the end of the time budget")
        return Failure("stopped", "a trial was stopped: it took too much of the time budget")

    def _expected(self, unit):
        """Seconds that a unit will take: as on other folds, or by the table at today's pace.

        Folds that the workers may have compiled kernels on tell no more than an upper limit.
        """
        if self._end == np.inf:
            return 0.0
        met = (self._store.get(unit.candidate, s, unit.block) for s in self._plan.splits)
        known = [trial.seconds for trial in met if trial is not None]
        if not known:
            return unit.seconds * self._pace(unit.candidate.name)
        usual = float(np.median(known))
        return usual if len(known) > self._n_workers else min(usual, unit.seconds * self._pace())

    def _pace(self, name=None):
        """How much longer units take than the table says: a learner's own, or everybody's.

        A learner's quickest unit tells: the others may have had to compile its kernels first. Of
        all learners those tell that every worker may have compiled by now, if there are any.
        """
        own = self._paces.get(name)
        met = list(self._paces.values())
        compiled = [paces for paces in met if len(paces) > self._n_workers]
        best = [min(paces) for paces in ([own] if own else compiled or met)]
        return float(np.median(best)) if best else 1.0

    def _kept_for_later(self):
        """Seconds for what comes after the trials."""
        known = self._known()
        later = seconds_of_report(known, self._pace()) if self._reported else 0.0
        return later + seconds_of_models(known, self._n_workers)

    # The models ----------------------------------------------------------------------------------

    def _make_models(self, workers):
        """Fit those who take part in the answer on all bags; whoever fails there leaves."""
        while True:
            known = self._known()
            missing = [f for f in known.final_fits() if f[0].name not in self._models]
            if not missing:
                return
            self._fit_all(workers, missing)

    def _fit_all(self, workers, finals):
        waiting = list(finals)
        while waiting or self._running:
            while waiting and len(self._running) < workers.capacity:
                self._begin(workers, Final(*waiting.pop(0)))
            for final, outcome in workers.wait(np.inf):
                del self._running[final.key]
                name = final.candidate.name
                if isinstance(outcome, Failure):
                    self._fall(name, 0, outcome)
                else:
                    self._models[name] = outcome

    # What is known -------------------------------------------------------------------------------

    def _known(self):
        """What is known now; nothing that happens later changes it."""
        falls = {n: fall for n, fall in self._falls.items() if fall.place < self._n_done}
        failed = {n: fall.failure for n, fall in falls.items() if fall.block == 0}
        trials = {
            unit.key: self._store.get(unit.candidate, unit.split, unit.block)
            for unit in self._units[: self._n_done]
            if unit.candidate.name not in failed
        }
        met = {key: trial for key, trial in trials.items() if trial is not None}
        counted = Counted(self._plan.protocol, self._plan.candidates, met)
        without = [
            (name, fall.block) for name, fall in falls.items() if fall.failure.kind != "error"
        ]
        progress = Progress(
            MappingProxyType(counted.trials),
            MappingProxyType(failed),
            frozenset(name for name, *_ in self._running),
            Work(self._n_done, tuple(sorted(without))),
            len(self._units),
            MappingProxyType(dict(self._models)),
        )
        took_part = {name for name, _ in counted.trials}
        return replace(
            self._plan,
            stacks=self._plan.stacks.on(counted),
            notes=[*self._plan.notes, *samples(self._plan.candidates, took_part)],
            progress=progress,
        )
