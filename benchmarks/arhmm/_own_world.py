"""Series that an ARHMM makes: one for each side, fitted to recorded stretches of known labels.

And the problems that two studies ask of them: bags of `mixed`, as they were recorded or drawn anew.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.linalg import block_diag
from sklearn.metrics import roc_auc_score

from benchmarks.arhmm import mixed
from benchmarks.arhmm._class_models import OnClassModels
from benchmarks.arhmm._fixed import ORDER, STATES
from benchmarks.arhmm.stretches import LENGTH
from mixedbag import Bags
from mixedbag.sequence._autoregression import Autoregression
from mixedbag.sequence._chain import Chain
from mixedbag.sequence._model import THETA_BOUNDS
from mixedbag.sequence._stretches import best_stretch

MIXTURE = "1 of 4"
SWITCH = 1 / 60  # a stretch has 60 samples on average
WORLDS = ("recorded", "sampled")

STEADY = 0.99  # largest modulus of a state's eigenvalues: its series stay where they are


def problems():
    return [
        {"world": world, "activity": activity, "person": person}
        for person in mixed.PEOPLE
        for activity in mixed.ACTIVITIES
        for world in WORLDS
    ]


def problem(case):
    """Bags, their labels, those of the samples, and the world that made them if one did."""
    bags, y, truth = mixed.joined({**case, "mixture": MIXTURE})
    if case["world"] == "recorded":
        return bags, y, truth, None
    world = World(bags, truth)
    return world.sample(bags, truth, np.random.default_rng(0)), y, truth, world


def by_posterior(world, bags):
    """Scores of bags and of samples by a world's parameters."""
    told = world.posterior(bags, SWITCH)
    return best_stretch(told, bags.offsets, LENGTH), told


def areas(y, truth, by_bags, by_samples):
    return [float(roc_auc_score(y, by_bags)), float(roc_auc_score(truth, by_samples))]


class World:
    """ARHMMs of the activity in question and of all others, fitted to samples of known labels.

    Together they are one ARHMM in which a state is either always positive or always negative: the
    model that ARHMM-MIL looks for.
    """

    order = ORDER

    def __init__(self, bags, truth):
        runs, own = _runs(bags, truth)
        fitted = OnClassModels([]).fit(runs, own, {"n_states": STATES // 2, "order": ORDER})
        self.models = fitted.models
        self.steady = [_steady(model.emission.coefficients, ORDER) for model in self.models]

    def sample(self, bags, truth, rng):
        """As many bags, each with the labels and the first samples of a recorded one."""
        series = [self._series(bag, own, rng) for bag, own in zip(bags, truth, strict=True)]
        return Bags.from_list(series)

    def _series(self, bag, own, rng):
        some = self.models[0]
        x = (bag - some.center) / some.scale
        state = None
        for t in range(self.order, len(x)):
            side = int(own[t])
            model, coefficients = self.models[side], self.steady[side]
            chain = model.dynamics
            anew = state is None or own[t] != own[t - 1]
            chances = chain.initial if anew else chain.transition[state]
            state = rng.choice(len(chances), p=chances / chances.sum())
            past = np.append(x[t - self.order : t][::-1].ravel(), 1.0)
            noise = rng.multivariate_normal(np.zeros(x.shape[1]), model.emission.covariances[state])
            x[t] = past @ coefficients[state] + noise
        return x * some.scale + some.center

    def together(self, switch):
        """Both models as one, the negative states first.

        `switch` is the chance that a sample begins a stretch of the other side.
        """
        chains = [model.dynamics for model in self.models]
        transition = (1.0 - switch) * block_diag(*(chain.transition for chain in chains))
        n = len(chains[0].initial)
        transition[:n, n:], transition[n:, :n] = (switch * chains[k].initial for k in (1, 0))
        initial = 0.5 * np.concatenate([chain.initial for chain in chains])
        covariances = np.concatenate([model.emission.covariances for model in self.models])
        return replace(
            self.models[0],
            dynamics=Chain(initial, transition),
            emission=Autoregression(np.concatenate(self.steady), covariances),
            theta=np.repeat(THETA_BOUNDS, n),
        )

    def posterior(self, bags, switch):
        """P(positive | the bag) of every sample, by the world's own parameters."""
        model = self.together(switch)
        rows, starts = model.read(bags)
        known = model.smooth(rows, starts).posterior[:, len(model.theta) // 2 :].sum(axis=1)
        first = np.repeat(known[starts[:-1]], self.order).reshape(-1, self.order)
        parts = zip(first, (known[a:b] for a, b in pairwise(starts)), strict=True)
        return np.concatenate([part for pair in parts for part in pair])


def _runs(bags, truth):
    """Stretches of one label, as bags, and their labels."""
    series, own = [], []
    for bag, labels in zip(bags, truth, strict=True):
        cuts = np.flatnonzero(np.diff(labels)) + 1
        series += np.split(bag, cuts)
        own += [bool(part[0]) for part in np.split(labels, cuts)]
    return Bags.from_list(series), np.array(own)


def _steady(coefficients, order):
    """The autoregressions, drawn in until none of them runs away."""
    d = coefficients.shape[2]
    found = coefficients.copy()
    if order == 0:
        return found
    for state in found:
        companion = np.eye(order * d, k=-d)
        companion[:d] = state[:-1].T
        largest = np.abs(np.linalg.eigvals(companion)).max()
        shrink = min(1.0, STEADY / largest)
        state[:-1] *= np.repeat(shrink ** np.arange(1, order + 1), d)[:, None]
    return found
