"""Kernels over numbered rows: products with a weight vector, and dual coordinate descent.

A row is an instance or the centroid of a bag: numbers from `n` on mean centroids. Both tables come
as `(data, indices, indptr)`; a dense table is its own `data` and leaves the other two empty. Rows
are read where they lie, so choosing other rows costs nothing. The last entry of a weight vector
belongs to a constant feature of value `bias`.
"""

import numpy as np
from numba import njit

_FAST = {"reassoc", "contract", "nsz"}  # lets sums use vector instructions


@njit(cache=True, nogil=True, fastmath=_FAST)
def _dot(data, indices, indptr, i, w):
    total = 0.0
    if data.ndim == 2:  # settled when compiling
        for k in range(data.shape[1]):
            total += data[i, k] * w[k]
    else:
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p] * w[indices[p]]
    return total


@njit(cache=True, nogil=True)
def _add(data, indices, indptr, i, step, w):
    if data.ndim == 2:
        for k in range(data.shape[1]):
            w[k] += step * data[i, k]
    else:
        for p in range(indptr[i], indptr[i + 1]):
            w[indices[p]] += step * data[p]


@njit(cache=True, nogil=True)
def row_scores(data, indices, indptr, c_data, c_indices, c_indptr, n, bias, rows, w):
    """`w·x` for every row of `rows`."""
    scores = np.empty(len(rows))
    for s in range(len(rows)):
        i = rows[s]
        if i < n:
            scores[s] = _dot(data, indices, indptr, i, w) + bias * w[-1]
        else:
            scores[s] = _dot(c_data, c_indices, c_indptr, i - n, w) + bias * w[-1]
    return scores


@njit(cache=True, nogil=True)
def row_sum(data, indices, indptr, c_data, c_indices, c_indptr, n, bias, rows, coef, w):
    """Add `Σ_s coef_s x_s` to `w`, in place."""
    for s in range(len(rows)):
        if coef[s] != 0.0:
            i = rows[s]
            if i < n:
                _add(data, indices, indptr, i, coef[s], w)
            else:
                _add(c_data, c_indices, c_indptr, i - n, coef[s], w)
            w[-1] += coef[s] * bias


@njit(cache=True, nogil=True)
def descend(
    data, indices, indptr, c_data, c_indices, c_indptr, n, bias, rows,
    sign, upper, ridge, norm2, tol, max_epochs, seed, dual, w,
):  # fmt: skip
    """Minimise `½|w|² + Σ_s (ridge_s/2 dual_s² - dual_s)` over `0 <= dual <= upper`, in place.

    `w` stays equal to `Σ_s sign_s dual_s x_s`. A step solves the problem exactly in one dual
    variable. Stops when the projected gradient spans less than `tol`, or after `max_epochs`;
    returns the number of epochs. Variables that push against a bound harder than any did in the
    last epoch are left out until the others have converged; then all are visited again.
    """
    active = np.arange(len(rows))
    n_active = len(active)
    leave_above, leave_below = np.inf, -np.inf
    state = seed % 2147483646 + 1
    for epoch in range(max_epochs):
        largest, smallest = -np.inf, np.inf
        for k in range(n_active - 1):  # a random order, from a congruential generator
            state = state * 48271 % 2147483647
            j = k + state % (n_active - k)
            active[k], active[j] = active[j], active[k]
        k = 0
        while k < n_active:
            s = active[k]
            i = rows[s]
            if i < n:
                score = _dot(data, indices, indptr, i, w) + bias * w[-1]
            else:
                score = _dot(c_data, c_indices, c_indptr, i - n, w) + bias * w[-1]
            old = dual[s]
            gradient = sign[s] * score - 1.0 + ridge[s] * old
            at_zero, at_upper = old <= 0.0, old >= upper[s]
            if (at_zero and gradient > leave_above) or (at_upper and gradient < leave_below):
                n_active -= 1
                active[k], active[n_active] = active[n_active], active[k]
                continue
            k += 1
            projected = gradient
            if at_zero:
                projected = min(gradient, 0.0)
            elif at_upper:
                projected = max(gradient, 0.0)
            largest = max(largest, projected)
            smallest = min(smallest, projected)
            if projected != 0.0:
                new = min(max(old - gradient / (norm2[s] + ridge[s]), 0.0), upper[s])
                step = (new - old) * sign[s]
                dual[s] = new
                if i < n:
                    _add(data, indices, indptr, i, step, w)
                else:
                    _add(c_data, c_indices, c_indptr, i - n, step, w)
                w[-1] += step * bias
        if n_active == 0 or largest - smallest <= tol:
            if n_active == len(active):
                return epoch + 1
            n_active = len(active)
            leave_above, leave_below = np.inf, -np.inf
        else:
            leave_above = largest if largest > 0.0 else np.inf
            leave_below = smallest if smallest < 0.0 else -np.inf
    return max_epochs
