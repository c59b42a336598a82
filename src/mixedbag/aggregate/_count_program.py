"""Eq. 9 of the aggregate-outputs paper: what labels and a machine cost, given counts of bags::

    min ½‖w‖² + Σ_c (Σ_{i∈c} cost_i max(0, 1 − s_i f(x_i)) + price_c |y_c − #{i ∈ c: s_i = +1}|)

over labels ``s_i = ±1`` and ``f(x) = ⟨w, x⟩ + b``, with cost = C and price = D times the weight of
the bag; an infinite D makes counts facts. Here are the parts that all ways of solving it share: the
best labels for given scores, what counts say of open labels, and what a miss costs. The ways are
alternation (`_alternation`), local search (`_descent`), branch and bound (`_branch_and_bound`) and
mixed-integer programs (`_mixed_integer`).
"""

from dataclasses import dataclass

import numpy as np
from numba import njit
from sklearn.metrics import pairwise_distances

from mixedbag._tables import frozen


@dataclass
class Program:
    """The data of eq. 9, with per-instance costs and a per-bag price of a missed count."""

    X: np.ndarray
    offsets: np.ndarray
    positives: np.ndarray
    cost: np.ndarray  # C per instance
    price: np.ndarray  # D per bag, may be infinite

    def reach(self, norm_bound, metric):
        """M of every instance."""
        far = pairwise_distances(self.X, metric=metric).max(axis=1)
        return 2.0 + norm_bound * far

    @property
    def slack(self):
        """Largest |count − labels| that an infinite price allows: none, for whole counts."""
        away = np.abs(self.positives - np.round(self.positives)) + 1e-9
        return np.where(np.isinf(self.price), away, np.inf)


def signs(labels):
    """±1 for true and false."""
    return np.where(labels, 1.0, -1.0)


def assign_labels(scores, offsets, positives, C, D):
    """The labels d_i ∈ {0, 1} that minimise eq. 9 for fixed scores, exactly.

    A bag pays C max(0, 1 − f_i) for a positive, C max(0, 1 + f_i) for a negative instance, and D
    for every instance by which its count is missed. For a given number of positives the highest
    scores take them, so one pass over the sorted scores is enough. `D` may be infinite.

    Returns the labels and the penalty Σ_c of each bag.
    """
    label, penalty = np.zeros(len(scores), dtype=bool), np.empty(len(positives))
    order = np.lexsort((-scores, np.repeat(np.arange(len(positives)), np.diff(offsets))))
    nearest = np.abs(positives - np.round(positives))
    given = np.ascontiguousarray(positives, dtype=np.float64), float(C), float(D)
    _assign_labels(scores, frozen(offsets), order, nearest, *given, label, penalty)
    return label, penalty


@njit(cache=True, nogil=True)
def _assign_labels(scores, offsets, order, nearest, positives, C, D, label, penalty):
    """Fill `label` and `penalty`; `order` has the highest scores of every bag first."""
    for c in range(len(positives)):
        start, stop = offsets[c], offsets[c + 1]
        hinge = 0.0
        for i in range(start, stop):
            hinge += max(0.0, 1.0 + scores[i])
        best = np.inf
        n_best = 0
        for m in range(stop - start + 1):
            if m > 0:
                f = scores[order[start + m - 1]]
                hinge += max(0.0, 1.0 - f) - max(0.0, 1.0 + f)
            missed = abs(positives[c] - m)
            if np.isinf(D):
                if missed > nearest[c] + 1e-9:
                    continue
                cost = C * hinge
            else:
                cost = C * hinge + D * missed
            if cost < best - 1e-12 * abs(cost):
                best, n_best = cost, m
        for m in range(n_best):
            label[order[start + m]] = True
        penalty[c] = best


@njit(cache=True, nogil=True)
def missed_price(offsets, positives, cost, ratio, sign):
    """Σ_c D_c |y_c − positives|, at best if some labels are open (0); infinite D is never paid."""
    total = 0.0
    if np.isinf(ratio):
        return total
    for c in range(len(positives)):
        found, still = 0, 0
        for i in range(offsets[c], offsets[c + 1]):
            found += sign[i] > 0.0
            still += sign[i] == 0.0
        missed = max(0.0, found - positives[c], positives[c] - found - still)
        total += ratio * cost[offsets[c]] * missed
    return total


@njit(cache=True, nogil=True)
def settle(offsets, positives, ratio, sign):
    """Give the labels that counts without a price leave no choice about."""
    if not np.isinf(ratio):
        return
    for c in range(len(positives)):
        away = abs(positives[c] - np.round(positives[c])) + 1e-9
        found, still = 0, 0
        for i in range(offsets[c], offsets[c + 1]):
            found += sign[i] > 0.0
            still += sign[i] == 0.0
        only = 0.0
        if found + 1 > positives[c] + away:
            only = -1.0
        elif found + still - 1 < positives[c] - away:
            only = 1.0
        if still and only != 0.0:
            for i in range(offsets[c], offsets[c + 1]):
                if sign[i] == 0.0:
                    sign[i] = only
