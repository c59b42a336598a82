"""The instances of a block of bags as bin codes: all that the search for a stump looks at.

The layout that makes a round a walk forward through memory: per slot (a feature and where its
missing values go), the bin codes of the instances bag after bag, *sorted inside each bag*, and
beside each code the position of its instance in the bag. Within a bag the share of the bag's score
that lies left of a threshold then only grows, and what it adds to each sum belongs to one cell.

Every sum is over whole bags, so the sums of two blocks of bags add up.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numba import njit

from mixedbag.boosting._grid import Grid, code_of
from mixedbag.boosting._large_codes import LargeBagCodes
from mixedbag.boosting._sparse_codes import SparseCodes
from mixedbag.pooling import bag_sum

FEW = 24  # up to here insertion sort beats counting
LARGE = 256  # instances a bag: as many as there are codes
IN_CACHE = 4096  # instances whose weights stay there while all slots pass over them


class Codes(Protocol):
    """The questions that codes answer, dense and sparse alike."""

    def class_sums(self, size: np.ndarray, positive: np.ndarray) -> np.ndarray:
        """Sums of `size` left of every threshold, of shape (n_cells, 2): negative, positive."""

    def newton_sums(
        self, weight: np.ndarray, bend: np.ndarray, slope: np.ndarray, cross: np.ndarray
    ) -> np.ndarray:
        """(v_L, u_LL, u_LR) at every threshold, of shape (n_cells, 3).

        With Q the sum of the instances' `weight` q on the left of a bag, T that of the whole bag,
        and `bend` d the diagonal of the pooling's second derivative, a bag adds
        v_L = slope·Q, u_LL = slope·Σ_left d + cross·Q², u_LR = cross·Q·(T − Q).
        """

    def left_of(self, slot: int, cut: int) -> np.ndarray:
        """Which instances have a code up to `cut`."""

    def shares(self, slots: np.ndarray, cuts: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Sums of `weight` in each bag left and right of some cuts, (n_cuts, 2, n_bags)."""


def encode(labelled, grid: Grid) -> Codes:
    """Codes of a block of labelled bags on `grid`."""
    bags = labelled.bags
    if bags.is_sparse:
        return SparseCodes.of(bags, grid)
    large = bags.n_instances >= LARGE * len(bags)
    return (LargeBagCodes if large else DenseCodes).of(bags, grid)


@dataclass(frozen=True)
class DenseCodes:
    """One code an instance and slot, sorted inside each bag: 3 bytes (5 if a bag is huge)."""

    offsets: np.ndarray
    cells: np.ndarray
    codes: np.ndarray
    order: np.ndarray

    @classmethod
    def of(cls, bags, grid):
        shape = len(grid.feature), bags.n_instances
        codes = np.empty(shape, np.uint8)
        order = np.empty(shape, np.uint16 if bags.sizes.max(initial=0) <= 2**16 else np.uint32)
        _encode(
            bags.instances,
            bags.offsets,
            grid.feature,
            grid.shift,
            grid.missing,
            grid.thresholds,
            grid.start,
            codes,
            order,
            np.empty(256, np.int64),
        )
        return cls(bags.offsets, grid.cells, codes, order)

    def class_sums(self, size, positive):
        sums = np.zeros((self.cells[-1], 2))
        _class_sums(self.codes, self.order, self.offsets, self.cells, size, positive, sums)
        return sums

    def newton_sums(self, weight, bend, slope, cross):
        total, sums = bag_sum(weight, self.offsets), np.zeros((self.cells[-1], 3))
        by_bag = weight, bend, slope, cross, total
        _newton_sums(self.codes, self.order, self.offsets, self.cells, *by_bag, sums)
        return sums

    def left_of(self, slot, cut):
        left = np.empty(self.codes.shape[1], dtype=bool)
        _mark_left(self.codes, self.order, self.offsets, slot, cut, left)
        return left

    def shares(self, slots, cuts, weight):
        sides = np.empty((len(slots), 2, len(self.offsets) - 1))
        _shares(self.codes, self.order, self.offsets, slots, cuts, weight, sides)
        return sides


# Kernels. Row numbers are unsigned where they can: what cannot be negative is not checked. They
# make no arrays: that takes longer to compile than all they do.


@njit(cache=True, nogil=True)
def _encode(instances, offsets, feature, shift, missing, thresholds, start, codes, order, counts):
    """Fill `codes` and `order` (one row a slot), bag after bag; `counts` is scratch."""
    for bag in range(len(offsets) - 1):
        begin, end = offsets[bag], offsets[bag + 1]
        for slot in range(len(feature)):
            f = feature[slot]
            low, high, lowest, nowhere = start[f], start[f + 1], shift[slot], missing[slot]
            for row in range(begin, end):
                codes[slot, row] = code_of(
                    instances[row, f], thresholds, low, high, lowest, nowhere
                )
            _sort_bag(codes[slot, begin:end], order[slot, begin:end], counts)


@njit(cache=True, nogil=True, inline="always")
def _sort_bag(codes, order, counts):
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
    else:
        for code in range(len(counts)):
            counts[code] = 0
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
def _class_sums(codes, order, offsets, cells, size, positive, sums):
    n_bags = len(offsets) - 1
    together = 1 + IN_CACHE * n_bags // len(size)
    for first in range(0, n_bags, together):
        for slot in range(len(cells) - 1):
            here = sums[cells[slot] : cells[slot + 1]]
            code, place = codes[slot], order[slot]
            for bag in range(first, min(first + together, n_bags)):
                begin, end = np.uint64(offsets[bag]), np.uint64(offsets[bag + 1])
                side = np.uint64(positive[bag])
                for k in range(begin, end):
                    here[np.uint64(code[k]), side] += size[begin + np.uint64(place[k])]
    _accumulate(cells, sums)


@njit(cache=True, nogil=True)
def _newton_sums(codes, order, offsets, cells, weight, bend, slope, cross, total, sums):
    n_bags = len(offsets) - 1
    together = 1 + IN_CACHE * n_bags // len(weight)
    for first in range(0, n_bags, together):
        for slot in range(len(cells) - 1):
            here = sums[cells[slot] : cells[slot + 1]]
            code, place = codes[slot], order[slot]
            for bag in range(first, min(first + together, n_bags)):
                begin, end = np.uint64(offsets[bag]), np.uint64(offsets[bag + 1])
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
    _accumulate(cells, sums)


@njit(cache=True, nogil=True)
def _accumulate(cells, sums):
    """Sums of the cells of every slot up to each."""
    for slot in range(len(cells) - 1):
        for cell in range(cells[slot] + 1, cells[slot + 1]):
            for j in range(sums.shape[1]):
                sums[cell, j] += sums[cell - 1, j]


@njit(cache=True, nogil=True)
def _mark_left(codes, order, offsets, slot, cut, left):
    code, place = codes[slot], order[slot]
    for bag in range(len(offsets) - 1):
        begin, end = np.uint64(offsets[bag]), np.uint64(offsets[bag + 1])
        for k in range(begin, end):
            left[begin + np.uint64(place[k])] = code[k] <= cut


@njit(cache=True, nogil=True)
def _shares(codes, order, offsets, slots, cuts, weight, sides):
    for stump in range(len(slots)):
        code, place, cut = codes[slots[stump]], order[slots[stump]], cuts[stump]
        for bag in range(len(offsets) - 1):
            begin, end = np.uint64(offsets[bag]), np.uint64(offsets[bag + 1])
            below = above = 0.0
            for k in range(begin, end):
                q = weight[begin + np.uint64(place[k])]
                if code[k] <= cut:
                    below += q
                else:
                    above += q
            sides[stump, 0, bag] = below
            sides[stump, 1, bag] = above
