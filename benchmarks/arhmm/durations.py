"""Would durations pay? States that last at least so many samples, on the development problems.

A state of a Markov chain may end after one sample. Here every state of a fitted model becomes a row
of copies that are passed one after the other, the last of which stays as long as needed for the
state to last as long on average as before. Models are those of `several`, answers those of the
chains with copies: nothing is learned anew.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benchmarks._tables import Table
from benchmarks.arhmm._averaged import MODELS
from benchmarks.arhmm._fixed import ORDER, STATES
from benchmarks.arhmm._purity import of_joined
from benchmarks.arhmm.mixed import N_FOLDS, PEOPLE, joined
from benchmarks.arhmm.stretches import LENGTH
from mixedbag.engines import Labelled
from mixedbag.sequence import ARHMMClassifier
from mixedbag.sequence._blocks import block_posterior
from mixedbag.sequence._chain import Chain
from mixedbag.sequence._stretches import best_stretch

SHORTEST = (1, 2, 5, 15)  # samples
ACTIVITIES = (1, 7)
RARE = 1e-6  # a copy is left early so often: without it, one odd sample rules every path out
TINY = {"activity": 1, "mixture": "1 of 4", "person": "1"}


def cases():
    return [
        {"activity": activity, "mixture": mixture, "person": person}
        for mixture in ("1 of 4", "1 of 8")
        for activity in ACTIVITIES
        for person in PEOPLE
    ]


def run(case):
    """Areas by bags and by samples for each shortest duration; three folds."""
    bags, y, truth = joined(case)
    found = {}
    for train, test in StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(y, y):
        models = averaged().fit(bags[train], y[train])._models()
        samples, part = np.concatenate([truth[i] for i in test]), bags[test]
        block = Labelled(part, np.zeros(len(part)), np.ones(len(part)))
        for shortest in SHORTEST:
            lasting = [with_copies(model, shortest) for model in models]
            positive = np.mean([block_posterior(block, m) @ m.theta for m in lasting], axis=0)
            by_bags = best_stretch(positive, part.offsets, LENGTH)
            areas = roc_auc_score(y[test], by_bags), roc_auc_score(samples, positive)
            found.setdefault(str(shortest), []).append(areas)
    return {shortest: np.mean(areas, axis=0).tolist() for shortest, areas in found.items()}


def averaged():
    """The learner of `several`."""
    several = {"max_iter": 6, "n_init": 1, "n_models": MODELS}
    return ARHMMClassifier(STATES, order=ORDER, level=1.0, **several, random_state=0)


@dataclass(frozen=True)
class Copied:
    """The same density for all copies of a state."""

    emission: Any
    n: int

    def log_density(self, rows):
        return np.repeat(self.emission.log_density(rows), self.n, axis=1)


def with_copies(model, n):
    """The model whose states last at least `n` samples, and as long as before on average.

    A state that lasted shorter on average leaves its last copy at once.
    """
    chain, n_states = model.dynamics, len(model.theta)
    leaving = 1.0 - np.diag(chain.transition)
    ends = 1.0 / np.maximum(1.0 / np.maximum(leaving, RARE) - (n - 1), 1.0)
    to = chain.transition * (1.0 - np.eye(n_states))
    to /= np.maximum(to.sum(axis=1, keepdims=True), RARE)
    transition = np.zeros((n_states, n, n_states, n))
    for j in range(n_states):
        for k in range(n - 1):
            transition[j, k, j, k + 1] = 1.0 - RARE
            transition[j, k, :, 0] += RARE * to[j]
        transition[j, -1, j, -1] += 1.0 - ends[j]
        transition[j, -1, :, 0] += ends[j] * to[j]
    initial = np.repeat(chain.initial + RARE, n) / n
    transition /= transition.sum(axis=(2, 3), keepdims=True)  # a state that is never left
    return replace(
        model,
        dynamics=Chain(initial / initial.sum(), transition.reshape(n_states * n, n_states * n)),
        emission=Copied(model.emission, n),
        theta=np.repeat(model.theta, n),
    )


def table(rows):
    areas = {shortest: np.array([row[str(shortest)] for row in rows]) for shortest in SHORTEST}
    lines = [
        {
            "shortest": shortest,
            **dict(zip(("bags", "samples"), found.mean(axis=0).tolist())),
            "bags: better, worse than 1": _won(found[:, 0] - areas[1][:, 0]),
            "samples: better, worse than 1": _won(found[:, 1] - areas[1][:, 1]),
        }
        for shortest, found in areas.items()
    ]
    title = "Mean areas under the curve by the shortest duration of a state"
    return [Table(f"{title}, purity {of_joined(rows)}", lines, NOTES)]


def _won(gains):
    return f"{(gains > 0).sum()}, {(gains < 0).sum()}"


NOTES = (
    "Activities of `development`, which `mixed` does not ask for. Samples are 1/52 s apart; a bag "
    f"is judged by its best {LENGTH} in a row. 1: the Markov chain as it is. "
    "**What it shows**: a state that must last changes next to nothing, and samples are told a "
    "little worse. Durations do not pay here and were not built. It does not show what learning "
    "with durations would find."
)
