"""States drawn independently at every step: conditioning on the label has a closed form."""

from typing import NamedTuple

import numpy as np

from mixedbag.sequence._chain import Chain
from mixedbag.sequence._exponential import shortest_sum
from mixedbag.sequence._link import Conditioned, rounding


class Weighed(NamedTuple):
    """State posteriors of a block of steps, cut into bags by ``starts``."""

    posterior: np.ndarray
    starts: np.ndarray
    log_likelihood: np.ndarray


class Independent:
    """No dynamics: ``P(Z_t = j) = ψ_j``.

    Given X the labels of the steps are independent coins, so every tilted pass is a plain product.
    """

    pseudo_count = 0.1

    def __init__(self, weights):
        self.weights = weights

    @classmethod
    def uniform(cls, n_states):
        return cls(np.full(n_states, 1.0 / n_states))

    # Inference -----------------------------------------------------------------------------------

    def smooth(self, log_emission, starts):
        """P(Z_t | X) and log P(X)."""
        joint = log_emission + np.log(self.weights)
        peak = joint.max(axis=1, keepdims=True)
        posterior = np.exp(joint - peak)
        total = posterior.sum(axis=1, keepdims=True)
        posterior /= total
        return Weighed(
            posterior, starts, np.add.reduceat((peak + np.log(total))[:, 0], starts[:-1])
        )

    def unconditional_moves(self, smoothed, weight):
        """Weighted time spent in each state."""
        return np.repeat(weight, np.diff(smoothed.starts)) @ smoothed.posterior

    def _tilts(self, smoothed, theta, omega, label, total):
        """Weights of the terms in every bag, and the label chances of every step under them."""
        starts = smoothed.starts
        sizes = np.diff(starts)
        coin = smoothed.posterior @ theta
        least = sizes * min(1.0, np.exp(omega))
        up = np.repeat(np.exp(-np.outer(np.exp(omega) / least, total.rates)), sizes, axis=0)
        down = np.repeat(np.exp(-np.outer(1.0 / least, total.rates)), sizes, axis=0)
        one, zero = coin[:, None] * up, (1.0 - coin)[:, None] * down
        keep = one + zero
        product = np.exp(np.add.reduceat(np.log(keep), starts[:-1], axis=0))
        factor = np.where(label, np.exp(omega), 1.0) / least
        return coin, least, factor[:, None] * total.amplitudes * product, one / keep, zero / keep

    def condition(self, smoothed, theta, omega, label, weight, precision):
        """Posteriors given the labels."""
        total = shortest_sum(float(omega), precision)
        if total is None:
            chain, steps = self._as_chain(smoothed)
            found = chain.condition_by_counts(steps, theta, omega, label, weight, precision)
            per_step = np.repeat(weight, np.diff(smoothed.starts))
            return found._replace(moves=per_step @ (found.ones + found.zeros))
        starts, sizes = smoothed.starts, np.diff(smoothed.starts)
        coin, least, amount, one, zero = self._tilts(smoothed, theta, omega, label, total)
        step_label = np.repeat(label, sizes)[:, None]
        marked = np.where(step_label, one, zero)
        count = np.add.reduceat(marked, starts[:-1], axis=0)
        evidence = (amount * count).sum(axis=1)
        others = np.maximum(np.repeat(count, sizes, axis=0) - marked, 0.0)
        share = np.repeat(amount / evidence[:, None], sizes, axis=0)
        positive_terms = share * one * (others + step_label)
        positive = positive_terms.sum(axis=1)
        negative = (share * zero * (others + ~step_label)).sum(axis=1)
        slope = np.add.reduceat(positive_terms @ total.rates, starts[:-1])
        ones = smoothed.posterior * theta * (positive / coin)[:, None]
        zeros = smoothed.posterior * (1.0 - theta) * (negative / (1.0 - coin))[:, None]
        time = np.repeat(weight, sizes) @ (ones + zeros)
        error = total.error + rounding(starts, len(theta))
        expected = slope * np.exp(omega) / least
        return Conditioned(ones, zeros, time, evidence, expected, error)

    def evidence(self, smoothed, theta, omega, label, precision):
        """P(Y = label | X) of every bag."""
        total = shortest_sum(float(omega), precision)
        if total is None:
            ones = np.ones(len(label))
            return self.condition(smoothed, theta, omega, label, ones, precision).evidence
        _, _, amount, one, zero = self._tilts(smoothed, theta, omega, label, total)
        marked = np.where(np.repeat(label, np.diff(smoothed.starts))[:, None], one, zero)
        return (amount * np.add.reduceat(marked, smoothed.starts[:-1], axis=0)).sum(axis=1)

    def _as_chain(self, smoothed):
        """The same model as a chain that forgets its state at every step."""
        chain = Chain(self.weights, np.tile(self.weights, (len(self.weights), 1)))
        with np.errstate(divide="ignore"):
            relative = np.log(smoothed.posterior) - np.log(self.weights)
        return chain, chain.smooth(np.maximum(relative, -700.0), smoothed.starts)

    # Learning ------------------------------------------------------------------------------------

    @classmethod
    def most_likely(cls, first, time):
        """The weights that maximise the expected log-likelihood plus the log prior."""
        time = time + cls.pseudo_count
        return cls(time / time.sum())

    def log_prior(self):
        return float(self.pseudo_count * np.log(self.weights).sum())
