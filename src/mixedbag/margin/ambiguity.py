"""What a positive bag leaves open: which instance is the witness, or which instances are positive.

An ambiguity turns a choice (an array) into the slots of a `Problem`, and scores into a choice.
"""

import numpy as np

from mixedbag.pooling import bag_argmax, bag_sum


class Witnesses:
    """One instance stands for each positive bag; every instance of a negative bag is negative."""

    def __init__(self, bags, sign):
        self.bags = bags
        self.positive = np.flatnonzero(sign > 0)
        self.negative_rows = np.flatnonzero(bags.spread(sign) < 0)
        self.slot_bags = np.concatenate([self.positive, bags.bag_of[self.negative_rows]])
        self.signs = np.where(np.arange(len(self.slot_bags)) < len(self.positive), 1.0, -1.0)

    def start(self):
        """The centroids, which are numbered after the instances."""
        return self.bags.n_instances + np.arange(len(self.positive))

    def slots(self, choice):
        """Rows and signs."""
        return np.concatenate([choice, self.negative_rows]), self.signs

    def choose(self, scores):
        """The best choice for given scores: each positive bag's largest."""
        return bag_argmax(scores, self.bags.offsets)[self.positive]

    def change_one(self, before, after, scores):
        """`after` for the bag that gains most, `before` for the others."""
        most = np.argmax(scores[after] - scores[before])
        return np.where(np.arange(len(before)) == most, after, before)


class Labels:
    """Every instance of a positive bag has a label, and at least one is positive."""

    def __init__(self, bags, sign):
        self.bags = bags
        self.positive = np.flatnonzero(sign > 0)
        self.slot_bags = bags.bag_of
        self.rows = np.arange(bags.n_instances)
        self.bag_sign = bags.spread(sign)

    def start(self):
        """All instances take their bag's label."""
        return self.bag_sign

    def slots(self, choice):
        """Rows and signs."""
        return self.rows, choice

    def choose(self, scores):
        """The best choice for given scores: their sign, and a positive for the best of each bag."""
        labels = np.where((self.bag_sign > 0) & (scores > 0), 1.0, -1.0)
        labels[bag_argmax(scores, self.bags.offsets)[self.positive]] = 1.0
        return labels

    def change_one(self, before, after, scores):
        """`after` for the bag that gains most, `before` for the others."""
        gains = bag_sum(np.where(before != after, np.abs(scores), 0.0), self.bags.offsets)
        return np.where(self.slot_bags == np.argmax(gains), after, before)
