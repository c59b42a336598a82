"""What the regressions of all states need: their rows, and weighted second moments of these."""

import numpy as np

CACHED = 16384  # values of rows that stay in the processor's cache


def embed(instances, offsets, order, center, scale):
    """Rows (x_{t-1}, …, x_{t-p}, 1, x_t) of the standardised samples that have a full past.

    A row with a missing value is zero throughout, also where others have their one: it adds nothing
    to second moments, and is known by that (`unseen`).
    """
    standard = (instances - center) / scale
    d, late = standard.shape[1], np.ones(len(standard), dtype=bool)
    for lag in range(order):
        late[offsets[:-1] + lag] = False
    now = np.flatnonzero(late)
    rows = np.ones((len(now), (order + 1) * d + 1))
    for lag in range(1, order + 1):
        rows[:, (lag - 1) * d : lag * d] = standard[now - lag]
    rows[:, order * d + 1 :] = standard[now]
    rows[np.isnan(rows).any(axis=1)] = 0.0
    return rows


def unseen(rows, n_channels):
    """Which rows say nothing, for want of a value."""
    return rows[:, -n_channels - 1] == 0.0


def second_moments(rows, weights):
    """sum_t weights[t, j] rows[t] rows[t]ᵀ for every state j.

    One matrix product a state, of a few rows at a time: copies of many leave the cache.
    """
    n, q = rows.shape
    moments = np.zeros((weights.shape[1], q, q))
    step = chunk(q)
    for start in range(0, n, step):
        part = rows[start : start + step]
        columns = part.T.copy()
        for moment, weight in zip(moments, weights[start : start + step].T.copy()):
            moment += (columns * weight) @ part
    return moments


def chunk(n_columns):
    """How many rows are multiplied at a time."""
    return max(64, CACHED // n_columns)
