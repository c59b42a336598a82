"""The cost of moving one bag onto another, softened by entropy (Sinkhorn)."""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def sinkhorn(table, rows, columns, softness, n_steps):
    """Transport costs of all pairs of bags, from a table of costs between their instances.

    Every instance carries an equal share of its bag. Row and column sums are met in turn, as
    Sinkhorn's algorithm does; the cost is that of the plan it leaves.

    Parameters
    ----------
    table : array of shape (n_rows, n_columns)
    rows, columns : offsets of the bags on either side
    softness : float
        Entropy's price, as a share of the mean cost of the pair; towards zero, the exact distance.
    n_steps : int
    """
    result = np.empty((len(rows) - 1, len(columns) - 1))
    for a in range(len(rows) - 1):
        for b in range(len(columns) - 1):
            cost = table[rows[a] : rows[a + 1], columns[b] : columns[b + 1]]
            n, m = cost.shape
            scale = softness * cost.mean()
            if scale <= 0.0:
                result[a, b] = 0.0
                continue
            # The least cost of each row is taken off first, so that no row of the kernel vanishes.
            kernel = np.empty((n, m))
            for i in range(n):
                least = cost[i].min()
                for j in range(m):
                    kernel[i, j] = np.exp(-(cost[i, j] - least) / scale)
            u, v = np.ones(n), np.ones(m)
            for _ in range(n_steps):
                for j in range(m):
                    total = 0.0
                    for i in range(n):
                        total += kernel[i, j] * u[i]
                    v[j] = 1.0 / (m * max(total, 1e-300))
                for i in range(n):
                    total = 0.0
                    for j in range(m):
                        total += kernel[i, j] * v[j]
                    u[i] = 1.0 / (n * max(total, 1e-300))
            moved = 0.0
            for i in range(n):
                for j in range(m):
                    moved += u[i] * kernel[i, j] * v[j] * cost[i, j]
            result[a, b] = moved
    return result
