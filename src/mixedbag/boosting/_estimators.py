"""Any estimator as the weak learner of a round, and the weighted sum of those that were fitted."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from mixedbag._tables import stacked
from mixedbag.boosting._scores import Derivatives, Scores
from mixedbag.boosting._search import Along, Found, Standing, exact_lengths, falling_lengths
from mixedbag.boosting.steps import LONGEST


class WeightedEstimator:
    """A fitted estimator times its weight."""

    def __init__(self, estimator: Any, weight: float):
        self.estimator, self.weight = estimator, weight

    def score(self, instances) -> np.ndarray:
        """The weighted prediction for every instance."""
        return self.weight * np.asarray(self.estimator.predict(instances), dtype=np.float64)


class EstimatorEnsemble:
    """Weighted sum of fitted estimators."""

    def __init__(self, members: list[WeightedEstimator], n_features: int):
        self.members, self.n_features = members, n_features

    def __len__(self):
        return len(self.members)

    def score(self, instances) -> np.ndarray:
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

    def importances(self, gains) -> np.ndarray:
        """The members' own importances, averaged by the gain that each brought."""
        total = np.zeros(self.n_features)
        for member, gain in zip(self.members, gains):
            total += gain * member.estimator.feature_importances_
        return total / total.sum() if total.sum() > 0 else total


@dataclass(frozen=True)
class EstimatorSearch:
    """Finds the next estimator: one fitted to the instances a round.

    The estimator learns the class of each instance's bag, weighted by the size of the loss's
    derivative: a classifier gives a binary weak learner, a regressor a real-valued one. The loss
    decides how far to go along it.
    """

    blocks: Any
    instances: Any
    target: np.ndarray
    estimator: Any
    random_state: np.random.RandomState
    learning_rate: float = 1.0

    @classmethod
    def of(cls, blocks, estimator, random_state, learning_rate: float) -> "EstimatorSearch":
        """From blocks of labelled bags in this process: estimators want all rows together."""
        parts = blocks.collect(_rows_and_signs)
        rows, signs = zip(*parts)
        instances = rows[0] if len(rows) == 1 else stacked(rows)  # one is the usual case: no copy
        target = np.concatenate(signs)
        return cls(blocks, instances, target, estimator, random_state, learning_rate)

    def next(self, standing: Standing) -> Found | None:
        """The next fitted estimator with its weight; None if it does not lower the loss."""
        if standing.is_lowest:
            return None
        here = standing.derivatives()
        before = here.sum(Derivatives.loss)
        size = np.concatenate(here.collect(Derivatives.gradient))
        fitted = clone(self.estimator)
        if "random_state" in fitted.get_params():
            fitted.set_params(random_state=self.random_state.randint(2**31 - 1))
        # An average weight of one suits estimators with absolute thresholds on weight.
        fitted.fit(self.instances, self.target, sample_weight=size / size.mean())
        directions = self.blocks.map(_scored, WeightedEstimator(fitted, 1.0))
        direction = np.concatenate(directions.collect(np.asarray))
        edge = (size @ (self.target * direction)) / before
        if not edge > 0:
            return None
        losses = Along(here.map(Derivatives.toward, directions))
        first = np.arctanh(np.clip([edge], 1e-3, 1 - 1e-9))
        length, after = exact_lengths(losses, first, LONGEST)
        if self.learning_rate != 1.0:
            length, after = falling_lengths(losses, self.learning_rate * length, before)
        if not after[0] < before:
            return None
        weak = WeightedEstimator(fitted, float(length[0]))
        scores = standing.scores.map(_plus_times, directions, weak.weight)
        return Found(weak, standing.settled(scores, after[0]))


def _rows_and_signs(labelled):
    return labelled.bags.instances, labelled.bags.spread(labelled.target)


def _scored(labelled, weak):
    return weak.score(labelled.bags.instances)


def _plus_times(scores: Scores, direction, length):
    return scores.plus(length * direction)
