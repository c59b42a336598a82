"""Message passing along sequences: smoothing, tilted passes and the chain of counts.

A block holds the hidden steps of several bags one after the other; ``starts`` cuts it into bags. All messages
run under P(. | X), the posterior of plain smoothing, so they stay within [0, 1] and need no scaling of their own.

Symbols: ``e[t, j]`` is the emission times the backward message, ``inverse[t, i]`` is 1 / d_t(i) with
d_{t-1}(i) = sum_j M_ij e_t(j); so M_ij e_t(j) inverse_{t-1}(i) = P(Z_t = j | Z_{t-1} = i, X). ``theta[j]`` is the chance that a
step in state j is positive, N the number of positive steps of a bag.
"""

import math

import numpy as np
from numba import njit

_REORDER = {"reassoc", "contract"}  # lets dot products run on vector registers
_FEW_PAIRS = 100


@njit(cache=True, nogil=True)
def smooth(log_emission, initial, transition, starts):
    """Plain hidden Markov smoothing of every bag.

    Returns ``e``, ``inverse``, the state posterior P(Z_t | X) and log P(X) of every bag.
    """
    n, K = log_emission.shape
    columns = transition.T.copy()
    e = np.empty((n, K))
    inverse = np.zeros((n, K))
    posterior = np.empty((n, K))
    log_likelihood = np.zeros(len(starts) - 1)
    work = np.empty(K)
    for b in range(len(starts) - 1):
        first, last = starts[b], starts[b + 1] - 1
        total = 0.0
        for t in range(last, first - 1, -1):
            peak = -np.inf
            for j in range(K):
                peak = max(peak, log_emission[t, j])
            largest = 1e-300
            for j in range(K):
                value = math.exp(log_emission[t, j] - peak)
                if t < last:
                    value *= work[j]
                e[t, j] = value
                largest = max(largest, value)
            for j in range(K):
                e[t, j] /= largest
            total += peak + math.log(largest)
            if t > first:
                work[:] = 0.0
                for j in range(K):
                    for i in range(K):
                        work[i] += columns[j, i] * e[t, j]
                for i in range(K):
                    if work[i] > 0.0:
                        inverse[t - 1, i] = 1.0 / work[i]
        norm = 0.0
        for j in range(K):
            posterior[first, j] = initial[j] * e[first, j]
            norm += posterior[first, j]
        for j in range(K):
            posterior[first, j] /= norm
        log_likelihood[b] = total + math.log(norm)
        for t in range(first + 1, last + 1):
            work[:] = 0.0
            for i in range(K):
                carried = posterior[t - 1, i] * inverse[t - 1, i]
                if carried > 0.0:
                    for j in range(K):
                        work[j] += transition[i, j] * carried
            for j in range(K):
                posterior[t, j] = work[j] * e[t, j]
    return e, inverse, posterior, log_likelihood


@njit(cache=True, nogil=True)
def likely_states(posterior, starts, drop):
    """The states worth following at every step, and the probability each bag loses by it (at most ``drop``)."""
    n, K = posterior.shape
    states = np.empty((n, K), dtype=np.int32)
    n_states = np.zeros(n, dtype=np.int32)
    lost = np.zeros(len(starts) - 1)
    for b in range(len(starts) - 1):
        threshold = drop / ((starts[b + 1] - starts[b]) * K)
        for t in range(starts[b], starts[b + 1]):
            count = 0
            for j in range(K):
                if posterior[t, j] > threshold:
                    states[t, count] = j
                    count += 1
                else:
                    lost[b] += posterior[t, j]
            n_states[t] = count
    return states, n_states, lost


@njit(cache=True, nogil=True)
def _tilt(theta, omega, n, s, one, zero):
    """Weights of a positive and of a negative step under every exponential term; returns the least D."""
    least = n * min(1.0, math.exp(omega))
    for k in range(len(s)):
        up = math.exp(-s[k] * math.exp(omega) / least)
        down = math.exp(-s[k] / least)
        for j in range(len(theta)):
            one[j, k] = theta[j] * up
            zero[j, k] = (1.0 - theta[j]) * down
    return least


@njit(cache=True, nogil=True, fastmath=_REORDER)
def _leave(u, states, inverse, one, zero, mark, out):
    """g / d: the messages that leave a step, from those that arrive (columns: unmarked, then marked)."""
    J = one.shape[1]
    for p in range(len(states)):
        i = states[p]
        for k in range(J):
            keep = inverse[i] * (one[i, k] + zero[i, k])
            out[p, k] = keep * u[p, k]
            out[p, J + k] = keep * u[p, J + k] + inverse[i] * mark[i, k] * u[p, k]


@njit(cache=True, nogil=True)
def _among(matrix, rows, columns, buffer):
    """The submatrix of these rows and columns, in a reused buffer."""
    part = buffer[: len(rows) * len(columns)].reshape(len(rows), len(columns))
    for p in range(len(rows)):
        for q in range(len(columns)):
            part[p, q] = matrix[rows[p], columns[q]]
    return part


@njit(cache=True, nogil=True, fastmath=_REORDER)
def _multiply(x, y, out):
    """out = x y. A call to BLAS pays off from a dozen states on; most steps have fewer."""
    if len(x) * len(y) > _FEW_PAIRS:
        np.dot(x, y, out)
        return
    for p in range(len(x)):
        out[p] = 0.0
        for q in range(len(y)):
            for c in range(y.shape[1]):
                out[p, c] += x[p, q] * y[q, c]


@njit(cache=True, nogil=True, fastmath=_REORDER)
def _multiply_transposed(x, y, out):
    """out = x yᵀ."""
    if len(x) * len(y) > _FEW_PAIRS:
        np.dot(x, y.T, out)
        return
    for p in range(len(x)):
        for q in range(len(y)):
            total = 0.0
            for c in range(y.shape[1]):
                total += x[p, c] * y[q, c]
            out[p, q] = total


@njit(cache=True, nogil=True, fastmath=_REORDER)
def _forward(
    u, e, inverse, posterior, states, n_states, columns, one, zero, mark, amplitude, g, buffer
):
    """Fill ``u``, the messages that arrive at every step of one bag (a row a state followed).

    Returns P(Y | X).
    """
    J = one.shape[1]
    n = len(n_states)
    for p in range(n_states[0]):
        for k in range(J):
            u[p, k] = posterior[0, states[0, p]]
            u[p, J + k] = 0.0
    end = n_states[0]
    for t in range(1, n):
        before, now = states[t - 1, : n_states[t - 1]], states[t, : n_states[t]]
        _leave(u[end - len(before) : end], before, inverse[t - 1], one, zero, mark, g)
        arriving = u[end : end + len(now)]
        _multiply(_among(columns, now, before, buffer), g[: len(before)], arriving)
        for q in range(len(now)):
            for c in range(2 * J):
                arriving[q, c] *= e[t, now[q]]
        end += len(now)
    evidence = 0.0
    for p in range(n_states[n - 1]):
        j = states[n - 1, p]
        row = u[end - n_states[n - 1] + p]
        for k in range(J):
            keep = one[j, k] + zero[j, k]
            evidence += amplitude[k] * (keep * row[J + k] + mark[j, k] * row[k])
    return evidence


@njit(cache=True, nogil=True)
def _largest(n_states, starts):
    """The most (step, state) pairs that any bag follows."""
    largest = 0
    for b in range(len(starts) - 1):
        largest = max(largest, n_states[starts[b] : starts[b + 1]].sum())
    return largest


@njit(cache=True, nogil=True)
def tilted_evidence(
    e, inverse, posterior, states, n_states, starts, transition, theta, omega, label, a, s
):
    """P(Y | X) of every bag, by the forward passes alone."""
    K, J = len(theta), len(a)
    columns = transition.T.copy()
    u = np.empty((_largest(n_states, starts), 2 * J))
    g, buffer = np.empty((K, 2 * J)), np.empty(K * K)
    one, zero = np.empty((K, J)), np.empty((K, J))
    evidence = np.empty(len(starts) - 1)
    for b in range(len(starts) - 1):
        bag = slice(starts[b], starts[b + 1])
        least = _tilt(theta, omega, starts[b + 1] - starts[b], s, one, zero)
        amplitude = a / least * (math.exp(omega) if label[b] else 1.0)
        evidence[b] = _forward(
            u, e[bag], inverse[bag], posterior[bag], states[bag], n_states[bag], columns,
            one, zero, one if label[b] else zero, amplitude, g, buffer,
        )  # fmt: skip
    return evidence


@njit(cache=True, nogil=True, fastmath=_REORDER)
def _label_step(u, h, states, e, one, zero, mark, marks_one, s, v, ones, zeros):
    """Split one step's posterior by its label and take the backward messages through it.

    Returns the sum over terms of s_k times the weight of a positive step.
    """
    J = one.shape[1]
    slope = 0.0
    for p in range(len(states)):
        j = states[p]
        sum_one, sum_zero = 0.0, 0.0
        for k in range(J):
            passed = u[p, J + k] * h[p, J + k] + u[p, k] * h[p, k]
            marked = u[p, k] * h[p, J + k]
            this = one[j, k] * (passed + marks_one * marked)
            sum_one += this
            sum_zero += zero[j, k] * (passed + (1.0 - marks_one) * marked)
            slope += s[k] * this
            keep = e[j] * (one[j, k] + zero[j, k])
            v[p, k] = keep * h[p, k] + e[j] * mark[j, k] * h[p, J + k]
            v[p, J + k] = keep * h[p, J + k]
        ones[j] = sum_one
        zeros[j] = sum_zero
    return slope


@njit(cache=True, nogil=True)
def tilted(
    e, inverse, posterior, states, n_states, starts, transition, theta, omega, label, weight, a, s
):
    """Posteriors given the bag labels, with 1/x replaced by sum_k a_k exp(-s_k x): linear in the length.

    Under each exponential term the weight of a labelling is a product over the steps (a tilt). The numerator of the
    link, N or n - N, is a sum over steps, carried by a marker put on one positive (negative) step.

    Returns P(Z_t = j, I_t = 1 | X, Y) and P(Z_t = j, I_t = 0 | X, Y), the weighted sum of the transition
    posteriors, and P(Y | X) and E[P(Y = 1 | N) | X, Y] of every bag.
    """
    n_steps, K = posterior.shape
    J = len(a)
    n_bags = len(starts) - 1
    columns = transition.T.copy()
    u = np.empty((_largest(n_states, starts), 2 * J))
    g, h, v = np.empty((K, 2 * J)), np.empty((K, 2 * J)), np.empty((K, 2 * J))
    buffer, pairs = np.empty(K * K), np.empty(K * K)
    one, zero = np.empty((K, J)), np.empty((K, J))
    ones, zeros = np.zeros((n_steps, K)), np.zeros((n_steps, K))
    moves = np.zeros((K, K))
    evidence, expected = np.empty(n_bags), np.zeros(n_bags)
    for b in range(n_bags):
        first, n = starts[b], starts[b + 1] - starts[b]
        bag = slice(first, first + n)
        least = _tilt(theta, omega, n, s, one, zero)
        amplitude = a / least * (math.exp(omega) if label[b] else 1.0)
        mark = one if label[b] else zero
        evidence[b] = _forward(
            u, e[bag], inverse[bag], posterior[bag], states[bag], n_states[bag], columns,
            one, zero, mark, amplitude, g, buffer,
        )  # fmt: skip
        h[:, :J] = 0.0
        h[:, J:] = amplitude / evidence[b]
        slope = 0.0
        end = n_states[bag].sum()
        for row in range(first + n - 1, first - 1, -1):
            now = states[row, : n_states[row]]
            end -= len(now)
            slope += _label_step(
                u[end : end + len(now)], h, now, e[row], one, zero, mark, 1.0 if label[b] else 0.0, s,
                v, ones[row], zeros[row],
            )  # fmt: skip
            if row == first:
                break
            before = states[row - 1, : n_states[row - 1]]
            _leave(u[end - len(before) : end], before, inverse[row - 1], one, zero, mark, g)
            step = _among(transition, before, now, buffer)
            joint = pairs[: len(before) * len(now)].reshape(len(before), len(now))
            _multiply(step, v[: len(now)], h[: len(before)])
            _multiply_transposed(g[: len(before)], v[: len(now)], joint)
            for p in range(len(before)):
                for c in range(2 * J):
                    h[p, c] *= inverse[row - 1, before[p]]
                for q in range(len(now)):
                    moves[before[p], now[q]] += weight[b] * step[p, q] * joint[p, q]
        # sum_k a_k s_k exp(-s_k x) is the matching sum for 1/x^2, which the mean of the link needs
        expected[b] = slope * math.exp(omega) / least
    return ones, zeros, moves, evidence, expected


@njit(cache=True, nogil=True)
def second_moments(rows, weights):
    """sum_t weights[t, j] rows[t] rows[t]ᵀ for every state j; zero weights cost nothing."""
    n, q = rows.shape
    K = weights.shape[1]
    packed = np.zeros((K, q * (q + 1) // 2))
    products = np.empty(q * (q + 1) // 2)
    for t in range(n):
        c = 0
        for x in range(q):
            for y in range(x, q):
                products[c] = rows[t, x] * rows[t, y]
                c += 1
        for j in range(K):
            w = weights[t, j]
            if w > 0.0:
                for c in range(len(products)):
                    packed[j, c] += w * products[c]
    moments = np.empty((K, q, q))
    for j in range(K):
        c = 0
        for x in range(q):
            for y in range(x, q):
                moments[j, x, y] = moments[j, y, x] = packed[j, c]
                c += 1
    return moments
