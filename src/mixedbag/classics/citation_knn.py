"""Citation-kNN: the neighbours of a bag vote, and so do the bags that count it as a neighbour."""

import numpy as np

from mixedbag._once import once
from mixedbag._pairs import all_pairs, reduce_pairs, squared_distances
from mixedbag._parameters import at_least, one_of
from mixedbag.base import BagClassifier

__all__ = ["CitationKNN"]

_ENTRIES = 2**22  # distances held at a time


class CitationKNN(BagClassifier):
    """Citation-kNN (Wang and Zucker, 2000).

    Assumes that bags of one class have close instances. The distance of two bags is that of their
    nearest instances (the minimal Hausdorff distance). A new bag is judged by its *references*, the
    nearest training bags, and by its *citers*, the training bags that have it among their own
    nearest; plain nearest neighbours do poorly because negative instances of positive bags attract
    negative bags. Nothing is optimised; the training bags are the model.

    Parameters
    ----------
    n_references : float
        Number of nearest training bags that vote.
    n_citers : float
        A training bag votes when the new bag is among its so many nearest.
    distance : {"minimal", "average", "maximal"}
        Hausdorff distance: of the two nearest instances; the average over all instances of both
        bags of the distance to the other bag; or the largest of those.
    n_jobs : int or None
        Threads that share the blocks of the distance matrix.

    Attributes
    ----------
    bags_ : Bags
        The training bags.
    votes_ : array
        The vote of each training bag: its weight, with the sign of its class.
    reach_ : array
        How far a bag may be from each training bag to be cited by it.

    See Also
    --------
    BayesianCitationKNN : Learns what a set of neighbours has meant for other bags, and has
        probabilities at once.
    SetKernelSVC : Compares bags by all of their instances, not by the nearest pair.
    mixedbag.embeddings.DissimilarityClassifier : Gives the distances to training bags to any
        classifier, in place of a vote.

    Notes
    -----
    Where positive bags are mostly made of negative instances these decide which bags are near, and
    the method fails.

    A bag of weight two counts like two equal bags, as a neighbour and as a citer. Bags at equal
    distance share the last places. The score is the balance of votes, from −1 to 1; a tie is
    negative, as in the paper.

    Examples
    --------
    >>> from mixedbag.classics import CitationKNN
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=60, size=(1, 3), n_features=2, separation=6.0, random_state=0)
    >>> CitationKNN().fit(data.bags[:40], data.y[:40]).score(data.bags[40:], data.y[40:]) > 0.7
    True
    """

    _rules = ("any",)
    _search_space = {"n_references": [1, 2, 4], "n_citers": [2, 4, 6]}
    _needs_scaling = True
    _accepts_sparse = True
    _parameter_constraints = {
        "n_references": [at_least(0)],
        "n_citers": [at_least(0)],
        "distance": [one_of("minimal", "average", "maximal")],
    }

    def __init__(self, n_references=2, *, n_citers=4, distance="minimal", n_jobs=None):
        self.n_references = n_references
        self.n_citers = n_citers
        self.distance = distance
        self.n_jobs = n_jobs

    def _fit(self, bags, sign, weight):
        self.bags_ = bags
        self.votes_ = weight * sign
        self.reach_ = np.empty(len(bags))
        for part in self._parts(bags):
            distance = self._distances(bags[part])
            self.reach_[part] = _distance_of_rank(distance, _others(part, weight), self.n_citers)

    def _score_bags(self, bags):
        parts = [self._balance(self._distances(bags[part])) for part in self._parts(bags)]
        return np.concatenate(parts)

    def _parts(self, bags):
        """Slices of bags whose distances to all training bags fit in memory."""
        step = max(1, _ENTRIES // len(self.bags_))
        return [slice(i, min(i + step, len(bags))) for i in range(0, len(bags), step)]

    def _balance(self, distance):
        weight = np.abs(self.votes_)
        voices = self._references(distance, weight) + (distance <= self.reach_) * weight
        total = voices.sum(axis=1)
        balance = voices @ np.sign(self.votes_)
        return np.divide(balance, total, out=np.zeros(len(total)), where=total > 0)

    def _references(self, distance, weight):
        """How much each training bag counts among the nearest, `weight` of each being there."""
        limit = _distance_of_rank(distance, weight, self.n_references)[:, None]
        nearer, at_limit = distance < limit, distance == limit
        # Bags at the limit share the places that the nearer ones leave.
        waiting = (at_limit * weight).sum(axis=1)
        places = self.n_references - (nearer * weight).sum(axis=1)
        share = np.minimum(places / np.maximum(waiting, np.finfo(float).tiny), 1.0)
        return (nearer + share[:, None] * at_limit) * weight

    def _distances(self, bags):
        """Distances to the training bags, rounded so that ties survive the order of sums."""
        hausdorff = _HAUSDORFF[self.distance]

        def compare(a, b):
            left, right = bags[a], self.bags_[b]
            return hausdorff(squared_distances(left.instances, right.instances), left, right)

        return once(
            lambda: all_pairs(bags, self.bags_, compare, self.n_jobs).astype(np.float32),
            f"{self.distance} distances",
            bags,
            self.bags_,
        )


def _others(part, weight):
    """What each bag of a part sees of all bags; of itself, only the copies beyond the first."""
    own = np.arange(part.start, part.stop)
    others = np.tile(weight, (len(own), 1))
    others[np.arange(len(own)), own] = np.maximum(weight[own] - 1.0, 0.0)
    return others


def _distance_of_rank(distance, weight, rank):
    """For each row, how far one must go to meet bags of total weight `rank`."""
    order = np.argsort(distance, axis=1)
    met = np.cumsum(np.take_along_axis(np.broadcast_to(weight, order.shape), order, axis=1), axis=1)
    last = np.minimum((met < rank - 1e-9).sum(axis=1), distance.shape[1] - 1)
    return distance[np.arange(len(order)), order[np.arange(len(order)), last]]


def _minimal(squared, left, right):
    return np.sqrt(reduce_pairs(np.minimum, squared, left, right))


def _to_nearest(squared, left, right):
    """Distance of each instance to the other bag, both ways."""
    from_left = np.minimum.reduceat(squared, right.offsets[:-1], axis=1)
    from_right = np.minimum.reduceat(squared, left.offsets[:-1], axis=0)
    return np.sqrt(from_left), np.sqrt(from_right)


def _maximal(squared, left, right):
    from_left, from_right = _to_nearest(squared, left, right)
    return np.maximum(
        np.maximum.reduceat(from_left, left.offsets[:-1], axis=0),
        np.maximum.reduceat(from_right, right.offsets[:-1], axis=1),
    )


def _average(squared, left, right):
    from_left, from_right = _to_nearest(squared, left, right)
    total = np.add.reduceat(from_left, left.offsets[:-1], axis=0)
    total += np.add.reduceat(from_right, right.offsets[:-1], axis=1)
    return total / (left.sizes[:, None] + right.sizes)


_HAUSDORFF = {"minimal": _minimal, "average": _average, "maximal": _maximal}
