"""Sequential minimal optimisation for support vector regression with a tube of its own per row."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def fit_tube(gram, target, tube, upper, tol, max_iter):
    """Minimise ½βᵀKβ − yᵀβ + Σ ε_i |β_i| over Σβ = 0 and |β_i| ≤ upper_i.

    The dual of support vector regression, one signed variable a row. Each step moves the pair that
    promises most (second-order choice), and never across the kink of |β| at zero.

    Returns β, the intercept, the violation that is left (the optimality conditions hold up to it)
    and the number of steps.
    """
    n = len(target)
    beta = np.zeros(n)
    error = target.copy()  # y − Kβ
    highest, lowest = 0.0, 0.0
    n_iter = 0
    while n_iter < max_iter:
        # What row i would gain per unit of β_i upwards, and lose downwards.
        highest, lowest = -np.inf, np.inf
        i = -1
        for r in range(n):
            up = error[r] - (tube[r] if beta[r] >= 0.0 else -tube[r])
            if beta[r] < upper[r] and up > highest:
                highest, i = up, r
        j = -1
        best = 0.0
        curve = 1.0
        for r in range(n):
            if beta[r] <= -upper[r]:
                continue
            down = error[r] - (tube[r] if beta[r] > 0.0 else -tube[r])
            lowest = min(lowest, down)
            if down < highest:
                bend = max(gram[i, i] + gram[r, r] - 2.0 * gram[i, r], 1e-12)
                worth = (highest - down) ** 2 / bend
                if worth > best:
                    best, j, curve, slope = worth, r, bend, highest - down
        if j < 0 or highest - lowest <= tol:
            break
        n_iter += 1
        step = slope / curve
        step = min(step, -beta[i] if beta[i] < 0.0 else upper[i] - beta[i])
        step = min(step, beta[j] if beta[j] > 0.0 else upper[j] + beta[j])
        beta[i] += step
        beta[j] -= step
        for r in range(n):
            error[r] -= step * (gram[i, r] - gram[j, r])
    return beta, 0.5 * (highest + lowest), max(0.0, highest - lowest), n_iter
