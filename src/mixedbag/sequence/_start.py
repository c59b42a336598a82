"""Where EM starts: states found without labels, then labels fitted to the states.

A random start hardly learns: the labels' pull on the states is weak as long as no state is known
to matter. Everything is a sum over blocks of bags, but for the first guess at the states, which
looks at a sample of the bags.
"""

from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.cluster import KMeans

from mixedbag.engines._sampling import sample_bags
from mixedbag.exceptions import InputError
from mixedbag.sequence._autoregression import typical_noise
from mixedbag.sequence._direct import fit_labels
from mixedbag.sequence._levels import most_likely_emission
from mixedbag.sequence._model import Model, maximise_dynamics, unlabelled_statistics
from mixedbag.sequence._parts import in_parts
from mixedbag.sequence._regression import embed, second_moments

SAMPLE = 4_000_000  # numbers that the first guess at the states looks at
WINDOW = 20  # samples that share a state in the first guess
UNLABELLED_ITERATIONS = 20
LABEL_ITERATIONS = 30


def begin(blocks, dynamics, settings, random_state, turn=0):
    """States fitted without labels, then labels fitted to the states."""
    model = find_states(blocks, dynamics, settings, random_state, turn)
    return fit_labels(blocks, model, LABEL_ITERATIONS)


def find_states(blocks, dynamics, settings, random_state, turn=0):
    """States fitted without labels, from the best of several starts.

    ``dynamics`` is the class of the states' dynamics; ``settings`` holds n_states, order, level,
    precision and n_init. A later `turn` has other starts.
    """
    blank = _blank_model(blocks, dynamics, settings)
    sample = sample_bags(blocks, SAMPLE // len(blank.center))
    rows, starts = blank.read(sample.bags)
    per_step = np.repeat(sample.weight, np.diff(starts))
    found = []
    for restart in range(turn * settings.n_init, (turn + 1) * settings.n_init):
        guess = _segment_states if restart % 2 else _window_states
        states = guess(rows, starts, per_step, blank, random_state if restart else None)
        found.append(_explore(blocks, _from_states(rows, per_step, states, blank)))
    best, _ = max(found, key=lambda model_and_value: model_and_value[1])
    return best


# Scales and priors --------------------------------------------------------------------------------


def _blank_model(blocks, dynamics, settings):
    """Scales and priors from sums over all bags; the states are still to be found."""
    total, first, bags, positive = blocks.sum(first_moments)
    total = np.maximum(total, np.finfo(float).tiny)  # of a channel that is never there
    center = first / total
    variance = blocks.sum(squared_deviations, center) / total
    varies = variance > (1e-9 * np.maximum(np.abs(center), 1e-12)) ** 2
    scale = np.sqrt(np.where(varies, variance, 1.0))
    pooled = blocks.sum(pooled_moments, center, scale, settings.order)
    if pooled[-len(center) - 1, -len(center) - 1] == 0:
        raise InputError(f"no sample has all its values, and those of the {settings.order} before")
    return Model(
        dynamics=dynamics.uniform(settings.n_states),
        emission=None,
        theta=np.full(settings.n_states, positive / bags),
        omega=settings.omega or 0.0,
        order=settings.order,
        center=center,
        scale=scale,
        noise=typical_noise(pooled, len(center)),
        rate=positive / bags,
        precision=settings.precision,
        level=settings.level,
        learns_omega=settings.omega is None,
    )


def first_moments(block):
    """Weighted number of values and their sum; weighted number of bags and of positive ones."""
    per_sample, x = block.bags.spread(block.weight), block.bags.instances
    sums = per_sample @ ~np.isnan(x), per_sample @ np.nan_to_num(x)
    bags = block.weight.sum(), block.weight[block.target > 0].sum()
    return np.array([*sums, *bags], dtype=object)


def squared_deviations(block, center):
    """Weighted sum of squares about `center`."""
    return block.bags.spread(block.weight) @ np.nan_to_num(block.bags.instances - center) ** 2


@in_parts
def pooled_moments(block, center, scale, order):
    """Second moments of (past, 1, present) of all steps, whatever their state."""
    bags = block.bags
    rows = embed(bags.instances, bags.offsets, order, center, scale)
    return second_moments(rows, np.repeat(block.weight, bags.sizes - order)[:, None])[0]


# First guesses at the states ----------------------------------------------------------------------


def _from_states(rows, per_step, states, blank):
    """The model whose autoregressions fit the steps assigned to each state."""
    share = np.zeros((len(rows), len(blank.theta)))
    share[np.arange(len(rows)), states] = per_step
    moments = second_moments(rows, share)
    return replace(blank, emission=most_likely_emission(moments, blank.noise, blank.level))


def _window_states(rows, starts, per_step, blank, random_state):
    """Cluster short windows by level, spread and roughness; without `random_state`, no chance."""
    d, n_states = len(blank.center), len(blank.theta)
    x = rows[:, -d:]
    position = np.arange(len(x)) - np.repeat(starts[:-1], np.diff(starts))
    edges = np.flatnonzero(position % WINDOW == 0)
    length = np.diff(np.append(edges, len(x)))
    previous = np.vstack([x[:1], x[:-1]])
    previous[starts[:-1]] = x[starts[:-1]]
    average = partial(_window_means, edges=edges, length=length)
    mean = average(x)
    spread = np.maximum(average(x**2) - mean**2, 0.0)
    roughness = average((x - previous) ** 2)
    features = np.hstack([mean, 0.5 * np.log(spread + 1e-4), 0.5 * np.log(roughness + 1e-4)])
    importance = np.add.reduceat(per_step, edges)
    features -= np.average(features, axis=0, weights=importance)
    n_clusters = min(n_states, len(np.unique(features, axis=0)))
    centers = "k-means++" if random_state else _spread_centers(features, n_clusters)
    means = KMeans(n_clusters, init=centers, n_init=1, random_state=random_state)
    return np.repeat(means.fit(features, sample_weight=importance).labels_, length)


def _window_means(x, edges, length):
    return np.add.reduceat(x, edges) / length[:, None]


def _spread_centers(features, n_clusters):
    """The window farthest from the mean, then always the one farthest from all centres so far.

    The order of the bags plays no part.
    """
    distance = (features**2).sum(axis=1)
    centers = []
    for _ in range(n_clusters):
        far = features[np.argmax(distance)]
        centers.append(far)
        distance = np.minimum(distance, ((features - far) ** 2).sum(axis=1))
    return np.array(centers)


def _segment_states(rows, starts, per_step, blank, random_state):
    """Autoregressions of random short segments; each step goes to the one that explains it best."""
    seeds = random_state.choice(len(rows), size=len(blank.theta), p=per_step / per_step.sum())
    segments = np.full(len(rows), -1)
    last = np.repeat(starts[1:], np.diff(starts))
    for j, seed in enumerate(seeds):
        segments[seed : min(seed + WINDOW, last[seed])] = j
    used = segments >= 0
    model = _from_states(rows[used], per_step[used], segments[used], blank)
    return np.argmax(model.emission.log_density(rows), axis=1)


def _explore(blocks, model):
    """EM without labels, then θ from the labels of the bags where each state spends its time.

    Returns the model and its log posterior density without labels.
    """
    for _ in range(UNLABELLED_ITERATIONS):
        total = blocks.sum(unlabelled_statistics, model)
        value = total.log_likelihood + model.log_prior_states()
        fitted = replace(model, theta=model.theta_of_labels(total.ones, total.zeros))
        model = maximise_dynamics(total, fitted)
    return fitted, value
