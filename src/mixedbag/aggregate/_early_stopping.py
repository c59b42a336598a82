"""Gradient descent on least squares, stopped early, without its passes.

From v = 0, passes ``v ← v + rate · Aᵀ(y − A v)`` lower ½‖y − A v‖² one singular direction at a
time: along that of singular value s, the part ``(1 − rate s²)^t`` of the error is left after t
passes. What a pass gains falls from pass to pass, so that the first one which gains less than a
tolerance is found by bisection.
"""

import numpy as np

_FOREVER = 2**60  # passes


def descended(A, y, rate, tol):
    """The weights when a pass has lowered the error by less than `tol`.

    Returns them, their degrees of freedom (the trace of the matrix that takes y to A v), and the
    number of passes. Where `rate` is too large for the error to fall in every direction, it is the
    largest that is not. ``tol=0`` goes on to the least squares.
    """
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    rate = min(rate, 1.0 / max(s[0] ** 2, np.finfo(float).tiny))
    left = 1.0 - rate * s**2
    parts = U.T @ y
    energy = 0.5 * (parts**2).reshape(len(s), -1).sum(axis=1)

    def gain(t):
        return energy @ (left ** (2.0 * t) * (1.0 - left**2))

    low, high = -1, 1  # a pass after `low` gains enough, one after `high` does not
    while gain(high) >= tol and high < _FOREVER:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if gain(middle) >= tol else (low, middle)
    passes = high + 1
    moved = np.where(s > 1e-12 * s[0], 1.0 - left ** float(passes), 0.0)
    v = Vt.T @ (moved / np.maximum(s, 1e-300) * parts.T).T
    return v, moved.sum(), passes
