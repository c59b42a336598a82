"""The chain of counts: exact inference for any link P(Y | N), or with the counts windowed.

Symbols as in :mod:`mixedbag.sequence._messages`; g_t(N, j) = P(N_t = N, Z_t = j | X) and
h_t(N, i) = P(Y | N_t = N, Z_t = i, X). Counts run along the last axis of every message.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _arrive(g, width, inverse, e, transition, u):
    """u_t(N, j) = e_t(j) sum_i M_ij g_{t-1}(N, i) / d_{t-1}(i)."""
    for j in range(len(e)):
        for c in range(width):
            u[j, c] = 0.0
        for i in range(len(e)):
            step = transition[i, j] * inverse[i] * e[j]
            for c in range(width):
                u[j, c] += step * g[i, c]


@njit(cache=True, nogil=True)
def _count(u, width, theta, g):
    """g_t(N, j) = (1 - theta_j) u_t(N, j) + theta_j u_t(N - 1, j): one count wider."""
    for j in range(len(theta)):
        g[j, 0] = (1.0 - theta[j]) * u[j, 0]
        for c in range(1, width):
            g[j, c] = (1.0 - theta[j]) * u[j, c] + theta[j] * u[j, c - 1]
        g[j, width] = theta[j] * u[j, width - 1]


@njit(cache=True, nogil=True)
def _window(g, width, budget):
    """How many counts to cut at the bottom and at the top, each side losing at most ``budget``."""
    bottom, top, lost = 0, 0, 0.0
    for side in range(2):
        gone = 0.0
        for step in range(width - 1 - bottom):
            c = width - 1 - step if side else step
            mass = 0.0
            for j in range(len(g)):
                mass += g[j, c]
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
def counted(e, inverse, posterior, starts, transition, theta, link, weight, drop):
    """Posteriors given the bag labels, for any link.

    ``link`` holds P(Y = y_b | N) for N = 0 … n of each bag, one bag after the other. ``drop`` is
    the probability a bag may lose by forgetting unlikely counts; 0 makes the recursion exact.

    Returns P(Z_t = j, I_t = 1 | X, Y), P(Z_t = j, I_t = 0 | X, Y), the weighted sum of the
    transition posteriors, P(Y | X), P(N | X) in the layout of ``link``, and the probability each
    bag lost.
    """
    n_steps, K = posterior.shape
    n_bags = len(starts) - 1
    ones, zeros = np.zeros((n_steps, K)), np.zeros((n_steps, K))
    moves = np.zeros((K, K))
    counts = np.zeros(len(link))
    evidence, lost = np.zeros(n_bags), np.zeros(n_bags)
    longest = np.max(np.diff(starts))
    g, v = np.zeros((K, longest + 2)), np.zeros((K, longest + 2))
    h, later = np.zeros((K, longest + 2)), np.zeros((K, longest + 2))
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
                room[1:] = np.cumsum(size[:n])
                stored = np.empty((K, room[n]))
            for t in range(n):
                u = later
                if t == 0:
                    u[:, 0] = posterior[first]
                else:
                    _arrive(g, size[t], inverse[first + t - 1], e[first + t], transition, u)
                if keep:
                    stored[:, room[t] : room[t + 1]] = u[:, : size[t]]
                _count(u, size[t], theta, g)
                if not keep:
                    low, high, mass = _window(g, size[t] + 1, budget)
                    lost[b] += mass
                    cut[t + 1] = low
                    bottom[t + 1] = bottom[t] + low
                    size[t + 1] = size[t] + 1 - low - high
                for j in range(K):
                    for c in range(size[t + 1]):
                        g[j, c] = g[j, c + cut[t + 1]]
        for c in range(size[n]):
            for j in range(K):
                counts[first + b + bottom[n] + c] += g[j, c]
            evidence[b] += table[bottom[n] + c] * counts[first + b + bottom[n] + c]
        for c in range(size[n]):
            h[:, c] = table[bottom[n] + c] / evidence[b]
        for t in range(n - 1, -1, -1):
            u = stored[:, room[t] : room[t + 1]]
            for j in range(K):
                for c in range(size[t]):
                    # the next window starts cut[t + 1] counts higher; outside it h is forgotten
                    same, more = c - cut[t + 1], c + 1 - cut[t + 1]
                    stay = h[j, same] if 0 <= same < size[t + 1] else 0.0
                    rise = h[j, more] if 0 <= more < size[t + 1] else 0.0
                    ones[first + t, j] += theta[j] * u[j, c] * rise
                    zeros[first + t, j] += (1.0 - theta[j]) * u[j, c] * stay
                    v[j, c] = e[first + t, j] * ((1.0 - theta[j]) * stay + theta[j] * rise)
            if t == 0:
                break
            _count(stored[:, room[t - 1] : room[t]], size[t - 1], theta, g)
            for i in range(K):
                h[i, : size[t]] = 0.0
                for j in range(K):
                    step = transition[i, j] * inverse[first + t - 1, i]
                    joint = 0.0
                    for c in range(size[t]):
                        h[i, c] += step * v[j, c]
                        joint += g[i, c + cut[t]] * v[j, c]
                    moves[i, j] += weight[b] * step * joint
    return ones, zeros, moves, evidence, counts, lost
