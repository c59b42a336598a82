"""Kernel: how far to go along a direction in which a piecewise quadratic function falls."""

import numpy as np
from numba import njit

_FAST = {"reassoc", "contract", "nsz"}  # lets sums use vector instructions


@njit(cache=True, nogil=True, fastmath=_FAST)
def _pushed(bend, offset, upper, margin, along, size):
    """`Σ along·clip(offset - bend·(margin + size·along), 0, upper)`"""
    total = 0.0
    for s in range(len(margin)):
        free = offset[s] - bend[s] * (margin[s] + size * along[s])
        total += along[s] * min(max(free, 0.0), upper[s])
    return total


@njit(cache=True, nogil=True)
def step_size(bend, offset, upper, margin, along, start, norm2):
    """A step up to 1 at which the slope `start + size·norm2 - pushed` has all but gone.

    The slope grows with the step, from a negative value; where rounding says otherwise, there is
    no way down that could be told from noise, and the step is zero.
    """
    first = start - _pushed(bend, offset, upper, margin, along, 0.0)
    if first >= 0.0:
        return 0.0
    low, low_slope, high, high_slope = 0.0, first, np.inf, np.inf
    size = 1.0
    for _ in range(40):
        slope = start + size * norm2 - _pushed(bend, offset, upper, margin, along, size)
        if slope <= -0.1 * first and (slope >= 0.1 * first or size == 1.0):
            break
        if slope > 0.0:
            high, high_slope = size, slope
        else:
            low, low_slope = size, slope
        # Where a line through both ends vanishes, unless that is too close to one of them.
        share = low_slope / (low_slope - high_slope)
        size = low + (high - low) * min(max(share, 0.1), 0.9)
    return size
