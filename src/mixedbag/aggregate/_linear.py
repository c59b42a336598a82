"""Linear models over blocks of bags: scores, gradients, and the search for weights."""

import numpy as np
from scipy.optimize import minimize

from mixedbag._weight_posterior import WeightPosterior
from mixedbag._wide import times, transposed_times
from mixedbag.engines.local import Labelled


def minimise(learner, blocks, start, block_loss, *args, minus=0.0):
    """``½‖W‖² + C Σ loss − C ⟨W, minus⟩`` by L-BFGS; the last row of W, the intercepts, is free.

    Notes ``objective_`` and ``n_iter_`` on the learner, whose ``C``, ``tol`` and ``max_iter`` say
    how far to go.
    """
    penalised = np.ones_like(start)
    penalised[-1] = 0.0

    def objective(flat):
        weights = flat.reshape(start.shape)
        total = learner.C * blocks.sum(block_loss, weights, *args)
        shrunk = penalised * weights
        value = (
            0.5 * float((shrunk**2).sum()) + total[0] - learner.C * float((weights * minus).sum())
        )
        return value, (shrunk - learner.C * minus).ravel() + total[1:]

    history = [objective(start.ravel())[0]]
    found = minimize(
        objective,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=lambda intermediate_result: history.append(intermediate_result.fun),
        options={
            "maxiter": learner.max_iter,
            "maxfun": 15 * learner.max_iter,
            "gtol": learner.tol * learner.C * blocks.sum(Labelled.total_weight),
            "ftol": 16 * np.finfo(float).eps,
            "maxcor": 20,
        },
    )
    learner.objective_ = np.array(history)
    learner.n_iter_ = max(1, int(found.nit))
    return found.x.reshape(start.shape)


def posterior(learner, blocks, weights, block_loss, *args):
    """The posterior of the weights, with its precision at them.

    Divided by ``C`` the objective is minus a log-likelihood and a normal prior of variance ``C``;
    the curvature of the former at the minimum is had by central differences of its gradient.
    """

    def loss(flat):
        return blocks.sum(block_loss, flat.reshape(weights.shape), *args)

    mode = weights.ravel()
    steps = 1e-4 * np.maximum(1.0, np.abs(mode))
    moves = np.diag(steps)
    curvature = np.array(
        [(loss(mode + e) - loss(mode - e))[1:] / (2 * h) for e, h in zip(moves, steps)]
    )
    penalised = np.ones_like(weights)
    penalised[-1] = 0.0
    told, prior = (curvature + curvature.T) / 2, np.diag(penalised.ravel()) / learner.C
    return WeightPosterior(mode, told, prior, lambda flat: -loss(flat)[0])


def linear_scores(X, weights):
    """``X W + b`` in double precision, without a copy of single-precision data."""
    return times(X, weights[:-1]) + weights[-1]


def with_gradient(X, loss, by_z):
    """A block's loss and, behind it, the gradient by weights and intercepts."""
    return np.concatenate([[loss], transposed_times(X, by_z).ravel(), by_z.sum(axis=0)])
