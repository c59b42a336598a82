"""Local search for the labels of eq. 9: alternations, and exchanges of two labels within a bag.

Throughout, `sign` holds the labels ±1, `beta` multipliers that are feasible for them, `cost` the
price C of an instance (equal within a bag) and `ratio` = D / C that of a missed count.
"""

import numpy as np
from numba import njit

from mixedbag._solvers.smo import climb
from mixedbag.aggregate._count_program import assign_labels, missed_price, signs

_PRECISION = 1e-3  # of a machine that is solved to compare labels
_BETTER = 1e-4  # what a move has to gain, relatively


def descend(gram, offsets, positives, cost, ratio, sign, beta, max_iter, work):
    """Better and better labels, from `sign` and `beta`, which are changed in place.

    Alternates until the labels suit their own machine, then looks for two labels of a bag to
    exchange (or, at a finite price, one to flip), and so on until nothing helps or `work`
    (steps of the dual ascent) is spent.

    Returns the objective and the work done.
    """
    error, value = dual_value(gram, sign, beta)
    value, upper, intercept, done = _solve(gram, sign, cost, beta, error, value)
    missed = missed_price(offsets, positives, cost, ratio, sign)
    for _ in range(max_iter):
        labels, _ = assign_labels(sign - error + intercept, offsets, positives, 1.0, ratio)
        trial = signs(labels)
        if np.dot(trial, sign) < len(sign):
            trial_beta = carry_over(offsets, sign, trial, beta)
            trial_error, value = dual_value(gram, trial, trial_beta)
            value, trial_upper, intercept, steps = _solve(
                gram, trial, cost, trial_beta, trial_error, value
            )
            done += steps
            trial_missed = missed_price(offsets, positives, cost, ratio, trial)
            if trial_upper + trial_missed < upper + missed:
                sign[:], beta[:], error = trial, trial_beta, trial_error
                upper, missed = trial_upper, trial_missed
                continue
        goal = (upper + missed) * (1.0 - _BETTER)
        moved, steps = exchange(gram, offsets, sign, cost, beta, error, goal - missed, work - done)
        done += steps
        if not moved and not np.isinf(ratio):
            moved, steps = flip(
                gram, offsets, positives, cost, ratio, sign, beta, error, goal, work - done
            )
            done += steps
            missed = missed_price(offsets, positives, cost, ratio, sign)
        if not moved:
            break
        value = 0.5 * np.dot(sign + error, beta)
        value, upper, intercept, steps = _solve(gram, sign, cost, beta, error, value)
        done += steps
    return upper + missed, done


def _solve(gram, sign, cost, beta, error, value):
    """The machine of the labels: lower and upper bound, intercept, steps."""
    n = len(sign)
    return climb(gram, sign, cost, beta, error, value, np.inf, 0.0, _PRECISION, 20 * n)


def dual_value(gram, sign, beta):
    """s − Kβ and sᵀβ − ½βᵀKβ; most multipliers are zero."""
    used = np.flatnonzero(beta)
    error = sign - beta[used] @ gram[used]
    return error, 0.5 * float((sign + error) @ beta)


def carry_over(offsets, sign, new, beta):
    """Multipliers that are feasible for new labels.

    Two instances of a bag that exchange labels exchange multipliers, too: costs within a bag are
    equal. One that changes its label alone is left without, and others make up for the sum.
    """
    beta = beta.copy()
    _carry_over(offsets, sign, new, beta)
    return beta


@njit(cache=True, nogil=True)
def _carry_over(offsets, sign, new, beta):
    for c in range(len(offsets) - 1):
        j, stop = offsets[c], offsets[c + 1]
        for i in range(offsets[c], stop):
            if sign[i] > 0.0 > new[i]:
                while j < stop and not sign[j] < 0.0 < new[j]:
                    j += 1
                if j < stop:
                    beta[i], beta[j] = beta[j], beta[i]
                    j += 1
    total = 0.0
    for r in range(len(beta)):
        if beta[r] * new[r] < 0.0:
            beta[r] = 0.0
        total += beta[r]
    for r in range(len(beta)):  # the heavier side can always be cut down to the lighter
        if beta[r] * total > 0.0:
            cut = total if abs(total) < abs(beta[r]) else beta[r]
            beta[r] -= cut
            total -= cut


def exchange(gram, offsets, sign, cost, beta, error, goal, work):
    """Exchange two labels of a bag so that the machine's objective falls below `goal`.

    With their multipliers exchanged, too, the dual value of the new labels is known at once. It is
    a lower bound: pairs for which it is not below the goal need no look, the lowest come first.
    Changes sign, beta and error in place.

    Returns whether labels were exchanged and the work done.
    """
    n = len(sign)
    first, second, bound = _promising_pairs(gram, offsets, sign, beta, error, goal)
    done = 0
    for k in np.argsort(bound, kind="stable"):
        if done > work:
            break
        i, j = first[k], second[k]
        trial = beta.copy()
        trial[i], trial[j] = beta[j], beta[i]
        trial_error = error + (beta[i] - beta[j]) * (gram[i] - gram[j])
        trial_error[i] -= 2.0
        trial_error[j] += 2.0
        sign[i], sign[j] = -1.0, 1.0
        _, reached, _, steps = climb(
            gram, sign, cost, trial, trial_error, bound[k], goal, goal, _PRECISION, 2 * n
        )
        done += steps
        if reached < goal:
            beta[:], error[:] = trial, trial_error
            return True, done
        sign[i], sign[j] = 1.0, -1.0
    return False, done


def _promising_pairs(gram, offsets, sign, beta, error, goal):
    """Pairs (positive, negative) of a bag whose exchange may get below `goal`, and the bound."""
    most = int((np.diff(offsets) ** 2 // 4).sum())
    pairs, bound = np.empty((2, most), np.int64), np.empty(most)
    value = 0.5 * float((sign + error) @ beta)
    n_pairs = _list_pairs(gram, offsets, sign, beta, error, value, goal, pairs, bound)
    return *pairs[:, :n_pairs], bound[:n_pairs]


@njit(cache=True, nogil=True)
def _list_pairs(gram, offsets, sign, beta, error, value, goal, pairs, bound):
    """Fill `pairs` and `bound`; returns how many there are."""
    n_pairs = 0
    for c in range(len(offsets) - 1):
        for i in range(offsets[c], offsets[c + 1]):
            if sign[i] < 0.0:
                continue
            for j in range(offsets[c], offsets[c + 1]):
                shift = beta[i] - beta[j]
                if sign[j] > 0.0 or shift <= 0.0:
                    continue
                bend = gram[i, i] + gram[j, j] - 2.0 * gram[i, j]
                after = value + shift * (2.0 - error[i] + error[j] - 0.5 * shift * bend)
                if after < goal:
                    pairs[0, n_pairs], pairs[1, n_pairs], bound[n_pairs] = i, j, after
                    n_pairs += 1
    return n_pairs


def flip(gram, offsets, positives, cost, ratio, sign, beta, error, goal, work):
    """Flip one label so that machine and missed counts together cost less than `goal`."""
    done = 0
    new = sign.copy()
    for i in np.argsort(-beta * sign, kind="stable"):
        if done > work:
            break
        new[i] = -sign[i]
        rest = goal - missed_price(offsets, positives, cost, ratio, new)
        if rest > 0.0:
            trial = carry_over(offsets, sign, new, beta)
            trial_error, value = dual_value(gram, new, trial)
            _, reached, _, steps = climb(
                gram, new, cost, trial, trial_error, value, rest, rest, _PRECISION, 2 * len(sign)
            )
            done += steps
            if reached < rest:
                sign[i] = new[i]
                beta[:], error[:] = trial, trial_error
                return True, done
        new[i] = sign[i]
    return False, done


def kick(offsets, bag_of, sign, beta, draws):
    """Exchange labels, with their multipliers, at random; `draws` are pairs of uniform numbers."""
    for k in range(len(draws)):
        i = int(draws[k, 0] * len(sign))
        start, stop = offsets[bag_of[i]], offsets[bag_of[i] + 1]
        j = start + int(draws[k, 1] * (stop - start))
        sign[i], sign[j] = sign[j], sign[i]
        beta[i], beta[j] = beta[j], beta[i]
