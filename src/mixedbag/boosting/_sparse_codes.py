"""Sparse instances as bin codes: the cost of a round is that of the stored entries.

Per slot, the stored entries sorted by bag and by code. All other instances of a bag have the value
zero and move across a threshold together: one *rest* with the code of zero, whose sum is the bag's
total minus its entries. Bags without an entry are one big rest.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy import sparse

from mixedbag._sorting import ascending
from mixedbag.boosting._grid import code_of
from mixedbag.pooling import bag_sum


@dataclass(frozen=True)
class SparseCodes:
    """Codes of the stored entries only; all other instances share the code of zero."""

    offsets: np.ndarray
    bag_of: np.ndarray
    cells: np.ndarray
    codes: np.ndarray
    rows: np.ndarray
    first: np.ndarray
    zero: np.ndarray

    @classmethod
    def of(cls, bags, grid):
        columns = sparse.csc_array(bags.instances)
        columns.sum_duplicates()
        entries = _encode(
            columns.data,
            columns.indices.astype(np.int64),
            columns.indptr.astype(np.int64),
            bags.bag_of,
            grid.feature,
            grid.shift,
            grid.missing,
            grid.thresholds,
            grid.start,
        )
        return cls(bags.offsets, bags.bag_of, grid.cells, *entries)

    def class_sums(self, size, positive):
        totals = np.bincount(positive[self.bag_of], weights=size, minlength=2)
        return _class_sums(*self._entries(), self.bag_of, self.cells, size, positive, totals)

    def newton_sums(self, weight, whole, bend, slope, cross, lam=0.0):
        total_bend = bag_sum(bend, self.offsets)
        return _newton_sums(
            *self._entries(),
            self.bag_of,
            self.cells,
            weight,
            bend,
            slope,
            cross,
            whole,
            total_bend,
        )

    def left_of(self, slots, cuts):
        left = np.empty((len(slots), len(self.bag_of)), dtype=bool)
        for is_left, slot, cut in zip(left, slots, cuts):
            is_left[:] = self.zero[slot] <= cut
            stored = slice(self.first[slot], self.first[slot + 1])
            is_left[self.rows[stored]] = self.codes[stored] <= cut
        return left

    def shares(self, slots, cuts, weight):
        is_left = self.left_of(slots, cuts)
        sides = np.stack([is_left, ~is_left], axis=1) * weight
        return np.add.reduceat(sides, self.offsets[:-1], axis=2)

    def _entries(self):
        return self.codes, self.rows, self.first, self.zero


@njit(cache=True, nogil=True)
def _encode(data, rows, begin, bag_of, feature, shift, missing, thresholds, start):
    """Entries of all slots: codes, rows, where each slot begins, and the code of zero."""
    n_slots = len(feature)
    first = np.zeros(n_slots + 1, np.int64)
    for slot in range(n_slots):
        f = feature[slot]
        first[slot + 1] = first[slot] + begin[f + 1] - begin[f]
    codes = np.empty(first[-1], np.uint8)
    order = np.empty(first[-1], np.int64)
    zero = np.empty(n_slots, np.int64)
    for slot in range(n_slots):
        f = feature[slot]
        low, high = start[f], start[f + 1]
        zero[slot] = code_of(0.0, thresholds, low, high, shift[slot], missing[slot])
        n = begin[f + 1] - begin[f]
        key = np.empty(n, np.int64)
        for k in range(n):
            code = code_of(data[begin[f] + k], thresholds, low, high, shift[slot], missing[slot])
            key[k] = bag_of[rows[begin[f] + k]] * 256 + code
        place = ascending(key)
        for k in range(n):
            codes[first[slot] + k] = key[place[k]] % 256
            order[first[slot] + k] = rows[begin[f] + place[k]]
    return codes, order, first, zero


@njit(cache=True, nogil=True)
def _class_sums(codes, rows, first, zero, bag_of, cells, size, positive, totals):
    """Sums of `size` left of every threshold: over negative bags, over positive bags."""
    sums = np.zeros((cells[-1], 2))
    for slot in range(len(zero)):
        here = sums[cells[slot] : cells[slot + 1]]
        here[zero[slot], 0] += totals[0]
        here[zero[slot], 1] += totals[1]
        for k in range(first[slot], first[slot + 1]):
            side = positive[bag_of[rows[k]]]
            here[codes[k], side] += size[rows[k]]
            here[zero[slot], side] -= size[rows[k]]
        for cell in range(1, len(here)):
            here[cell, 0] += here[cell - 1, 0]
            here[cell, 1] += here[cell - 1, 1]
    return sums


@njit(cache=True, nogil=True)
def _newton_sums(
    codes, rows, first, zero, bag_of, cells, weight, bend, slope, cross, total, total_bend
):
    """The sums (v_L, u_LL, u_LR) at every threshold, as in the dense kernel."""
    sums = np.zeros((cells[-1], 3))
    whole_v, whole_u = 0.0, 0.0
    for bag in range(len(total)):
        whole_v += slope[bag] * total[bag]
        whole_u += slope[bag] * total_bend[bag] + cross[bag] * total[bag] * total[bag]
    for slot in range(len(zero)):
        here = sums[cells[slot] : cells[slot + 1]]
        nought = zero[slot]
        here[nought, 0] += whole_v
        here[nought, 1] += whole_u
        k, last = first[slot], first[slot + 1]
        while k < last:
            bag = bag_of[rows[k]]
            end = k
            rest, rest_bend = total[bag], total_bend[bag]
            while end < last and bag_of[rows[end]] == bag:
                rest -= weight[rows[end]]
                rest_bend -= bend[rows[end]]
                end += 1
            rest, rest_bend = max(rest, 0.0), max(rest_bend, 0.0)
            s, c, T = slope[bag], cross[bag], total[bag]
            # This bag is no longer one big rest.
            here[nought, 0] -= s * T
            here[nought, 1] -= s * total_bend[bag] + c * T * T
            left = 0.0
            waiting = True
            while k < end or waiting:
                if waiting and (k == end or codes[k] >= nought):
                    cell, q, d = nought, rest, rest_bend
                    waiting = False
                else:
                    cell, q, d = np.int64(codes[k]), weight[rows[k]], bend[rows[k]]
                    k += 1
                square = c * q * (2.0 * left + q)
                left += q
                here[cell, 0] += s * q
                here[cell, 1] += s * d + square
                here[cell, 2] += c * T * q - square
        for cell in range(1, len(here)):
            here[cell, 0] += here[cell - 1, 0]
            here[cell, 1] += here[cell - 1, 1]
            here[cell, 2] += here[cell - 1, 2]
    return sums
