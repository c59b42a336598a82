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

import numpy as np
from numba import njit

from mixedbag._solvers import INNER
from mixedbag.sequence._smoothing import SUMS

# Kernels get the arrays they fill: making arrays inside a kernel takes long to compile. Products of
# messages and small matrices are left to BLAS, which takes a tenth of the time of a loop.


def _march(starts):
    """Bags from long to short, and how many are under way at every step."""
    sizes = np.diff(starts)
    steps = np.arange(sizes.max())
    moving = len(sizes) - np.searchsorted(np.sort(sizes), steps, side="right")
    return np.argsort(-sizes, kind="stable"), moving


def _tilts(order, starts, label, theta, omega, a, s):
    """What the terms weigh: a row a bag and term.

    Returns the weight of a step with the label that takes markers (positive in positive bags) and
    with the other one in each state, both flat, and the amplitudes.
    """
    least = np.repeat(_least(starts, omega)[order], len(s))
    rates, is_positive = np.tile(s, len(order)), np.repeat(label[order], len(s))
    one = theta * np.exp(-rates * np.exp(omega) / least)[:, None]
    zero = (1.0 - theta) * np.exp(-rates / least)[:, None]
    same = np.where(is_positive[:, None], one, zero)
    other = np.where(is_positive[:, None], zero, one)
    amplitude = np.tile(a, len(order)) / least * np.where(is_positive, np.exp(omega), 1.0)
    return same.ravel(), other.ravel(), amplitude


def _least(starts, omega):
    """The least that D can be in every bag."""
    return np.diff(starts) * min(1.0, np.exp(omega))


def forward_passes(factor, starts, transition, theta, omega, label, a, s, arrived):
    """P(Y | X) of every bag; ``arrived`` is filled with the messages that arrive at every step."""
    order, moving = _march(starts)
    same, other, amplitude = _tilts(order, starts, label, theta, omega, a, s)
    most, evidence = len(same), np.zeros(len(order))
    _forward(
        factor, starts, np.ascontiguousarray(transition), order, moving, len(s), same, other,
        amplitude, arrived.reshape(-1), np.empty(2 * most), np.empty(most), evidence,
    )  # fmt: skip
    return evidence


def backward_passes(
    factor, starts, transition, theta, omega, label, weight, a, s, arrived, evidence
):
    """Posteriors given the labels, from what :func:`forward_passes` found.

    Returns P(Z_t = j, I_t = 1 | X, Y) and P(Z_t = j, I_t = 0 | X, Y), the weighted sum of the
    transition posteriors, and E[P(Y = 1 | N) | X, Y] of every bag.
    """
    order, moving = _march(starts)
    same, other, amplitude = _tilts(order, starts, label, theta, omega, a, s)
    n_bags, n_terms, K, most = len(order), len(s), len(theta), len(same)
    # Backward messages carry the weight of the bag from its last step on.
    last = amplitude * np.repeat((weight / evidence)[order], n_terms)
    steps, pairs = np.empty((2, *factor.shape)), np.zeros((K, K))
    totals = np.zeros((2, most))
    _backward(
        factor, starts, np.ascontiguousarray(transition.T), order, moving, n_terms, same, other,
        last, label, arrived.reshape(-1), np.empty((2, most)), np.empty((2, most)),
        np.empty(2 * most), np.empty(2 * most), np.empty(2 * most), np.empty((K, K)), steps, pairs,
        totals,
    )  # fmt: skip
    ones, zeros = steps
    # sum_k a_k s_k exp(-s_k x) is the matching sum for 1/x^2: the mean of the link needs it
    same_total, other_total = totals.reshape(2, n_bags, n_terms, K)
    total = np.where(label[order][:, None, None], same_total, other_total)
    expected = np.empty(n_bags)
    expected[order] = total.sum(axis=2) @ s
    expected *= np.exp(omega) / _least(starts, omega) / weight
    if (weight != 1.0).any():
        own = np.repeat(weight, np.diff(starts))[:, None]
        ones /= own
        zeros /= own
    return ones, zeros, transition * pairs, expected


@njit(**INNER)
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


@njit(fastmath=SUMS, **INNER)
def _leave(plain, marked, spread, same, other, leave_plain, leave_marked):
    """The messages that leave a step, from those that arrive."""
    for c in range(len(leave_plain)):
        scaled = spread[c] * plain[c]
        keep = same[c] + other[c]
        leave_plain[c] = keep * scaled
        leave_marked[c] = keep * (spread[c] * marked[c]) + same[c] * scaled


@njit(**INNER)
def _times(rows, matrix, product):
    """Rows, one after the other, times a small square matrix."""
    K = len(matrix)
    n = len(rows) // K
    np.dot(rows.reshape((n, K)), matrix, product.reshape((n, K)))


@njit(cache=True, nogil=True)
def _forward(
    factor, starts, transition, order, moving, n_terms, same, other, amplitude, arrived, leaving,
    spread, evidence,
):  # fmt: skip
    """Fill ``arrived`` and ``evidence``; ``leaving`` and ``spread`` are scratch."""
    K = len(transition)
    first = 0  # where the step's messages begin
    for c in range(len(same)):
        arrived[c], arrived[len(same) + c] = 1.0, 0.0
    for t in range(len(moving)):
        size = n_terms * moving[t] * K
        middle, end = first + size, first + 2 * size
        _spread(factor, starts, order, t, moving[t], n_terms, spread)
        _leave(
            arrived[first:middle], arrived[middle:end], spread, same, other,
            leaving[:size], leaving[size : 2 * size],
        )  # fmt: skip
        after = n_terms * moving[t + 1] * K if t + 1 < len(moving) else 0
        for c in range(after, size):  # of bags that end here
            row = c // K
            evidence[order[row // n_terms]] += amplitude[row] * leaving[size + c]
        for c in range(after if after < size else 0):  # close the gap they leave
            leaving[after + c] = leaving[size + c]
        first = end
        _times(leaving[: 2 * after], transition, arrived[first : first + 2 * after])


@njit(fastmath=SUMS, **INNER)
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


@njit(fastmath=SUMS, **INNER)
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


@njit(**INNER)
def _add_pairs(left, right, product, pairs):
    """Add the products of every state on the left with every state on the right, row by row."""
    K = len(pairs)
    n = len(left) // K
    np.dot(left.reshape((n, K)).T, right.reshape((n, K)), product)
    for i in range(K):
        for j in range(K):
            pairs[i, j] += product[i, j]


@njit(cache=True, nogil=True)
def _backward(
    factor, starts, back_transition, order, moving, n_terms, same, other, last, label, arrived,
    spreads, withs, back, left, through, product, steps, pairs, totals,
):  # fmt: skip
    """Fill ``steps`` (positive, negative), ``pairs`` and ``totals`` (the label that takes markers,
    the other); from ``spreads`` to ``product`` is scratch.
    """
    K = len(back_transition)
    size, first, now = 0, len(arrived), 0
    _spread(factor, starts, order, len(moving) - 1, moving[-1], n_terms, spreads[now])
    for t in range(len(moving) - 1, -1, -1):
        started, size = size, n_terms * moving[t] * K
        first -= 2 * size
        if size > started:  # bags whose last step this is
            for c in range(started - 1, -1, -1):
                back[size + c] = back[started + c]
            for c in range(started, size):
                back[c], back[size + c] = 0.0, last[c // K]
        spread = spreads[now]
        _meet(
            arrived[first : first + size], arrived[first + size : first + 2 * size],
            back[:size], back[size : 2 * size], spread, same, other, withs[0], withs[1],
            through[:size], through[size : 2 * size],
        )  # fmt: skip
        width = n_terms * K
        for b in range(moving[t]):
            step, begin, end = starts[order[b]] + t, b * width, (b + 1) * width
            for side in range(2):
                into = side if label[order[b]] else 1 - side
                _sum_terms(withs[side, begin:end], totals[side, begin:end], steps[into, step])
        if t == 0:
            break
        _times(through[: 2 * size], back_transition, back[: 2 * size])
        now = 1 - now
        earlier = n_terms * moving[t - 1] * K
        p = first - 2 * earlier
        _spread(factor, starts, order, t - 1, moving[t - 1], n_terms, spreads[now])
        _leave(
            arrived[p : p + size], arrived[p + earlier : p + earlier + size], spreads[now], same,
            other, left[:size], left[size : 2 * size],
        )  # fmt: skip
        _add_pairs(left[: 2 * size], through[: 2 * size], product, pairs)
