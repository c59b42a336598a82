"""Kernel that sums the values of stumps."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def score(instances, feature, threshold, left, right, missing):
    total = np.zeros(len(instances))
    for row in range(len(instances)):
        for k in range(len(feature)):
            x = instances[row, feature[k]]
            if x <= threshold[k]:
                total[row] += left[k]
            elif x > threshold[k]:
                total[row] += right[k]
            else:
                total[row] += missing[k]
    return total
