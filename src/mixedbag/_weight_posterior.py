"""Draws from the posterior of a linear model's weights.

About the weights that were found it is, to second order, a normal law (Laplace). Of few bags, or of
groups that are almost pure, it is not: larger weights fit the counts as well, smaller ones do not,
and limits by the normal law are too wide. So draws of it are taken as they are only where the
likelihood agrees with it. Elsewhere weights are had by elliptical slice sampling, which goes along
ellipses about those that were found, as far as the likelihood allows. Where these are poorly told,
as of a rare answer, a chain may stay for long in a flat tail or a side lobe; so there are several,
and each begins at the weights that were found.

I. Murray, R. P. Adams and D. J. C. MacKay. Elliptical slice sampling. AISTATS 2010.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

_TRIED, _NORMAL = 30, 0.25  # draws; the standard deviation of log-densities that is still normal
_CHAINS = 8
_BEFORE, _BETWEEN = 60, 3  # moves before a chain's first draw and from one to the next


class WeightPosterior(NamedTuple):
    """Of weights, flat.

    Parameters
    ----------
    mode : array
        The weights that were found.
    told, prior : array of shape (n_weights, n_weights)
        Their precision at the mode by likelihood and by prior (normal, about zero).
    log_likelihood : callable, optional
        Of weights; without it, the law is normal.
    """

    mode: np.ndarray
    told: np.ndarray
    prior: np.ndarray
    log_likelihood: Callable[[np.ndarray], float] | None = None

    def normal(self, n_draws, rng, power=1.0):
        """Draws of the normal law, the likelihood to a power.

        Directions that change nothing (the same added to all intercepts of a softmax) have no part.
        """
        return self.mode + _normal_moves(power * self.told + self.prior, n_draws, rng)

    def drawn(self, n_draws, rng, power=1.0):
        """Draws of the posterior itself, the likelihood to a power."""
        log_likelihood = self.log_likelihood
        if log_likelihood is None:
            return self.normal(n_draws, rng, power)
        precision = power * self.told + self.prior

        def height(move):
            """The log-density over that of the normal law, but for a constant."""
            weights = self.mode + move
            log_prior = -0.5 * weights @ self.prior @ weights
            return power * log_likelihood(weights) + log_prior + 0.5 * move @ precision @ move

        moves = _normal_moves(precision, n_draws, rng)
        if np.std([height(move) for move in moves[:_TRIED]]) < _NORMAL:
            return self.mode + moves
        start, drawn = np.zeros_like(self.mode), np.empty_like(moves)
        for k in range(_CHAINS):  # in turns: any few draws are of all chains
            n_turns = _BEFORE + _BETWEEN * len(drawn[k::_CHAINS])
            turns = _normal_moves(precision, n_turns, rng)
            chain = sliced(height, start, turns, rng)
            drawn[k::_CHAINS] = chain[_BEFORE + _BETWEEN - 1 :: _BETWEEN]
        return self.mode + drawn


def _normal_moves(precision, n_draws, rng):
    values, vectors = np.linalg.eigh(precision)
    kept = values > 1e-9 * values.max()
    root = vectors[:, kept] / np.sqrt(values[kept])
    return rng.normal(size=(n_draws, root.shape[1])) @ root.T


def sliced(height, start, turns, rng):
    """A chain of ``exp(height)`` times the normal law (mean zero) of which `turns` are draws."""
    move, level, chain = start, height(start), []
    for turn in turns:
        least = level + np.log(rng.uniform())
        angle = high = rng.uniform(0.0, 2 * np.pi)
        low = high - 2 * np.pi
        while (level := height(new := move * np.cos(angle) + turn * np.sin(angle))) < least:
            # Toward where it stands; there, it is high enough.
            low, high = (angle, high) if angle < 0.0 else (low, angle)
            angle = rng.uniform(low, high)
        move = new
        chain.append(move)
    return np.array(chain)
