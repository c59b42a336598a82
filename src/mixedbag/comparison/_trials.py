"""One trial: a candidate chooses its setting on training bags and answers for the others."""

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from mixedbag.comparison._calibration import calibrator


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
        How many settings were tried; fewer than the grid has when time was short.
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


def run_trial(protocol, candidate, split, allowance=None):
    """Try `candidate` on `split`; stop trying settings after `allowance` seconds."""
    start = time.perf_counter()
    question = protocol.question
    best, n_settings = _best_setting(protocol, candidate, split.train, allowance)
    inner_instances = _instances_out_of_fold(protocol, split.train, best)
    outer = instances = np.empty((0, best.inner.shape[1]))
    if len(split.test):
        model = fit(protocol, candidate, best.setting, split.train)
        test = protocol.bags[split.test]
        outer = question.evidence(model, test)
        instances = question.evidence_of_instances(model, test)
    seconds = time.perf_counter() - start
    evidence = best.inner, inner_instances, outer, instances
    return Trial(best.setting, *evidence, best.loss, n_settings, seconds)


def fit(protocol, candidate, setting, rows):
    """The candidate with a setting, fitted on some of the bags."""
    model = clone(candidate.estimator).set_params(**setting)
    weight = protocol.question.weight[rows]
    weights = {} if (weight == 1.0).all() else {_weight_name(model): weight}
    return model.fit(protocol.bags[rows], protocol.question.targets[rows], **weights)


def settings(candidate):
    """The settings of the grid, the candidate's own first, so that a cut grid keeps it."""
    grid = list(ParameterGrid(candidate.grid))
    own = candidate.estimator.get_params()
    grid.sort(key=lambda setting: sum(own[name] != value for name, value in setting.items()))
    return grid


def what_is_wrong(trial, protocol, candidate, split):
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
    grid = settings(candidate)
    if trial.setting not in grid:
        return f"the setting {trial.setting} is unknown"
    if not np.isfinite([trial.loss, trial.seconds]).all() or trial.seconds < 0:
        return "its loss or its time is no number"
    if not 1 <= trial.n_settings <= len(grid):
        return f"{trial.n_settings} settings tried of {len(grid)}"
    return ""


class _Setting(NamedTuple):
    setting: dict
    inner: np.ndarray
    loss: float
    models: list  # one an inner fold, until the setting is beaten


def _best_setting(protocol, candidate, rows, allowance):
    """The setting of smallest out-of-fold loss on `rows`; the default is tried first."""
    start = time.perf_counter()
    question = protocol.question
    best, tried = None, 0
    for setting in settings(candidate):
        spent = time.perf_counter() - start
        if tried and allowance is not None and spent * (tried + 1) / tried > allowance:
            break
        inner, models = _out_of_fold(protocol, candidate, setting, rows)
        answer = calibrator(question, inner, rows)(inner)
        loss = question.mean(question.loss(answer, rows), rows)
        tried += 1
        if best is None or loss < best.loss:
            best = _Setting(setting, inner, loss, models)
    return best, tried


def _out_of_fold(protocol, candidate, setting, rows):
    """Evidence on each of the bags from a model that has not seen it, and the models."""
    evidence, models = None, []
    for train, test in protocol.inner_splits(rows):
        models.append(fit(protocol, candidate, setting, rows[train]))
        part = protocol.question.evidence(models[-1], protocol.bags[rows[test]])
        if evidence is None:
            evidence = np.empty((len(rows), part.shape[1]))
        evidence[test] = part
    return evidence, models


def _instances_out_of_fold(protocol, rows, best):
    """Evidence on the instances of the bags `rows`, in their order, from the same models."""
    bags = protocol.bags[rows]
    evidence = np.empty((bags.n_instances, best.inner.shape[1]), dtype=np.float32)
    places = np.split(np.arange(bags.n_instances), bags.offsets[1:-1])
    limit = np.finfo(np.float32).max
    for (_, test), model in zip(protocol.inner_splits(rows), best.models, strict=True):
        where = np.concatenate([places[i] for i in test])
        part = protocol.question.evidence_of_instances(model, bags[test])
        evidence[where] = np.clip(part, -limit, limit)
    return evidence


def _weight_name(model):
    """The parameter under which the last step of a pipeline of pipelines takes weights."""
    path = []
    while isinstance(model, Pipeline):
        step, model = model.steps[-1]
        path.append(step)
    return "__".join([*path, "sample_weight"])
