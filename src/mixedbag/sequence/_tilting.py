"""Tilted passes: posteriors given the bag labels in time linear in the length of the bags.

With 1/x ≈ sum_k a_k exp(-s_k x) the link N e^ω / D, D = (n - N) + N e^ω, is a short sum of terms,
and under each term the weight of a labelling is a product over the steps: a tilt. What is left is
the numerator, N or n - N, a sum over steps, carried by a marker put on one positive (negative)
step. So every term is a hidden Markov model of its own, with two messages: plain (the marker is
still to come) and marked.

The bags of a block march in step, longest first, so that one matrix product moves the messages of
all terms and of all bags still under way: a row a bag and term of plain messages, then as many of
marked ones. Within a step they meet tables in the same order, element by element, in flat loops
that compile to vector instructions.

``factor`` is that of plain smoothing, so all messages are relative to P(X) and need no scaling of
their own. ``theta[j]`` is the chance that a step in state j is positive.
"""

import math

import numpy as np
from numba import njit

from mixedbag._sorting import ascending
from mixedbag.sequence._smoothing import SUMS

BATCH = 240  # rows of messages whose products are summed at once


@njit(cache=True, nogil=True)
def _march(starts):
    """Bags from long to short, and how many are under way at every step."""
    longest, shorter = 0, np.empty(len(starts) - 1, np.int64)
    for b in range(len(shorter)):
        size = starts[b + 1] - starts[b]
        longest, shorter[b] = max(longest, size), -size
    moving = np.zeros(longest, np.int64)
    for size in shorter:
        for t in range(-size):
            moving[t] += 1
    return ascending(shorter), moving


@njit(cache=True, nogil=True)
def _tilts(order, starts, label, theta, omega, a, s):
    """What the terms weigh: a row a bag and term.

    Returns the weight of a step with the label that takes markers (positive in positive bags) and
    with the other one in each state, and the amplitudes.
    """
    J, K = len(s), len(theta)
    same, other = np.empty((len(order) * J, K)), np.empty((len(order) * J, K))
    amplitude = np.empty(len(order) * J)
    for r in range(len(amplitude)):
        bag, k = order[r // J], r % J
        least = (starts[bag + 1] - starts[bag]) * min(1.0, math.exp(omega))
        one, zero = math.exp(-s[k] * math.exp(omega) / least), math.exp(-s[k] / least)
        amplitude[r] = a[k] / least * (math.exp(omega) if label[bag] else 1.0)
        for j in range(K):
            positive, negative = theta[j] * one, (1.0 - theta[j]) * zero
            same[r, j] = positive if label[bag] else negative
            other[r, j] = negative if label[bag] else positive
    return same, other, amplitude


@njit(cache=True, nogil=True)
def _spread(factor, starts, order, t, n_bags, n_terms, spread):
    """The factors of step t of the first bags, a row for every term."""
    K = factor.shape[1]
    c = 0
    for b in range(n_bags):
        step = starts[order[b]] + t
        for _ in range(n_terms):
            for j in range(K):
                spread[c + j] = factor[step, j]
            c += K


@njit(cache=True, nogil=True, fastmath=SUMS)
def _leave(plain, marked, spread, same, other, leave_plain, leave_marked):
    """The messages that leave a step, from those that arrive."""
    for c in range(len(leave_plain)):
        scaled = spread[c] * plain[c]
        keep = same[c] + other[c]
        leave_plain[c] = keep * scaled
        leave_marked[c] = keep * (spread[c] * marked[c]) + same[c] * scaled


@njit(cache=True, nogil=True)
def forward_passes(factor, starts, transition, theta, omega, label, a, s, arrived):
    """P(Y | X) of every bag; ``arrived`` is filled with the messages that arrive at every step."""
    J, K = len(s), len(theta)
    order, moving = _march(starts)
    same, other, amplitude = _tilts(order, starts, label, theta, omega, a, s)
    leaving, spread = np.empty((2 * len(same), K)), np.empty(len(same) * K)
    same, other = same.ravel(), other.ravel()
    flat, out = arrived.ravel(), leaving.ravel()
    evidence = np.zeros(len(order))
    first = 0  # row of the step's messages
    arrived[: len(amplitude)] = 1.0
    arrived[len(amplitude) : 2 * len(amplitude)] = 0.0
    for t in range(len(moving)):
        rows = J * moving[t]
        size, p = rows * K, first * K
        _spread(factor, starts, order, t, moving[t], J, spread)
        _leave(
            flat[p : p + size], flat[p + size : p + 2 * size], spread, same, other,
            out[:size], out[size : 2 * size],
        )  # fmt: skip
        after = J * moving[t + 1] if t + 1 < len(moving) else 0
        for r in range(after, rows):  # of bags that end here
            evidence[order[r // J]] += amplitude[r] * leaving[rows + r].sum()
        for c in range(after * K if after < rows else 0):  # close the gap they leave
            out[after * K + c] = out[size + c]
        first += 2 * rows
        if after:
            np.dot(leaving[: 2 * after], transition, arrived[first : first + 2 * after])
    return evidence


@njit(cache=True, nogil=True, fastmath=SUMS)
def _meet(plain, marked, back_plain, back_marked, spread, same, other, with_same, with_other,
          through_plain, through_marked):  # fmt: skip
    """Weigh a step with either label, and take the backward messages through it."""
    for c in range(len(through_plain)):
        passed = plain[c] * back_plain[c] + marked[c] * back_marked[c]
        with_same[c] = spread[c] * same[c] * (passed + plain[c] * back_marked[c])
        with_other[c] = spread[c] * other[c] * passed
        keep = same[c] + other[c]
        through_plain[c] = spread[c] * (keep * back_plain[c] + same[c] * back_marked[c])
        through_marked[c] = spread[c] * (keep * back_marked[c])


@njit(cache=True, nogil=True, fastmath=SUMS)
def _sum_terms(values, total, summed):
    """Sum the rows of a bag's terms, and add them to a running total."""
    K = len(summed)
    for j in range(K):
        summed[j] = values[j]
    for c in range(K, len(values), K):
        for j in range(K):
            summed[j] += values[c + j]
    for c in range(len(values)):
        total[c] += values[c]


@njit(cache=True, nogil=True)
def backward_passes(
    factor, starts, transition, theta, omega, label, weight, a, s, arrived, evidence
):
    """Posteriors given the labels, from what :func:`forward_passes` found.

    Returns P(Z_t = j, I_t = 1 | X, Y) and P(Z_t = j, I_t = 0 | X, Y), the weighted sum of the
    transition posteriors, and E[P(Y = 1 | N) | X, Y] of every bag.
    """
    n_steps, K = factor.shape
    J = len(s)
    order, moving = _march(starts)
    same, other, amplitude = _tilts(order, starts, label, theta, omega, a, s)
    most = len(amplitude)
    same, other = same.ravel(), other.ravel()
    with_same, with_other = np.empty(most * K), np.empty(most * K)
    total_same, total_other = np.zeros(most * K), np.zeros(most * K)
    spread, before = np.empty(most * K), np.empty(most * K)
    ones, zeros = np.empty((n_steps, K)), np.empty((n_steps, K))
    back_transition = transition.T.copy()
    back, capacity = np.empty((2 * most, K)), max(2 * most, BATCH)
    left, through = np.empty((capacity, K)), np.empty((capacity, K))
    flat, back_flat, left_flat, out = arrived.ravel(), back.ravel(), left.ravel(), through.ravel()
    pairs, part = np.zeros((K, K)), np.empty((K, K))
    filled, rows, first = 0, 0, len(arrived)
    _spread(factor, starts, order, len(moving) - 1, moving[-1], J, spread)
    for t in range(len(moving) - 1, -1, -1):
        started, rows = rows, J * moving[t]
        first -= 2 * rows
        size, p = rows * K, first * K
        if rows > started:  # bags whose last step this is
            for c in range(started * K - 1, -1, -1):  # from the end: the places may overlap
                back_flat[size + c] = back_flat[started * K + c]
            for r in range(started, rows):
                bag = order[r // J]
                # from here on backward messages carry the weight of the bag
                message = amplitude[r] * weight[bag] / evidence[bag]
                for j in range(K):
                    back[r, j], back[rows + r, j] = 0.0, message
        if filled + 2 * rows > capacity:
            _add_product(left[:filled], through[:filled], part, pairs)
            filled = 0
        o = filled * K
        _meet(
            flat[p : p + size], flat[p + size : p + 2 * size],
            back_flat[:size], back_flat[size : 2 * size], spread, same, other, with_same,
            with_other, out[o : o + size], out[o + size : o + 2 * size],
        )  # fmt: skip
        for b in range(moving[t]):
            step, own = starts[order[b]] + t, slice(b * J * K, (b + 1) * J * K)
            if label[order[b]]:
                _sum_terms(with_same[own], total_same[own], ones[step])
                _sum_terms(with_other[own], total_other[own], zeros[step])
            else:
                _sum_terms(with_same[own], total_same[own], zeros[step])
                _sum_terms(with_other[own], total_other[own], ones[step])
        if t == 0:
            break
        np.dot(through[filled : filled + 2 * rows], back_transition, back[: 2 * rows])
        earlier = J * moving[t - 1] * K
        p -= 2 * earlier
        _spread(factor, starts, order, t - 1, moving[t - 1], J, before)
        _leave(
            flat[p : p + size], flat[p + earlier : p + earlier + size], before, same, other,
            left_flat[o : o + size], left_flat[o + size : o + 2 * size],
        )  # fmt: skip
        filled += 2 * rows
        spread, before = before, spread
    _add_product(left[:filled], through[:filled], part, pairs)
    # sum_k a_k s_k exp(-s_k x) is the matching sum for 1/x^2: the mean of the link needs it
    expected = np.zeros(len(order))
    for r in range(most):
        bag, positive = order[r // J], 0.0
        for c in range(r * K, (r + 1) * K):
            positive += total_same[c] if label[bag] else total_other[c]
        least = (starts[bag + 1] - starts[bag]) * min(1.0, math.exp(omega))
        expected[bag] += s[r % J] * positive * math.exp(omega) / least / weight[bag]
    for b in range(len(order)):
        for t in range(starts[b], starts[b + 1]):
            for j in range(K):
                ones[t, j] /= weight[b]
                zeros[t, j] /= weight[b]
    for i in range(K):
        for j in range(K):
            pairs[i, j] *= transition[i, j]
    return ones, zeros, pairs, expected


@njit(cache=True, nogil=True)
def _add_product(left, right, product, total):
    """Add leftᵀ right to a running total."""
    np.dot(left.T, right, product)
    for i in range(len(total)):
        for j in range(len(total)):
            total[i, j] += product[i, j]
