"""Labels and linear machine in turn, on blocks of bags: labels stay where the bags are."""

from dataclasses import dataclass

import numpy as np

from mixedbag._solvers.interior_point import Box, solve_boxes
from mixedbag._wide import times
from mixedbag.aggregate._bag_totals import Totals
from mixedbag.aggregate._count_program import assign_labels
from mixedbag.bags import Bags
from mixedbag.engines.sums import Sums


@dataclass(frozen=True)
class Labels(Sums):
    """How many labels are positive, how many have changed, and what the bags pay for them."""

    positive: int
    negative: int
    changed: int
    penalty: float


@dataclass(frozen=True)
class Labelling:
    """A block's bags with the labels of their instances."""

    bags: Bags
    positives: np.ndarray
    weight: np.ndarray
    labels: np.ndarray
    changed: int = 0
    penalty: float = 0.0

    @classmethod
    def ranked(cls, block, w):
        """The first labels: only ranks mean something, so counts are met at any price."""
        bags, positives = block.bags, block.target[:, 1]
        labels, _ = assign_labels(times(bags.instances, w), bags.offsets, positives, 1.0, np.inf)
        return cls(bags, positives, block.weight, labels)

    def suited(self, w, intercept, C, D):
        """The labels that suit a machine best."""
        scores = times(self.bags.instances, w) + intercept
        labels, penalty = assign_labels(scores, self.bags.offsets, self.positives, C, D)
        changed = int(np.count_nonzero(labels != self.labels))
        return Labelling(
            self.bags, self.positives, self.weight, labels, changed, self.weight @ penalty
        )

    def summary(self):
        positive = int(np.count_nonzero(self.labels))
        return Labels(positive, len(self.labels) - positive, self.changed, float(self.penalty))

    def box(self, C):
        """The dual of the hinge loss for these labels."""
        sign = np.where(self.labels, 1.0, -1.0)
        reach = sign * C * self.bags.spread(self.weight)
        return Box.of(self.bags.instances, sign, np.minimum(reach, 0.0), np.maximum(reach, 0.0))


def alternate(blocks, C, D, iterations, better):
    """Weights, intercept, and the objective after each alternation, until none gains `better`."""
    start = blocks.sum(_totals).ridge(C)
    labelling = blocks.map(Labelling.ranked, start)
    labels, history = labelling.sum(Labelling.summary), []
    for _ in iterations:
        if labels.positive and labels.negative:
            _, w, intercept, _, _ = solve_boxes(labelling.map(Labelling.box, C))
        else:  # everything on one side costs nothing
            w, intercept = 0.0 * start, 1.0 if labels.positive else -1.0
        labelling = labelling.map(Labelling.suited, w, intercept, C, D)
        labels = labelling.sum(Labelling.summary)
        history.append(0.5 * w @ w + labels.penalty)
        if not labels.changed or history[-1] > min(history[:-1], default=np.inf) * (1 - better):
            break
    return w, intercept, history


def _totals(block):
    return Totals.of(block.bags, block.target[:, 1], block.weight)
