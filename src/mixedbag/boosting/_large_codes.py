"""Bin codes of instances in large bags, where they lie: one byte each, and nothing is sorted.

In a bag of hundreds of instances many have the same code. A round then adds them up by code first,
in a table that stays in the cache, and walks through the codes instead of the instances.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from mixedbag.boosting._grid import code_of
from mixedbag.pooling import bag_sum


@dataclass(frozen=True)
class LargeBagCodes:
    """One code an instance and slot, in the order of the instances."""

    offsets: np.ndarray
    cells: np.ndarray
    codes: np.ndarray

    @classmethod
    def of(cls, bags, grid):
        codes = np.empty((len(grid.feature), bags.n_instances), np.uint8)
        _encode(
            bags.instances,
            bags.offsets,
            grid.feature,
            grid.shift,
            grid.missing,
            grid.thresholds,
            grid.start,
            codes,
        )
        return cls(bags.offsets, grid.cells, codes)

    def class_sums(self, size, positive):
        return _class_sums(self.codes, self.offsets, self.cells, size, positive)

    def newton_sums(self, weight, bend, slope, cross):
        total = bag_sum(weight, self.offsets)
        return _newton_sums(self.codes, self.offsets, self.cells, weight, bend, slope, cross, total)

    def left_of(self, slot, cut):
        return self.codes[slot] <= cut

    def shares(self, slots, cuts, weight):
        return _shares(self.codes, self.offsets, slots, cuts, weight)


@njit(cache=True, nogil=True)
def _encode(instances, offsets, feature, shift, missing, thresholds, start, codes):
    """Fill `codes` (one row a slot), bag after bag."""
    for bag in range(len(offsets) - 1):
        for slot in range(len(feature)):
            f = feature[slot]
            low, high, lowest, nowhere = start[f], start[f + 1], shift[slot], missing[slot]
            for row in range(offsets[bag], offsets[bag + 1]):
                codes[slot, row] = code_of(
                    instances[row, f], thresholds, low, high, lowest, nowhere
                )


@njit(cache=True, nogil=True)
def _class_sums(codes, offsets, cells, size, positive):
    sums = np.zeros((cells[-1], 2))
    for slot in range(len(cells) - 1):
        here, code = sums[cells[slot] : cells[slot + 1]], codes[slot]
        for bag in range(len(offsets) - 1):
            side = np.uint64(positive[bag])
            for row in range(np.uint64(offsets[bag]), np.uint64(offsets[bag + 1])):
                here[np.uint64(code[row]), side] += size[row]
        for cell in range(1, len(here)):
            here[cell, 0] += here[cell - 1, 0]
            here[cell, 1] += here[cell - 1, 1]
    return sums


@njit(cache=True, nogil=True)
def _newton_sums(codes, offsets, cells, weight, bend, slope, cross, total):
    sums = np.zeros((cells[-1], 3))
    by_code = np.empty((256, 2))
    for slot in range(len(cells) - 1):
        here, code = sums[cells[slot] : cells[slot + 1]], codes[slot]
        for bag in range(len(offsets) - 1):
            by_code[: len(here)] = 0.0
            for row in range(np.uint64(offsets[bag]), np.uint64(offsets[bag + 1])):
                cell = np.uint64(code[row])
                by_code[cell, 0] += weight[row]
                by_code[cell, 1] += bend[row]
            s, c = slope[bag], cross[bag]
            whole, left = c * total[bag], 0.0
            for cell in range(len(here)):
                q = by_code[cell, 0]
                square = c * q * (2.0 * left + q)  # the growth of cross·Q²
                left += q
                here[cell, 0] += s * q
                here[cell, 1] += s * by_code[cell, 1] + square
                here[cell, 2] += whole * q - square
        for cell in range(1, len(here)):
            here[cell, 0] += here[cell - 1, 0]
            here[cell, 1] += here[cell - 1, 1]
            here[cell, 2] += here[cell - 1, 2]
    return sums


@njit(cache=True, nogil=True)
def _shares(codes, offsets, slots, cuts, weight):
    sides = np.zeros((len(slots), 2, len(offsets) - 1))
    for stump in range(len(slots)):
        code, cut = codes[slots[stump]], cuts[stump]
        for bag in range(len(offsets) - 1):
            for row in range(np.uint64(offsets[bag]), np.uint64(offsets[bag + 1])):
                sides[stump, 0 if code[row] <= cut else 1, bag] += weight[row]
    return sides
