"""An interior point method for the duals of linear support vector machines.

The Hessian is a diagonal plus the product of a thin matrix with its transpose, so a Newton step
costs O(rows × features²) and the number of steps, about twenty, depends on neither the rows nor C.
"""

import numpy as np
from scipy import linalg


def solve_box(Z, linear, low, high, tol=1e-10, max_iter=100):
    """Minimise ½‖Zᵀβ‖² − linearᵀβ over Σβ = 0 and low ≤ β ≤ high.

    Mehrotra's predictor-corrector. `Z` is dense or CSR.

    Returns
    -------
    beta : array (n,)
    w : array (n_features,)
        Zᵀβ.
    intercept : float
        The multiplier of Σβ = 0: at the solution Zw + intercept equals `linear` where β is free.
    n_iter : int
    """
    width = high - low
    above = 0.5 * width  # distance of β from `low`, and `below` from `high`
    below = width - above
    intercept = 0.0
    w = Z.T @ (low + above)
    slope = Z @ w + intercept - linear
    push = np.abs(slope).mean() + 1e-3
    lift = np.maximum(slope, 0.0) + push  # multipliers; their difference is the slope
    press = lift - slope
    n_iter = 0
    while n_iter < max_iter:
        beta = low + above
        complementarity = (above @ lift + below @ press) / (2 * len(low))
        scale = 1.0 + abs(0.5 * w @ w - linear @ beta)
        if 2 * len(low) * complementarity <= tol * scale and abs(beta.sum()) <= tol * width.sum():
            break
        n_iter += 1
        newton = _Newton(Z, lift / above + press / below, beta.sum())
        residual = -slope + lift - press
        step, turn = newton.solve(residual - lift + press)
        lift_step = -lift - lift / above * step
        press_step = -press + press / below * step
        reach = _reach((above, step), (below, -step), (lift, lift_step), (press, press_step))
        after = (above + reach * step) @ (lift + reach * lift_step)
        after += (below - reach * step) @ (press + reach * press_step)
        centre = (after / (2 * len(low) * complementarity)) ** 3 * complementarity
        lift_target = (centre - step * lift_step) / above
        press_target = (centre + step * press_step) / below
        step, turn = newton.solve(residual - lift + press + lift_target - press_target)
        lift_step = lift_target - lift - lift / above * step
        press_step = press_target - press + press / below * step
        reach = 0.995 * _reach(
            (above, step), (below, -step), (lift, lift_step), (press, press_step)
        )
        above = above + reach * step
        below = below - reach * step
        lift = lift + reach * lift_step
        press = press + reach * press_step
        intercept += reach * turn
        w = Z.T @ (low + above)
        slope = Z @ w + intercept - linear
    return low + above, w, float(intercept), n_iter


class _Newton:
    """Solves (ZZᵀ + Θ) step + 1·turn = right side, 1ᵀstep = −imbalance, for one Θ."""

    def __init__(self, Z, theta, imbalance):
        self.Z = Z
        self.inverse = 1.0 / theta
        scaled = (
            Z.multiply(self.inverse[:, None])
            if hasattr(Z, "multiply")
            else (Z * self.inverse[:, None])
        )
        inner = Z.T @ scaled
        inner = inner.toarray() if hasattr(inner, "toarray") else inner
        inner[np.diag_indices_from(inner)] += 1.0
        self.factor = linalg.cho_factor(inner, check_finite=False)
        self.imbalance = imbalance
        self.ones = self._apply(np.ones(len(theta)))

    def _apply(self, v):
        """(ZZᵀ + Θ)⁻¹ v, by the Woodbury identity."""
        v = self.inverse * v
        inner = linalg.cho_solve(self.factor, self.Z.T @ v, check_finite=False)
        return v - self.inverse * (self.Z @ inner)

    def solve(self, right):
        step = self._apply(right)
        turn = (step.sum() + self.imbalance) / self.ones.sum()
        return step - turn * self.ones, turn


def _reach(*pairs):
    """The longest step, at most one, that keeps every value positive."""
    longest = 1.0
    for value, step in pairs:
        shrinking = step < 0
        if shrinking.any():
            longest = min(longest, (-value[shrinking] / step[shrinking]).min())
    return longest
