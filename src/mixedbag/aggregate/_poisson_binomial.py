"""How likely a count is when every instance of the bag has a probability of its own.

N = Σ_j B_j with independent B_j ~ Bernoulli(σ(z_j)) is Poisson-binomial. Its probabilities come
from adding one instance after the other, and the probability that an instance is one of those
counted from the two halves of the bag, before and behind it:

    F_j(k) = P(B_1 + … + B_j = k),    G_j(k) = P(k + B_{j+1} + … + B_n = count),
    P(B_j = 1 | N = count) = σ(z_j) Σ_k F_{j-1}(k) G_j(k+1) / P(count).

A shift of all z of a bag by θ leaves these conditional probabilities as they are. With the θ that
makes the count the expected one nothing underflows, however unlikely the count was before.
"""

import numba
import numpy as np
from scipy.special import expit

from mixedbag._account.counts import shift_to_counts
from mixedbag.pooling import bag_sum, spread


def log_likelihood(z, offsets, counts):
    """log P(count) of every bag, and P(instance is counted | count) of every instance.

    The derivative of the former by ``z`` is the latter minus ``σ(z)``.
    """
    sizes = np.diff(offsets)
    open_ = (counts > 0) & (counts < sizes)
    theta = np.zeros(len(counts))
    theta[open_] = shift_to_counts(z, offsets, np.clip(counts, 0.5, sizes - 0.5))[open_]
    tilted = z + spread(theta, offsets)
    value, posterior = _tilted_likelihood(expit(tilted), expit(-tilted), offsets, counts)
    gained = np.logaddexp(0.0, tilted) - np.logaddexp(0.0, z)
    return value + bag_sum(gained, offsets) - theta * counts, posterior


@numba.njit(cache=True, nogil=True)
def _tilted_likelihood(p, rest, offsets, counts):
    """log P(count) and the conditional probabilities, for p near the count; ``rest = 1 − p``.

    Takes time and memory in proportion to the size of a bag times its count (or times the number
    of the others, where that is less).
    """
    n_bags = len(offsets) - 1
    value = np.zeros(n_bags)
    posterior = np.zeros(len(p))
    for i in range(n_bags):
        start, n = offsets[i], offsets[i + 1] - offsets[i]
        # Count whichever of the two labels is rarer.
        flip = 2 * counts[i] > n
        wanted = n - counts[i] if flip else counts[i]
        yes, no = (rest, p) if flip else (p, rest)

        before = np.zeros((n + 1, wanted + 1))
        before[0, 0] = 1.0
        log_scale = 0.0
        for j in range(n):
            largest = 0.0
            for k in range(min(j + 1, wanted) + 1):
                chance = before[j, k] * no[start + j]
                if k > 0:
                    chance += before[j, k - 1] * yes[start + j]
                before[j + 1, k] = chance
                largest = max(largest, chance)
            before[j + 1] /= largest
            log_scale += np.log(largest)
        value[i] = np.log(before[n, wanted]) + log_scale

        behind = np.zeros(wanted + 2)
        behind[wanted] = 1.0
        for j in range(n - 1, -1, -1):
            counted, other, largest = 0.0, 0.0, 0.0
            for k in range(wanted + 1):
                counted += before[j, k] * behind[k + 1]
                other += before[j, k] * behind[k]
                behind[k] = no[start + j] * behind[k] + yes[start + j] * behind[k + 1]
                largest = max(largest, behind[k])
            counted *= yes[start + j]
            other *= no[start + j]
            share = counted / (counted + other)
            posterior[start + j] = 1.0 - share if flip else share
            behind /= largest
    return value, posterior
