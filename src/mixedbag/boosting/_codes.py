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

from mixedbag._solvers import INNER
from mixedbag.boosting._grid import Grid, code_of
from mixedbag.boosting._sparse_codes import SparseCodes

_BITS = np.int32(5)
FEW = 2**5  # up to here to compare all pairs beats counting
LARGE = 256  # instances a bag: as many as there are codes
BUCKETS = 4096  # a feature: nearly every one has one threshold or none
IN_CACHE = 4096  # instances whose weights stay there while all slots pass over them


class Codes(Protocol):
    """The questions that codes answer, dense and sparse alike."""

    def class_sums(self, size: np.ndarray, positive: np.ndarray) -> np.ndarray:
        """Sums of `size` left of every threshold, of shape (n_cells, 2): negative, positive."""

    def newton_sums(
        self,
        weight: np.ndarray,
        whole: np.ndarray,
        bend: np.ndarray,
        slope: np.ndarray,
        cross: np.ndarray,
        lam: float = 0.0,
    ) -> np.ndarray:
        """(v_L, u_LL, u_LR) at every threshold, of shape (n_cells, 3).

        With Q the sum of the instances' `weight` q on the left of a bag, T that of the `whole` bag,
        and `bend` d the diagonal of the pooling's second derivative, a bag adds
        v_L = slope·Q, u_LL = slope·Σ_left d + cross·Q², u_LR = cross·Q·(T − Q).
        A `lam` above zero says that d = lam·q, T = 1 and cross = |slope| − lam·slope.
        """

    def left_of(self, slots: np.ndarray, cuts: np.ndarray) -> np.ndarray:
        """Which instances have codes up to the cuts, of shape (n_cuts, n_instances)."""

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
        _sort_bags(codes, order, bags.offsets, np.empty(256, np.int32))
        return cls(bags.offsets, grid.cells, codes, order)

    def class_sums(self, size, positive):
        sums = np.zeros((self.cells[-1], 2))
        _class_sums(self.codes, self.order, self.offsets, self.cells, size, positive, sums)
        return sums

    def newton_sums(self, weight, whole, bend, slope, cross, lam=0.0):
        sums = np.zeros((self.cells[-1], 3))
        given = weight, bend, slope, cross, whole, lam
        _newton_sums(self.codes, self.order, self.offsets, self.cells, *given, sums)
        return sums

    def left_of(self, slots, cuts):
        left = np.empty((len(slots), self.codes.shape[1]), dtype=bool)
        _mark_left(self.codes, self.order, self.offsets, slots, cuts, left)
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

    def newton_sums(self, weight, whole, bend, slope, cross, lam=0.0):
        sums, by_code = np.zeros((self.cells[-1], 3)), np.empty((256, 2))
        by_bag = weight, bend, slope, cross, whole
        _newton_sums_by_code(self.codes, self.offsets, self.cells, *by_bag, by_code, sums)
        return sums

    def left_of(self, slots, cuts):
        return self.codes[slots] <= cuts[:, None]

    def shares(self, slots, cuts, weight):
        sides = np.zeros((len(slots), 2, len(self.offsets) - 1))
        _shares_in_place(self.codes, self.offsets, slots, cuts, weight, sides)
        return sides


def _encoded(bags, grid):
    """Codes of all instances, one row a slot."""
    codes = np.empty((len(grid.feature), bags.n_instances), np.uint8)
    slots, buckets = (grid.feature, grid.shift, grid.missing), _buckets(grid, bags.n_instances)
    _encode(bags.instances, bags.offsets, *slots, grid.thresholds, grid.start, *buckets, codes)
    return codes


def _buckets(grid, n_instances):
    """Where to look for a value among the thresholds: buckets of equal width for each feature.

    Returns where they begin and how many there are to a unit, by feature, and how many thresholds
    lie in buckets before each.
    """
    n_features, counts = len(grid.start) - 1, np.diff(grid.start)
    n_buckets = max(1, min(BUCKETS, n_instances // 64, 2**22 // n_features))
    some = np.flatnonzero(counts)
    lowest, scale = np.zeros((2, n_features))
    low, high = grid.thresholds[grid.start[some]], grid.thresholds[grid.start[some + 1] - 1]
    with np.errstate(over="ignore", divide="ignore"):
        each = n_buckets / (high - low)
    told = (each > 0.0) & np.isfinite(each)  # a range that is a number, and not nought
    lowest[some[told]], scale[some[told]] = low[told], each[told]
    feature = np.repeat(np.arange(n_features), counts)
    place = (grid.thresholds - lowest[feature]) * scale[feature]
    bucket = np.where(place > 0.0, np.minimum(place, n_buckets - 1), 0.0).astype(np.int64)
    shape = n_features, n_buckets + 1
    inside = np.bincount(feature * shape[1] + bucket + 1, minlength=shape[0] * shape[1])
    return lowest, scale, np.cumsum(inside.reshape(shape), axis=1, dtype=np.uint8)


# Kernels. Row numbers are unsigned where they can: what cannot be negative is not checked. They
# make no arrays, and have nothing to raise: that takes longer to compile than all they do.

_kernel = njit(cache=True, nogil=True, error_model="numpy")


@_kernel
def _encode(
    instances, offsets, feature, shift, missing, thresholds, start, lowest, scale, before, codes
):
    """Fill `codes`, bag after bag; only the thresholds in the value's own bucket are searched."""
    last = before.shape[1] - 2.0
    for bag in range(len(offsets) - 1):
        for slot in range(len(feature)):
            f = feature[slot]
            # Bytes that are written might be any of these, had they no names of their own.
            first, begin, width, earlier = start[f], lowest[f], scale[f], before[f]
            lowest_code, nowhere = shift[slot], missing[slot]
            for row in range(offsets[bag], offsets[bag + 1]):
                x = instances[row, f]
                place = (x - begin) * width
                bucket = np.uint64(np.int64(min(place, last)) if place > 0.0 else 0)
                low, high = np.int64(earlier[bucket]), np.int64(earlier[bucket + np.uint64(1)])
                codes[slot, row] = code_of(
                    x, thresholds, first + low, first + high, lowest_code + low, nowhere
                )


@_kernel
def _sort_bags(codes, order, offsets, scratch):
    """Sort the codes of every bag, and fill `order`."""
    for slot in range(len(codes)):
        for bag in range(len(offsets) - 1):
            begin, end = offsets[bag], offsets[bag + 1]
            _sort_bag(codes[slot, begin:end], order[slot, begin:end], scratch)


@njit(inline="always", **INNER)
def _sort_bag(codes, order, scratch):
    """Sort the codes of one bag in place, remembering where each came from."""
    n = np.uint64(len(codes))
    if n <= FEW:
        for j in range(n):
            scratch[j] = (np.int32(codes[j]) << _BITS) + np.int32(j)
        for j in range(n):
            key, rank = scratch[j], np.uint64(0)
            for k in range(n):
                rank += np.uint64(scratch[k] < key)
            order[rank] = j
            codes[rank] = key >> _BITS
    else:
        for code in range(len(scratch)):
            scratch[code] = 0
        for j in range(n):
            scratch[codes[j]] += 1
        place = 0
        for code in range(len(scratch)):
            here = scratch[code]
            scratch[code] = place
            place += here
        for j in range(n):
            order[scratch[codes[j]]] = j
            scratch[codes[j]] += 1
        place = 0
        for code in range(len(scratch)):
            while place < scratch[code]:
                codes[place] = code
                place += 1


@_kernel
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


@_kernel
def _newton_sums(codes, order, offsets, cells, weight, bend, slope, cross, whole, lam, sums):
    """Adding is what takes time: two sums an instance where `lam` tells the rest, else three."""
    n_bags = len(offsets) - 1
    together = 1 + IN_CACHE * n_bags // len(weight)
    for first in range(0, n_bags, together):
        for slot in range(len(cells) - 1):
            here = sums[cells[slot] : cells[slot + 1]]
            code, place = codes[slot], order[slot]
            for bag in range(first, min(first + together, n_bags)):
                begin, end = np.uint64(offsets[bag]), np.uint64(offsets[bag + 1])
                s, c = slope[bag], cross[bag]
                outer, left = c * whole[bag], 0.0
                falls = np.uint64(s < 0.0)
                if lam > 0.0:
                    for k in range(begin, end):
                        cell, q = np.uint64(code[k]), weight[begin + np.uint64(place[k])]
                        square = c * q * (2.0 * left + q)
                        left += q
                        here[cell, falls] += s * q
                        here[cell, 2] += square
                else:
                    for k in range(begin, end):
                        row = begin + np.uint64(place[k])
                        cell, q = np.uint64(code[k]), weight[row]
                        square = c * q * (2.0 * left + q)  # the growth of cross·Q²
                        left += q
                        here[cell, 0] += s * q
                        here[cell, 1] += s * bend[row] + square
                        here[cell, 2] += outer * q - square
    if lam > 0.0:
        for cell in range(len(sums)):
            rises, falls_by = sums[cell, 0], sums[cell, 1]
            v = rises + falls_by
            u = lam * v + sums[cell, 2]
            sums[cell, 0], sums[cell, 1], sums[cell, 2] = v, u, (rises - falls_by) - u
    _accumulate(cells, sums)


@njit(**INNER)
def _accumulate(cells, sums):
    """Sums of the cells of every slot up to each; of two or three kinds."""
    third = sums.shape[1] - 1
    for slot in range(len(cells) - 1):
        a = b = c = 0.0  # in registers: through memory, each would wait for the one before
        for cell in range(cells[slot], cells[slot + 1]):
            a += sums[cell, 0]
            b += sums[cell, 1]
            sums[cell, 0], sums[cell, 1] = a, b
            if third == 2:
                c += sums[cell, 2]
                sums[cell, 2] = c


@_kernel
def _mark_left(codes, order, offsets, slots, cuts, left):
    for stump in range(len(slots)):
        code, place, cut = codes[slots[stump]], order[slots[stump]], cuts[stump]
        is_left = left[stump]
        for bag in range(len(offsets) - 1):
            begin, end = np.uint64(offsets[bag]), np.uint64(offsets[bag + 1])
            for k in range(begin, end):
                is_left[begin + np.uint64(place[k])] = code[k] <= cut


@_kernel
def _shares(codes, order, offsets, slots, cuts, weight, sides):
    n_bags = len(offsets) - 1
    together = 1 + IN_CACHE * n_bags // len(weight)
    for first in range(0, n_bags, together):
        for stump in range(len(slots)):
            code, place, cut = codes[slots[stump]], order[slots[stump]], cuts[stump]
            for bag in range(first, min(first + together, n_bags)):
                begin, end = np.uint64(offsets[bag]), np.uint64(offsets[bag + 1])
                below = above = 0.0
                for k in range(begin, end):
                    q, is_left = weight[begin + np.uint64(place[k])], code[k] <= cut
                    below += q if is_left else 0.0  # without a branch
                    above += 0.0 if is_left else q
                sides[stump, 0, bag] = below
                sides[stump, 1, bag] = above


@_kernel
def _class_sums_by_code(codes, offsets, cells, size, positive, sums):
    for slot in range(len(cells) - 1):
        here, code = sums[cells[slot] : cells[slot + 1]], codes[slot]
        for bag in range(len(offsets) - 1):
            side = np.uint64(positive[bag])
            for row in range(np.uint64(offsets[bag]), np.uint64(offsets[bag + 1])):
                here[np.uint64(code[row]), side] += size[row]
    _accumulate(cells, sums)


@_kernel
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


@_kernel
def _shares_in_place(codes, offsets, slots, cuts, weight, sides):
    for stump in range(len(slots)):
        code, cut = codes[slots[stump]], cuts[stump]
        for bag in range(len(offsets) - 1):
            for row in range(np.uint64(offsets[bag]), np.uint64(offsets[bag + 1])):
                sides[stump, 0 if code[row] <= cut else 1, bag] += weight[row]
