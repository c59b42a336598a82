"""Cross-validated runs of the classics, shared by their benchmarks.

Set ``MIXEDBAG_BENCHMARK_CACHE`` to a folder to keep finished runs between scripts.
"""

import os
import time

import numpy as np
from joblib import Memory
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mixedbag.datasets import load
from mixedbag.wrappers import InstanceWise

memory = Memory(os.environ.get("MIXEDBAG_BENCHMARK_CACHE"), verbose=0)


def prepared(learner, data):
    """The learner behind a scaler; sparse text is left as it is."""
    if data.bags.is_sparse:
        return learner
    return make_pipeline(InstanceWise(StandardScaler()), learner)


@memory.cache
def run_folds(name, learner, repetition, scale=True, n_folds=10):
    """Accuracy on the test bags and seconds of fitting, for each fold of stratified folds."""
    data = load(name)
    cuts = StratifiedKFold(n_folds, shuffle=True, random_state=repetition)
    accuracy, seconds = [], []
    for train, test in cuts.split(np.zeros(len(data.y)), data.y):
        model = prepared(clone(learner), data) if scale else clone(learner)
        start = time.perf_counter()
        model.fit(data.bags[train], data.y[train])
        seconds.append(time.perf_counter() - start)
        accuracy.append(100 * model.score(data.bags[test], data.y[test]))
    return np.array(accuracy), np.array(seconds)


def summary(runs):
    """``mean ± spread over folds`` of all repetitions, the mean, the median seconds of a fit."""
    accuracy = np.concatenate([a for a, _ in runs])
    seconds = np.concatenate([s for _, s in runs])
    text = f"{accuracy.mean():.1f} ± {accuracy.std():.1f}"
    return text, float(accuracy.mean()), float(np.median(seconds))
