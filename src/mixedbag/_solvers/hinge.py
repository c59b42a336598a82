"""The problem a support vector machine solves for one choice of witnesses or labels."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Problem:
    """`min ½|w|² + Σ_s cost_s loss(sign_s f(x_s))`: slot `s` asks for a sign at one row.

    The dual is `max Σ_s (dual_s - ridge_s/2 dual_s²) - ½|Σ_s sign_s dual_s x_s|²` over
    `0 <= dual_s <= upper_s`: the hinge loss has the box, the squared hinge the ridge.
    """

    rows: np.ndarray
    sign: np.ndarray
    cost: np.ndarray
    squared: bool = False

    @property
    def upper(self):
        return np.full(len(self.cost), np.inf) if self.squared else self.cost

    @property
    def ridge(self):
        return 0.5 / self.cost if self.squared else np.zeros(len(self.cost))

    def loss(self, margin):
        """Total loss at the given margins `sign·f`."""
        shortfall = np.maximum(1.0 - margin, 0.0)
        return self.cost @ (shortfall**2 if self.squared else shortfall)

    def slackness(self, dual, margin):
        """`Σ (loss + its conjugate at the dual - their product)`.

        Never negative, and all of the duality gap when `w = Σ sign dual x`.
        """
        return self.loss(margin) + 0.5 * self.ridge @ dual**2 - dual @ (1.0 - margin)
