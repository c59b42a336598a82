"""Rectangles by elimination: all positive bags at first, then negative instances are cut off."""

import numpy as np

from mixedbag._once import once
from mixedbag._parameters import above, at_least, one_of
from mixedbag.base import BagClassifier
from mixedbag.classics._boxes import beyond, depth, discriminate
from mixedbag.classics._rows import feature_moments
from mixedbag.pooling import bag_argmax, bag_max

__all__ = ["EliminationRectangle"]

# What lies on a bound is inside, and where the bounds of a feature meet they have a width: bounds
# are this much wider, in standard deviations.
_HAIR = 1e-6


class EliminationRectangle(BagClassifier):
    """Outside-in rectangles of the MUSK paper (Dietterich, Lathrop and Lozano-Pérez, 1997).

    Assumes that an instance is positive when a few of its features lie within certain bounds, and a
    bag when one of its instances does. Three steps find the bounds:

    1. the rectangle around *all* instances of positive bags;
    2. *eliminate* negative instances: of those inside, the one that is cheapest to exclude is cut
       off by moving one bound, again and again. The price is what the cut takes with it of positive
       bags; a cut that leaves a positive bag without any instance is not allowed;
    3. *select features*: keep those whose bounds shut out most negative instances, greedily.

    Parameters
    ----------
    cost : {"density", "count", "none"}, default="density"
        The price of an instance that is cut off: with "density" how dense the instances of positive
        bags are there, along the feature (``GFS elim-kde``), so that outliers are cheap; with
        "count" the same for all (``GFS elim-count``); "none" leaves step 2 out (``GFS
        all-positive``).
    width : float, default=0.3
        Of the kernel of the density, in standard deviations of the feature.
    margin : float, default=0.0
        In step 3 a feature shuts out a negative instance that is at least this far beyond its
        bounds, or if no other feature has it further out. In units of the features' common standard
        deviation.

    Attributes
    ----------
    features_ : array
        Indices of the features that are bounded.
    lower_, upper_ : arrays
        Their bounds, a hair wider than the rectangle, whose border is inside.
    n_iter_ : int
        Number of cuts.
    witness_ : array
        Row of the instance deepest inside the rectangle, one for each positive training bag.

    See Also
    --------
    AxisParallelRectangle : The paper's best method, which grows a rectangle from the inside.
    OptimalBallClassifier : Balls around single instances in place of bounds on features.
    DiverseDensity : A soft form of the same idea: closeness to a point, feature by feature.

    Notes
    -----
    The score of an instance is 1 at the centre of the rectangle, just above 0 on its border and
    negative outside. How the paper turns densities into prices is not known to us in every detail.

    Examples
    --------
    >>> from mixedbag.classics import EliminationRectangle
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=60, n_features=2, separation=8.0, random_state=0)
    >>> model = EliminationRectangle().fit(data.bags, data.y)
    >>> model.score(data.bags, data.y) > 0.9
    True
    """

    _rules = ("any",)
    _search_space = {"cost": ["density", "count"], "margin": [0.0, 1.0]}
    _needs_scaling = True
    _parameter_constraints = {
        "cost": [one_of("density", "count", "none")],
        "width": [above(0)],
        "margin": [at_least(0)],
    }

    def __init__(self, cost="density", *, width=0.3, margin=0.0):
        self.cost = cost
        self.width = width
        self.margin = margin

    def _fit(self, bags, sign, weight):
        deviation = np.sqrt(feature_moments(bags, weight)[1])
        unit = np.sqrt((deviation**2).mean()) or 1.0
        inside, outside = bags[sign > 0], bags[sign < 0]
        rows = inside.instances
        bounds = np.array([rows.min(axis=0), rows.max(axis=0)], dtype=np.float64)
        self.n_iter_ = 0
        if self.cost != "none":
            bounds, self.n_iter_ = once(
                lambda: self._eliminated(bounds, inside, weight[sign > 0], outside, deviation),
                *("elimination", bags, sign, weight, self.cost, self.width),
            )
        shut_out = beyond(bounds, outside.instances) / unit
        kept = discriminate(shut_out, outside.spread(weight[sign < 0]), self.margin)
        self.features_ = kept if len(kept) else np.arange(bags.n_features)
        hair = _HAIR * np.where(deviation > 0, deviation, 1.0)[self.features_]
        self.lower_, self.upper_ = bounds[:, self.features_] + hair * [[-1.0], [1.0]]
        self.witness_ = bag_argmax(self._score_instances(bags), bags.offsets)[sign > 0]

    def _eliminated(self, bounds, inside, weight, outside, deviation):
        price = self._prices(inside, weight, deviation)
        return _eliminate(bounds, inside, price, outside.instances)

    def _prices(self, inside, weight, deviation):
        """What it costs to cut off each instance of a positive bag, by feature."""
        weight = inside.spread(weight)
        if self.cost == "count":
            return np.broadcast_to(weight[:, None], inside.instances.shape)
        prices = np.empty(inside.instances.shape)
        for k, column in enumerate(inside.instances.T):
            width = self.width * deviation[k] or 1.0
            away = (column[:, None] - column) / width
            density = np.exp(-0.5 * away**2) @ weight / np.sqrt(2.0 * np.pi)
            prices[:, k] = weight * density / weight.sum()
        return prices

    def _score_instances(self, bags):
        return depth(bags.instances, self.features_, self.lower_, self.upper_)


def _eliminate(bounds, inside, price, negatives):
    """Bounds moved until no negative instance inside can be cut off, and the number of cuts."""
    rows, bag_of = inside.instances, inside.bag_of
    n_cuts = 0
    while True:
        kept = _within(rows, bounds)
        left = np.flatnonzero(_within(negatives, bounds))
        if len(left) == 0:
            return bounds, n_cuts
        cut = _cheapest_cut(rows[kept], bag_of[kept], price[kept], negatives[left])
        if cut is None:
            return bounds, n_cuts
        side, feature, bound = cut
        bounds[side, feature] = bound
        n_cuts += 1


def _within(rows, bounds):
    return ((rows >= bounds[0]) & (rows <= bounds[1])).all(axis=1)


def _cheapest_cut(rows, bag_of, price, negatives):
    """Side, feature and bound of the cut that excludes some negative row at the least price.

    Of equally cheap cuts the one with the widest gap between what it cuts off and what it keeps.
    """
    _, starts = np.unique(bag_of, return_index=True)
    offsets = np.append(starts, len(rows))
    best = None
    for side, edge in ((0, -1.0), (1, 1.0)):
        values = edge * rows
        # Every positive bag keeps an instance if its smallest value stays.
        last = -bag_max(-values, offsets)
        least = last.max(axis=0)
        for k in range(rows.shape[1]):
            at = edge * negatives[:, k]
            allowed = at > least[k]
            if not allowed.any():
                continue
            at = at[allowed]
            order = np.argsort(values[:, k], kind="stable")
            ordered = values[order, k]
            # What lies at or beyond the negative value is cut off.
            first = np.searchsorted(ordered, at, side="left")
            after = np.append(np.cumsum(price[order[::-1], k])[::-1], 0.0)
            cost = np.round(after[first] / after[0], 9)
            gap = at - ordered[first - 1]
            i = np.lexsort((-gap, cost))[0]
            found = (cost[i], -gap[i], side, k, edge * (ordered[first[i] - 1] + at[i]) / 2)
            if best is None or found < best:
                best = found
    return None if best is None else best[2:]
