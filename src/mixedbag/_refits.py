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
    rng = np.random.default_rng([random_state, draw])
    drawn = rng.integers(0, len(bags), size=len(bags))
    model = clone(estimator).fit(bags[drawn], y[drawn])
    if path is not None:
        io.save(model, path)
    return model


def fingerprint(estimator, bags, y, random_state):
    """Files of other data or settings are not mistaken for ours."""
    table = bags.instances
    parts = (table.data if bags.is_sparse else np.ascontiguousarray(table), bags.offsets, y)
    digest = hashlib.sha256(repr((estimator, random_state)).encode())
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()[:16]
