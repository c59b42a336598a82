"""From the number of positive steps to the bag's label (eq. 15 of the ARHMM-MIL paper).

With N of a bag's n steps positive, ``P(Y = 1 | N) = N e^ω / (N e^ω + n − N)``. At ω = 0 this is the
share of positive steps; as ω grows, a single positive step is enough.
"""

from typing import NamedTuple

import numpy as np


class Conditioned(NamedTuple):
    """What the steps of a block look like once the bag labels are known.

    ones, zeros : P(Z_t = j, I_t = 1 | X, Y) and P(Z_t = j, I_t = 0 | X, Y), one row a step
    moves : weighted sum of P(Z_{t-1} = i, Z_t = j | X, Y)
    evidence : P(Y | X) of each bag
    expected : E[P(Y = 1 | N) | X, Y] of each bag, the slope in ω (eq. 16)
    error : bound on the relative error of the evidence; twice it bounds that of every posterior
    """

    ones: np.ndarray
    zeros: np.ndarray
    moves: np.ndarray
    evidence: np.ndarray
    expected: np.ndarray
    error: np.ndarray


def positive_probability(count, n, omega):
    """P(Y = 1 | N = count) in a bag of n steps."""
    positive = count * np.exp(omega)
    return positive / (positive + (n - count))


def link_tables(starts, omega):
    """P(Y = 1 | N) and P(Y = 0 | N) for N = 0 … n of each bag, one bag after the other."""
    sizes = np.diff(starts)
    positive = [positive_probability(np.arange(n + 1.0), n, omega) for n in sizes]
    # by symmetry, not as 1 − P: a difference would lose the digits of a small probability
    negative = [positive_probability(np.arange(n, -1.0, -1.0), n, -omega) for n in sizes]
    return np.concatenate(positive), np.concatenate(negative)


def rounding(starts, n_states):
    """A bound on what floating-point arithmetic adds to the relative error of a pass."""
    return (n_states + 16) * np.diff(starts) * np.finfo(float).eps
