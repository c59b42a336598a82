"""Instances where they lie: the points of a bag that the page draws, of thousands some."""

import numpy as np

_MOST = 3_000  # points of a bag
_IN_ALL = 150_000  # on the page


def map_of(coords, values, first, n_bags):
    """Places and values of the instances of one bag; empty where no place is known.

    Parameters
    ----------
    coords : array of shape (n_instances, 2)
    values : array of shape (n_instances,)
        What colours them.
    first : array of int
        Instances that are shown in any case; of the others every n-th, where there are too many.
    n_bags : int
        How many bags the page shows.
    """
    known = np.flatnonzero(np.isfinite(coords).all(axis=1))
    if not len(known):
        return {}
    room = min(_MOST, max(200, _IN_ALL // n_bags))
    if len(known) > room:
        known = np.union1d(known[:: -(-len(known) // room)], np.intersect1d(first, known))
    x, y = coords[known].T
    return {
        "map": {
            "rows": known.tolist(),
            "x": [float(f"{v:.6g}") for v in x],
            "y": [float(f"{v:.6g}") for v in y],
            "values": [float(f"{v:.3g}") for v in values[known]],
        }
    }
