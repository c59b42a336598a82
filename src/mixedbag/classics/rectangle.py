"""Axis-parallel rectangle: bounds on a few features, met by an instance of every positive bag."""

from functools import partial

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import ndtr, ndtri

from mixedbag._once import once
from mixedbag._parameters import at_least, between, whole
from mixedbag.base import BagClassifier
from mixedbag.classics._boxes import beyond, depth, discriminate
from mixedbag.classics._rows import distinct_bags, feature_moments
from mixedbag.pooling import bag_argmax, bag_max

__all__ = ["AxisParallelRectangle"]

_SEED_ROWS = 512


class AxisParallelRectangle(BagClassifier):
    """Iterated-discrimination rectangle (Dietterich, Lathrop and Lozano-Pérez, 1997).

    Assumes that an instance is positive when a few of its features lie within certain bounds, and a
    bag when one of its instances does. Three steps find the bounds:

    1. *grow* a small rectangle that holds one instance of every positive bag, adding the bag that
       enlarges it least and reconsidering earlier choices after each;
    2. *discriminate*: keep the features whose bounds shut out most negative instances, greedily;
       repeat 1 and 2 on the features kept until none is dropped;
    3. *expand* the bounds, which are too tight: with a Gaussian density around the chosen
       instances, a new positive instance falls outside with probability `epsilon`.

    The growth starts from each instance of the smallest positive bag, one of which must be
    positive, and the rectangle with the fewest errors on the training bags is kept. (The original
    has one start; it settles on the negative instances of positive bags where these are many.)

    Parameters
    ----------
    margin : float
        A feature shuts out a negative instance that is at least this far beyond its bounds, or if
        no other feature has it further out. In units of the features' common standard deviation.
    tau : float
        Width of the density: a Gaussian in the middle of the bounds has this share within them.
        Smaller values are wider.
    epsilon : float
        Probability that a feature of a new positive instance is out of bounds.
    max_iter : int
        Most rounds of growing and discriminating.

    Attributes
    ----------
    features_ : array
        Indices of the features that are bounded.
    lower_, upper_ : arrays
        Their bounds.
    n_iter_ : int
        Rounds until no feature was dropped.
    witness_ : array
        Row of the instance deepest inside the rectangle, one for each positive training bag.

    See Also
    --------
    EliminationRectangle : Shrinks a rectangle around all instances of positive bags.
    DiverseDensity : A soft form of the same idea: closeness to a point, feature by feature.
    OptimalBallClassifier : Balls around single instances; several of them vote.

    Notes
    -----
    The score of an instance is 1 at the centre of the rectangle, 0 on its border and negative
    outside. The sides of the rectangle are added up, so features must be comparable: leave them as
    they are when they share a unit, like the distances that describe a molecule's shape, and
    standardise them otherwise.

    Examples
    --------
    >>> from mixedbag.classics import AxisParallelRectangle
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=60, n_features=2, separation=8.0, random_state=0)
    >>> model = AxisParallelRectangle().fit(data.bags, data.y)
    >>> model.score(data.bags, data.y) > 0.9
    True
    """

    _rules = ("any",)
    _search_space = {"tau": [0.9, 0.99, 0.999]}
    _needs_scaling = True
    _parameter_constraints = {
        "margin": [at_least(0)],
        "tau": [between(0, 1, "neither")],
        "epsilon": [between(0, 1, "neither")],
        "max_iter": [whole(1)],
    }

    def __init__(self, margin=1.0, *, tau=0.999, epsilon=0.01, max_iter=20):
        self.margin = margin
        self.tau = tau
        self.epsilon = epsilon
        self.max_iter = max_iter

    def _fit(self, bags, sign, weight):
        unit = np.sqrt(feature_moments(bags, weight)[1].mean()) or 1.0
        positive, _, positive_weight = distinct_bags(
            bags[sign > 0], sign[sign > 0], weight[sign > 0]
        )
        negative, negative_weight = bags[sign < 0], weight[sign < 0]
        inside, outside = positive.instances / unit, negative.instances / unit
        outside_weight = negative.spread(negative_weight)
        seeds = _seeds(inside, positive.offsets)
        lowest = np.inf
        for k in self._iterations(len(seeds)):
            given = seeds[k], inside, positive.offsets, outside, outside_weight
            features, chosen, rounds = once(
                partial(self._search, *given), "rectangle", *given, self.margin, self.max_iter
            )
            lower, upper = _expand(chosen, positive_weight, self.tau, self.epsilon)
            rectangle = features, lower * unit, upper * unit
            correct = (bag_max(depth(bags.instances, *rectangle), bags.offsets) > 0) == (sign > 0)
            error = weight @ ~correct
            if error < lowest:
                lowest, self.n_iter_ = error, rounds
                self.features_, self.lower_, self.upper_ = rectangle
        self.witness_ = bag_argmax(self._score_instances(bags), bags.offsets)[sign > 0]

    def _search(self, seed, inside, offsets, outside, weight):
        """Grow and discriminate in turn; the features kept, a row a positive bag, the rounds."""
        features, rounds = np.arange(inside.shape[1]), 0
        while rounds < self.max_iter:
            rounds += 1
            rows = inside[:, features]
            chosen = rows[_grow(rows, offsets, seed)]
            kept = discriminate(beyond(chosen, outside[:, features]), weight, self.margin)
            if len(kept) in (0, len(features)):
                break
            features, chosen = features[kept], chosen[:, kept]
        return features, chosen, rounds

    def _score_instances(self, bags):
        return depth(bags.instances, self.features_, self.lower_, self.upper_)


def _seeds(rows, offsets):
    """All rows of one of the smallest bags: one of them must be positive.

    Of bags of equal size, the one with the row that has the least total distance to all bags.
    """
    sizes = np.diff(offsets)
    candidates = np.flatnonzero(np.repeat(sizes == sizes.min(), sizes))
    parts = []
    for start in range(0, len(candidates), _SEED_ROWS):
        distance = cdist(rows[candidates[start : start + _SEED_ROWS]], rows, "cityblock")
        parts.append(np.minimum.reduceat(distance, offsets[:-1], axis=1).sum(axis=1))
    total = np.concatenate(parts)
    bag = np.searchsorted(offsets, candidates[np.argmin(total)], side="right") - 1
    seeds = np.arange(offsets[bag], offsets[bag + 1])
    return seeds[np.argsort(total[np.searchsorted(candidates, seeds)], kind="stable")]


def _grow(rows, offsets, seed):
    """One row a bag, such that the rectangle around them is small: its sides' sum, greedily."""
    bag_of = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    chosen = np.full(len(offsets) - 1, -1)
    chosen[bag_of[seed]] = seed
    while True:
        lower, upper = _Bound(rows, chosen, 1), _Bound(rows, chosen, -1)
        size = (upper.value - lower.value).sum()
        # Only a bag that holds some side of the rectangle in place could make it smaller.
        holders = np.zeros(len(chosen), dtype=bool)
        holders[lower.holder], holders[upper.holder] = True, True
        best, smaller = _smallest_with(rows, bag_of, np.flatnonzero(holders[bag_of]), lower, upper)
        if smaller >= size - 1e-9 * max(size, 1.0):
            waiting = np.flatnonzero(chosen[bag_of] < 0)
            if len(waiting) == 0:
                return chosen
            best, _ = _smallest_with(rows, bag_of, waiting, lower, upper)
        chosen[bag_of[best]] = best


class _Bound:
    """Lower (`edge` 1) or upper (−1) bounds of the chosen rows, and what they are without a bag."""

    def __init__(self, rows, chosen, edge):
        bags = np.flatnonzero(chosen >= 0)
        held = edge * rows[chosen[bags]]
        order = np.argpartition(held, min(1, len(held) - 1), axis=0)[:2]
        first = np.take_along_axis(held, order, axis=0)
        self.holder = bags[order[0]]
        self.value = edge * first[0]
        self._runner_up = edge * (first[1] if len(first) > 1 else np.full(len(first[0]), np.inf))

    def without(self, bag):
        """Bounds by the bags other than each of these."""
        return np.where(bag[:, None] == self.holder, self._runner_up, self.value)


def _smallest_with(rows, bag_of, candidates, lower, upper):
    """The candidate that makes the smallest rectangle when it stands for its bag, and the size."""
    row, bag = rows[candidates], bag_of[candidates]
    sides = np.maximum(upper.without(bag), row) - np.minimum(lower.without(bag), row)
    sizes = sides.sum(axis=1)
    best = np.argmin(sizes)
    return candidates[best], sizes[best]


def _expand(chosen, weight, tau, epsilon):
    """Bounds that hold all but `epsilon` of a Gaussian density around the chosen rows."""
    lower, upper = chosen.min(axis=0), chosen.max(axis=0)
    width = np.maximum((upper - lower) / 2, 1e-3) / ndtri((1 + tau) / 2)
    share = weight / weight.sum()

    def bound(edge):
        """Where the mass below (edge −1) or above (edge 1) is half of `epsilon`, by bisection."""
        near = lower if edge < 0 else upper
        step_in, step_out = near - edge * (upper - lower), near + edge * 10 * width
        for _ in range(60):
            middle = (step_in + step_out) / 2
            mass = share @ ndtr(edge * (chosen - middle) / width)
            step_in = np.where(mass > epsilon / 2, middle, step_in)
            step_out = np.where(mass > epsilon / 2, step_out, middle)
        return step_out

    return np.minimum(lower, bound(-1)), np.maximum(upper, bound(1))
