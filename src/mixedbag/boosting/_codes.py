"""The instances of a block of bags as bin codes: all that the search for a stump looks at.

The layout that makes a round a walk forward through memory: per slot (a feature and where its
missing values go), the bin codes of the instances bag after bag, *sorted inside each bag*, and
beside each code the position of its instance in the bag. Within a bag the share of the bag's score
that lies left of a threshold then only grows, and what it adds to each sum belongs to one cell.

In a bag of hundreds of instances many have the same code. They stay where they lie: a round adds
them up by code, in a table that stays in the cache, and walks through the codes instead.

Every sum is over whole bags, so the sums of two blocks of bags add up.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numba import njit

from mixedbag.boosting._grid import Grid, code_of
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
        codes = _encoded(bags, grid)
        small = bags.sizes.max(initial=0) <= 2**16
        order = np.empty(codes.shape, np.uint16 if small else np.uint32)
        _sort_bags(codes, order, bags.offsets, np.empty(256, np.int64))
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


@dataclass(frozen=True)
class LargeBagCodes:
    """One code an instance and slot, in the order of the instances: one byte."""

    offsets: np.ndarray
    cells: np.ndarray
    codes: np.ndarray

    @classmethod
    def of(cls, bags, grid):
        return cls(bags.offsets, grid.cells, _encoded(bags, grid))

    def class_sums(self, size, positive):
        sums = np.zeros((self.cells[-1], 2))
        _class_sums_by_code(self.codes, self.offsets, self.cells, size, positive, sums)
        return sums

    def newton_sums(self, weight, bend, slope, cross):
        total, sums = bag_sum(weight, self.offsets), np.zeros((self.cells[-1], 3))
        by_bag, by_code = (weight, bend, slope, cross, total), np.empty((256, 2))
        _newton_sums_by_code(self.codes, self.offsets, self.cells, *by_bag, by_code, sums)
        return sums

    def left_of(self, slot, cut):
        return self.codes[slot] <= cut

    def shares(self, slots, cuts, weight):
        sides = np.zeros((len(slots), 2, len(self.offsets) - 1))
        _shares_in_place(self.codes, self.offsets, slots, cuts, weight, sides)
        return sides


def _encoded(bags, grid):
    """Codes of all instances, one row a slot."""
    codes = np.empty((len(grid.feature), bags.n_instances), np.uint8)
    slots = grid.feature, grid.shift, grid.missing
    _encode(bags.instances, bags.offsets, *slots, grid.thresholds, grid.start, codes)
    return codes


# Kernels. Row numbers are unsigned where they can: what cannot be negative is not checked. They
# make no arrays: that takes longer to compile than all they do.


@njit(cache=True, nogil=True)
def _encode(instances, offsets, feature, shift, missing, thresholds, start, codes):
    """Fill `codes`, bag after bag."""
    for bag in range(len(offsets) - 1):
        for slot in range(len(feature)):
            f = feature[slot]
            low, high, lowest, nowhere = start[f], start[f + 1], shift[slot], missing[slot]
            for row in range(offsets[bag], offsets[bag + 1]):
                codes[slot, row] = code_of(
                    instances[row, f], thresholds, low, high, lowest, nowhere
                )


@njit(cache=True, nogil=True)
def _sort_bags(codes, order, offsets, counts):
    """Sort the codes of every bag, and fill `order`; `counts` is scratch."""
    for slot in range(len(codes)):
        for bag in range(len(offsets) - 1):
            begin, end = offsets[bag], offsets[bag + 1]
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


@njit(cache=True, nogil=True)
def _class_sums_by_code(codes, offsets, cells, size, positive, sums):
    for slot in range(len(cells) - 1):
        here, code = sums[cells[slot] : cells[slot + 1]], codes[slot]
        for bag in range(len(offsets) - 1):
            side = np.uint64(positive[bag])
            for row in range(np.uint64(offsets[bag]), np.uint64(offsets[bag + 1])):
                here[np.uint64(code[row]), side] += size[row]
    _accumulate(cells, sums)


@njit(cache=True, nogil=True)
def _newton_sums_by_code(codes, offsets, cells, weight, bend, slope, cross, total, by_code, sums):
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
                square = c * q * (2.0 * left + q)
                left += q
                here[cell, 0] += s * q
                here[cell, 1] += s * by_code[cell, 1] + square
                here[cell, 2] += whole * q - square
    _accumulate(cells, sums)


@njit(cache=True, nogil=True)
def _shares_in_place(codes, offsets, slots, cuts, weight, sides):
    for stump in range(len(slots)):
        code, cut = codes[slots[stump]], cuts[stump]
        for bag in range(len(offsets) - 1):
            for row in range(np.uint64(offsets[bag]), np.uint64(offsets[bag + 1])):
                sides[stump, 0 if code[row] <= cut else 1, bag] += weight[row]
