"""The chain of counts: exact inference for any link P(Y | N), or with the counts windowed.

``factor`` and ``backward`` are those of plain smoothing (see ``_smoothing``). A message y_t(N, j)
arrives at step t in state j after N positive steps, l_t(N, j) leaves it; what is still to come
answers with z_t(N, j). Counts run along the last axis of every message. Loops, not slices: these
compile sooner.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _arrive(leaving, width, transition, y):
    """y_t(N, j) = sum_i l_{t-1}(N, i) M_ij."""
    for j in range(len(transition)):
        for c in range(width):
            y[j, c] = 0.0
        for i in range(len(transition)):
            for c in range(width):
                y[j, c] += transition[i, j] * leaving[i, c]


@njit(cache=True, nogil=True)
def _leave(y, first, width, factor, theta, leaving):
    """l_t(N, j) = factor_t(j) [(1 - theta_j) y_t(N, j) + theta_j y_t(N - 1, j)]: a count wider.

    The message y_t stands in `width` columns of `y` from `first` on.
    """
    for j in range(len(theta)):
        stay, rise = factor[j] * (1.0 - theta[j]), factor[j] * theta[j]
        leaving[j, 0] = stay * y[j, first]
        for c in range(1, width):
            leaving[j, c] = stay * y[j, first + c] + rise * y[j, first + c - 1]
        leaving[j, width] = rise * y[j, first + width - 1]


@njit(cache=True, nogil=True)
def _window(leaving, width, backward, budget):
    """How many counts to cut at the bottom and at the top, each side losing at most ``budget``."""
    bottom, top, lost = 0, 0, 0.0
    for side in range(2):
        gone = 0.0
        for step in range(width - 1 - bottom):
            c = width - 1 - step if side else step
            mass = 0.0
            for j in range(len(backward)):
                mass += leaving[j, c] * backward[j]
            if gone + mass > budget:
                break
            gone += mass
            if side:
                top += 1
            else:
                bottom += 1
        lost += gone
    return bottom, top, lost


@njit(cache=True, nogil=True)
def counted(factor, backward, starts, transition, theta, link, weight, drop):
    """Posteriors given the bag labels, for any link.

    ``link`` holds P(Y = y_b | N) for N = 0 … n of each bag, one bag after the other. ``drop`` is
    the probability a bag may lose by forgetting unlikely counts; 0 makes the recursion exact.

    Returns P(Z_t = j, I_t = 1 | X, Y), P(Z_t = j, I_t = 0 | X, Y), the weighted sum of the
    transition posteriors, P(Y | X), P(N | X) in the layout of ``link``, and the probability each
    bag lost.
    """
    n_steps, K = factor.shape
    n_bags = len(starts) - 1
    ones, zeros = np.zeros((n_steps, K)), np.zeros((n_steps, K))
    moves = np.zeros((K, K))
    counts = np.zeros(len(link))
    evidence, lost = np.zeros(n_bags), np.zeros(n_bags)
    longest = 0
    for b in range(n_bags):
        longest = max(longest, starts[b + 1] - starts[b])
    leaving, through = np.zeros((K, longest + 2)), np.zeros((K, longest + 2))
    y, z = np.zeros((K, longest + 2)), np.zeros((K, longest + 2))
    for b in range(n_bags):
        first, n = starts[b], starts[b + 1] - starts[b]
        table = link[first + b : first + b + n + 1]
        budget = 0.5 * drop / n
        # Forward twice: the first time finds the windows, the second keeps the messages in them.
        # bottom[t], size[t] is the window of the counts before step t.
        bottom = np.zeros(n + 1, dtype=np.int64)
        size = np.ones(n + 1, dtype=np.int64)
        cut = np.zeros(n + 1, dtype=np.int64)
        room = np.zeros(n + 1, dtype=np.int64)
        stored = np.empty((K, 0))
        for keep in range(2):
            if keep:
                for t in range(n):
                    room[t + 1] = room[t] + size[t]
                stored = np.empty((K, room[n]))
            for t in range(n):
                if t == 0:
                    for j in range(K):
                        y[j, 0] = 1.0
                else:
                    _arrive(leaving, size[t], transition, y)
                if keep:
                    for j in range(K):
                        for c in range(size[t]):
                            stored[j, room[t] + c] = y[j, c]
                _leave(y, 0, size[t], factor[first + t], theta, leaving)
                if not keep:
                    low, high, mass = _window(leaving, size[t] + 1, backward[first + t], budget)
                    lost[b] += mass
                    cut[t + 1] = low
                    bottom[t + 1] = bottom[t] + low
                    size[t + 1] = size[t] + 1 - low - high
                for j in range(K):
                    for c in range(size[t + 1]):
                        leaving[j, c] = leaving[j, c + cut[t + 1]]
        for c in range(size[n]):
            for j in range(K):
                counts[first + b + bottom[n] + c] += leaving[j, c]
            evidence[b] += table[bottom[n] + c] * counts[first + b + bottom[n] + c]
        for j in range(K):
            for c in range(size[n]):
                z[j, c] = table[bottom[n] + c] / evidence[b]
        for t in range(n - 1, -1, -1):
            step, at = first + t, room[t]
            for j in range(K):
                for c in range(size[t]):
                    # the next window starts cut[t + 1] counts higher; outside it z is forgotten
                    same, more = c - cut[t + 1], c + 1 - cut[t + 1]
                    stay = z[j, same] if 0 <= same < size[t + 1] else 0.0
                    rise = z[j, more] if 0 <= more < size[t + 1] else 0.0
                    stay *= factor[step, j] * (1.0 - theta[j])
                    rise *= factor[step, j] * theta[j]
                    ones[step, j] += stored[j, at + c] * rise
                    zeros[step, j] += stored[j, at + c] * stay
                    through[j, c] = stay + rise
            if t == 0:
                break
            _leave(stored, room[t - 1], size[t - 1], factor[step - 1], theta, leaving)
            for i in range(K):
                for c in range(size[t]):
                    z[i, c] = 0.0
                for j in range(K):
                    joint = 0.0
                    for c in range(size[t]):
                        z[i, c] += transition[i, j] * through[j, c]
                        joint += leaving[i, c + cut[t]] * through[j, c]
                    moves[i, j] += weight[b] * transition[i, j] * joint
    return ones, zeros, moves, evidence, counts, lost
