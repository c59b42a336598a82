"""One trial: a candidate chooses its setting on training bags and answers for the others."""

import time
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from mixedbag.base._calibrating import scores_only
from mixedbag.base._fitting import unchecked
from mixedbag.comparison._calibration import calibrator
from mixedbag.comparison._preparation import Preparation
from mixedbag.comparison._weights import standard_errors_behind
from mixedbag.exceptions import InputError

_BLOCK = 4  # settings tried together, after the first
_WARM_UP = 2  # inner folds that every setting meets
_BEHIND = 2.0  # standard errors behind the best setting: enough to give one up


@dataclass(frozen=True)
class Trial:
    """What a candidate did on one split.

    Attributes
    ----------
    setting : dict
        The parameters that won on the training bags.
    inner : array of shape (n_train, k)
        Evidence on the training bags, each from a model that never saw it.
    inner_instances : array of float32, shape (n_train_instances, k)
        Evidence on the instances of the training bags, from the same models.
    outer, instances : array
        Evidence on the test bags and on their instances.
    loss : float
        Mean inner loss of the winning setting.
    n_settings : int
        How many settings were tried: those of a block, or of several (`best_of`).
    seconds : float
    """

    setting: dict
    inner: np.ndarray
    inner_instances: np.ndarray
    outer: np.ndarray
    instances: np.ndarray
    loss: float
    n_settings: int
    seconds: float


def run_trial(protocol, candidate, split, block=0):
    """Try `candidate` on `split` with one block of its settings."""
    start = time.perf_counter()
    question, tried = protocol.question, blocks(candidate)[block]
    with unchecked(), config_context(skip_parameter_validation=True):
        best = _best_setting(protocol, candidate, split.train, tried)
    inner_instances = _instances_out_of_fold(protocol, candidate, split.train, best)
    outer = instances = np.empty((0, best.inner.shape[1]))
    if len(split.test):
        learner = learned(protocol, candidate, best.setting, split.train)
        about = protocol, candidate, learner, split.train, split.test
        outer = _asked(question.evidence, *about)
        instances = _asked(question.evidence_of_instances, *about)
    seconds = time.perf_counter() - start
    evidence = best.inner, inner_instances, outer, instances
    return Trial(best.setting, *evidence, best.loss, len(tried), seconds)


def best_of(trials):
    """The trials of several blocks as one: what the best of them found."""
    best = min(trials, key=lambda trial: trial.loss)
    return replace(
        best,
        n_settings=sum(trial.n_settings for trial in trials),
        seconds=sum(trial.seconds for trial in trials),
    )


def fit(protocol, candidate, setting, rows):
    """The candidate with a setting, fitted on some of the bags, as many as it can digest."""
    steps = Preparation(protocol, candidate, rows).steps
    learner = learned(protocol, candidate, setting, rows)
    return Pipeline([*steps, (candidate.estimator.steps[-1][0], learner)])


def learned(protocol, candidate, setting, rows):
    """The candidate's learner alone, fitted on prepared bags."""
    preparation, question = Preparation(protocol, candidate, rows), protocol.question
    name, learner = candidate.estimator.steps[-1]
    own = {key.removeprefix(f"{name}__"): value for key, value in setting.items()}
    learner = clone(learner).set_params(**own)
    targets, weight = question.targets[preparation.rows], question.weight[preparation.rows]
    weights = {} if (weight == 1.0).all() else {_weight_name(learner): weight}
    with scores_only():  # what they mean is found out from those of other folds
        return learner.fit(preparation.learned_from, targets, **weights)


def settings(candidate):
    """The settings of the grid, those like the candidate's own first."""
    grid = list(ParameterGrid(candidate.grid))
    own = candidate.estimator.get_params()
    grid.sort(key=lambda setting: sum(own[name] != value for name, value in setting.items()))
    return grid


def blocks(candidate):
    """The settings in blocks, each tried as a whole or not at all; the likeliest is alone."""
    grid = settings(candidate)
    return [grid[:1], *(grid[k : k + _BLOCK] for k in range(1, len(grid), _BLOCK))]


def what_is_wrong(trial, protocol, candidate, split, block=0):
    """Why a trial cannot be the outcome of `run_trial` on this split; empty when it can."""
    width = trial.inner.shape[1] if trial.inner.ndim == 2 else 0
    n_rows = {
        "inner": len(split.train),
        "inner_instances": int(protocol.bags.sizes[split.train].sum()),
        "outer": len(split.test),
        "instances": int(protocol.bags.sizes[split.test].sum()),
    }
    for name, n in n_rows.items():
        values = getattr(trial, name)
        if values.dtype.kind != "f" or width not in protocol.question.widths:
            return f"{name!r} is no table of scores"
        if values.shape != (n, width):
            return f"{name!r} has the shape {values.shape}, not {(n, width)}"
        if not np.isfinite(values).all():
            return f"{name!r} holds scores that are missing or infinite"
    tried = blocks(candidate)[block]
    if trial.setting not in tried:
        return f"the setting {trial.setting} is unknown"
    if not np.isfinite([trial.loss, trial.seconds]).all() or trial.seconds < 0:
        return "its loss or its time is no number"
    if trial.n_settings != len(tried):
        return f"{trial.n_settings} settings tried of {len(tried)}"
    return ""


def _asked(ask, protocol, candidate, learner, train, test):
    """What a learner that has learned from the bags `train` says of `test`."""
    return ask(learner, Preparation(protocol, candidate, train)(test))


class _Setting:
    """A setting on its way through the inner folds: its learners, and their evidence so far."""

    def __init__(self, setting, n_bags):
        self.setting = setting
        self.learners: list = []
        self.inner: Any = None
        self._n_bags = n_bags

    def meet(self, protocol, candidate, train, test, where):
        """Learn from the bags `train`, and answer about `test`, whose places are `where`."""
        learner = learned(protocol, candidate, self.setting, train)
        self.learners.append(learner)
        part = _asked(protocol.question.evidence, protocol, candidate, learner, train, test)
        if not np.isfinite(part).all():
            raise InputError(f"scores with {self.setting} are missing or infinite: scale features")
        if self.inner is None:
            self.inner = np.empty((self._n_bags, part.shape[1]))
        self.inner[where] = part

    def losses(self, question, rows, met):
        """The loss on each of the bags `rows` whose places are `met`, calibrated on them."""
        inner, rows = self.inner[met], rows[met]
        return question.loss(calibrator(question, inner, rows)(inner), rows)


class _Best(NamedTuple):
    setting: dict
    inner: np.ndarray
    learners: list
    loss: float


def _best_setting(protocol, candidate, rows, tried):
    """The setting of smallest out-of-fold loss on `rows`, the first of equals.

    The settings race over the inner folds: who is clearly behind does not go on.
    """
    question, splits = protocol.question, protocol.inner_splits(rows)
    race = [_Setting(setting, len(rows)) for setting in tried]
    met = np.zeros(len(rows), dtype=bool)
    for k, (train, test) in enumerate(splits, start=1):
        for one in race:
            one.meet(protocol, candidate, rows[train], rows[test], test)
        met[test] = True
        if _WARM_UP <= k < len(splits) and len(race) > 1:
            losses = np.array([one.losses(question, rows, met) for one in race])
            ahead = not_behind(losses, question.weight[rows[met]])
            race = [one for one, stays in zip(race, ahead) if stays]
    means = [question.mean(one.losses(question, rows, met), rows) for one in race]
    best = race[int(np.argmin(means))]
    return _Best(best.setting, best.inner, best.learners, min(means))


def not_behind(losses, weight, behind=_BEHIND):
    """Which settings may yet be the best: losses with a row a setting, a column a bag.

    Others are behind the best by more standard errors of the difference than chance explains.
    """
    return standard_errors_behind(losses, weight) <= behind


def _instances_out_of_fold(protocol, candidate, rows, best):
    """Evidence on the instances of the bags `rows`, in their order, from the same learners."""
    bags, ask = protocol.bags[rows], protocol.question.evidence_of_instances
    evidence = np.empty((bags.n_instances, best.inner.shape[1]), dtype=np.float32)
    limit = np.finfo(np.float32).max
    for (train, test), learner in zip(protocol.inner_splits(rows), best.learners, strict=True):
        part = _asked(ask, protocol, candidate, learner, rows[train], rows[test])
        evidence[bags.rows_of(test)] = np.clip(part, -limit, limit)
    return evidence


def _weight_name(model):
    """The parameter under which the last step of a pipeline of pipelines takes weights."""
    path = []
    while isinstance(model, Pipeline):
        step, model = model.steps[-1]
        path.append(step)
    return "__".join([*path, "sample_weight"])
