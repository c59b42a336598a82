"""Folds and fits for the benchmarks of the disjunctive program."""

import time
import warnings
from unittest.mock import patch

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from mixedbag._solvers.highs import Clock
from mixedbag.datasets import load
from mixedbag.disjunctive import _base


def gamma_of(name):
    """The thesis's sigma: 9 on MUSK, 8 on Corel."""
    return 1 / 81 if name.startswith("musk") else 1 / 64


def fold_of(name, k):
    """Training and test bags of one of ten folds, inputs standardised on the training part."""
    data = load(name)
    splitter = StratifiedKFold(10, shuffle=True, random_state=0)
    train, test = list(splitter.split(data.y, data.y))[k]
    a, b = data.bags[train], data.bags[test]
    if not a.is_sparse:
        scaler = StandardScaler().fit(a.instances)
        a, b = (x.with_instances(scaler.transform(x.instances)) for x in (a, b))
    return a, data.y[train], b, data.y[test]


def fit_fold(model, fold):
    """One fit: accuracy, bounds, size, and CPU seconds (one thread; the machine may be shared)."""
    train, y, test, truth = fold
    seconds = fit_on_cpu_time(model, train, y)
    return {
        "accuracy": 100.0 * float(np.mean(model.predict(test) == truth)),
        "score": model.upper_bound_,
        "bound": model.lower_bound_,
        "gap": model.gap_,
        "features kept": len(model.support_),
        "cuts": model.n_cuts_,
        "relaxed": getattr(model, "relaxed_score_", 0.0),
        "cpu_seconds": seconds,
    }


class CPUClock(Clock):
    """Counts the seconds of this process: fair on a machine that is shared."""

    def __init__(self, time_limit=None):
        super().__init__(time_limit)
        self._start = time.process_time()

    def elapsed(self):
        return time.process_time() - self._start


def fit_on_cpu_time(model, train, y):
    """Fit with limits and `history_` in CPU seconds; returns the CPU seconds of the fit."""
    start = time.process_time()
    with warnings.catch_warnings(), patch.object(_base, "Clock", CPUClock):
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(train, y)
    return time.process_time() - start


def summary(rows, field):
    """Mean and standard deviation over folds."""
    values = [row[field] for row in rows]
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
