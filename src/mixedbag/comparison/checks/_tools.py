"""What several checks need: a table of bag statistics, and words."""

import numpy as np

from mixedbag.pooling import bag_max, bag_sum

_MOST_CELLS = 20_000_000
_SHOWN = 3  # names of bags


def statistics(bags):
    """Smallest, mean and largest value of every feature in a bag: names, and a row a bag.

    None where that would be a very large table.
    """
    if bags.is_sparse or 3 * bags.n_features * len(bags) > _MOST_CELLS:
        return None
    names = feature_names(bags)
    X = filled(bags.instances)
    parts = {
        "smallest": -bag_max(-X, bags.offsets),
        "mean": bag_sum(X, bags.offsets) / bags.sizes[:, None],
        "largest": bag_max(X, bags.offsets),
    }
    said = [f"the {which} {name!r} of a bag" for which in parts for name in names]
    return said, np.hstack(list(parts.values()))


def filled(X):
    """Features with their means where values are missing."""
    X = np.asarray(X, dtype=np.float64)
    missing = np.isnan(X)
    if not missing.any():
        return X
    known = np.maximum((~missing).sum(axis=0), 1)
    return np.where(missing, np.nansum(X, axis=0) / known, X)


def feature_names(bags):
    return bags.feature_names or [f"feature {j}" for j in range(bags.n_features)]


def names_of(bags, rows):
    """The names of some bags, and how many more there are."""
    ids = np.arange(len(bags)) if bags.ids is None else bags.ids
    shown = ", ".join(str(ids[i]) for i in list(rows)[:_SHOWN])
    more = len(rows) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown
