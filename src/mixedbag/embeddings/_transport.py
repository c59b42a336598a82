"""The cost of moving one bag onto another, softened by entropy (Sinkhorn)."""

import math

import numba
import numpy as np


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
    most = np.diff(rows).max(initial=0), np.diff(columns).max(initial=0)
    result = np.empty((len(rows) - 1, len(columns) - 1))
    scratch = np.empty(most), np.empty(most[0]), np.empty(most[1])
    _sinkhorn(table, rows, columns, softness, n_steps, *scratch, result)
    return result


@numba.njit(cache=True, nogil=True)
def _sinkhorn(table, rows, columns, softness, n_steps, kernel, u, v, result):
    """Plain loops over arrays that are there: anything else would be most of the compiling."""
    for a in range(len(rows) - 1):
        for b in range(len(columns) - 1):
            row, column = rows[a], columns[b]
            n, m = rows[a + 1] - row, columns[b + 1] - column
            total = 0.0
            for i in range(n):
                for j in range(m):
                    total += table[row + i, column + j]
            scale = softness * total / (n * m)
            if scale <= 0.0:
                result[a, b] = 0.0
                continue
            # The least cost of each row is taken off first, so that no row of the kernel vanishes.
            for i in range(n):
                least = table[row + i, column]
                for j in range(1, m):
                    least = min(least, table[row + i, column + j])
                for j in range(m):
                    kernel[i, j] = math.exp(-(table[row + i, column + j] - least) / scale)
                u[i] = 1.0
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
                    moved += u[i] * kernel[i, j] * v[j] * table[row + i, column + j]
            result[a, b] = moved
