"""What the two sequence classifiers share: EM over blocks of bags, predictions, and learning from a stream."""

import numbers

import numpy as np
from scipy.special import logit
from sklearn.utils import check_random_state, check_scalar

from mixedbag.base import BagClassifier, LogOddsMixin
from mixedbag.sequence._blocks import map_blocks, sum_blocks
from mixedbag.sequence.autoregression import Autoregression
from mixedbag.sequence.direct import fit_labels
from mixedbag.sequence.model import Model, block_statistics, maximise
from mixedbag.sequence.start import begin

DIRECT_EVERY = 5  # EM iterations between direct fits of the labels
DIRECT_ITERATIONS = 10


class SequenceClassifier(LogOddsMixin, BagClassifier):
    """Base of :class:`ARHMMClassifier` and :class:`MARClassifier`, which differ in the states' dynamics."""

    _rules = ("sequence",)
    _is_sequence = True
    _search_space = {"n_states": [5, 10], "order": [3, 5]}
    _dynamics = None

    def __init__(
        self,
        n_states=10,
        order=3,
        max_iter=30,
        n_init=2,
        tol=1e-4,
        precision=1e-7,
        n_jobs=None,
        random_state=None,
    ):
        self.n_states = n_states
        self.order = order
        self.max_iter = max_iter
        self.n_init = n_init
        self.tol = tol
        self.precision = precision
        self.n_jobs = n_jobs
        self.random_state = random_state

    # Fitting -------------------------------------------------------------------------------------

    def _fit(self, bags, sign, weight):
        self._check_parameters()
        model = begin(
            self._dynamics, bags, sign, weight, self, check_random_state(self.random_state),
            self.n_jobs,
        )  # fmt: skip
        objective = []
        for i in self._iterations(self.max_iter):
            total = sum_blocks(block_statistics, bags, (sign, weight), model, n_jobs=self.n_jobs)
            objective.append(total.objective(model))
            self._store(model)
            self.evidence_error_ = float(total.error)
            if i and objective[-1] - objective[-2] < self.tol * total.weight:
                break
            model = maximise(total, model)
            if (i + 1) % DIRECT_EVERY == 0:
                model = fit_labels(bags, sign, weight, model, DIRECT_ITERATIONS, self.n_jobs)
        self.objective_ = np.array(objective)
        self.n_iter_ = len(objective)

    def _check_parameters(self):
        check_scalar(self.n_states, "n_states", numbers.Integral, min_val=1)
        check_scalar(self.order, "order", numbers.Integral, min_val=0)
        check_scalar(self.max_iter, "max_iter", numbers.Integral, min_val=1)
        check_scalar(self.n_init, "n_init", numbers.Integral, min_val=1)
        check_scalar(self.tol, "tol", numbers.Real, min_val=0)
        check_scalar(self.precision, "precision", numbers.Real, min_val=1e-12, max_val=1e-2)

    def _read(self, x, reset=False):
        bags = super()._read(x, reset)
        short = bags.sizes <= self.order
        if short.any():
            i = int(np.argmax(short))
            raise ValueError(
                f"{bags.name(i)} has {bags.sizes[i]} samples; an autoregression of order "
                f"{self.order} needs at least {self.order + 1}"
            )
        return bags

    # The fitted model, stored as arrays ----------------------------------------------------------

    def _store(self, model):
        self.coefficients_ = model.emission.coefficients
        self.covariances_ = model.emission.covariances
        self.theta_ = model.theta
        self.omega_ = model.omega
        self.center_, self.scale_, self.noise_ = model.center, model.scale, model.noise
        self._store_dynamics(model.dynamics)

    def _model(self):
        return Model(
            dynamics=self._stored_dynamics(),
            emission=Autoregression(self.coefficients_, self.covariances_),
            theta=self.theta_,
            omega=self.omega_,
            order=self.order,
            center=self.center_,
            scale=self.scale_,
            noise=self.noise_,
            precision=self.precision,
        )

    # Scores --------------------------------------------------------------------------------------

    def _score_bags(self, bags):
        scores = map_blocks(block_log_odds, bags, (), self._model(), n_jobs=self.n_jobs)
        return np.concatenate(scores)

    def _score_instances(self, bags):
        posterior = self._posterior(bags)
        return logit(posterior @ self.theta_)

    def state_posterior(self, bags):
        """Probability of each state at every sample, in the order of ``bags.instances``.

        The first ``order`` samples of a bag have no full past; they take the posterior of the first sample that has one.
        """
        return self._posterior(self._fitted(bags))

    def _posterior(self, bags):
        found = map_blocks(block_posterior, bags, (), self._model(), n_jobs=self.n_jobs)
        return np.concatenate(found)


def block_log_odds(bags, model):
    """log P(Y = 1 | X) − log P(Y = 0 | X) of every bag of a block."""
    rows, starts = model.read(bags)
    smoothed = model.smooth(rows, starts)
    log_evidence = [
        np.log(
            model.dynamics.evidence(
                smoothed, model.theta, model.omega, np.full(len(bags), label), model.precision
            )
        )
        for label in (True, False)
    ]
    return log_evidence[0] - log_evidence[1]


def block_posterior(bags, model):
    """P(Z_t | X) at every sample of a block; the first ones of a bag repeat the first that is known."""
    rows, starts = model.read(bags)
    posterior = model.smooth(rows, starts).posterior
    position = np.arange(bags.n_instances) - bags.spread(bags.offsets[:-1])
    return posterior[bags.spread(starts[:-1]) + np.maximum(position - model.order, 0)]
