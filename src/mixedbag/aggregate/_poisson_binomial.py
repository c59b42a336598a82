"""How likely a count is when every instance of the bag has a probability of its own.

N = Σ_j B_j with independent B_j ~ Bernoulli(σ(z_j)) is Poisson-binomial. Its probabilities come
from adding one instance after the other, and the probability that an instance is one of those
counted from the two halves of the bag, before and behind it:

    F_j(k) = P(B_1 + … + B_j = k),    G_j(k) = P(k + B_{j+1} + … + B_n = count),
    P(B_j = 1 | N = count) = σ(z_j) Σ_k F_{j-1}(k) G_j(k+1) / P(count).

A shift of all z of a bag by θ leaves these conditional probabilities as they are, and changes the
likelihood by a factor that is known. With a θ that makes the count about the expected one nothing
underflows, however unlikely the count was before.
"""

import math

import numba
import numpy as np

from mixedbag._account.counts import shift_to_count
from mixedbag._tables import frozen

_NEAR = 0.5  # so far from the count the expected one may be left


def log_likelihood(z, offsets, counts):
    """log P(count) of every bag, and P(instance is counted | count) of every instance.

    The derivative of the former by ``z`` is the latter minus ``σ(z)``.

    Takes time and memory in proportion to the size of a bag times its count (or times the number
    of the others, where that is less).
    """
    sizes = np.diff(offsets)
    rarer = np.minimum(counts, sizes - counts)
    value, posterior = np.zeros(len(sizes)), np.zeros(len(z))
    n_messages = ((sizes + 1) * (rarer + 1)).max(initial=1)
    scratch = np.empty((3, sizes.max(initial=0) + 2)), np.empty(n_messages)
    _log_likelihood(np.ascontiguousarray(z), frozen(offsets), counts, *scratch, value, posterior)
    return value, posterior


# Kernels get the arrays that they work in: to make some takes longer to compile than all they do.


@numba.njit(cache=True, nogil=True)
def _log_likelihood(z, offsets, counts, scratch, messages, value, posterior):
    p, rest, behind = scratch[0], scratch[1], scratch[2]
    for i in range(len(offsets) - 1):
        start, stop = offsets[i], offsets[i + 1]
        count, n = counts[i], stop - start
        known = posterior[start:stop]
        theta = shift_to_count(z, start, stop, float(count), _NEAR) if 0 < count < n else 0.0
        gained = -theta * count
        for j in range(n):
            p[j] = _sigma(z[start + j] + theta)
            rest[j] = _sigma(-z[start + j] - theta)
            gained += _softplus(z[start + j] + theta) - _softplus(z[start + j])
        # Count whichever of the two labels is rarer.
        if 2 * count > n:
            value[i] = gained + _one_bag(
                n, rest, p, n - count, messages, behind, posterior[start:stop]
            )
            for j in range(n):
                known[j] = 1.0 - known[j]
        else:
            value[i] = gained + _one_bag(n, p, rest, count, messages, behind, known)


@numba.njit(cache=True, nogil=True)
def _one_bag(n, yes, no, wanted, before, behind, counted):
    """log P(`wanted` say yes), and into `counted` the chance of each to be one of them.

    F_j(k) stands at place j (wanted + 1) + k of `before`, G_j(k) in turn in `behind`.
    """
    width = wanted + 1
    for k in range(width):
        before[k] = 0.0
        behind[k] = 0.0
    before[0] = 1.0
    log_scale = 0.0
    for j in range(n):
        here, after = before[j * width :], before[(j + 1) * width :]
        reach, largest = min(j + 1, wanted) + 1, 0.0
        for k in range(reach):
            chance = here[k] * no[j]
            if k > 0:
                chance += here[k - 1] * yes[j]
            after[k] = chance
            largest = max(largest, chance)
        if largest == 0.0:  # beyond what numbers can say
            return -np.inf
        for k in range(reach):
            after[k] /= largest
        for k in range(reach, width):
            after[k] = 0.0
        log_scale += math.log(largest)

    behind[wanted], behind[width] = 1.0, 0.0
    for j in range(n - 1, -1, -1):
        here, with_it, without, largest = before[j * width :], 0.0, 0.0, 0.0
        for k in range(width):
            with_it += here[k] * behind[k + 1]
            without += here[k] * behind[k]
            behind[k] = no[j] * behind[k] + yes[j] * behind[k + 1]
            largest = max(largest, behind[k])
        if largest == 0.0:
            return -np.inf
        with_it *= yes[j]
        counted[j] = with_it / (with_it + without * no[j])
        for k in range(width + 1):
            behind[k] /= largest
    return math.log(before[n * width + wanted]) + log_scale


@numba.njit(cache=True, nogil=True)
def _sigma(z):
    return 1.0 / (1.0 + math.exp(-z))


@numba.njit(cache=True, nogil=True)
def _softplus(z):
    return max(z, 0.0) + math.log1p(math.exp(-abs(z)))
