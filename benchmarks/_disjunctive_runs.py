"""Folds, fits and kept partial results for the benchmarks of the disjunctive program."""

import json
import time
import warnings
from unittest.mock import patch

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from benchmarks.common import RESULTS
from mixedbag._solvers.highs import Clock
from mixedbag.datasets import load

KEPT = RESULTS / "disjunctive"
GAMMA = {"musk": 1 / 81, "corel": 1 / 64}  # the thesis's sigma: 9 on MUSK, 8 on Corel


def gamma_of(name):
    return GAMMA["musk"] if name.startswith("musk") else GAMMA["corel"]


def folds(name, n_splits=10, seed=0):
    """Training and test bags of stratified folds, inputs standardised on the training part."""
    data = load(name)
    splitter = StratifiedKFold(n_splits, shuffle=True, random_state=seed)
    for train, test in splitter.split(data.y, data.y):
        a, b = data.bags[train], data.bags[test]
        if not a.is_sparse:
            scaler = StandardScaler().fit(a.instances)
            a, b = (x.with_instances(scaler.transform(x.instances)) for x in (a, b))
        yield a, data.y[train], b, data.y[test]


def fit_fold(model, fold):
    """One fit: accuracy, bounds, size, and CPU seconds (one thread; the machine may be shared)."""
    train, y, test, truth = fold
    seconds = fit_on_cpu_time(model, train, y)
    return {
        "accuracy": 100.0 * float(np.mean(model.predict(test) == truth)),
        "score": model.upper_bound_,
        "bound": model.lower_bound_,
        "gap": model.gap_,
        "features": len(model.support_),
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
    with warnings.catch_warnings(), patch("mixedbag.disjunctive._base.Clock", CPUClock):
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(train, y)
    return time.process_time() - start


def kept(key, n, compute):
    """The first n rows of results/disjunctive/KEY.json; missing ones are computed and kept."""
    KEPT.mkdir(parents=True, exist_ok=True)
    path = KEPT / f"{key}.json"
    rows = json.loads(path.read_text()) if path.exists() else []
    for i, row in enumerate(compute(len(rows), n), start=len(rows)):
        rows.append(row)
        path.write_text(json.dumps(rows, indent=1) + "\n")
        if i + 1 >= n:
            break
    return rows[:n]


def cross_validate(key, name, make_model, n_folds, fit=fit_fold):
    """`fit(model, fold)` of the first n_folds of ten folds, kept as they come."""

    def compute(done, n):
        for i, fold in enumerate(folds(name) if done < n else ()):
            if done <= i < n:
                yield fit(make_model(), fold)

    return kept(key, n_folds, compute)


def summary(rows, field):
    values = [row[field] for row in rows]
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
