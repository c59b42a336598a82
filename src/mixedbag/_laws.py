"""The laws by which instances are drawn about what is expected of them, each with its own scale.

A law has a variance of one instance by chance alone and a natural scale, on which instances may be
shifted; by such a shift, what is expected of an instance grows as fast as its variance.

Numbers that are found are whole: a draw is spread evenly over the half to either side, so that of a
number at a limit half its chance is inside (mid-P) and intervals of small numbers are not too wide.
What cannot be found, such as less than nothing, is cut off by `within` in the end, and not before.
"""

import numpy as np
from scipy.special import expit, logit
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

_CERTAIN = 1e-6  # chances are never surer, so that a shift moves them
_COUNTABLE = 1e15


class _Counted:
    """What chances and events share: chance alone says how far bags lie."""

    steadiest = 1.0  # bags are not taken to be steadier than chance would have it

    def unit(self, spread):
        """A shift that is neither small nor large."""
        return 1.0

    def times_chance(self, spread):
        """How many times as far as by chance bags lie."""
        return max(spread, self.steadiest)

    def untold(self, spread):
        """How far a shift may be (standard deviation) of which bags have shown nothing."""
        return 2.5 * self.unit(spread) / max(spread, 1.0) ** 2


class Chances(_Counted):
    """Zero or one with a chance of its own; shifts are of log-odds."""

    def variance(self, expected):
        return expected * (1.0 - expected)

    def natural(self, expected):
        return logit(np.clip(expected, _CERTAIN, 1.0 - _CERTAIN))

    def told(self, sums, size):
        """Sums of so many instances on the natural scale, as far as whole numbers can tell."""
        return self.natural((sums + 0.5) / (size + 1.0))

    def shifted(self, expected, by):
        return expit(self.natural(expected) + by)

    def found(self, expected, codes, n, bags, spread, rng):
        """A draw of how many of each code there are, where bags are `spread` times as wide.

        Single instances are no wider than if nothing were known of them. What is wider still is
        common to the instances of a bag: with variance ω n² in a part of n instances of it, so that
        it averages out over the bags of a group, and not within one bag.
        """
        mean = np.bincount(codes, expected, minlength=n)
        chance = np.bincount(codes, rng.random(len(expected)) < expected, minlength=n)
        by_chance = self.variance(expected).sum()
        unknown = len(expected) * self.variance(expected.mean())
        wide = max(spread, self.steadiest) ** 2
        alone = min(wide, max(unknown / max(by_chance, np.finfo(float).tiny), 1.0))
        omega = (wide - alone) * by_chance / np.sum(bags.sizes.astype(float) ** 2)
        cell, part = np.unique(bags.bag_of * n + codes, return_counts=True)
        squares = np.bincount(cell % n, part.astype(float) ** 2, minlength=n)
        common = np.sqrt(omega * squares) * rng.normal(size=n)
        drawn = mean + np.sqrt(alone) * (chance - mean) + common
        return drawn + rng.uniform(-0.5, 0.5, size=n)

    def within(self, sums, size):
        """Sums of so many instances, as far as they can be."""
        return np.clip(sums, 0.0, size)


class Events(_Counted):
    """A number of events with a rate of its own (Poisson); shifts are of the logarithm.

    A total may count them in a `unit` other than one: then shifts are by the unit as well, and what
    chance would have is not known but by how far bags lie.
    """

    def __init__(self, unit=1.0):
        self.counted_in = unit
        self.steadiest = 1.0 if unit == 1.0 else 0.01

    def unit(self, spread):
        return 1.0 / self.counted_in

    def variance(self, expected):
        return self.counted_in * expected

    def told(self, sums, size):
        """Sums by so much exposure on the natural scale, as far as whole numbers can tell."""
        return np.log((sums + 0.5 * self.counted_in) / size) / self.counted_in

    def shifted(self, expected, by):
        return expected * np.exp(by * self.counted_in)

    def found(self, expected, codes, n, bags, spread, rng):
        mean = np.bincount(codes, expected, minlength=n) / self.counted_in
        chance = rng.poisson(np.minimum(mean, _COUNTABLE))
        drawn = mean + max(spread, self.steadiest) * (chance - mean)
        return self.counted_in * (drawn + rng.uniform(-0.5, 0.5, size=n))

    def within(self, sums, size):
        return np.maximum(sums, 0.0)


class Amounts:
    """A value with an error of the same spread for all; shifts are of the value."""

    steadiest = 0.0

    def variance(self, expected):
        return np.ones_like(expected)

    def told(self, sums, size):
        return sums / size

    def shifted(self, expected, by):
        return expected + by

    def unit(self, spread):
        return spread

    def untold(self, spread):
        return 1.5 * spread  # what chance would have is not known but by the spread itself

    def found(self, expected, codes, n, bags, spread, rng):
        size, mean = np.bincount(codes, minlength=n), np.bincount(codes, expected, minlength=n)
        return mean + spread * np.sqrt(size) * rng.normal(size=n)

    def within(self, sums, size):
        return sums


def law_of(model):
    """The law of what a model expects of instances."""
    learner = last_step(model)
    if tells_probabilities(learner):
        return Chances()
    if getattr(learner, "_of_events", False):
        return Events(getattr(learner, "unit_", 1.0))  # models of 0.1.0 count in ones
    return Amounts()


def tells_probabilities(model):
    own = getattr(model, "_own_proba", True)  # calibration would cost further fits a replicate
    return is_classifier(model) and own and hasattr(model, "predict_proba_instances")


def expected(model, bags):
    """Probability of the last class, or the value, of every instance."""
    model, bags = _at_last_step(model, bags)
    if tells_probabilities(model):
        return model.predict_proba_instances(bags)[:, -1]
    told = model.predict_instances(bags)
    return (told == model.classes_[-1]).astype(float) if is_classifier(model) else told


def exposures(model, bags):
    """How much each instance counts in a rate: its exposure, of a model that knows one, else 1."""
    model, bags = _at_last_step(model, bags)
    told = getattr(model, "_exposures", None)
    return np.ones(bags.n_instances) if told is None else told(bags)


def _at_last_step(model, bags):
    """The learner of a pipeline, and bags as it gets them."""
    if isinstance(model, Pipeline):
        for _, step in model.steps[:-1]:
            bags = step.transform(bags)
    return last_step(model), bags


def last_step(model):
    return model.steps[-1][1] if isinstance(model, Pipeline) else model
