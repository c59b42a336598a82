"""Cross-validated runs of the classics, shared by their benchmarks."""

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._measure import timed
from mixedbag.datasets import load
from mixedbag.wrappers import InstanceWise


def prepared(learner, data):
    """The learner behind a scaler; sparse text is left as it is."""
    if data.bags.is_sparse:
        return learner
    return make_pipeline(InstanceWise(StandardScaler()), learner)


def run_folds(name, learner, repetition, scale=True):
    """Accuracy (%) on the test bags and seconds of fitting, two rows of ten stratified folds."""
    data = load(name)
    cuts = StratifiedKFold(10, shuffle=True, random_state=repetition)
    accuracy, seconds = [], []
    for train, test in cuts.split(np.zeros(len(data.y)), data.y):
        model = prepared(clone(learner), data) if scale else clone(learner)
        _, took = timed(lambda m=model, part=train: m.fit(data.bags[part], data.y[part]))
        seconds.append(took)
        accuracy.append(100 * model.score(data.bags[test], data.y[test]))
    return np.array([accuracy, seconds])
