"""An interior point method for the duals of linear support vector machines.

The Hessian is a diagonal plus the product of a thin matrix with its transpose, so a Newton step
costs O(rows × features²) and the number of steps, about twenty, depends on neither the rows nor C.
"""

import numpy as np
from scipy import linalg, sparse


def solve_box(Z, linear, low, high, fixed_sum=0.0, tol=1e-10, max_iter=100):
    """Minimise ½‖Zᵀβ‖² − linearᵀβ over Σβ + fixed_sum = 0 and low ≤ β ≤ high.

    Mehrotra's predictor-corrector. `Z` is dense or CSR.

    Returns
    -------
    beta : array (n,)
    w : array (n_features,)
        Zᵀβ.
    intercept : float
        The multiplier of the sum: at the solution Zw + intercept equals `linear` where β is free.
    n_iter : int
    """
    if Z.shape[1] > Z.shape[0]:  # fewer rows than features: any other factor of ZZᵀ will do
        gram = Z @ Z.T
        values, vectors = linalg.eigh(gram.toarray() if sparse.issparse(gram) else gram)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        beta, _, intercept, n_iter = solve_box(root, linear, low, high, fixed_sum, tol, max_iter)
        return beta, Z.T @ beta, intercept, n_iter
    width = high - low
    above = 0.5 * width  # distance of β from `low`, and `below` from `high`
    below = width - above
    intercept = 0.0
    w = Z.T @ (low + above)
    slope = Z @ w + intercept - linear
    # Multipliers of the size that they will have, not of the first, huge slopes: their difference
    # approaches the slope along the way.
    size = np.abs(linear).max() + 1e-3
    # So little that steps hardly feel it, so much that Woodbury's inner matrix stays definite.
    damping = 1e-12 * max(1.0, (Z * Z).sum(axis=1).max())
    lift = np.full(len(low), size)
    press = np.full(len(low), size)
    n_iter = 0
    while n_iter < max_iter:
        beta = low + above
        imbalance = beta.sum() + fixed_sum
        residual = lift - press - slope
        complementarity = (above @ lift + below @ press) / (2 * len(low))
        scale = 1.0 + abs(0.5 * w @ w - linear @ beta)
        if (
            2 * len(low) * complementarity <= tol * scale
            and abs(imbalance) <= tol * width.sum()
            and np.abs(residual).max() <= 1e-8 * size
        ):
            break
        n_iter += 1
        try:
            newton = _Newton(Z, lift / above + press / below + damping, imbalance)
        except linalg.LinAlgError:
            damping *= 100.0
            continue
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
        inner = Z.T @ (Z * self.inverse[:, None])
        inner = inner.toarray() if sparse.issparse(inner) else inner
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
    return 1.0 / max(1.0, *((-step / value).max() for value, step in pairs))
