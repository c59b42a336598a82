"""The chain of counts: exact inference for any link P(Y | N), or with the counts windowed.

``factor`` and ``backward`` are those of plain smoothing (see ``_smoothing``). A message y_t(N, j)
arrives at step t in state j after N positive steps, l_t(N, j) leaves it; what is still to come
answers with z_t(N, j). Counts run along the last axis of every message. Kernels loop and make no
arrays: slices and arrays take most of the time to compile.
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


def counted(factor, backward, starts, transition, theta, link, weight, drop):
    """Posteriors given the bag labels, for any link.

    ``link`` holds P(Y = y_b | N) for N = 0 … n of each bag, one bag after the other. ``drop`` is
    the probability a bag may lose by forgetting unlikely counts; 0 makes the recursion exact.

    Returns P(Z_t = j, I_t = 1 | X, Y), P(Z_t = j, I_t = 0 | X, Y), the weighted sum of the
    transition posteriors, P(Y | X), P(N | X) in the layout of ``link``, and the probability each
    bag lost.
    """
    n_bags, K = len(starts) - 1, len(theta)
    ones, zeros, moves = np.zeros(factor.shape), np.zeros(factor.shape), np.zeros((K, K))
    counts, evidence, lost = np.zeros(len(link)), np.zeros(n_bags), np.zeros(n_bags)
    scratch = np.zeros((4, K, np.diff(starts).max(initial=0) + 2))
    for b in range(n_bags):
        steps = slice(starts[b], starts[b + 1])
        n = starts[b + 1] - starts[b]
        own = slice(starts[b] + b, starts[b] + b + n + 1)
        # Forward twice: the first time finds the windows, the second keeps the messages in them.
        # bottom[t], size[t] is the window of the counts before step t, cut[t] how much is cut off.
        window = np.zeros((3, n + 1), dtype=np.int64)
        bottom, size, _ = window
        size[:] = 1
        bag = factor[steps], transition, theta, window
        lost[b] = _forward(*bag, backward[steps], 0.5 * drop / n, np.empty((K, 0)), size, scratch)
        room = np.concatenate([[0], np.cumsum(size[:n])])
        stored = np.empty((K, room[n]))
        _forward(*bag, backward[steps], -1.0, stored, room, scratch)
        among = slice(bottom[n], bottom[n] + size[n])
        chance = scratch[0, :, : size[n]].sum(axis=0)
        counts[own][among] = chance
        evidence[b] = link[own][among] @ chance
        scratch[3, :, : size[n]] = link[own][among] / evidence[b]
        _backward(*bag, weight[b], stored, room, scratch, ones[steps], zeros[steps], moves)
    return ones, zeros, moves, evidence, counts, lost


@njit(cache=True, nogil=True)
def _forward(factor, transition, theta, window, backward, budget, stored, room, scratch):
    """The messages of a bag, from its first step to what leaves the last, in ``scratch[0]``.

    With a ``budget`` of probability the windows are found, and what is lost by them is returned;
    if it is negative they are known, and the messages in them are ``stored``, from ``room[t]`` on.
    """
    K = len(theta)
    leaving, y = scratch[0], scratch[1]
    bottom, size, cut = window[0], window[1], window[2]
    lost = 0.0
    for t in range(len(factor)):
        if t == 0:
            for j in range(K):
                y[j, 0] = 1.0
        else:
            _arrive(leaving, size[t], transition, y)
        _leave(y, 0, size[t], factor[t], theta, leaving)
        if budget < 0.0:
            for j in range(K):
                for c in range(size[t]):
                    stored[j, room[t] + c] = y[j, c]
        else:
            low, high, mass = _window(leaving, size[t] + 1, backward[t], budget)
            lost += mass
            cut[t + 1] = low
            bottom[t + 1] = bottom[t] + low
            size[t + 1] = size[t] + 1 - low - high
        for j in range(K):
            for c in range(size[t + 1]):
                leaving[j, c] = leaving[j, c + cut[t + 1]]
    return lost


@njit(cache=True, nogil=True)
def _backward(
    factor, transition, theta, window, weight, stored, room, scratch, ones, zeros, moves
):  # fmt: skip
    """Fill ``ones`` and ``zeros`` of a bag and add to ``moves``, from z_n in ``scratch[3]``."""
    K = len(theta)
    leaving, through, z = scratch[0], scratch[2], scratch[3]
    size, cut = window[1], window[2]
    for t in range(len(factor) - 1, -1, -1):
        for j in range(K):
            for c in range(size[t]):
                # the next window starts cut[t + 1] counts higher; outside it z is forgotten
                same, more = c - cut[t + 1], c + 1 - cut[t + 1]
                stay = z[j, same] if 0 <= same < size[t + 1] else 0.0
                rise = z[j, more] if 0 <= more < size[t + 1] else 0.0
                stay *= factor[t, j] * (1.0 - theta[j])
                rise *= factor[t, j] * theta[j]
                ones[t, j] += stored[j, room[t] + c] * rise
                zeros[t, j] += stored[j, room[t] + c] * stay
                through[j, c] = stay + rise
        if t == 0:
            break
        _leave(stored, room[t - 1], size[t - 1], factor[t - 1], theta, leaving)
        for i in range(K):
            for c in range(size[t]):
                z[i, c] = 0.0
            for j in range(K):
                joint = 0.0
                for c in range(size[t]):
                    z[i, c] += transition[i, j] * through[j, c]
                    joint += leaving[i, c + cut[t]] * through[j, c]
                moves[i, j] += weight * transition[i, j] * joint
