"""The instances of a block of bags as bin codes: all that the search for a stump looks at.

`encode` makes them. Dense and sparse codes answer the same four questions: the sums of the classes'
weights and the Newton sums at every threshold, and who lies left of a given one.
"""

import numpy as np
from scipy import sparse

from mixedbag.boosting import _sparse_stumps, _stumps
from mixedbag.pooling import bag_sum


def encode(bags, grid):
    """Codes of `bags` on `grid`."""
    return (SparseCodes if bags.is_sparse else DenseCodes)(bags, grid)


class DenseCodes:
    """One code an instance and slot, sorted inside each bag: 3 bytes (5 if a bag is huge)."""

    def __init__(self, bags, grid):
        self.offsets, self.cells = bags.offsets, grid.cells
        shape = len(grid.feature), bags.n_instances
        self.codes = np.empty(shape, np.uint8)
        self.order = np.empty(shape, np.uint16 if bags.sizes.max() <= 2**16 else np.uint32)
        _stumps.encode(
            bags.instances,
            bags.offsets,
            grid.feature,
            grid.shift,
            grid.missing,
            grid.thresholds,
            grid.start,
            self.codes,
            self.order,
        )

    def class_sums(self, size, positive):
        """Sums of `size` left of every threshold, of shape (n_cells, 2): negative, positive."""
        return _stumps.class_sums(self.codes, self.order, self.offsets, self.cells, size, positive)

    def newton_sums(self, weight, bend, slope, cross):
        """(v_L, u_LL, u_LR) at every threshold, of shape (n_cells, 3)."""
        total = bag_sum(weight, self.offsets)
        return _stumps.newton_sums(
            self.codes, self.order, self.offsets, self.cells, weight, bend, slope, cross, total
        )

    def left_of(self, slot, cut):
        """Which instances have a code up to `cut`."""
        left = np.empty(self.codes.shape[1], dtype=bool)
        _stumps.left_of(self.codes, self.order, self.offsets, slot, cut, left)
        return left

    def shares(self, slots, cuts, weight):
        """Sums of `weight` in each bag left and right of some cuts, (n_cuts, 2, n_bags)."""
        return _stumps.shares(self.codes, self.order, self.offsets, slots, cuts, weight)


class SparseCodes:
    """Codes of the stored entries only; all other instances share the code of zero."""

    def __init__(self, bags, grid):
        self.offsets, self.cells, self.bag_of = bags.offsets, grid.cells, bags.bag_of
        columns = sparse.csc_array(bags.instances)
        columns.sum_duplicates()
        self.codes, self.rows, self.first, self.zero = _sparse_stumps.encode(
            columns.data,
            columns.indices.astype(np.int64),
            columns.indptr.astype(np.int64),
            self.bag_of,
            grid.feature,
            grid.shift,
            grid.missing,
            grid.thresholds,
            grid.start,
        )

    def class_sums(self, size, positive):
        """Sums of `size` left of every threshold, of shape (n_cells, 2): negative, positive."""
        totals = np.bincount(positive[self.bag_of], weights=size, minlength=2)
        return _sparse_stumps.class_sums(
            *self._entries(), self.bag_of, self.cells, size, positive, totals
        )

    def newton_sums(self, weight, bend, slope, cross):
        """(v_L, u_LL, u_LR) at every threshold, of shape (n_cells, 3)."""
        total, total_bend = bag_sum(weight, self.offsets), bag_sum(bend, self.offsets)
        return _sparse_stumps.newton_sums(
            *self._entries(),
            self.bag_of,
            self.cells,
            weight,
            bend,
            slope,
            cross,
            total,
            total_bend,
        )

    def left_of(self, slot, cut):
        """Which instances have a code up to `cut`."""
        left = np.empty(len(self.bag_of), dtype=bool)
        _sparse_stumps.left_of(*self._entries(), slot, cut, left)
        return left

    def shares(self, slots, cuts, weight):
        """Sums of `weight` in each bag left and right of some cuts, (n_cuts, 2, n_bags)."""
        masks = [self.left_of(slot, cut) for slot, cut in zip(slots, cuts)]
        sides = np.array([[mask, ~mask] for mask in masks]) * weight
        return np.add.reduceat(sides, self.offsets[:-1], axis=2)

    def _entries(self):
        return self.codes, self.rows, self.first, self.zero
