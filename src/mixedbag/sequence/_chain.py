"""The hidden Markov chain of states, and inference along it."""

from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from mixedbag.sequence._counts import counted
from mixedbag.sequence._exponential import shortest_sum
from mixedbag.sequence._link import Conditioned, link_tables, rounding
from mixedbag.sequence._smoothing import smooth
from mixedbag.sequence._tilting import backward_passes, forward_passes


class Smoothed(NamedTuple):
    """Plain smoothing of a block (see ``_smoothing``)."""

    factor: np.ndarray
    forward: np.ndarray
    backward: np.ndarray
    starts: np.ndarray
    log_likelihood: np.ndarray

    @property
    def posterior(self):
        """P(Z_t | X)."""
        return self.forward * self.backward


class Chain:
    """First-order Markov dynamics: ``P(Z_1 = j) = π_j`` and ``P(Z_t = j | Z_{t−1} = i) = M_ij``."""

    pseudo_count = 0.1  # ≥ 0: below it the posterior is unbounded, as with the paper's β < 1
    stickiness = 5.0  # activities last; extra pseudo-count of staying

    def __init__(self, initial, transition):
        self.initial = initial
        self.transition = transition

    @classmethod
    def uniform(cls, n_states):
        stay = 0.9 if n_states > 1 else 1.0
        leave = (1.0 - stay) / max(n_states - 1, 1)
        transition = np.full((n_states, n_states), leave)
        np.fill_diagonal(transition, stay)
        return cls(np.full(n_states, 1.0 / n_states), transition)

    # Inference -----------------------------------------------------------------------------------

    def smooth(self, log_emission, starts):
        """P(Z_t | X) and log P(X)."""
        factor, forward, backward, log_likelihood = smooth(
            log_emission, self.initial, self.transition, starts
        )
        return Smoothed(factor, forward, backward, starts, log_likelihood)

    def unconditional_moves(self, smoothed, weight):
        """Weighted sum of P(Z_{t−1} = i, Z_t = j | X)."""
        behind = smoothed.forward * np.repeat(weight, np.diff(smoothed.starts))[:, None]
        behind[smoothed.starts[1:] - 1] = 0.0  # no move crosses two bags
        ahead = smoothed.factor * smoothed.backward
        return self.transition * (behind[:-1].T @ ahead[1:])

    def condition(self, smoothed, theta, omega, label, weight, precision):
        """Posteriors given the labels: tilted passes, or windows of counts for a steep link."""
        total = shortest_sum(float(omega), precision)
        if total is None:
            return self.condition_by_counts(smoothed, theta, omega, label, weight, precision)
        factor, starts = smoothed.factor, smoothed.starts
        model = factor, starts, self.transition, theta, omega, label
        arrived = np.empty((2 * len(total.rates) * len(factor), len(theta)))
        amplitudes, rates = total.terms
        evidence = forward_passes(*model, amplitudes, rates, arrived)
        ones, zeros, moves, expected = backward_passes(
            *model, weight, amplitudes, rates, arrived, evidence
        )
        error = total.error + rounding(starts, len(theta))
        return Conditioned(ones, zeros, moves, evidence, expected, error)

    def condition_by_counts(self, smoothed, theta, omega, label, weight, drop):
        """The same by the chain of counts; `drop` = 0 is exact and quadratic in the length."""
        starts = smoothed.starts
        positive, negative = link_tables(starts, omega)
        link = np.where(np.repeat(label, np.diff(starts) + 1), positive, negative)
        ones, zeros, moves, evidence, counts, lost = counted(
            smoothed.factor, smoothed.backward, starts, self.transition, theta, link, weight, drop
        )
        joint = np.add.reduceat(link * positive * counts, starts[:-1] + np.arange(len(label)))
        error = lost / evidence + rounding(starts, len(theta))
        return Conditioned(ones, zeros, moves, evidence, joint / evidence, error)

    def evidence(self, smoothed, theta, omega, label, precision):
        """P(Y = label | X) of every bag."""
        total = shortest_sum(float(omega), precision)
        if total is None:
            ones = np.ones(len(label))
            return self.condition(smoothed, theta, omega, label, ones, precision).evidence
        arrived = np.empty((2 * len(total.rates) * len(smoothed.factor), len(theta)))
        amplitudes, rates = total.terms
        return forward_passes(
            smoothed.factor, smoothed.starts, self.transition, theta, omega, label,
            amplitudes, rates, arrived,
        )  # fmt: skip

    # Learning ------------------------------------------------------------------------------------

    @classmethod
    def most_likely(cls, first, moves):
        """The chain that maximises the expected log-likelihood plus the log prior."""
        moves = moves + cls._prior_moves(len(first))
        initial = first + cls.pseudo_count
        return cls(initial / initial.sum(), moves / moves.sum(axis=1, keepdims=True))

    def log_prior(self):
        prior = self._prior_moves(len(self.initial))
        return float(
            self.pseudo_count * np.log(self.initial).sum() + xlogy(prior, self.transition).sum()
        )

    @classmethod
    def _prior_moves(cls, n_states):
        return cls.pseudo_count + cls.stickiness * np.eye(n_states)
