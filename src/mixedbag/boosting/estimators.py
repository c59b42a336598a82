"""Boosting any scikit-learn classifier or regressor that takes sample weights."""

import numpy as np
from sklearn.base import clone

from mixedbag.boosting.search import exact_lengths, falling_lengths
from mixedbag.boosting.steps import LEAST, LONGEST


class EstimatorBooster:
    """Adds one fitted estimator a round.

    The estimator learns the class of each instance's bag, weighted by the size of the loss's
    derivative: a classifier gives a binary weak learner, a regressor a real-valued one. The loss
    decides how far to go along it.
    """

    def __init__(self, state, instances, estimator, random_state, learning_rate=1.0):
        self.instances, self.estimator = instances, estimator
        self.random_state, self.learning_rate = random_state, learning_rate
        self.target = np.repeat(state.sign, np.diff(state.offsets))
        self.state = state.derived(0.0)
        self.weight = state.weight.sum()
        self.level = 0.0
        self._settle(self.state.total)

    @property
    def loss(self):
        """Mean loss of a bag."""
        return float(np.exp(self.level))

    def _settle(self, total):
        self.level += float(np.log(total / self.weight))

    def fit_constant(self):
        """Start from the best constant score; returns it."""
        up = np.ones(len(self.target))
        self.state = self.state.derived(self.level)
        direction = up if self._follow(up)(np.zeros(1))[0, 1] < 0 else -up
        length, total = self._search(direction, 1.0)
        self.state = self.state.added(length * direction)
        self._settle(total)
        return float(length * direction[0])

    def round(self):
        """The next fitted estimator with its weight; None if it does not lower the loss."""
        if self.level < LEAST:
            return None
        self.state = self.state.derived(self.level)
        before, size = self.state.total, self.state.gradient()
        fitted = clone(self.estimator)
        if "random_state" in fitted.get_params():
            fitted.set_params(random_state=self.random_state.randint(2**31 - 1))
        # An average weight of one suits estimators with absolute thresholds on weight.
        fitted.fit(self.instances, self.target, sample_weight=size / size.mean())
        weak = WeightedEstimator(fitted, 1.0)
        direction = weak.score(self.instances)
        edge = (size @ (self.target * direction)) / before
        if not edge > 0:
            return None
        length, after = self._search(direction, np.arctanh(np.clip(edge, 1e-3, 1 - 1e-9)))
        if self.learning_rate != 1.0:
            lengths = np.array([self.learning_rate * length])
            (length,), (after,) = falling_lengths(self._follow(direction), lengths, before)
        if not after < before:
            return None
        self.state = self.state.added(length * direction)
        self._settle(after)
        return WeightedEstimator(fitted, float(length))

    def _search(self, direction, length):
        (length,), (loss,) = exact_lengths(self._follow(direction), np.array([length]), LONGEST)
        return length, loss

    def _follow(self, direction):
        return lambda lengths: self.state.along([direction], lengths)


class WeightedEstimator:
    """A fitted estimator times its weight."""

    def __init__(self, estimator, weight):
        self.estimator, self.weight = estimator, weight

    def score(self, instances):
        return self.weight * np.asarray(self.estimator.predict(instances), dtype=np.float64)


class EstimatorEnsemble:
    """Weighted sum of fitted estimators."""

    def __init__(self, members, n_features):
        self.members, self.n_features = members, n_features

    def __len__(self):
        return len(self.members)

    def score(self, instances):
        """Weighted sum of all predictions."""
        total = np.zeros(instances.shape[0])
        for member in self.members:
            total += member.score(instances)
        return total

    def staged(self, instances):
        """Scores after each member."""
        total = np.zeros(instances.shape[0])
        for member in self.members:
            total = total + member.score(instances)
            yield total

    def importances(self, gains):
        """The members' own importances, averaged by the gain that each brought."""
        total = np.zeros(self.n_features)
        for member, gain in zip(self.members, gains):
            total += gain * member.estimator.feature_importances_
        return total / total.sum() if total.sum() > 0 else total
