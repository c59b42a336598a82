"""Factors of classes: bags of a label count so many times, whatever else their weight is."""

import copy
from typing import Any

from sklearn.base import clone


class ClassWeights:
    """For learners with a parameter ``class_weight``: a dict of factors goes into the weights.

    What "balanced" means is the learner's own business.
    """

    class_weight: Any

    def _learn(self, bags, y, weight):
        if isinstance(self.class_weight, dict):
            weight = weight * [self.class_weight.get(label, 1.0) for label in y.tolist()]
        super()._learn(bags, y, weight)  # type: ignore[misc]

    def _learn_blocks(self, source):
        if isinstance(self.class_weight, dict):
            source = copy.copy(source)
            source.blocks = source.blocks.map(_weighted_by_label, self.class_weight)
        super()._learn_blocks(source)  # type: ignore[misc]

    def _one_against_rest(self):
        learner = clone(self)
        if isinstance(self.class_weight, dict):  # already in the weights
            learner.set_params(class_weight=None)
        return learner


def _weighted_by_label(block, class_weight):
    """The block with its bags' weights times the factors of their labels."""
    factor = [class_weight.get(label, 1.0) for label in block.target.tolist()]
    return block._replace(weight=block.weight * factor)
