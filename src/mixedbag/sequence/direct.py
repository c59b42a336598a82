"""Fit the labels' parameters (θ, ω) straight to log P(Y | X).

EM moves θ by O(1/n) an iteration in bags of n steps: one label says little of any one step. The same passes give the gradient of the
observed log-likelihood (Fisher's identity), which a quasi-Newton method follows much faster. Alternating both is the ECME
algorithm, so the posterior density still never falls.
"""

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from mixedbag.sequence._blocks import sum_blocks
from mixedbag.sequence.model import BETA, OMEGA_SPREAD, THETA_BOUNDS


def bag_gradients(bags, sign, model):
    """log P(Y | X) and its gradient in (logit θ, ω), a row a bag."""
    rows, starts = model.read(bags)
    smoothed = model.smooth(rows, starts)
    label = sign > 0
    found = model.dynamics.condition(
        smoothed, model.theta, model.omega, label, np.ones(len(bags)), model.precision
    )
    steps = found.ones * (1.0 - model.theta) - found.zeros * model.theta
    in_theta = np.add.reduceat(steps, starts[:-1], axis=0)
    return np.column_stack([np.log(found.evidence), in_theta, label - found.expected])


def label_gradient(bags, sign, weight, model):
    """The weighted sum of :func:`bag_gradients` over a block of bags."""
    return weight @ bag_gradients(bags, sign, model)


def with_labels(model, parameters):
    """The model with (logit θ, ω) = `parameters`."""
    return replace(model, theta=expit(parameters[:-1]), omega=float(parameters[-1]))


def fit_labels(bags, sign, weight, model, max_iter, n_jobs=None):
    """The model with (θ, ω) that maximise log P(Y | X) plus their log prior, all else fixed."""

    def negative(parameters):
        candidate = with_labels(model, parameters)
        theta, omega = candidate.theta, candidate.omega
        total = sum_blocks(label_gradient, bags, (sign, weight), candidate, n_jobs=n_jobs)
        total[0] += (BETA - 1) * (np.log(theta) + np.log1p(-theta)).sum()
        total[0] -= 0.5 * (omega / OMEGA_SPREAD) ** 2
        total[1:-1] += (BETA - 1) * (1 - 2 * theta)
        total[-1] -= omega / OMEGA_SPREAD**2
        return -total[0], -total[1:]

    start = np.append(logit(model.theta), model.omega)
    bounds = [tuple(logit(THETA_BOUNDS))] * len(model.theta) + [(None, None)]
    found = minimize(
        negative, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": max_iter}
    )
    return with_labels(model, found.x)
