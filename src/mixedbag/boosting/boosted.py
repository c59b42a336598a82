"""The boosting loop: rounds of stumps or other weak learners, and when to stop."""

import numbers
from abc import ABC, abstractmethod

import numpy as np
from sklearn.utils import check_random_state, check_scalar

from mixedbag.base import BagClassifier, LogOddsMixin
from mixedbag.boosting.block import common_grid, prepare
from mixedbag.boosting.estimators import EstimatorBooster, EstimatorEnsemble
from mixedbag.boosting.held_out import Watch, hold_out
from mixedbag.boosting.staged import Staged
from mixedbag.boosting.state import State
from mixedbag.boosting.stumps import StumpBooster, StumpEnsemble
from mixedbag.engines.local import Labelled, LocalBlocks


class BoostedBags(Staged, LogOddsMixin, BagClassifier, ABC):
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

    def _check_parameters(self):
        check_scalar(self.n_rounds, "n_rounds", numbers.Integral, min_val=1)
        check_scalar(
            self.learning_rate,
            "learning_rate",
            numbers.Real,
            min_val=0,
            max_val=1,
            include_boundaries="right",
        )

    def _fit(self, bags, sign, weight):
        self._check_parameters()
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        whole = Labelled(bags, sign, weight)
        train = hold_out(whole, self._held_out_share(), seed, False)
        held_out = hold_out(whole, self._held_out_share(), seed, True)
        if self.estimator is None:
            blocks = LocalBlocks.cut(*train, n_jobs=self.n_jobs)
            self._boost(self._stumps(blocks), StumpEnsemble, LocalBlocks([held_out]))
        else:
            state = State(train.bags.offsets, *train[1:], self._pooling, self._loss)
            rng = np.random.RandomState(seed)
            booster = EstimatorBooster(
                state, train.bags.instances, self.estimator, rng, self.learning_rate
            )
            self._boost(booster, EstimatorEnsemble, LocalBlocks([held_out]))

    def _fit_blocks(self, blocks):
        """Learn from blocks of labelled bags, wherever they are."""
        self._check_parameters()
        if self.estimator is not None:
            raise ValueError("only stumps are boosted from distributed bags: leave out estimator")
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        share = self._held_out_share()
        train = blocks.map(hold_out, share, seed, False)
        self._boost(self._stumps(train), StumpEnsemble, blocks.map(hold_out, share, seed, True))

    def _held_out_share(self):
        return self.validation_fraction if self.early_stopping else 0.0

    def _stumps(self, blocks):
        grid = common_grid(blocks)
        blocks = blocks.map(prepare, grid, self._pooling, self._loss)
        return StumpBooster(blocks, grid, self._step, self.learning_rate)

    def _boost(self, booster, ensemble, held_out):
        self.intercept_ = booster.fit_constant() if self._starts_from_constant else 0.0
        members, losses = [], [booster.loss]
        if self.early_stopping:
            watch = Watch(held_out, self._pooling, self._loss, self.intercept_)
        try:
            for _ in self._iterations(self.n_rounds):
                weak = booster.round()
                if weak is None:
                    break
                members.append(weak)
                losses.append(booster.loss)
                if self.early_stopping and watch.see(weak) >= self.n_iter_no_change:
                    break
        finally:  # a lost cluster leaves what was learned until then
            if self.early_stopping:
                members = members[: watch.best_round]
                self.validation_loss_ = np.array(watch.losses)
            losses = np.array(losses[: len(members) + 1])
            self.ensemble_ = ensemble(members, self.n_features_in_)
            self.objective_ = losses[1:]
            self.gain_ = losses[:-1] - losses[1:]
            self.n_iter_ = len(members)

    def _pooled(self, bags, scores):
        return self._pooling.value(scores, bags.offsets)
