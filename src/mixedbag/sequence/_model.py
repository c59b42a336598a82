"""The whole generative model, its sufficient statistics, and the two halves of an EM step."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.special import expit, logit

from mixedbag.sequence._levels import most_likely_emission
from mixedbag.sequence._parts import in_parts
from mixedbag.sequence._regression import embed, second_moments, unseen

# Priors of the labels. θ: as if each state had been seen for a few steps with the labels of the
# average bag (a Beta prior with that mode). ω, where it is learned: a normal about 0, where the
# link is the plain share of positive steps.
PRIOR_STEPS = 4.0
OMEGA_SPREAD = 1.0
# A state that is surely positive or surely negative could never be reconsidered.
THETA_BOUNDS = (1e-3, 1.0 - 1e-3)


@dataclass(frozen=True)
class Model:
    """Dynamics of the states, their autoregressions, and how they make labels.

    ``theta[j]`` is the chance that a step in state j is positive, ``omega`` the steepness of the
    link to the bag label. Channels are read as ``(x − center) / scale``; ``noise`` is the prior's
    noise variance of each, ``rate`` the share of positive bags.
    """

    dynamics: Any
    emission: Any  # an `Autoregression`, or `Levelled`, once the states are found
    theta: np.ndarray
    omega: float
    order: int
    center: np.ndarray
    scale: np.ndarray
    noise: np.ndarray
    rate: float
    precision: float
    level: float = 0.0  # the power of the states' levels in their densities
    learns_omega: bool = True

    def read(self, bags):
        """The rows of all steps with a full past, and where each bag starts."""
        rows = embed(bags.instances, bags.offsets, self.order, self.center, self.scale)
        return rows, bags.offsets - self.order * np.arange(len(bags.offsets))

    def smooth(self, rows, starts):
        """P(Z_t | X) and log P(X) of the steps; a step with a missing value tells no state."""
        log_density = self.emission.log_density(rows)
        log_density[unseen(rows, len(self.center))] = 0.0
        return self.dynamics.smooth(log_density, starts)

    @property
    def prior_steps(self):
        """Positive and negative steps that the prior adds to every state (ζ₁ − 1 and ζ₂ − 1).

        Under a known steep link one step weighs e^|ω|: there are as many fewer.
        """
        steps = PRIOR_STEPS if self.learns_omega else PRIOR_STEPS * np.exp(-abs(self.omega))
        return steps * self.rate, steps * (1.0 - self.rate)

    def theta_of_labels(self, ones, zeros):
        """θ by which bags of one state have the labels that the state's time has, by ω's link."""
        theta = expit(logit(self.most_likely_theta(ones, zeros)) - self.omega)
        return np.clip(theta, *THETA_BOUNDS)

    def log_prior_labels(self):
        """Log density of (θ, ω) under the prior, up to a constant."""
        ones, zeros = self.prior_steps
        theta = ones * np.log(self.theta).sum() + zeros * np.log1p(-self.theta).sum()
        return theta - 0.5 * (self.omega / OMEGA_SPREAD) ** 2

    def log_prior_states(self):
        """Log density of everything else."""
        return self.dynamics.log_prior() + self.emission.log_prior(self.noise)

    def most_likely_theta(self, ones, zeros):
        """The mode of θ after seeing so many positive and negative steps of each state."""
        more, less = self.prior_steps
        return np.clip((ones + more) / (ones + more + zeros + less), *THETA_BOUNDS)


@dataclass(frozen=True)
class Statistics:
    """Expected sufficient statistics of a block of whole bags; those of two blocks add up."""

    weight: float  # of the bags
    log_likelihood: float  # weighted log P(X)
    log_evidence: float  # weighted log P(Y | X)
    first: np.ndarray  # time spent in each state at the first step
    moves: np.ndarray  # transitions (or, without dynamics, time spent)
    moments: np.ndarray  # second moments of (past, 1, present), a matrix a state
    ones: np.ndarray  # positive steps of each state
    zeros: np.ndarray  # negative steps
    slope: float  # of the expected complete log-likelihood in ω
    error: float  # the largest certified relative error of P(Y | X)

    def __add__(self, other):
        values = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        return Statistics(**values | {"error": max(self.error, other.error)})

    def __mul__(self, factor):
        values = {f.name: getattr(self, f.name) * factor for f in fields(self)}
        return Statistics(**values | {"error": self.error})

    def objective(self, model):
        """Log posterior density of the parameters that these statistics were taken under."""
        log_prior = model.log_prior_states() + model.log_prior_labels()
        return self.log_likelihood + self.log_evidence + log_prior


@in_parts
def block_statistics(block, model):
    """The E-step on a block of whole bags with targets ±1."""
    rows, starts = model.read(block.bags)
    smoothed = model.smooth(rows, starts)
    label, weight = block.target > 0, block.weight
    found = model.dynamics.condition(
        smoothed, model.theta, model.omega, label, weight, model.precision
    )
    per_step = np.repeat(weight, np.diff(starts))
    posterior = (found.ones + found.zeros) * per_step[:, None]
    return Statistics(
        weight=weight.sum(),
        log_likelihood=weight @ smoothed.log_likelihood,
        log_evidence=weight @ np.log(found.evidence),
        first=posterior[starts[:-1]].sum(axis=0),
        moves=found.moves,
        moments=second_moments(rows, posterior),
        ones=per_step @ found.ones,
        zeros=per_step @ found.zeros,
        slope=weight @ (label - found.expected),
        error=found.error.max(),
    )


@in_parts
def unlabelled_statistics(block, model):
    """The E-step without labels; ``ones``, ``zeros`` split each state's time by bag label."""
    rows, starts = model.read(block.bags)
    smoothed = model.smooth(rows, starts)
    weight = block.weight
    per_step = np.repeat(weight, np.diff(starts))
    posterior = smoothed.posterior * per_step[:, None]
    positive = np.repeat(block.target > 0, np.diff(starts))
    return Statistics(
        weight=weight.sum(),
        log_likelihood=weight @ smoothed.log_likelihood,
        log_evidence=0.0,
        first=posterior[starts[:-1]].sum(axis=0),
        moves=model.dynamics.unconditional_moves(smoothed, weight),
        moments=second_moments(rows, posterior),
        ones=posterior[positive].sum(axis=0),
        zeros=posterior[~positive].sum(axis=0),
        slope=0.0,
        error=0.0,
    )


def maximise_dynamics(statistics, model):
    """The M-step for everything but the labels."""
    return replace(
        model,
        dynamics=type(model.dynamics).most_likely(statistics.first, statistics.moves),
        emission=most_likely_emission(statistics.moments, model.noise, model.level),
    )


def maximise(statistics, model):
    """The M-step. Every part raises its own term of the expected log posterior.

    The term of ω is concave with curvature at most weight/4, so the Newton step with that bound in
    place of the curvature always rises; it needs no line search.
    """
    curvature = statistics.weight / 4 + OMEGA_SPREAD**-2
    step = (statistics.slope - model.omega / OMEGA_SPREAD**2) / curvature
    step *= model.learns_omega
    return replace(
        maximise_dynamics(statistics, model),
        theta=model.most_likely_theta(statistics.ones, statistics.zeros),
        omega=float(model.omega + step),
    )
