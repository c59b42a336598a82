"""Plain hidden Markov models, one for each class of bags."""

from itertools import pairwise

import numpy as np
from scipy.ndimage import uniform_filter1d

from mixedbag.sequence import ARHMMClassifier
from mixedbag.sequence._start import _blank_model, _explore, _from_states, _window_states

AVERAGED = 50  # samples about the one that is scored, as many as a window has
LEAST = 1e-300  # of a probability, before its logarithm is taken


class OnClassModels:
    """A model of the positive bags and one of the negative, fitted without any thought of mixtures.

    A bag's score is the difference of its log-likelihoods a sample; a sample's score is the
    difference of the logarithms of P(x_t | all samples before), averaged over its neighbourhood.
    """

    def __init__(self, settings):
        self.settings = settings

    def fit(self, bags, y, setting):
        learner = ARHMMClassifier(n_init=1, **setting)
        ones = np.ones(len(bags))
        blank = _blank_model(
            learner._cut(bags, np.where(y, 1.0, -1.0), ones), learner._dynamics, learner
        )
        self.models = [self._model(learner, blank, bags[np.flatnonzero(y == k)]) for k in (0, 1)]
        return self

    def _model(self, learner, blank, bags):
        rows, starts = blank.read(bags)
        states = _window_states(rows, starts, np.ones(len(rows)), blank, None)
        start = _from_states(rows, np.ones(len(rows)), states, blank)
        ones = np.ones(len(bags))
        return _explore(learner._cut(bags, ones, ones), start)[0]

    def scores(self, bags):
        negative, positive = (self._predicted(model, bags) for model in self.models)
        gain = [p - n for p, n in zip(positive, negative)]
        near = [uniform_filter1d(g, AVERAGED, mode="nearest") for g in gain]
        return np.array([g.mean() for g in gain]), np.concatenate(near)

    @staticmethod
    def _predicted(model, bags):
        """log P(x_t | x_1, …, x_{t−1}) at the samples of each bag."""
        rows, starts = model.read(bags)
        density = model.emission.log_density(rows)
        peak = density.max(axis=1)
        likely = np.exp(density - peak[:, None])
        found = []
        for first, last in pairwise(starts):
            ahead, seen = model.dynamics.initial, peak[first:last].copy()
            for t in range(first, last):
                here = ahead * likely[t]
                total = max(here.sum(), LEAST)
                seen[t - first] += np.log(total)
                ahead = here @ model.dynamics.transition / total
            found.append(np.concatenate([np.full(model.order, seen[0]), seen]))
        return found
