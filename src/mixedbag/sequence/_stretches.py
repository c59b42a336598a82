"""The best stretch of a bag: what a label says that holds in one short part of a long series."""

import numpy as np

from mixedbag._segments import bag_max


def best_stretch(values, offsets, length):
    """The largest mean of `length` values in a row of each bag; a shorter bag is one stretch."""
    sizes = np.diff(offsets)
    lengths = np.repeat(np.minimum(length, sizes), sizes)
    place = np.arange(len(values))
    first = place[place + lengths <= np.repeat(offsets[1:], sizes)]
    lengths = lengths[first]
    total = np.concatenate([[0.0], np.cumsum(values)])
    means = (total[first + lengths] - total[first]) / lengths
    # A difference of sums may leave, by rounding, the range of its values.
    means = np.clip(means, values.min(), values.max())
    return bag_max(means, np.searchsorted(first, offsets))
