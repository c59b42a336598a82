"""The trials that count, and what all folds together taught about all bags."""

from collections import Counter

import numpy as np

from mixedbag.comparison._calibration import calibrator
from mixedbag.comparison._trials import Trial, best_of


class Counted:
    """What stands after some of the sequence is finished; it never changes.

    A learner counts with those blocks of settings that have met every fold; before the first has,
    with what there is.

    Parameters
    ----------
    protocol : Protocol
    candidates : list of Candidate
    trials : mapping
        From names of candidate and split, and the block, to trials.
    """

    def __init__(self, protocol, candidates=(), trials=None):
        self._protocol = protocol
        self.trials: dict = {}
        self._taught: dict = {}
        for candidate in candidates:
            self._count(candidate, trials or {})

    def _count(self, candidate, trials):
        name, folds = candidate.name, [split.name for split in self._protocol.splits]
        whole = 0  # blocks; not asked for from the grid: this is done twice a trial
        while all((name, fold, whole) in trials for fold in folds):
            whole += 1
        for fold in folds:
            met = [trials.get((name, fold, block)) for block in range(max(whole, 1))]
            if met[0] is not None:
                self.trials[name, fold] = best_of(met)

    def get(self, candidate, split):
        """The trial of a candidate on a fold, or what its folds taught about all bags."""
        if split.name != self._protocol.everything.name:
            return self.trials.get((candidate.name, split.name))
        if candidate.name not in self._taught:
            folds = [s for s in self._protocol.splits if s.name.startswith("0.")]
            met = [self.trials[candidate.name, fold.name] for fold in folds]
            self._taught[candidate.name] = taught(self._protocol, folds, met)
        return self._taught[candidate.name]

    def n_settings(self, candidate):
        """How many settings count so far, which tells the states of a learner apart."""
        found = (self.trials.get((candidate.name, s.name)) for s in self._protocol.splits)
        return max((trial.n_settings for trial in found if trial is not None), default=0)


def taught(protocol, folds, trials):
    """What the trials on folds that cover all bags say of all bags: no fit is needed for it.

    The setting is the one that most folds chose, of equals the one with smaller loss. What its
    scores mean is learned from its own: other settings may have another scale. So a bag's evidence
    is that of its fold where this chose the setting, else the one from inside another fold that
    did. Either way the model had not seen the bag.
    """
    question, bags = protocol.question, protocol.bags
    setting = _favourite(trials)
    chose = [i for i, trial in enumerate(trials) if trial.setting == setting]
    width = trials[0].outer.shape[1]
    inner = np.empty((len(bags), width))
    instances = np.empty((bags.n_instances, width), dtype=np.float32)
    limit = np.finfo(np.float32).max
    first, inside = folds[chose[0]], trials[chose[0]]
    inner[first.train], instances[bags.rows_of(first.train)] = inside.inner, inside.inner_instances
    for i in chose:
        rows = folds[i].test
        inner[rows] = trials[i].outer
        instances[bags.rows_of(rows)] = np.clip(trials[i].instances, -limit, limit)
    rows = protocol.everything.train
    answer = calibrator(question, inner, rows)(inner)
    loss = question.mean(question.loss(answer, rows), rows)
    nothing = np.empty((0, width))
    return Trial(
        *(setting, inner, instances, nothing, nothing, loss),
        n_settings=trials[0].n_settings,
        seconds=0.0,
    )


def _favourite(trials):
    votes = Counter(repr(trial.setting) for trial in trials)
    losses: dict = {}
    for trial in trials:
        losses.setdefault(repr(trial.setting), []).append(trial.loss)
    best = min(votes, key=lambda setting: (-votes[setting], np.mean(losses[setting])))
    return next(trial.setting for trial in trials if repr(trial.setting) == best)
