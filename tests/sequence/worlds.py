"""Random chains, enumeration of all their paths, and small worlds to learn from."""

import itertools

import numpy as np

from mixedbag.bags import Bags
from mixedbag.sequence._chain import Chain


def random_chain(rng, n_states, sharp=False):
    """Dynamics and θ; `sharp` makes both nearly deterministic."""
    concentration = 0.05 if sharp else 1.0
    transition = rng.dirichlet(np.full(n_states, concentration), size=n_states)
    chain = Chain(rng.dirichlet(np.ones(n_states)), 0.999 * transition + 0.001 / n_states)
    theta = rng.choice([1e-3, 1 - 1e-3], n_states) if sharp else rng.uniform(0.02, 0.98, n_states)
    return chain, theta


def link(count, n, omega):
    return count * np.exp(omega) / (count * np.exp(omega) + n - count)


def enumerate_paths(log_emission, chain, theta, omega, positive):
    """Every posterior of one bag, by summing over all state paths and all labellings."""
    n, n_states = log_emission.shape
    ones, zeros = np.zeros((n, n_states)), np.zeros((n, n_states))
    moves = np.zeros((n_states, n_states))
    likelihood = evidence = expected = 0.0
    for path in itertools.product(range(n_states), repeat=n):
        p = chain.initial[path[0]] * np.exp(sum(log_emission[t, path[t]] for t in range(n)))
        for i, j in itertools.pairwise(path):
            p *= chain.transition[i, j]
        likelihood += p
        for labels in itertools.product((0, 1), repeat=n):
            q = p
            for j, one in zip(path, labels, strict=True):
                q *= theta[j] if one else 1 - theta[j]
            share = link(sum(labels), n, omega)
            q *= share if positive else link(n - sum(labels), n, -omega)
            evidence += q
            expected += q * share
            for t, (j, one) in enumerate(zip(path, labels, strict=True)):
                (ones if one else zeros)[t, j] += q
            for i, j in itertools.pairwise(path):
                moves[i, j] += q
    posteriors = (ones, zeros, moves, expected)
    return *(x / evidence for x in posteriors), evidence / likelihood, np.log(likelihood)


def make_world(n_bags=40, length=60, seed=0, n_states=3, order=2, n_channels=2):
    """Bags of oscillations that switch frequency; a bag is positive if state 0 rules most of it."""
    rng = np.random.default_rng(seed)
    radius = rng.uniform(0.7, 0.95, n_states)
    speed = np.linspace(0.3, 2.5, n_states)
    bags, labels, instance_labels = [], [], []
    for _ in range(n_bags):
        state, states = 0 if rng.random() < 0.5 else int(rng.integers(n_states)), []
        x = rng.normal(size=(length + order, n_channels))
        for t in range(order, length + order):
            if rng.random() < 0.03:
                state = int(rng.integers(n_states))
            states.append(state)
            pull = (
                2 * radius[state] * np.cos(speed[state]) * x[t - 1] - radius[state] ** 2 * x[t - 2]
            )
            x[t] = pull + rng.normal(size=n_channels)
        one = np.array(states) == 0
        bags.append(x[order:])
        labels.append("rest" if one.mean() < 0.5 else "walk")
        instance_labels.append(one)
    return Bags.from_list(bags), np.array(labels), np.concatenate(instance_labels)
