"""The stable order of numbers, for kernels: a few lines that compile at once.

NumPy's `argsort` inside a kernel costs seconds of compiling, more than most kernels around it.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def ascending(values):
    """Places of the values from small to large, equals in their order: ``argsort(kind="stable")``.

    Runs of twice the length are merged from two, again and again.
    """
    n = len(values)
    order, merged = np.empty(n, np.int64), np.empty(n, np.int64)
    for k in range(n):
        order[k] = k
    width = 1
    while width < n:
        for begin in range(0, n, 2 * width):
            middle, end = min(begin + width, n), min(begin + 2 * width, n)
            i, j = begin, middle
            for k in range(begin, end):
                if i < middle and (j >= end or values[order[i]] <= values[order[j]]):
                    merged[k] = order[i]
                    i += 1
                else:
                    merged[k] = order[j]
                    j += 1
        order, merged = merged, order
        width *= 2
    return order
