"""Bayesian citation-kNN: references speak through what they meant before, citers by nearness."""

import numpy as np

from mixedbag.base import LogOddsMixin
from mixedbag.classics.citation_knn import CitationKNN, _others

__all__ = ["BayesianCitationKNN"]

_NEAREST = 1e-6  # of the common squared distance: citers nearer than that count as this near


class BayesianCitationKNN(LogOddsMixin, CitationKNN):
    """Bayesian citation-kNN with distance weighting (Jiang, Cai, Wang and Zhang, 2013).

    Assumes that bags of one class have close instances, as `CitationKNN`, but asks what a set of
    neighbours has meant for other bags. Among the `n_references` nearest training bags r are
    positive; how frequent that is for training bags of either class is counted, each bag with the
    others as neighbours (a bag with two positive neighbours of three may well be negative, if
    negative instances of positive bags attract it). The citers, training bags that have the new bag
    among their own nearest, vote with one over their squared distance. The log-odds of a bag are::

        log P(+)/P(−) + log P(r | +)/P(r | −) + log (1 + votes of positive)/(1 + votes of negative)

    Parameters
    ----------
    n_references : float
        Number of nearest training bags that are looked at.
    n_citers : float
        A training bag votes when the new bag is among its so many nearest.
    distance : {"minimal", "average", "maximal"}
        Hausdorff distance: of the two nearest instances; the average over all instances of both
        bags of the distance to the other bag; or the largest of those.
    n_jobs : int or None
        Threads that share the blocks of the distance matrix.

    Attributes
    ----------
    bags_, votes_, reach_ :
        As in `CitationKNN`.
    log_odds_ : array of shape (n_references + 1,)
        What it means to have so many positive references.

    See Also
    --------
    CitationKNN : The plain vote of references and citers; quicker, and without probabilities of its
        own.
    mixedbag.embeddings.DissimilarityClassifier : Gives the distances to training bags to any
        classifier, in place of a vote.

    Notes
    -----
    Of the paper the abstract is what we have: how the two parts are joined, and that a vote counts
    in units of the common distance to the last bag cited, is ours. Counts begin at one (Laplace).

    Examples
    --------
    >>> from mixedbag.classics import BayesianCitationKNN
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=60, size=(1, 3), n_features=2, separation=6.0, random_state=0)
    >>> model = BayesianCitationKNN().fit(data.bags[:40], data.y[:40])
    >>> bool(model.score(data.bags[40:], data.y[40:]) > 0.7)
    True
    """

    _search_space = {"n_references": [2, 4, 6], "n_citers": [2, 4, 6]}

    def __init__(self, n_references=3, *, n_citers=5, distance="minimal", n_jobs=None):
        super().__init__(n_references, n_citers=n_citers, distance=distance, n_jobs=n_jobs)

    def _fit(self, bags, sign, weight):
        super()._fit(bags, sign, weight)
        places = int(np.ceil(self.n_references)) + 1
        seen = np.ones((2, places))
        for part in self._parts(bags):
            voices = self._references(self._distances(bags[part]), _others(part, weight))
            low, share = _split(voices @ (sign > 0), places)
            side = (sign[part] > 0).astype(int)
            np.add.at(seen, (side, low), weight[part] * (1.0 - share))
            np.add.at(seen, (side, np.minimum(low + 1, places - 1)), weight[part] * share)
        of_class = seen.sum(axis=1)
        self.log_odds_ = np.log(seen[1] / seen[0])
        # P(+) counts with Laplace's one for each class, P(r | ·) with one for each r.
        self.log_odds_ += np.log((of_class[1] - places + 1) / (of_class[0] - places + 1))
        self.log_odds_ -= np.log(of_class[1] / of_class[0])
        unit = float(np.average(np.minimum(self.reach_, np.finfo(float).max) ** 2, weights=weight))
        self.unit_ = unit or 1.0

    def _balance(self, distance):
        weight = np.abs(self.votes_)
        positive = self.votes_ > 0
        low, share = _split(self._references(distance, weight) @ positive, len(self.log_odds_))
        after = self.log_odds_[np.minimum(low + 1, len(self.log_odds_) - 1)]
        score = (1.0 - share) * self.log_odds_[low] + share * after
        near = self.unit_ / (np.square(distance, dtype=float) + _NEAREST * self.unit_)
        votes = (distance <= self.reach_) * weight * near
        return score + np.log1p(votes @ positive) - np.log1p(votes @ ~positive)


def _split(counts, places):
    """The whole part of each count and what is left: bags at equal distance share a place."""
    counts = np.clip(np.round(counts, 9), 0.0, places - 1)
    low = np.floor(counts).astype(int)
    return low, counts - low
