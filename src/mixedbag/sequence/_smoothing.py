"""Plain hidden Markov smoothing, the ground that all conditioning on labels stands on.

A block holds the steps of several bags one after the other; ``starts`` cuts it into bags.
"""

import math

import numpy as np
from numba import njit

SUMS = {"reassoc", "contract"}  # sums on vector registers; infinities and NaN keep their meaning


def smooth(log_emission, initial, transition, starts):
    """Forward and backward messages of every bag, and the factors that make them.

    With A_t(j) the density of x_t in state j (times the initial probability at the first step):

    - ``factor_t`` is A_t on a scale chosen step by step, so that nothing over- or underflows
    - ``forward_t(j) = factor_t(j) sum_i forward_{t-1}(i) M_ij``
    - ``backward_{t-1}(i) = sum_j M_ij factor_t(j) backward_t(j)``, one at the last step

    and the scales are such that forward_t(j) backward_t(j) = P(Z_t = j | X).

    Returns factor, forward, backward and log P(X) of every bag.
    """
    log_emission, transition = np.ascontiguousarray(log_emission), np.ascontiguousarray(transition)
    factor, forward = np.empty_like(log_emission), np.zeros_like(log_emission)
    backward, log_likelihood = np.zeros_like(log_emission), np.zeros(len(starts) - 1)
    columns = np.ascontiguousarray(transition.T)
    found = factor, forward, backward, log_likelihood
    _smooth(log_emission, initial, transition, columns, starts, *found)
    return found


@njit(cache=True, nogil=True, fastmath=SUMS)
def _smooth(
    log_emission, initial, transition, columns, starts, factor, forward, backward, log_likelihood
):
    """Fill the last four; ``columns`` is the transposed transition."""
    K = log_emission.shape[1]
    for b in range(len(starts) - 1):
        first, last = starts[b], starts[b + 1] - 1
        for j in range(K):
            backward[last, j] = 1.0
        for t in range(last, first - 1, -1):
            peak, largest = -np.inf, 1e-300
            for j in range(K):
                peak = max(peak, log_emission[t, j])
            for j in range(K):
                factor[t, j] = math.exp(log_emission[t, j] - peak)
                largest = max(largest, factor[t, j] * backward[t, j])
            log_likelihood[b] += peak + math.log(largest)
            for j in range(K):
                factor[t, j] /= largest
            if t > first:
                for j in range(K):
                    ahead = factor[t, j] * backward[t, j]
                    for i in range(K):
                        backward[t - 1, i] += columns[j, i] * ahead
        norm = 0.0
        for j in range(K):
            factor[first, j] *= initial[j]
            norm += factor[first, j] * backward[first, j]
        log_likelihood[b] += math.log(norm)
        for j in range(K):
            factor[first, j] /= norm
            forward[first, j] = factor[first, j]
        for t in range(first + 1, last + 1):
            for i in range(K):
                behind = forward[t - 1, i]
                if behind > 0.0:
                    for j in range(K):
                        forward[t, j] += transition[i, j] * behind
            for j in range(K):
                forward[t, j] *= factor[t, j]
