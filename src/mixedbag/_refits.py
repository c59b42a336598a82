"""Refits of a learner on bags drawn anew, each kept as a file where there is a folder for them.

Bags in memory are drawn with replacement. Of bags in blocks elsewhere, each counts a Poisson number
of times with mean one: the same for many bags, and no block need know of the others.
"""

import copy
import hashlib
import warnings

import numpy as np
from sklearn.base import clone

from mixedbag.engines.local import BlockedBags


def refitted(estimator, bags, y, random_state, draw, folder):
    """The model of one draw, from its file where there is one."""
    from mixedbag import io

    path = None if folder is None else folder / f"{draw}.skops"
    kept = None if path is None or not path.exists() else _kept(path)
    if kept is not None:
        return kept
    with warnings.catch_warnings():
        # That bags are alike, or some unlabelled, is the draw's affair; of all bags, the model of
        # all has told.
        warnings.simplefilter("ignore", UserWarning)
        if isinstance(bags, BlockedBags):
            model = clone(estimator).fit(_counted_anew(bags, random_state, draw))
        else:
            drawn = drawn_bags(len(bags), random_state, draw)
            model = clone(estimator).fit(bags[drawn], y[drawn])
    if path is not None:
        io.save(model, path)
    return model


def _kept(path):
    """The model in a file, or None where it holds none that may be loaded.

    Refits are written whole or not at all, but disks and copies damage files.
    """
    from mixedbag import io

    try:
        return io.load(path)
    except ValueError as error:
        warnings.warn(f"{str(error).rstrip('.')}; this refit is made again", stacklevel=2)
        return None


def drawn_bags(n_bags, random_state, draw):
    """As many bags as there are, with replacement; the same for the same numbers."""
    return np.random.default_rng([random_state, draw]).integers(0, n_bags, size=n_bags)


def _counted_anew(source, random_state, draw):
    """The bags in blocks, each as many times as the draw has it."""
    drawn, places = copy.copy(source), list(range(len(source.blocks)))
    drawn.blocks = source.blocks.map(_weighted_anew, random_state, draw, each=places)
    return drawn


def _weighted_anew(block, place, random_state, draw):
    times = times_drawn(len(block.bags), random_state, draw, place)
    return block._replace(weight=block.weight * times)


def times_drawn(n_bags, random_state, draw, place):
    """How often each bag of the block at a place counts; the same for the same numbers."""
    return np.random.default_rng([random_state, draw, place]).poisson(1.0, size=n_bags)


def fingerprint(estimator, bags, y, random_state):
    """Files of other data or settings are not mistaken for ours."""
    if isinstance(bags, BlockedBags):
        parts = bags.blocks.collect(_digest)
        return hashlib.sha256(repr((estimator, random_state, parts)).encode()).hexdigest()[:16]
    return _digest_of(bags, y, repr((estimator, random_state)))[:16]


def _digest(block):
    return _digest_of(block.bags, block.target, repr(block.weight.tolist()))


def _digest_of(bags, y, settings):
    table = bags.instances
    parts = (table.data if bags.is_sparse else np.ascontiguousarray(table), bags.offsets, y)
    digest = hashlib.sha256(settings.encode())
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
