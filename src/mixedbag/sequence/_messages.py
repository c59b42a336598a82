"""Message passing along sequences: smoothing, and tilted passes given the bag labels.

A block holds the hidden steps of several bags one after the other; ``starts`` cuts it into bags.
All messages run under P(. | X), the posterior of plain smoothing, so they stay within [0, 1] and
need no scaling of their own.

Symbols: ``e[t, j]`` is the emission times the backward message, ``inverse[t, i]`` is 1 / d_t(i)
with d_{t-1}(i) = sum_j M_ij e_t(j); so M_ij e_t(j) inverse_{t-1}(i) = P(Z_t = j | Z_{t-1} = i, X).
``theta[j]`` is the chance that a step in state j is positive, N the number of positive steps of a
bag.
"""

import math

import numpy as np
from numba import njit


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
def _prepare(starts, theta, omega, label, a, s):
    """What the passes over a block need besides the messages.

    The bags march in step, longest first, so that one matrix product moves all of them and those
    still under way come first. Returns their order, how many are under way at every step, the row
    where the messages of every step start, and of every bag in marching order the weight of a
    positive and of a negative step under every term and the amplitude of the term, and the least D.
    """
    sizes = np.diff(starts)
    n_bags, longest = len(sizes), sizes.max()
    order = np.argsort(-sizes, kind="mergesort")
    marching = np.zeros(longest, dtype=np.int64)
    for size in sizes:
        marching[:size] += 1
    row = np.zeros(longest + 1, dtype=np.int64)
    row[1:] = 2 * len(s) * np.cumsum(marching)
    one = np.empty((n_bags, len(s), len(theta)))
    zero = np.empty((n_bags, len(s), len(theta)))
    amplitude = np.empty((n_bags, len(s)))
    least = np.empty(n_bags)
    for b in range(n_bags):
        bag = order[b]
        least[b] = sizes[bag] * min(1.0, math.exp(omega))
        for k in range(len(s)):
            one[b, k] = theta * math.exp(-s[k] * math.exp(omega) / least[b])
            zero[b, k] = (1.0 - theta) * math.exp(-s[k] / least[b])
            amplitude[b, k] = a[k] / least[b] * (math.exp(omega) if label[bag] else 1.0)
    return order, marching, row, one, zero, amplitude, least


@njit(cache=True, nogil=True)
def _leave(u, n_bags, t, order, starts, inverse, one, zero, label, g):
    """g / d: the messages that leave step t of the first bags, from those that arrive.

    A bag has a row for every term without the marker, then one for every term with it.
    """
    J, K = one.shape[1:]
    for b in range(n_bags):
        scale = inverse[starts[order[b]] + t]
        mark = one[b] if label[order[b]] else zero[b]
        first = 2 * J * b
        for k in range(J):
            plain, marked = first + k, first + J + k
            for j in range(K):
                keep = one[b, k, j] + zero[b, k, j]
                g[plain, j] = scale[j] * keep * u[plain, j]
                g[marked, j] = scale[j] * (keep * u[marked, j] + mark[k, j] * u[plain, j])


@njit(cache=True, nogil=True)
def _forward(
    e, inverse, posterior, starts, transition, label, order, marching, row, one, zero, amplitude, g
):
    """The messages that arrive at every step, and P(Y | X) of every bag in marching order."""
    n_bags, J, K = one.shape
    u = np.empty((row[-1], K))
    for b in range(n_bags):
        for k in range(J):
            u[2 * J * b + k] = posterior[starts[order[b]]]
            u[2 * J * b + J + k] = 0.0
    for t in range(1, len(marching)):
        moving = marching[t]
        _leave(u[row[t - 1] :], moving, t - 1, order, starts, inverse, one, zero, label, g)
        arrived = u[row[t] : row[t + 1]]
        np.dot(g[: 2 * J * moving], transition, arrived)
        for b in range(moving):
            factor = e[starts[order[b]] + t]
            for c in range(2 * J * b, 2 * J * (b + 1)):
                for j in range(K):
                    arrived[c, j] *= factor[j]
    evidence = np.zeros(n_bags)
    for b in range(n_bags):
        bag = order[b]
        mark = one[b] if label[bag] else zero[b]
        first = row[starts[bag + 1] - starts[bag] - 1] + 2 * J * b
        for k in range(J):
            for j in range(K):
                keep = one[b, k, j] + zero[b, k, j]
                both = keep * u[first + J + k, j] + mark[k, j] * u[first + k, j]
                evidence[b] += amplitude[b, k] * both
    return u, evidence


@njit(cache=True, nogil=True)
def tilted_evidence(e, inverse, posterior, starts, transition, theta, omega, label, a, s):
    """P(Y | X) of every bag, by the forward passes alone."""
    order, marching, row, one, zero, amplitude, _ = _prepare(starts, theta, omega, label, a, s)
    g = np.empty((row[1], len(theta)))
    _, found = _forward(
        e, inverse, posterior, starts, transition, label, order, marching, row, one, zero,
        amplitude, g,
    )  # fmt: skip
    evidence = np.empty(len(order))
    evidence[order] = found
    return evidence


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})  # sums on vector registers
def _label_step(u, h, one, zero, positive, e, s, v, ones, zeros):
    """Split the posterior of one bag's step by label, and take the backward messages through it.

    Returns the sum over terms of s_k times the weight of a positive step.
    """
    J, K = one.shape
    slope = 0.0
    for k in range(J):
        weight = 0.0
        for j in range(K):
            plain, marked = u[k, j], u[J + k, j]
            passed = marked * h[J + k, j] + plain * h[k, j]
            here = plain * h[J + k, j]
            keep = one[k, j] + zero[k, j]
            if positive:
                this = one[k, j] * (passed + here)
                zeros[j] += zero[k, j] * passed
                v[k, j] = e[j] * (keep * h[k, j] + one[k, j] * h[J + k, j])
            else:
                this = one[k, j] * passed
                zeros[j] += zero[k, j] * (passed + here)
                v[k, j] = e[j] * (keep * h[k, j] + zero[k, j] * h[J + k, j])
            v[J + k, j] = e[j] * keep * h[J + k, j]
            ones[j] += this
            weight += this
        slope += s[k] * weight
    return slope


@njit(cache=True, nogil=True)
def tilted(e, inverse, posterior, starts, transition, theta, omega, label, weight, a, s):
    """Posteriors given the bag labels, with 1/x ≈ sum_k a_k exp(-s_k x): linear in the length.

    Under each exponential term the weight of a labelling is a product over the steps (a tilt). The
    numerator of the link, N or n - N, is a sum over steps, carried by a marker put on one positive
    (negative) step.

    Returns P(Z_t = j, I_t = 1 | X, Y) and P(Z_t = j, I_t = 0 | X, Y), the weighted sum of the
    transition posteriors, and P(Y | X) and E[P(Y = 1 | N) | X, Y] of every bag.
    """
    n_steps, K = posterior.shape
    J, C = len(s), 2 * len(s)
    back = transition.T.copy()
    order, marching, row, one, zero, amplitude, least = _prepare(starts, theta, omega, label, a, s)
    g, h, v = np.empty((row[1], K)), np.empty((row[1], K)), np.empty((row[1], K))
    u, found = _forward(
        e, inverse, posterior, starts, transition, label, order, marching, row, one, zero,
        amplitude, g,
    )  # fmt: skip
    ones, zeros = np.zeros((n_steps, K)), np.zeros((n_steps, K))
    pairs, joint = np.zeros((K, K)), np.empty((K, K))
    evidence, expected = np.empty(len(order)), np.zeros(len(order))
    started = 0
    for t in range(len(marching) - 1, -1, -1):
        moving = marching[t]
        for b in range(started, moving):  # bags whose last step this is
            h[C * b : C * b + J] = 0.0
            for k in range(J):
                h[C * b + J + k] = amplitude[b, k] / found[b]
        started = moving
        for b in range(moving):
            bag = order[b]
            step, rows = starts[bag] + t, slice(C * b, C * (b + 1))
            slope = _label_step(
                u[row[t] + C * b : row[t] + C * (b + 1)], h[rows], one[b], zero[b], label[bag],
                e[step], s, v[rows], ones[step], zeros[step],
            )  # fmt: skip
            # sum_k a_k s_k exp(-s_k x) is the matching sum for 1/x^2: the mean of the link needs it
            expected[bag] += slope * math.exp(omega) / least[b]
        if t == 0:
            break
        _leave(u[row[t - 1] :], moving, t - 1, order, starts, inverse, one, zero, label, g)
        for b in range(moving):
            g[C * b : C * (b + 1)] *= weight[order[b]]
        np.dot(g[: C * moving].T, v[: C * moving], joint)
        pairs += joint
        np.dot(v[: C * moving], back, h[: C * moving])
        for b in range(moving):
            factor = inverse[starts[order[b]] + t - 1]
            for c in range(C * b, C * (b + 1)):
                for j in range(K):
                    h[c, j] *= factor[j]
    evidence[order] = found
    return ones, zeros, transition * pairs, evidence, expected


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
