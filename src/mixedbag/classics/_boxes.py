"""Rectangles with sides along the axes: how deep rows lie inside, and which sides matter."""

import numpy as np


def depth(instances, features, lower, upper):
    """1 at the centre of the rectangle, 0 on its border, negative outside."""
    centre, half = (upper + lower) / 2, (upper - lower) / 2
    half = np.maximum(half, np.spacing(np.abs(centre)))  # bounds may meet by rounding
    return 1.0 - (np.abs(instances[:, features] - centre) / half).max(axis=1)


def beyond(chosen, rows):
    """How far each row is out of the bounds around the chosen ones, by feature."""
    return np.maximum(np.maximum(chosen.min(axis=0) - rows, rows - chosen.max(axis=0)), 0.0)


def discriminate(outside, weight, margin):
    """Features that shut out most of the rows not yet shut out, until all are that can be."""
    farthest = outside == outside.max(axis=1, keepdims=True)
    shut_out = (outside > 0) & (farthest | (outside >= margin))
    kept: list[int] = []
    while True:
        gain = weight @ shut_out
        best = int(np.argmax(gain))
        if gain[best] <= 0:
            return np.array(sorted(kept), dtype=np.intp)
        kept.append(best)
        remaining = ~shut_out[:, best]
        shut_out, weight = shut_out[remaining], weight[remaining]
