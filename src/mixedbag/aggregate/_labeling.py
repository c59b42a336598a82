"""The best labels of a bag's instances, given their scores and the bag's count."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def ascending(values):
    """The stable order of an array; one function, because sorting takes long to compile."""
    return np.argsort(values, kind="mergesort")


@njit(cache=True, nogil=True)
def assign_labels(scores, offsets, positives, C, D):
    """The labels d_i ∈ {0, 1} that minimise eq. 9 for fixed scores, exactly.

    A bag pays C max(0, 1 − f_i) for a positive, C max(0, 1 + f_i) for a negative instance, and D
    for every instance by which its count is missed. For a given number of positives the highest
    scores take them, so one pass over the sorted scores is enough. `D` may be infinite.

    Returns the labels and the penalty Σ_c of each bag.
    """
    n_bags = len(positives)
    label = np.zeros(len(scores), dtype=np.bool_)
    penalty = np.empty(n_bags)
    for c in range(n_bags):
        start, stop = offsets[c], offsets[c + 1]
        order = ascending(-scores[start:stop])
        hinge = 0.0
        for i in range(start, stop):
            hinge += max(0.0, 1.0 + scores[i])
        best = np.inf
        n_best = 0
        nearest = abs(positives[c] - np.round(positives[c]))
        for m in range(stop - start + 1):
            if m > 0:
                f = scores[start + order[m - 1]]
                hinge += max(0.0, 1.0 - f) - max(0.0, 1.0 + f)
            missed = abs(positives[c] - m)
            if np.isinf(D):
                if missed > nearest + 1e-9:
                    continue
                cost = C * hinge
            else:
                cost = C * hinge + D * missed
            if cost < best - 1e-12 * abs(cost):
                best, n_best = cost, m
        for m in range(n_best):
            label[start + order[m]] = True
        penalty[c] = best
    return label, penalty
