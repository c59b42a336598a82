"""What the regressions of all states need: their rows, and weighted second moments of these."""

import numpy as np
from numba import njit

CHUNK = 128  # rows whose products fit in the processor's cache


@njit(cache=True, nogil=True)
def embed(instances, offsets, order, center, scale):
    """Rows (x_{t-1}, …, x_{t-p}, 1, x_t) of the standardised samples that have a full past."""
    n_bags, d = len(offsets) - 1, instances.shape[1]
    rows = np.ones((offsets[n_bags] - n_bags * order, (order + 1) * d + 1))
    step = 0
    for b in range(n_bags):
        for t in range(offsets[b] + order, offsets[b + 1]):
            for j in range(d):
                for lag in range(1, order + 1):
                    rows[step, (lag - 1) * d + j] = (instances[t - lag, j] - center[j]) / scale[j]
                rows[step, order * d + 1 + j] = (instances[t, j] - center[j]) / scale[j]
            step += 1
    return rows


@njit(cache=True, nogil=True)
def second_moments(rows, weights):
    """sum_t weights[t, j] rows[t] rows[t]ᵀ for every state j.

    The products of each row are listed once (they are symmetric); a matrix product then sums them
    for all states.
    """
    n, q = rows.shape
    K = weights.shape[1]
    products = np.empty((CHUNK, q * (q + 1) // 2))
    packed, part = np.zeros((K, products.shape[1])), np.empty((K, products.shape[1]))
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        for t in range(start, stop):
            c = 0
            for x in range(q):
                value = rows[t, x]
                for y in range(x, q):
                    products[t - start, c] = value * rows[t, y]
                    c += 1
        np.dot(weights[start:stop].T, products[: stop - start], part)
        packed += part
    moments = np.empty((K, q, q))
    for j in range(K):
        c = 0
        for x in range(q):
            for y in range(x, q):
                moments[j, x, y] = moments[j, y, x] = packed[j, c]
                c += 1
    return moments
