"""Refits of a learner on bags drawn anew, each kept as a file where there is a folder for them."""

import hashlib

import numpy as np
from sklearn.base import clone


def refitted(estimator, bags, y, random_state, draw, folder):
    """The model of one draw, from its file where there is one."""
    from mixedbag import io

    path = None if folder is None else folder / f"{draw}.skops"
    if path is not None and path.exists():
        return io.load(path)
    drawn = drawn_bags(len(bags), random_state, draw)
    model = clone(estimator).fit(bags[drawn], y[drawn])
    if path is not None:
        io.save(model, path)
    return model


def drawn_bags(n_bags, random_state, draw):
    """As many bags as there are, with replacement; the same for the same numbers."""
    return np.random.default_rng([random_state, draw]).integers(0, n_bags, size=n_bags)


def unseen_bags(n_bags, random_state, n_draws):
    """Whether a draw has left out a bag, a row a draw."""
    unseen = np.ones((n_draws, n_bags), dtype=bool)
    for draw in range(n_draws):
        unseen[draw, drawn_bags(n_bags, random_state, draw)] = False
    return unseen


def fingerprint(estimator, bags, y, random_state):
    """Files of other data or settings are not mistaken for ours."""
    table = bags.instances
    parts = (table.data if bags.is_sparse else np.ascontiguousarray(table), bags.offsets, y)
    digest = hashlib.sha256(repr((estimator, random_state)).encode())
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()[:16]
