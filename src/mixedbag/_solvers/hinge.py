"""The problem a support vector machine solves for one choice of witnesses or labels."""

from dataclasses import dataclass, replace

import numpy as np

from mixedbag.engines.sums import Peak, Sums


@dataclass(frozen=True)
class Problem:
    """`min ½|w|² + Σ_s cost_s loss(sign_s (w·x_s + b))`: slot `s` asks for a sign at one row.

    The dual is `max Σ_s (dual_s - ridge_s/2 dual_s²) - ½|Σ_s sign_s dual_s x_s|²` over
    `0 <= dual_s <= upper_s` and, the intercept `b` being free, `Σ_s sign_s dual_s = 0`. The hinge
    loss has the box, the squared hinge the ridge.
    """

    rows: np.ndarray
    sign: np.ndarray
    cost: np.ndarray
    squared: bool = False

    def at(self, slots):
        """The problem of some slots only."""
        return replace(self, rows=self.rows[slots], sign=self.sign[slots], cost=self.cost[slots])

    def share(self, slots):
        """The part of all costs that is at `slots` (true or false): a weight is as many slots."""
        return self.cost @ slots / self.cost.sum()

    @property
    def upper(self):
        return np.full(len(self.cost), np.inf) if self.squared else self.cost

    @property
    def ridge(self):
        return 0.5 / self.cost if self.squared else np.zeros(len(self.cost))

    @property
    def floor(self):
        """A loss too small to be told from rounding."""
        return 1e-13 * self.cost.sum()

    def loss(self, margin):
        """Total loss at the given margins `sign·f`."""
        shortfall = np.maximum(1.0 - margin, 0.0)
        return self.cost @ (shortfall**2 if self.squared else shortfall)

    def slackness(self, dual, margin):
        """`Σ (loss + its conjugate at the dual - their product)`.

        Never negative, and all of the duality gap when `w = Σ sign dual x` and `dual` is even.
        """
        return self.loss(margin) - self.promise(dual, margin)

    def promise(self, dual, margin):
        """What the loss at these margins is at least, as the dual tells it."""
        least = dual.sum() - dual @ margin
        return least - 0.5 * self.ridge @ dual**2 if self.squared else least

    def evened(self, dual):
        """The dual with its heavier side cut down, so that both sides weigh the same."""
        weight = self.sign * dual
        above, below = np.maximum(weight, 0.0).sum(), -np.minimum(weight, 0.0).sum()
        if above > below:
            return np.where(weight > 0.0, dual * (below / above), dual)
        return np.where(weight < 0.0, dual * (above / below), dual) if below > above else dual

    def room(self, margin):
        """Where the intercept could go from here."""
        short = margin < 1.0
        free = short == (self.sign > 0.0)  # to rise until the margin of a slot passes one
        way = -np.abs(1.0 - margin)
        return Room(
            cost=self.cost.sum(),
            slope=np.inf if self.squared else self.cost[short] @ self.sign[short],
            up=Peak(np.where(free, way, -np.inf).max(initial=-np.inf)),
            down=Peak(np.where(free, -np.inf, way).max(initial=-np.inf)),
        )


@dataclass(frozen=True)
class Room(Sums):
    """How the loss changes with the intercept: its slope, and how far (negated) that stays."""

    cost: float
    slope: float
    up: Peak
    down: Peak

    def to_middle(self):
        """What takes the intercept to the middle of the best ones, where there are several.

        The hinge loss has an interval of them if what the slots short of their margin cost is the
        same on both sides. The middle is what LIBSVM chooses.
        """
        if abs(self.slope) > 1e-9 * self.cost or not np.isfinite(self.up + self.down):
            return 0.0
        return 0.5 * (float(self.down) - float(self.up))
