"""MI-OptBall: balls around instances of positive bags, boosted."""

import numpy as np
from sklearn.utils import check_random_state

from mixedbag._pairs import nearest_squared
from mixedbag._parameters import whole
from mixedbag.bags import as_bags
from mixedbag.base import BagClassifier
from mixedbag.classics._rows import sample_rows

__all__ = ["OptimalBallClassifier"]

_ROUNDING = 1e-9
_LEAST_ERROR = 1e-6  # of a ball that makes none, so that its vote is finite


class OptimalBallClassifier(BagClassifier):
    """A bag is positive if it reaches into a ball; several balls vote (Auer and Ortner, 2004).

    Assumes that positive instances lie close to one of a few points. A ball is centred at an
    instance of a positive training bag, and says yes to every bag with an instance inside. The best
    ball, over all centres and all radii, is found by trying them: of a centre, only the distances
    to the bags matter. AdaBoost then gives bags that were told wrongly a larger weight and finds
    the next ball; each votes with ``½ log((1 − e)/e)``, where e is its weighted error.

    Parameters
    ----------
    n_rounds : int, default=30
        Most balls; fewer when one makes no error or none is better than chance. With 1 it is the
        single optimal ball.
    max_centers : int, default=3000
        Above this number of instances in positive bags, centres are drawn at random from them: the
        table of distances has ``n_bags × max_centers`` entries.
    random_state : int, RandomState or None
        For the draw of centres.
    n_jobs : int or None
        Threads that compute distances.

    Attributes
    ----------
    centers_ : array or sparse array of shape (n_balls, n_features)
    radii_, votes_ : arrays of shape (n_balls,)
        How far each ball reaches, and how much it says.
    n_iter_ : int
        Number of balls.

    See Also
    --------
    DiverseDensity : One soft ball, with a scale for each feature.
    AxisParallelRectangle : Bounds on a few features in place of a radius.
    MILES : Soft balls around many instances, for the class or against it.

    Notes
    -----
    Of balls that are equally good, the one with the widest empty shell around it is taken, and its
    radius ends in the middle of the shell. The score of a bag is the balance of votes, from −1 to
    1.

    Examples
    --------
    >>> from mixedbag.classics import OptimalBallClassifier
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=60, random_state=0)
    >>> model = OptimalBallClassifier().fit(data.bags, data.y)
    >>> bool(model.score(data.bags, data.y) > 0.8)
    True
    """

    _rules = ("any",)
    _search_space = {"n_rounds": [1, 10, 50]}
    _needs_scaling = True
    _accepts_sparse = True
    _parameter_constraints = {"n_rounds": [whole(1)], "max_centers": [whole(1)]}

    def __init__(self, n_rounds=30, *, max_centers=3000, random_state=None, n_jobs=None):
        self.n_rounds = n_rounds
        self.max_centers = max_centers
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, bags, sign, weight):
        rng = check_random_state(self.random_state)
        inside = bags[sign > 0].instances
        centers = inside[sample_rows(inside, self.max_centers, rng)]
        shells = _Shells(np.sqrt(nearest_squared(bags, as_bags(centers), self.n_jobs)))
        weight = weight / weight.sum()
        chosen, radii, votes = [], [], []
        for _ in self._iterations(self.n_rounds):
            center, radius, error = shells.best(sign, weight)
            if error >= 0.5 - _ROUNDING:
                break
            vote = 0.5 * np.log((1.0 - error) / max(error, _LEAST_ERROR))
            chosen.append(center)
            radii.append(radius)
            votes.append(vote)
            if error <= _ROUNDING:
                break
            says = np.where(shells.distance[:, center] <= radius, 1.0, -1.0)
            weight = weight * np.exp(-vote * sign * says)
            weight /= weight.sum()
        self.centers_ = centers[np.array(chosen, dtype=np.intp)]
        self.radii_, self.votes_ = np.array(radii), np.array(votes)
        self.n_iter_ = len(votes)

    def _score_bags(self, bags):
        if len(self.votes_) == 0:  # no ball is better than chance
            return np.zeros(len(bags))
        distance = np.sqrt(nearest_squared(bags, as_bags(self.centers_), self.n_jobs))
        # Summed alike, so that a bag in no ball, or in all of them, ties exactly with its like.
        won = np.where(distance <= self.radii_, self.votes_, 0.0).sum(axis=1)
        return 2.0 * won / self.votes_.sum() - 1.0


class _Shells:
    """For every centre the bags by distance, and the empty shells between one and the next."""

    def __init__(self, distance):
        self.distance = distance
        self._order = np.argsort(distance, axis=0, kind="stable")
        self._sorted = np.take_along_axis(distance, self._order, axis=0)
        self._width = np.diff(self._sorted, axis=0)
        # Bags at equal distance cannot be told apart.
        self._open = self._width > _ROUNDING * self._sorted[-1:]

    def best(self, sign, weight):
        """Centre, radius and weighted error of the best ball."""
        value = (sign * weight)[self._order]
        # Within the ball positive bags are right, beyond it negative ones.
        right = np.cumsum(value, axis=0)[:-1] + weight[sign < 0].sum()
        right = np.where(self._open, np.round(right, 9), -np.inf)
        # Relative to the distance: an empty shell is wide or not whatever the unit.
        ends = np.maximum(self._sorted[1:], np.finfo(float).tiny)
        width = np.where(right == right.max(), self._width / ends, -1.0)
        shell, center = np.unravel_index(np.argmax(width), width.shape)
        radius = self._sorted[shell : shell + 2, center].mean()
        return center, radius, 1.0 - right[shell, center]
