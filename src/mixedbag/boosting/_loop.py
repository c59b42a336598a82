"""The boosting loop: rounds of weak learners, and when to stop.

A search (of stumps, or of any estimator) turns a standing into a weak learner and the next
standing; the loop asks for one after another.
"""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mixedbag._once import once
from mixedbag._parameters import between, having, whole
from mixedbag.bags import Bags
from mixedbag.base import BagClassifier, LogOddsMixin
from mixedbag.boosting._codes import encode
from mixedbag.boosting._grid import StumpEnsemble, common_grid
from mixedbag.boosting._scores import Scores
from mixedbag.boosting._search import EstimatorEnsemble, EstimatorSearch, Standing, StumpSearch
from mixedbag.engines.local import Labelled, LocalBlocks
from mixedbag.exceptions import InputError


class Staged(BagClassifier):
    """What every booster shares after training: scores round by round, and importances.

    For learners with an ``ensemble_``, the ``gain_`` of each member, and `_pooled(bags, F)`.
    """

    ensemble_: Any
    gain_: np.ndarray
    intercept_: float

    def staged_decision_function(self, bags: Any) -> Iterator[np.ndarray]:
        """Scores of the bags after each round.

        With more than two classes, a class that stopped earlier keeps its last scores.
        """
        bags = self._fitted(bags)
        if not hasattr(self, "estimators_"):
            yield from self._staged_scores(bags)
            return
        last: list = [None] * len(self.estimators_)
        stages = (learner._staged_scores(bags) for learner in self.estimators_)
        for scores in itertools.zip_longest(*stages):
            last = [old if new is None else new for old, new in zip(last, scores)]
            yield np.column_stack(last)

    def _staged_scores(self, bags):
        for scores in self.ensemble_.staged(bags.instances):
            yield self._pooled(bags, self.intercept_ + scores)

    def staged_predict(self, bags: Any) -> Iterator[np.ndarray]:
        """Predicted classes of the bags after each round."""
        for scores in self.staged_decision_function(bags):
            yield self._labels(scores)

    def _score_instances(self, bags):
        return self.intercept_ + self.ensemble_.score(bags.instances)

    def _score_bags(self, bags):
        return self._pooled(bags, self._score_instances(bags))

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of the fall of the loss that each feature brought (averaged over classes)."""
        if hasattr(self, "estimators_"):
            return np.mean([learner.feature_importances_ for learner in self.estimators_], axis=0)
        return self.ensemble_.importances(self.gain_)


class BoostedBags(Staged, LogOddsMixin, BagClassifier, ABC):
    """Base of the boosters: subclasses name the pooling, the loss and the step."""

    _rules = ("any",)
    _needs_scaling = False
    _accepts_sparse = True
    _accepts_nan = True
    # Thresholds compare values, whatever their size.
    _refuse_values = staticmethod(Bags.check_finite)  # type: ignore[assignment]
    _parameter_constraints = {
        "estimator": [having("fit", "predict"), None],
        "n_rounds": [whole(1)],
        "learning_rate": [between(0, 1, closed="right")],
        "early_stopping": ["boolean"],
        "validation_fraction": [between(0, 1, closed="neither")],
        "n_iter_no_change": [whole(1)],
    }

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
        *,
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
    def _log_odds_scale(self):  # type: ignore[override]
        return self._loss.log_odds_scale

    def _fit_blocks(self, blocks) -> None:
        """Learn from blocks of labelled bags, wherever they are."""
        if self.estimator is not None and not isinstance(blocks, LocalBlocks):
            raise InputError("only stumps are boosted from distributed bags: leave out estimator")
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        train = blocks
        if self.early_stopping:
            train, held_out = split(blocks, self.validation_fraction, seed)
        standing = Standing.at(train.map(Scores.of, self._pooling, self._loss))
        self.intercept_ = 0.0
        if self._starts_from_constant:
            self.intercept_, standing = standing.with_constant()
        watch = None
        if self.early_stopping:
            watch = Watch(held_out, self._pooling, self._loss, self.intercept_)
        if self.estimator is None:
            grid, codes = _coded(train)
            search: Any = StumpSearch(codes, grid, self._step, self.learning_rate)
        else:
            rng = np.random.RandomState(seed)
            search = EstimatorSearch.of(train, self.estimator, rng, self.learning_rate)
        self._boost(search, standing, watch)

    def _boost(self, search, standing, watch):
        members, losses = [], [standing.loss]
        try:
            for _ in self._iterations(self.n_rounds):
                found = search.next(standing)
                if found is None:
                    break
                standing = found.standing
                members.append(found.weak)
                losses.append(standing.loss)
                if watch is not None and watch.see(found.weak) >= self.n_iter_no_change:
                    break
        finally:  # a lost cluster leaves what was learned until then
            if watch is not None:
                members = members[: watch.best_round]
                self.validation_loss_ = np.array(watch.losses)
            ensemble = StumpEnsemble if self.estimator is None else EstimatorEnsemble
            self.ensemble_ = ensemble(members, self.n_features_in_)
            losses = np.array(losses[: len(members) + 1])
            self.objective_ = losses[1:]
            self.gain_ = losses[:-1] - losses[1:]
            self.n_iter_ = len(members)

    def _pooled(self, bags, scores):
        return self._pooling.value(scores, bags.offsets)


def _coded(blocks):
    """The grid of thresholds, and the codes of the instances on it."""

    def coded():
        grid = common_grid(blocks)
        return grid, blocks.map(encode, grid)

    if not isinstance(blocks, LocalBlocks):
        return coded()
    return once(coded, "codes", *(block.bags for block in blocks.blocks))


def split(blocks, share: float, seed: int):
    """Blocks of training bags and of held-out bags: the same `share` of both classes.

    Which bags are held out does not depend on how they are cut into blocks.
    """
    signs = blocks.collect(_signs)
    sign = np.concatenate(signs)
    rng = np.random.RandomState(seed)
    chosen = np.zeros(len(sign), dtype=bool)
    for kind in (-1, 1):
        bags = rng.permutation(np.flatnonzero(sign == kind))
        chosen[bags[: round(share * len(bags))]] = True
    each = np.split(chosen, np.cumsum([len(part) for part in signs])[:-1])
    return blocks.map(_only, each=[~part for part in each]), blocks.map(_only, each=each)


def _signs(labelled):
    return labelled.target.astype(np.int8)


def _only(labelled, keep):
    return Labelled(labelled.bags[keep], labelled.target[keep], labelled.weight[keep])


class Watch:
    """The mean loss of held-out bags after each weak learner: when to stop."""

    def __init__(self, held_out, pooling, loss, start: float):
        self.instances = held_out.map(_instances)
        self.scores = held_out.map(Scores.of, pooling, loss, start)
        self.losses: list[float] = []
        self.best_round = 0
        self.least = self._mean_loss()

    def see(self, weak) -> int:
        """Add a weak learner; how many rounds have passed since the best one."""
        self.scores = self.scores.map(_plus_weak, self.instances, weak)
        self.losses.append(self._mean_loss())
        if self.losses[-1] < self.least:
            self.least, self.best_round = self.losses[-1], len(self.losses)
        return len(self.losses) - self.best_round

    def _mean_loss(self):
        total, weight = self.scores.sum(Scores.loss_and_weight)
        if weight == 0:
            raise InputError("validation_fraction leaves no bag to hold out")
        return total / weight


def _instances(labelled):
    return labelled.bags.instances


def _plus_weak(scores, instances, weak):
    return scores.plus(weak.score(instances))
