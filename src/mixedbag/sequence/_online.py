"""Learning from a stream: online EM (Cappé) for the states, a Gaussian filter for the labels."""

from dataclasses import dataclass

import numpy as np

from mixedbag.sequence._direct import bag_gradients, fit_labels, label_parameters
from mixedbag.sequence._model import (
    OMEGA_SPREAD,
    Statistics,
    block_statistics,
    maximise_dynamics,
)

FORGETTING = 0.7  # between 1/2 and 1: how the share of a new batch falls as the stream goes on
ITERATIONS = 10


@dataclass(frozen=True)
class Stream:
    """What is kept of the bags seen so far; its size does not depend on their number.

    ``statistics`` are a running average a bag, ``weight`` is that of all bags, ``information`` the
    precision matrix of (logit θ, ω).
    """

    statistics: Statistics
    weight: float
    information: np.ndarray


def open_stream(blocks, model):
    """The stream after its first batch, which `model` was fitted to."""
    batch = blocks.sum(block_statistics, model)
    prior = sum(model.prior_steps) * model.theta * (1.0 - model.theta)
    information = np.diag(np.append(prior, OMEGA_SPREAD**-2))
    information += blocks.sum(outer_gradients, model)
    return Stream(batch * (1.0 / batch.weight), batch.weight, information)


def follow(blocks, model, stream):
    """Model and stream after one more batch.

    The states take an EM step on statistics that forget slowly. The labels maximise the batch's own
    log P(Y | X) under a normal prior that holds what earlier batches said of them.
    """
    batch = blocks.sum(block_statistics, model)
    weight = stream.weight + batch.weight
    share = (batch.weight / weight) ** FORGETTING
    average = stream.statistics * (1.0 - share) + batch * (share / batch.weight)
    model = maximise_dynamics(average * weight, model)
    model = fit_labels(blocks, model, ITERATIONS, _remember(model, stream.information))
    information = stream.information + blocks.sum(outer_gradients, model)
    return model, Stream(average, weight, information)


def outer_gradients(block, model):
    """Weighted sum of the outer products of the bags' gradients: the information they carry."""
    gradients = bag_gradients(block, model)[:, 1:]
    return (gradients * block.weight[:, None]).T @ gradients


def _remember(model, information):
    before = label_parameters(model)

    def log_prior(candidate):
        away = label_parameters(candidate) - before
        pull = information @ away
        return -0.5 * away @ pull, -pull

    return log_prior
