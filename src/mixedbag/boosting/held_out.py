"""Early stopping: bags held out of training, and their loss round after round."""

import numpy as np

from mixedbag.boosting.state import State
from mixedbag.engines.local import Labelled


def hold_out(labelled, share, seed, held_out):
    """The bags of a block that are held out, or the others: the same `share` of both classes."""
    if share == 0.0:
        return labelled
    rng = np.random.RandomState(seed)
    chosen = np.zeros(len(labelled.bags), dtype=bool)
    for sign in (-1.0, 1.0):
        rows = rng.permutation(np.flatnonzero(labelled.target == sign))
        chosen[rows[: round(share * len(rows))]] = True
    keep = chosen if held_out else ~chosen
    return Labelled(labelled.bags[keep], labelled.target[keep], labelled.weight[keep])


class Watch:
    """The mean loss of held-out bags after each weak learner."""

    def __init__(self, blocks, pooling, loss, start):
        self.blocks = blocks.map(_watched, pooling, loss, start)
        self.losses, self.best_round = [], 0
        self.least = self._mean_loss()

    def see(self, weak):
        """Add a weak learner; how many rounds have passed since the best one."""
        self.blocks = self.blocks.map(_with_weak, weak)
        self.losses.append(self._mean_loss())
        if self.losses[-1] < self.least:
            self.least, self.best_round = self.losses[-1], len(self.losses)
        return len(self.losses) - self.best_round

    def _mean_loss(self):
        total, weight = self.blocks.sum(_loss_and_weight)
        if weight == 0:
            raise ValueError("validation_fraction leaves no bag to hold out")
        return total / weight


def _watched(labelled, pooling, loss, start):
    bags, sign, weight = labelled
    return bags.instances, State(bags.offsets, sign, weight, pooling, loss).added(start)


def _with_weak(block, weak):
    instances, state = block
    return instances, state.added(weak.score(instances))


def _loss_and_weight(block):
    _, state = block
    if len(state.sign) == 0:
        return np.zeros(2)
    return state.derived(0.0).loss_and_weight()
