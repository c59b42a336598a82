"""Where EM starts: states found without labels, then labels fitted to the states.

A random start hardly learns: the labels' pull on the states is weak as long as no state is known to matter.
"""

from dataclasses import replace

import numpy as np
from sklearn.cluster import KMeans

from mixedbag.sequence._blocks import sum_blocks
from mixedbag.sequence._messages import second_moments
from mixedbag.sequence.autoregression import Autoregression, embed, typical_noise
from mixedbag.sequence.direct import fit_labels
from mixedbag.sequence.model import (
    BETA,
    THETA_BOUNDS,
    Model,
    maximise_dynamics,
    unlabelled_statistics,
)

WINDOW = 20  # samples that share a state in the first guess
UNLABELLED_ITERATIONS = 20
LABEL_ITERATIONS = 50


def begin(dynamics, bags, sign, weight, settings, random_state, n_jobs):
    """The best of several starts: its states are fitted without labels, then its labels to the states.

    ``dynamics`` is the class of the states' dynamics; ``settings`` holds n_states, order, precision and n_init.
    """
    blank, rows, starts = _blank_model(dynamics, bags, weight, settings)
    best, best_value = None, -np.inf
    for restart in range(settings.n_init):
        guess = _window_states if restart % 2 == 0 else _segment_states
        rng = None if restart == 0 else random_state
        states = guess(rows, starts, np.repeat(weight, np.diff(starts)), blank, rng)
        model = _from_states(rows, np.repeat(weight, np.diff(starts)), states, blank)
        model, value = _explore(model, bags, sign, weight, n_jobs)
        if value > best_value:
            best, best_value = model, value
    return fit_labels(bags, sign, weight, best, LABEL_ITERATIONS, n_jobs)


def _blank_model(dynamics, bags, weight, settings):
    """Scales and priors; everything else is still to be found."""
    per_sample = bags.spread(weight)
    center = np.average(bags.instances, axis=0, weights=per_sample)
    variance = np.average((bags.instances - center) ** 2, axis=0, weights=per_sample)
    magnitude = np.maximum(np.abs(center), 1e-12)
    scale = np.where(variance > (1e-9 * magnitude) ** 2, np.sqrt(variance), 1.0)
    rows, starts = embed((bags.instances - center) / scale, bags.offsets, settings.order)
    d = bags.n_features
    pooled = second_moments(rows, np.repeat(weight, np.diff(starts))[:, None])
    model = Model(
        dynamics=dynamics.uniform(settings.n_states),
        emission=None,
        theta=np.full(settings.n_states, 0.5),
        omega=0.0,
        order=settings.order,
        center=center,
        scale=scale,
        noise=typical_noise(pooled[0], d),
        precision=settings.precision,
    )
    return model, rows, starts


def _from_states(rows, per_step, states, blank):
    """The model whose autoregressions fit the steps assigned to each state."""
    share = np.zeros((len(rows), len(blank.theta)))
    share[np.arange(len(rows)), states] = per_step
    return replace(
        blank, emission=Autoregression.most_likely(second_moments(rows, share), blank.noise)
    )


def _window_states(rows, starts, per_step, blank, random_state):
    """Cluster short windows by level, spread and roughness; the first time without any chance."""
    d, n_states = len(blank.center), len(blank.theta)
    x = rows[:, -d:]
    position = np.arange(len(x)) - np.repeat(starts[:-1], np.diff(starts))
    edges = np.flatnonzero(position % WINDOW == 0)
    length = np.diff(np.append(edges, len(x)))[:, None]
    previous = np.vstack([x[:1], x[:-1]])
    previous[starts[:-1]] = x[starts[:-1]]
    mean = np.add.reduceat(x, edges) / length
    variance = np.maximum(np.add.reduceat(x**2, edges) / length - mean**2, 0.0)
    roughness = np.add.reduceat((x - previous) ** 2, edges) / length
    features = np.hstack([mean, 0.5 * np.log(variance + 1e-4), 0.5 * np.log(roughness + 1e-4)])
    importance = np.add.reduceat(per_step, edges)
    features -= np.average(features, axis=0, weights=importance)
    n_clusters = min(n_states, len(np.unique(features, axis=0)))
    if random_state is None:
        centers = _spread_centers(features, n_clusters)
        means = KMeans(n_clusters, init=centers, n_init=1)
    else:
        means = KMeans(n_clusters, n_init=1, random_state=random_state)
    labels = means.fit(features, sample_weight=importance).labels_
    return np.repeat(labels, length[:, 0])


def _spread_centers(features, n_clusters):
    """The window farthest from the mean, then always the one farthest from all centres so far.

    The order of the bags plays no part.
    """
    distance = (features**2).sum(axis=1)  # to the overall mean
    centers = []
    for _ in range(n_clusters):
        far = features[np.argmax(distance)]
        centers.append(far)
        distance = np.minimum(distance, ((features - far) ** 2).sum(axis=1))
    return np.array(centers)


def _segment_states(rows, starts, per_step, blank, random_state):
    """Autoregressions of random short segments; every step goes to the one that explains it best."""
    n_states = len(blank.theta)
    chance = per_step / per_step.sum()
    seeds = random_state.choice(len(rows), size=n_states, p=chance)
    segments = np.full(len(rows), -1)
    last = np.repeat(starts[1:], np.diff(starts))
    for j, seed in enumerate(seeds):
        segments[seed : min(seed + WINDOW, last[seed])] = j
    used = segments >= 0
    model = _from_states(rows[used], per_step[used], segments[used], blank)
    return np.argmax(model.emission.log_density(rows), axis=1)


def _explore(model, bags, sign, weight, n_jobs):
    """EM without labels, then θ from the labels of the bags where each state spends its time."""
    for _ in range(UNLABELLED_ITERATIONS):
        total = sum_blocks(unlabelled_statistics, bags, (sign, weight), model, n_jobs=n_jobs)
        value = total.log_likelihood + model.dynamics.log_prior()
        value += model.emission.log_prior(model.noise)
        theta = (total.ones + BETA - 1) / (total.ones + total.zeros + 2 * (BETA - 1))
        fitted = replace(model, theta=np.clip(theta, *THETA_BOUNDS))
        model = maximise_dynamics(total, fitted)
    return fitted, value
