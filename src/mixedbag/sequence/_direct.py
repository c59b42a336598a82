"""Fit the labels' parameters (θ, ω) straight to log P(Y | X).

EM moves θ by O(1/n) an iteration in bags of n steps: one label says little of any one step. The
same passes give the gradient of the observed log-likelihood (Fisher's identity), which a
quasi-Newton method follows much faster. Alternating both is the ECME algorithm, so the posterior
density still never falls.
"""

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from mixedbag.sequence._model import OMEGA_SPREAD, THETA_BOUNDS
from mixedbag.sequence._parts import in_parts


def bag_gradients(block, model):
    """log P(Y | X) and its gradient in (logit θ, ω), a row a bag."""
    rows, starts = model.read(block.bags)
    smoothed = model.smooth(rows, starts)
    label = block.target > 0
    found = model.dynamics.condition(
        smoothed, model.theta, model.omega, label, block.weight, model.precision
    )
    steps = found.ones * (1.0 - model.theta) - found.zeros * model.theta
    in_theta = np.add.reduceat(steps, starts[:-1], axis=0)
    return np.column_stack([np.log(found.evidence), in_theta, label - found.expected])


@in_parts
def label_gradient(block, model):
    """The weighted sum of :func:`bag_gradients` over a block of bags."""
    return block.weight @ bag_gradients(block, model)


def label_parameters(model):
    """(logit θ, ω) in one vector."""
    return np.append(logit(model.theta), model.omega)


def with_labels(model, parameters):
    """The model with (logit θ, ω) = `parameters`."""
    return replace(model, theta=expit(parameters[:-1]), omega=float(parameters[-1]))


def beta_and_normal(model):
    """Log prior of (θ, ω) and its gradient in (logit θ, ω)."""
    ones, zeros = model.prior_steps
    in_theta = ones * (1 - model.theta) - zeros * model.theta
    return model.log_prior_labels(), np.append(in_theta, -model.omega / OMEGA_SPREAD**2)


def fit_labels(blocks, model, max_iter, log_prior=beta_and_normal):
    """The model with (θ, ω) that maximise log P(Y | X) plus their log prior, all else fixed."""

    def negative(parameters):
        candidate = with_labels(model, parameters)
        total = blocks.sum(label_gradient, candidate)
        value, gradient = log_prior(candidate)
        return -(total[0] + value), -(total[1:] + gradient)

    bounds = [tuple(logit(THETA_BOUNDS))] * len(model.theta)
    bounds += [(None, None) if model.learns_omega else (model.omega, model.omega)]
    found = minimize(
        negative,
        label_parameters(model),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": max_iter, "ftol": 1e-6},
    )
    return with_labels(model, found.x)
