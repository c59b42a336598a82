"""What the two sequence classifiers share: EM over blocks of bags, and scores."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.special import log_expit, logit, logsumexp
from sklearn.base import clone
from sklearn.utils import check_random_state

from mixedbag._parameters import at_least, between, whole
from mixedbag._threads import one_thread
from mixedbag.base import LogOddsMixin
from mixedbag.sequence._autoregression import Autoregression
from mixedbag.sequence._blocks import (
    block_log_odds,
    block_posterior,
    count_long_enough,
    refuse_short_bags,
)
from mixedbag.sequence._direct import fit_labels
from mixedbag.sequence._levels import Levelled
from mixedbag.sequence._model import Model, block_statistics, maximise
from mixedbag.sequence._parts import cut
from mixedbag.sequence._start import begin
from mixedbag.sequence._stream import StreamLearner
from mixedbag.sequence._stretches import best_stretch

DIRECT_EVERY = 5  # EM iterations between direct fits of the labels
DIRECT_ITERATIONS = 10


class SequenceClassifier(LogOddsMixin, StreamLearner, ABC):
    """Base of `ARHMMClassifier` and `MARClassifier`, which differ in the states' dynamics."""

    _rules = ("sequence",)
    _is_sequence = True
    _accepts_nan = True
    _search_space = {"n_states": [5, 10], "order": [0, 3]}
    _dynamics: type | None = None
    _parameter_constraints = {
        "n_states": [whole(1)],
        "order": [whole(0)],
        "level": [at_least(0)],
        "omega": [between(-8, 8), None],
        "stretch": [whole(1), None],
        "max_iter": [whole(1)],
        "n_init": [whole(1)],
        "n_models": [whole(1)],
        "precision": [between(1e-12, 1e-2)],
    }

    def __init__(
        self,
        n_states=10,
        *,
        order=3,
        level=0.0,
        omega=None,
        stretch=None,
        max_iter=30,
        n_init=2,
        n_models=1,
        tol=1e-4,
        precision=1e-6,
        n_jobs=None,
        random_state=None,
    ):
        self.n_states = n_states
        self.order = order
        self.level = level
        self.omega = omega
        self.stretch = stretch
        self.max_iter = max_iter
        self.n_init = n_init
        self.n_models = n_models
        self.tol = tol
        self.precision = precision
        self.n_jobs = n_jobs
        self.random_state = random_state

    # Fitting -------------------------------------------------------------------------------------

    def _cut(self, bags, target, weight):
        return cut(bags, target, weight, self.n_jobs)

    def _fit_blocks(self, blocks):
        """This learner's own model, and others beside it, each from starts of its own."""
        blocks.sum(count_long_enough, self.order)
        rng = check_random_state(self.random_state)
        others = [clone(self).set_params(n_models=1) for _ in range(1, self.n_models)]
        # Blocks are small, and threads take one each: more threads inside a product only wait.
        with one_thread():
            for k, keeper in enumerate([self, *others]):
                keeper.n_features_in_ = self.n_features_in_
                self._climb(blocks, begin(blocks, self._dynamics, self, rng, k), keeper)
        self.others_ = others

    def _climb(self, blocks, model, keeper):
        """EM with a direct fit of the labels now and then; `keeper` has the best model so far."""
        objective: list[float] = []
        for i in self._iterations(self.max_iter):
            total = blocks.sum(block_statistics, model)
            objective.append(total.objective(model))
            keeper._store(model)
            keeper.evidence_error_ = float(total.error)
            if i and objective[-1] - objective[-2] < self.tol * total.weight:
                break
            model = maximise(total, model)
            if (i + 1) % DIRECT_EVERY == 0:
                model = fit_labels(blocks, model, DIRECT_ITERATIONS)
        keeper.objective_ = np.array(objective)
        keeper.n_iter_ = len(objective)

    def _read(self, x, reset=False):
        bags = super()._read(x, reset)
        refuse_short_bags(bags, self.order)
        return bags

    # The fitted model, stored as arrays ----------------------------------------------------------

    @abstractmethod
    def _store_dynamics(self, dynamics):
        """Keep the dynamics as arrays."""

    @abstractmethod
    def _stored_dynamics(self):
        """The dynamics from these arrays."""

    def _store(self, model):
        self.coefficients_ = model.emission.coefficients
        self.covariances_ = model.emission.covariances
        if self.level > 0:
            level = model.emission.level
            self.levels_, self.level_covariances_ = level.coefficients[:, 0], level.covariances
        self.theta_ = model.theta
        self.omega_ = model.omega
        self.center_, self.scale_ = model.center, model.scale
        self.noise_, self.rate_ = model.noise, model.rate
        self._store_dynamics(model.dynamics)

    def _model(self):
        return Model(
            dynamics=self._stored_dynamics(),
            emission=self._stored_emission(),
            theta=self.theta_,
            omega=self.omega_,
            order=self.order,
            center=self.center_,
            scale=self.scale_,
            noise=self.noise_,
            rate=self.rate_,
            precision=self.precision,
            level=self.level,
            learns_omega=self.omega is None,
        )

    def _stored_emission(self):
        motion = Autoregression(self.coefficients_, self.covariances_)
        if self.level == 0:
            return motion
        level = Autoregression(self.levels_[:, None, :], self.level_covariances_)
        return Levelled(motion, level, self.level)

    # Scores --------------------------------------------------------------------------------------

    def _score_bags(self, bags):
        if self.stretch is not None:
            return logit(best_stretch(self._positive(bags), bags.offsets, self.stretch))
        log_odds = np.array([self._each_block(bags, block_log_odds, m) for m in self._models()])
        # Of the mean probability.
        return logsumexp(log_expit(log_odds), axis=0) - logsumexp(log_expit(-log_odds), axis=0)

    def _score_instances(self, bags):
        return logit(self._positive(bags))

    def _positive(self, bags):
        """Probability that a sample is positive, given its series: the mean of the models."""
        posterior = [self._each_block(bags, block_posterior, m) @ m.theta for m in self._models()]
        return np.mean(posterior, axis=0)

    def state_posterior(self, bags: Any) -> np.ndarray:
        """Probability of each state at every sample, in the order of ``bags.instances``.

        The first ``order`` samples of a bag have no full past; they take the posterior of the first
        sample that has one. With several models, the states are those of the first.
        """
        return self._each_block(self._fitted(bags), block_posterior, self._model())

    def _models(self):
        return [self._model(), *(other._model() for other in vars(self).get("others_", ()))]

    def _each_block(self, bags, function, model):
        nothing = np.zeros(len(bags))
        blocks = self._cut(bags, nothing, nothing)
        return np.concatenate(blocks.collect(function, model))
