r"""The disjunctive program of maximum-margin learning from bags (thesis, eqs. 6.26-6.35).

.. math::

    \min_{w, b, \xi \ge 0} \; \lVert w \rVert_1 + \sum_e C_e \xi_e
    \quad \text{so that} \quad
    \bigvee_{x \in X_i} \langle w, h(x) \rangle + b + \xi_i \ge 1 \;\; \text{(positive bags)},
    \qquad
    -\langle w, h(x) \rangle - b + \xi_x \ge 1 \;\; \text{(every negative instance)}.

An *example* is what owns a slack: a positive bag, or one instance of a negative bag. Only the "or"
over the instances of a positive bag is not convex. Every learner of this package is a strategy
for that "or"; the program itself, and what its numbers mean, live here.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse


@dataclass(frozen=True, eq=False)
class DisjunctiveProgram:
    """The data of one program.

    Parameters
    ----------
    values : (n_instances, n_features) ndarray or CSR
        Feature values h_k(x), instances in their training order.
    bags : list of int arrays
        Rows of `values`, one array per positive bag.
    negatives : int array
        Rows of `values` that belong to negative bags.
    slack_cost : float array
        C_e: first the positive bags, then the negative instances.
    intercept : bool
        Whether there is a free bias b. (A bias that costs is one more, constant, feature.)
    """

    values: Any
    bags: list
    negatives: np.ndarray
    slack_cost: np.ndarray
    intercept: bool = True

    def __post_init__(self):
        if issparse(self.values):
            object.__setattr__(self, "values", self.values.tocsr())

    @cached_property
    def example(self):
        """The example that every row belongs to."""
        example = np.full(self.values.shape[0], -1, dtype=np.int64)
        for i, rows in enumerate(self.bags):
            example[rows] = i
        example[self.negatives] = len(self.bags) + np.arange(len(self.negatives))
        return example

    @cached_property
    def sign(self):
        """1 of rows of positive bags, −1 of the others."""
        sign = np.ones(self.values.shape[0])
        sign[self.negatives] = -1.0
        return sign

    @property
    def n_features(self):
        return self.values.shape[1]

    @property
    def n_examples(self):
        return len(self.slack_cost)

    @cached_property
    def ambiguous(self):
        """Indices of the positive bags with more than one instance."""
        return np.array([i for i, rows in enumerate(self.bags) if len(rows) > 1], dtype=np.int64)

    @cached_property
    def unambiguous(self):
        """Rows whose margin constraint holds in any case: negatives and positive bags of one."""
        single = [rows[0] for rows in self.bags if len(rows) == 1]
        return np.concatenate([np.array(single, dtype=np.int64), self.negatives])

    def scores(self, w, b):
        """<w, h(x)> + b of every instance; only the support of w is touched."""
        support = np.flatnonzero(w)
        return self.values[:, support] @ w[support] + b

    def best_instances(self, scores):
        """The most positive instance (row) of every positive bag."""
        return np.array([rows[np.argmax(scores[rows])] for rows in self.bags], dtype=np.int64)

    def slacks(self, scores):
        """The slack that every example needs: the hinge losses."""
        rows, starts = self._positives
        positive = np.maximum.reduceat(scores[rows], starts)
        return np.maximum(0.0, 1.0 - np.concatenate([positive, -scores[self.negatives]]))

    def objective(self, w, b):
        """The true, non-convex objective of any (w, b): always an upper bound on the optimum."""
        loss = self.slack_cost @ self.slacks(self.scores(w, b))
        return float(np.abs(w).sum() + loss)

    @cached_property
    def _positives(self):
        """Rows of all positive bags, one after the other, and where each bag begins."""
        sizes = [len(rows) for rows in self.bags]
        return np.concatenate(self.bags), np.cumsum([0, *sizes[:-1]])

    @cached_property
    def _largest(self):
        return float(abs(self.values).max()) if self.values.shape[1] else 0.0

    def intercept_bound(self, objective):
        """|b| at some optimum no worse than `objective`.

        Beyond 1 + ||w||₁ max|h| every instance lies outside the margin on the same side, and
        moving b back towards 0 costs nothing.
        """
        return 1.0 + objective * self._largest

    def block(self, rows, signed):
        """Coefficients of `signed` features (k: +h_k, n_features + k: -h_k) in margin rows, dense.

        The margin row of instance x is y (<w, h(x)> + b) + xi >= 1, with w = w⁺ - w⁻.
        """
        flip = signed >= self.n_features
        columns = np.where(flip, signed - self.n_features, signed)
        if issparse(self.values):
            part = self.values[rows][:, columns].toarray()
        else:
            part = self.values[np.ix_(rows, columns)]
        return part * np.outer(self.sign[rows], np.where(flip, -1.0, 1.0))

    def full_rows(self, rows):
        """`block` for all 2 n_features signed features."""
        part = self.values[rows]
        part = part.toarray() if issparse(part) else part
        part = part * self.sign[rows][:, None]
        return np.hstack([part, -part])

    def correlate(self, rows, dual):
        """Σ_r u_r y_r h_k(x_r) for every unsigned feature k: what prices a column."""
        return self.values[rows].T @ (dual * self.sign[rows])


def slack_costs(sizes, sign, weight, C, balanced):
    """C_e for the examples of a program: positive bags first, then negative instances.

    Balanced, the positive bags share one half of a total mass C·Σweight, and the negative
    instances the other half (the thesis's C_balance = 0.5): the loss is C·n_bags times the average
    of two mean hinge losses. Otherwise every example costs C times its weight.
    """
    positive = weight[sign > 0]
    negative = np.repeat(weight[sign < 0], sizes[sign < 0])
    if not balanced:
        return C * np.concatenate([positive, negative])
    half = C * weight.sum() / 2
    return half * np.concatenate([positive / positive.sum(), negative / negative.sum()])
