"""One trial: a candidate chooses its setting on training bags and answers for the others."""

import time
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from mixedbag.model_selection import BagStratifiedKFold


class Split(NamedTuple):
    """Training and test bags; without test bags, the final fit on everything."""

    name: str
    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True)
class Trial:
    """What a candidate did on one split.

    Attributes
    ----------
    setting : dict
        The parameters that won on the training bags.
    inner : array of shape (n_train, k)
        Evidence on the training bags, each from a model that never saw it.
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
    outer: np.ndarray
    instances: np.ndarray
    loss: float
    n_settings: int
    seconds: float


@dataclass(frozen=True)
class Protocol:
    """The data and how it is cut: all that a trial depends on besides its candidate."""

    bags: object
    y: np.ndarray
    question: object
    inner_folds: int = 5
    random_state: int = 0
    groups: np.ndarray | None = None

    def run(self, candidate, split, allowance=None):
        """Try `candidate` on `split`; stop trying settings after `allowance` seconds."""
        start = time.perf_counter()
        best, n_settings = self._best_setting(candidate, split.train, allowance)
        outer = instances = np.empty((0, best.inner.shape[1]))
        if len(split.test):
            model = self.fit(candidate, best.setting, split.train)
            test = self.bags[split.test]
            outer = self.question.evidence(model, test)
            instances = self.question.evidence_of_instances(model, test)
        seconds = time.perf_counter() - start
        return Trial(best.setting, best.inner, outer, instances, best.loss, n_settings, seconds)

    def fit(self, candidate, setting, rows):
        """The candidate with a setting, fitted on some of the bags."""
        model = clone(candidate.estimator).set_params(**setting)
        weight = self.question.weight[rows]
        weights = {} if (weight == 1.0).all() else {_weight_name(model): weight}
        return model.fit(self.bags[rows], self.y[rows], **weights)

    def _best_setting(self, candidate, rows, allowance):
        """The setting of smallest out-of-fold loss on `rows`; the default is tried first."""
        start = time.perf_counter()
        best, tried = None, 0
        for setting in settings(candidate):
            spent = time.perf_counter() - start
            if tried and allowance is not None and spent * (tried + 1) / tried > allowance:
                break
            inner = self._out_of_fold(candidate, setting, rows)
            answer = self.question.calibrator(inner, rows)(inner)
            loss = self.question.mean(self.question.loss(answer, rows), rows)
            tried += 1
            if best is None or loss < best.loss:
                best = _Setting(setting, inner, loss)
        return best, tried

    def _out_of_fold(self, candidate, setting, rows):
        evidence = None
        for train, test in self._inner_splits(rows):
            model = self.fit(candidate, setting, rows[train])
            part = self.question.evidence(model, self.bags[rows[test]])
            if evidence is None:
                evidence = np.empty((len(rows), part.shape[1]))
            evidence[test] = part
        return evidence

    def _inner_splits(self, rows):
        return self.cut(rows, self.inner_folds, self.random_state)

    def cut(self, rows, n_folds, random_state):
        """Training and test places within `rows`, stratified as far as rare labels allow."""
        y = self.y[rows]
        groups = None if self.groups is None else self.groups[rows]
        n_folds = min(n_folds, smallest_class(self.question, y, groups))
        folds = BagStratifiedKFold(n_folds, random_state=random_state)
        with warnings.catch_warnings():
            # Amounts that occur once cannot be in every fold.
            warnings.filterwarnings("ignore", "The least populated class")
            return list(folds.split(self.bags[rows], y, groups))


class _Setting(NamedTuple):
    setting: dict
    inner: np.ndarray
    loss: float


def settings(candidate):
    """The settings of the grid, the candidate's own first, so that a cut grid keeps it."""
    grid = list(ParameterGrid(candidate.grid))
    own = candidate.estimator.get_params()
    grid.sort(key=lambda setting: sum(own[name] != value for name, value in setting.items()))
    return grid


def _weight_name(model):
    """The parameter under which the last step of a pipeline of pipelines takes weights."""
    path = []
    while isinstance(model, Pipeline):
        step, model = model.steps[-1]
        path.append(step)
    return "__".join([*path, "sample_weight"])


def smallest_class(question, y, groups=None):
    """How many folds can have every class: the size of the rarest (amounts: all the bags).

    Groups count in place of their bags, as they are never cut.
    """
    units = np.arange(len(y)) if groups is None else groups
    if question.kind != "classes":
        return len(np.unique(units))
    return min(len(np.unique(units[y == label])) for label in np.unique(y))
