"""The boosting loop: rounds, early stopping on held-out bags, and scores from the ensemble."""

import itertools
import numbers
from abc import ABC, abstractmethod

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state, check_scalar

from mixedbag.base import BagClassifier, LogOddsMixin
from mixedbag.boosting.block import Team
from mixedbag.boosting.estimators import EstimatorBooster, EstimatorEnsemble
from mixedbag.boosting.grid import Grid
from mixedbag.boosting.state import State
from mixedbag.boosting.stumps import StumpBooster, StumpEnsemble


class BoostedBags(LogOddsMixin, BagClassifier, ABC):
    """Base of the boosters: subclasses name the pooling, the loss and the step."""

    _rules = ("any",)
    _needs_scaling = False
    _accepts_sparse = True
    _accepts_nan = True

    _starts_from_constant = False

    @property
    @abstractmethod
    def _loss(self):
        """Loss of the bag scores."""

    @property
    @abstractmethod
    def _step(self):
        """What a stump adds."""

    def __init__(
        self,
        n_rounds=100,
        learning_rate=1.0,
        estimator=None,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=10,
        n_jobs=None,
        random_state=None,
    ):
        self.n_rounds = n_rounds
        self.learning_rate = learning_rate
        self.estimator = estimator
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def _log_odds_scale(self):
        return self._loss.log_odds_scale

    def _fit(self, bags, sign, weight):
        check_scalar(self.n_rounds, "n_rounds", numbers.Integral, min_val=1)
        check_scalar(
            self.learning_rate,
            "learning_rate",
            numbers.Real,
            min_val=0,
            max_val=1,
            include_boundaries="right",
        )
        rng = check_random_state(self.random_state)
        used, held_out = self._hold_out(bags, sign, weight, rng)
        booster = self._booster(*used, rng)
        self.intercept_ = booster.fit_constant() if self._starts_from_constant else 0.0
        watch = _Watch(held_out, self._pooling, self._loss, self.intercept_)

        members, losses = [], [booster.loss]
        for _ in self._iterations(self.n_rounds):
            weak = booster.round()
            if weak is None:
                break
            members.append(weak)
            losses.append(booster.loss)
            if self.early_stopping and watch.see(weak) >= self.n_iter_no_change:
                break
        if self.early_stopping:
            members = members[: watch.best_round]
            self.validation_loss_ = np.array(watch.losses)
        losses = np.array(losses[: len(members) + 1])
        ensemble = StumpEnsemble if self.estimator is None else EstimatorEnsemble
        self.ensemble_ = ensemble(members, bags.n_features)
        self.objective_ = losses[1:]
        self.gain_ = losses[:-1] - losses[1:]
        self.n_iter_ = len(members)

    def _hold_out(self, bags, sign, weight, rng):
        if not self.early_stopping:
            return (bags, sign, weight), None
        train, test = train_test_split(
            np.arange(len(bags)),
            test_size=self.validation_fraction,
            stratify=sign,
            random_state=rng,
        )
        return tuple((bags[rows], sign[rows], weight[rows]) for rows in (train, test))

    def _booster(self, bags, sign, weight, rng):
        pieces = self._pooling, self._loss
        if self.estimator is None:
            grid = Grid.from_instances(bags.instances)
            team = Team(bags, sign, weight, grid, *pieces, n_jobs=self.n_jobs)
            return StumpBooster(team, grid, self._step, self.learning_rate)
        state = State(bags.offsets, sign, weight, *pieces)
        return EstimatorBooster(state, bags.instances, self.estimator, rng, self.learning_rate)

    # Scores --------------------------------------------------------------------------------------

    def _score_instances(self, bags):
        return self.intercept_ + self.ensemble_.score(bags.instances)

    def staged_decision_function(self, bags):
        """Scores of the bags after each round.

        With more than two classes, a class that stopped earlier keeps its last scores.
        """
        bags = self._fitted(bags)
        if hasattr(self, "estimators_"):
            last = [None] * len(self.estimators_)
            stages = (learner._staged_scores(bags) for learner in self.estimators_)
            for scores in itertools.zip_longest(*stages):
                last = [old if new is None else new for old, new in zip(last, scores)]
                yield np.column_stack(last)
        else:
            yield from self._staged_scores(bags)

    def _staged_scores(self, bags):
        for scores in self.ensemble_.staged(bags.instances):
            yield self._pooling.value(self.intercept_ + scores, bags.offsets)

    def staged_predict(self, bags):
        """Predicted classes of the bags after each round."""
        for scores in self.staged_decision_function(bags):
            yield self._labels(scores)

    @property
    def feature_importances_(self):
        """Share of the fall of the loss that each feature brought (averaged over classes)."""
        if hasattr(self, "estimators_"):
            return np.mean([learner.feature_importances_ for learner in self.estimators_], axis=0)
        return self.ensemble_.importances(self.gain_)


class _Watch:
    """The loss of held-out bags, round after round."""

    def __init__(self, held_out, pooling, loss, start):
        self.losses, self.best_round, self.least = [], 0, np.inf
        if held_out is not None:
            self.bags, sign, weight = held_out
            self.state = State(self.bags.offsets, sign, weight, pooling, loss)
            self.state.scores += start
            self.least = self.state.refresh(0.0) / weight.sum()

    def see(self, weak):
        """Add a weak learner; how many rounds have passed since the best one."""
        self.state.scores += weak.score(self.bags.instances)
        self.losses.append(self.state.total() / self.state.weight.sum())
        if self.losses[-1] < self.least:
            self.least, self.best_round = self.losses[-1], len(self.losses)
        return len(self.losses) - self.best_round
