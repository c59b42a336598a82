"""Kernels that find the best candidate of every slot from the sums at every threshold."""

import numpy as np
from numba import njit

TIE = 1e-9  # gains this close are equal: the first wins, whatever the order of summation


@njit(cache=True, nogil=True)
def best_cells(gain, cells):
    """The cell with the largest gain in every slot; the first of those that tie."""
    best = np.empty(len(cells) - 1, np.int64)
    for slot in range(len(best)):
        top = -np.inf
        for cell in range(cells[slot], cells[slot + 1]):
            top = max(top, gain[cell])
        cell = cells[slot]
        while gain[cell] < top - TIE * abs(top):
            cell += 1
        best[slot] = cell
    return best


@njit(cache=True, nogil=True)
def newton_gains(sums, cells, cut, longest):
    """The decrease of the loss that the guarded Newton step of every cell promises."""
    gain = np.full(len(cut), -np.inf)
    for slot in range(len(cells) - 1):
        last = cells[slot + 1] - 1
        v_all, u_all = sums[last, 0], sums[last, 1]
        for cell in range(cells[slot], last + 1):
            if np.isnan(cut[cell]):
                continue
            v_l, a, b = sums[cell]
            v_r = v_all - v_l
            c = u_all - a - 2.0 * b
            determinant = a * c - b * b
            left, right = c * v_l - b * v_r, a * v_r - b * v_l
            bound = longest * determinant
            if a > 0.0 and bound > 0.0 and left * left + right * right <= bound * bound:
                # No guard needed: the plain Newton step is short and falls.
                gain[cell] = 0.5 * (v_l * left + v_r * right) / determinant
            else:
                gain[cell] = guarded_newton(v_l, v_r, a, b, c, longest)[0]
    return gain


@njit(cache=True, nogil=True)
def newton_steps(sums, cells, best, longest):
    """The guarded Newton steps (left, right) of the `best` cell of every slot."""
    left, right = np.empty(len(best)), np.empty(len(best))
    for slot in range(len(best)):
        last = cells[slot + 1] - 1
        v_l, a, b = sums[best[slot]]
        _, left[slot], right[slot] = guarded_newton(
            v_l, sums[last, 0] - v_l, a, b, sums[last, 1] - a - 2.0 * b, longest
        )
    return left, right


@njit(cache=True, nogil=True)
def guarded_newton(v_l, v_r, a, b, c, longest):
    """Promised decrease and step for slope (v_l, v_r) and curvature [[a, b], [b, c]].

    The curvature is indefinite where positive bags weigh in, and a plain Newton step then climbs.
    Each eigenvector is walked by its slope over the *size* of its eigenvalue, at most `longest`.
    """
    middle, half = 0.5 * (a + c), 0.5 * (a - c)
    radius = np.sqrt(half * half + b * b)
    # The eigenvector of the larger eigenvalue, as the cosine and sine of its angle.
    cosine, sine = 1.0, 0.0
    if radius > 0.0:
        cosine = np.sqrt(max(0.0, 0.5 * (1.0 + half / radius)))
        sine = np.copysign(np.sqrt(max(0.0, 0.5 * (1.0 - half / radius))), b)
    gain_1, step_1 = guarded_step(cosine * v_l + sine * v_r, middle + radius, longest)
    gain_2, step_2 = guarded_step(cosine * v_r - sine * v_l, middle - radius, longest)
    return gain_1 + gain_2, cosine * step_1 - sine * step_2, sine * step_1 + cosine * step_2


@njit(cache=True, nogil=True)
def guarded_step(slope, curvature, longest):
    """Minimiser of slope·x + |curvature|·x²/2 within ±longest, and the decrease there."""
    size = abs(curvature)
    if abs(slope) < longest * size:
        step = -slope / size
    elif slope != 0.0:
        step = -np.copysign(longest, slope)
    else:
        step = 0.0
    return -(slope * step + 0.5 * size * step * step), step
