"""What the sequence classifiers ask of a block of bags: its lengths, its scores, its states."""

import numpy as np

from mixedbag.bags import Bags
from mixedbag.engines import Labelled
from mixedbag.exceptions import InputError
from mixedbag.sequence._model import Model


def refuse_short_bags(bags: Bags, order: int) -> None:
    """Raise a `ValueError` that names the first bag without a single full past."""
    short = bags.sizes <= order
    if short.any():
        i = int(np.argmax(short))
        raise InputError(
            f"{bags.name(i)} has {bags.sizes[i]} samples; an autoregression of order {order} needs "
            f"at least {order + 1}"
        )


def count_long_enough(block: Labelled, order: int) -> int:
    """Number of bags of a block, after checking their lengths."""
    refuse_short_bags(block.bags, order)
    return len(block.bags)


def block_log_odds(block: Labelled, model: Model) -> np.ndarray:
    """log P(Y = 1 | X) − log P(Y = 0 | X) of every bag of a block."""
    rows, starts = model.read(block.bags)
    smoothed = model.smooth(rows, starts)
    log_evidence = [
        np.log(
            model.dynamics.evidence(
                smoothed, model.theta, model.omega, np.full(len(block.bags), label), model.precision
            )
        )
        for label in (True, False)
    ]
    return log_evidence[0] - log_evidence[1]


def block_posterior(block: Labelled, model: Model) -> np.ndarray:
    """P(Z_t | X) at every sample of a block; the first of a bag repeat the first that is known."""
    bags = block.bags
    rows, starts = model.read(bags)
    posterior = model.smooth(rows, starts).posterior
    position = np.arange(bags.n_instances) - bags.spread(bags.offsets[:-1])
    return posterior[bags.spread(starts[:-1]) + np.maximum(position - model.order, 0)]
