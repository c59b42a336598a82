"""Recordings cut into bags of 200 samples, one activity as the question."""

from functools import cache

import numpy as np
from sklearn.model_selection import StratifiedKFold

from mixedbag.datasets import load

N_FOLDS = 10
MOST_POSITIVE, MOST_NEGATIVE = 40, 60


@cache
def stretches(name):
    """A recording cut into bags of 200 samples."""
    return load(name).bags_of(200)


class Series:
    """Bags of one person (or of all) with one activity as the question, and every sample's truth.

    At most 40 positive and 60 negative bags, drawn at random.
    """

    def __init__(self, name, activity, person=None, seed=0):
        data = stretches(name)
        mine = (data.groups.astype(str) == person) | (person is None)
        positive = np.flatnonzero(mine & (data.y == activity))
        negative = np.flatnonzero(mine & (data.y != activity))
        draw = np.random.default_rng(seed).permutation
        pick = np.concatenate([draw(positive)[:MOST_POSITIVE], draw(negative)[:MOST_NEGATIVE]])
        self.bags, self.y = data.bags[pick], data.y[pick] == activity
        self.truth = data.instance_labels.reshape(-1, 200)[pick] == activity

    def fold(self, k):
        """Training and test bags of one of the ten folds."""
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
        return list(folds.split(self.y, self.y))[k]
