"""Kernels of the stump search on dense instances.

The layout that makes a round a walk forward through memory: per slot (a feature and where its
missing values go), the bin codes of the instances bag after bag, *sorted inside each bag*, and
beside each code the position of its instance in the bag. Within a bag the share of the bag's score
that lies left of a threshold then only grows, and what it adds to each sum belongs to one cell.

Every sum is over whole bags, so the sums of two blocks of bags add up.
"""

import numpy as np
from numba import njit

FEW = 24  # up to here insertion sort beats counting


@njit(cache=True, nogil=True)
def code_of(x, thresholds, first, last, shift, missing):
    """Number of the cell that holds `x`: how many thresholds lie below it."""
    if np.isnan(x):
        return missing
    low, width = np.uint64(first), np.uint64(last - first)
    while width > 0:
        half = width >> np.uint64(1)
        # Branch-free but for the loop: a wrong guess would cost more than the search.
        step = np.uint64(thresholds[low + half] < x) * (half + np.uint64(1))
        low += step
        width = half - np.uint64(step > 0) * (np.uint64(1) - (width & np.uint64(1)))
    return np.int64(low) - first + shift


@njit(cache=True, nogil=True)
def sort_bag(codes, order, counts):
    """Sort the codes of one bag in place, remembering where each came from."""
    n = len(codes)
    if n <= FEW:
        for j in range(n):
            code = codes[j]
            k = j
            while k > 0 and codes[k - 1] > code:
                codes[k] = codes[k - 1]
                order[k] = order[k - 1]
                k -= 1
            codes[k] = code
            order[k] = j
        return
    counts[:] = 0
    for j in range(n):
        counts[codes[j]] += 1
    place = 0
    for code in range(len(counts)):
        here = counts[code]
        counts[code] = place
        place += here
    for j in range(n):
        order[counts[codes[j]]] = j
        counts[codes[j]] += 1
    place = 0
    for code in range(len(counts)):
        while place < counts[code]:
            codes[place] = code
            place += 1


@njit(cache=True, nogil=True)
def encode(instances, offsets, feature, shift, missing, thresholds, start, codes, order):
    """Fill `codes` and `order` (one row a slot), bag after bag."""
    counts = np.zeros(256, np.int64)
    for bag in range(len(offsets) - 1):
        begin, end = offsets[bag], offsets[bag + 1]
        for slot in range(len(feature)):
            f = feature[slot]
            for row in range(begin, end):
                codes[slot, row] = code_of(
                    instances[row, f],
                    thresholds,
                    start[f],
                    start[f + 1],
                    shift[slot],
                    missing[slot],
                )
            sort_bag(codes[slot, begin:end], order[slot, begin:end], counts)


@njit(cache=True, nogil=True)
def accumulate(sums, begin, end):
    """Turn what each cell adds into the sums over all cells up to it."""
    for cell in range(begin + 1, end):
        for k in range(sums.shape[1]):
            sums[cell, k] += sums[cell - 1, k]


@njit(cache=True, nogil=True)
def bag_rows(offsets, bag):
    """First and last row of a bag, unsigned: indices that cannot be negative are not checked."""
    return np.uint64(offsets[bag]), np.uint64(offsets[bag + 1])


@njit(cache=True, nogil=True)
def class_sums(codes, order, offsets, cells, size, positive):
    """Sums of `size` left of every threshold: over negative bags, over positive bags."""
    sums = np.zeros((cells[-1], 2))
    for slot in range(len(cells) - 1):
        here = sums[cells[slot] : cells[slot + 1]]
        code, place = codes[slot], order[slot]
        for bag in range(len(offsets) - 1):
            begin, end = bag_rows(offsets, bag)
            side = np.uint64(positive[bag])
            for k in range(begin, end):
                here[np.uint64(code[k]), side] += size[begin + np.uint64(place[k])]
        accumulate(sums, cells[slot], cells[slot + 1])
    return sums


@njit(cache=True, nogil=True)
def newton_sums(codes, order, offsets, cells, weight, bend, slope, cross, total):
    """The sums (v_L, u_LL, u_LR) at every threshold.

    With Q the sum of the instances' `weight` q on the left of a bag, `total` T that of the whole
    bag, and `bend` d the diagonal of the pooling's second derivative, a bag adds
    v_L = slope·Q, u_LL = slope·Σ_left d + cross·Q², u_LR = cross·Q·(T − Q).
    """
    sums = np.zeros((cells[-1], 3))
    for slot in range(len(cells) - 1):
        here = sums[cells[slot] : cells[slot + 1]]
        code, place = codes[slot], order[slot]
        for bag in range(len(offsets) - 1):
            begin, end = bag_rows(offsets, bag)
            s, c = slope[bag], cross[bag]
            whole = c * total[bag]
            left = 0.0
            for k in range(begin, end):
                row = begin + np.uint64(place[k])
                q = weight[row]
                square = c * q * (2.0 * left + q)  # the growth of cross·Q²
                left += q
                cell = np.uint64(code[k])
                here[cell, 0] += s * q
                here[cell, 1] += s * bend[row] + square
                here[cell, 2] += whole * q - square
        accumulate(sums, cells[slot], cells[slot + 1])
    return sums


@njit(cache=True, nogil=True)
def left_of(codes, order, offsets, slot, cut, left):
    """Mark the instances whose code in `slot` is at most `cut`."""
    code, place = codes[slot], order[slot]
    for bag in range(len(offsets) - 1):
        begin, end = bag_rows(offsets, bag)
        for k in range(begin, end):
            left[begin + np.uint64(place[k])] = code[k] <= cut


@njit(cache=True, nogil=True)
def shares(codes, order, offsets, slots, cuts, weight):
    """Sums of the instances' `weight` left and right of some thresholds, bag by bag."""
    sides = np.empty((len(slots), 2, len(offsets) - 1))
    for stump in range(len(slots)):
        code, place, cut = codes[slots[stump]], order[slots[stump]], cuts[stump]
        for bag in range(len(offsets) - 1):
            begin, end = bag_rows(offsets, bag)
            below = above = 0.0
            for k in range(begin, end):
                q = weight[begin + np.uint64(place[k])]
                if code[k] <= cut:
                    below += q
                else:
                    above += q
            sides[stump, 0, bag] = below
            sides[stump, 1, bag] = above
    return sides
