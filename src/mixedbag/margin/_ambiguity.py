"""What a positive bag leaves open: which instance is the witness, or which instances are positive.

An ambiguity turns a choice (an array) into the slots of a `Problem`, and scores into a choice.
"""

import hashlib
from abc import ABC, abstractmethod

import numpy as np
from scipy import sparse

from mixedbag._solvers.hinge import Problem
from mixedbag._wide import times
from mixedbag.pooling import bag_argmax, bag_sum


class Ambiguity(ABC):
    """Base: every slot belongs to a bag, `slot_bags`, and so to its side and its weight."""

    slot_bags: np.ndarray

    def __init__(self, bags, sign, weight):
        self.bags = bags
        self.sign = sign
        self.weight = weight
        self.positive = np.flatnonzero(sign > 0)

    @abstractmethod
    def start(self):
        """The first choice."""

    @abstractmethod
    def slots(self, choice):
        """Rows and signs."""

    @abstractmethod
    def choose(self, scores):
        """The best choice for given scores."""

    @abstractmethod
    def change_one(self, before, after, scores):
        """`after` for the bag that gains most, `before` for the others."""

    def costs(self, prices):
        """The price of each slot's loss: that of its side times the weight of its bag."""
        return (np.where(self.sign > 0, prices[1], prices[0]) * self.weight)[self.slot_bags]

    def balanced(self, cost):
        """The costs, scaled so that either side has half of the total."""
        positive = self.sign[self.slot_bags] > 0
        share = np.where(positive, cost[positive].sum(), cost[~positive].sum())
        return cost * (0.5 * cost.sum() / share)

    def problem(self, choice, cost, squared):
        """The problem of a machine for this choice."""
        rows, sign = self.slots(choice)
        return Problem(rows, sign, cost, squared)

    def random_choice(self, rng):
        """The best choice for a random direction, half of the positive bags' instances above zero.

        A direction, rather than random instances, because the choices it leads to are consistent:
        some linear function prefers them all. And it does not depend on the order of the instances.
        """
        scores = times(self.bags.instances, rng.standard_normal(self.bags.n_features))
        return self.choose(scores - np.median(scores[self.bags.spread(self.sign) > 0]))

    def averages(self):
        """The matrix whose products with the instances are rows numbered after them: none."""
        return sparse.csr_array((0, self.bags.n_instances))

    @staticmethod
    def fingerprint(choice):
        return hashlib.sha256(choice.tobytes()).digest()


class Witnesses(Ambiguity):
    """One instance stands for each positive bag; every instance of a negative bag is negative."""

    def __init__(self, bags, sign, weight):
        super().__init__(bags, sign, weight)
        self.negative_rows = np.flatnonzero(bags.spread(sign) < 0)
        self.slot_bags = np.concatenate([self.positive, bags.bag_of[self.negative_rows]])
        self.signs = np.where(np.arange(len(self.slot_bags)) < len(self.positive), 1.0, -1.0)

    def start(self):
        """The centroids, which are numbered after the instances."""
        return self.bags.n_instances + np.arange(len(self.positive))

    def averages(self):
        """That of the centroids of the positive bags."""
        rows = np.flatnonzero(self.bags.spread(self.sign) > 0)
        sizes = self.bags.sizes[self.positive]
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        shape = len(self.positive), self.bags.n_instances
        return sparse.csr_array((np.repeat(1.0 / sizes, sizes), rows, indptr), shape=shape)

    def slots(self, choice):
        return np.concatenate([choice, self.negative_rows]), self.signs

    def choose(self, scores):
        """The best choice for given scores: each positive bag's largest."""
        return bag_argmax(scores, self.bags.offsets)[self.positive]

    def change_one(self, before, after, scores):
        most = np.argmax(scores[after] - scores[before])
        return np.where(np.arange(len(before)) == most, after, before)


class Labels(Ambiguity):
    """Every instance of a positive bag has a label, and at least one is positive."""

    def __init__(self, bags, sign, weight):
        super().__init__(bags, sign, weight)
        self.slot_bags = bags.bag_of
        self.rows = np.arange(bags.n_instances)
        self.bag_sign = bags.spread(sign)

    def start(self):
        """All instances take their bag's label."""
        return self.bag_sign

    def slots(self, choice):
        return self.rows, choice

    def choose(self, scores):
        """The best choice for given scores: their sign, and a positive for the best of each bag."""
        labels = np.where((self.bag_sign > 0) & (scores > 0), 1.0, -1.0)
        labels[bag_argmax(scores, self.bags.offsets)[self.positive]] = 1.0
        return labels

    def change_one(self, before, after, scores):
        gains = bag_sum(np.where(before != after, np.abs(scores), 0.0), self.bags.offsets)
        return np.where(self.slot_bags == np.argmax(gains), after, before)
