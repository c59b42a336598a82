"""What the two sequence classifiers share: EM over blocks of bags, scores, and streams."""

import numbers
from abc import ABC, abstractmethod

import numpy as np
from scipy.special import logit
from sklearn.base import clone
from sklearn.utils import check_random_state, check_scalar
from threadpoolctl import threadpool_limits

from mixedbag.base import BagClassifier, LogOddsMixin, read_weights
from mixedbag.engines import Labelled, LocalBlocks
from mixedbag.engines.local import with_signs
from mixedbag.sequence.autoregression import Autoregression
from mixedbag.sequence.direct import fit_labels
from mixedbag.sequence.model import Model, block_statistics, maximise
from mixedbag.sequence.online import follow, open_stream
from mixedbag.sequence.start import begin

BLOCK_SAMPLES = 4096
DIRECT_EVERY = 5  # EM iterations between direct fits of the labels
DIRECT_ITERATIONS = 10


class SequenceClassifier(LogOddsMixin, BagClassifier, ABC):
    """Base of `ARHMMClassifier` and `MARClassifier`, which differ in the states' dynamics."""

    _rules = ("sequence",)
    _is_sequence = True
    _search_space = {"n_states": [5, 10], "order": [0, 3]}
    _dynamics: type | None = None

    def __init__(
        self,
        n_states=10,
        order=3,
        max_iter=30,
        n_init=2,
        tol=1e-4,
        precision=1e-6,
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
        # Blocks are small, and threads take one each: more threads inside a product only wait.
        with threadpool_limits(limits=1, user_api="blas"):
            self._fit_blocks(self._cut(bags, sign, weight))

    def _cut(self, bags, target=None, weight=None):
        """Blocks whose messages fit in the processor's cache, whatever the number of threads."""
        n_blocks = max(1, round(bags.n_instances / BLOCK_SAMPLES))
        unknown = np.zeros(len(bags))
        target, weight = (unknown if x is None else x for x in (target, weight))
        return LocalBlocks.cut(bags, target, weight, self.n_jobs, n_blocks)

    def _fit_blocks(self, blocks):
        self._ascend(blocks, self._iterations(self.max_iter))

    def _ascend(self, blocks, iterations):
        """EM with a direct fit of the labels now and then; keeps the best model so far."""
        self._check_parameters()
        blocks.sum(count_usable, self.order)
        model = begin(blocks, self._dynamics, self, check_random_state(self.random_state))
        objective = []
        for i in iterations:
            total = blocks.sum(block_statistics, model)
            objective.append(total.objective(model))
            self._store(model)
            self.evidence_error_ = float(total.error)
            if i and objective[-1] - objective[-2] < self.tol * total.weight:
                break
            model = maximise(total, model)
            if (i + 1) % DIRECT_EVERY == 0:
                model = fit_labels(blocks, model, DIRECT_ITERATIONS)
        self.objective_ = np.array(objective)
        self.n_iter_ = len(objective)

    def partial_fit(self, bags, y, classes=None, sample_weight=None):
        """Learn from the next batch of a stream of bags; memory does not grow with the stream.

        The first batch is fitted like any other data and must be large enough to show the states
        (a hundred bags, say). Later ones refine the model by online EM. Batches should be mixed: a
        stream sorted by activity is learned as it comes, last things best.

        Parameters
        ----------
        bags, y, sample_weight : as in `fit`
        classes : array, optional
            All labels that may ever come; by default those of the first batch.
        """
        first = not hasattr(self, "classes_")
        self._check_parameters()
        bags = self._read(bags, reset=first)
        y = self._read_targets(bags, y)
        if first:
            self.classes_ = np.unique(y if classes is None else classes)
            self._refuse_one_class()
        unknown = ~np.isin(y, self.classes_)
        if unknown.any():
            i = int(np.argmax(unknown))
            raise ValueError(f"{bags.name(i)} has label {y[i]!r}, which is not one of the classes")
        batch = Labelled(bags, y, read_weights(bags, sample_weight)).used()
        if len(self.classes_) == 2:
            self._follow(self._cut(batch.bags, *with_signs(batch, self.classes_[1])[1:]))
            return self
        if first:
            self.estimators_ = [clone(self) for _ in self.classes_]
        for learner, label in zip(self.estimators_, self.classes_, strict=True):
            learner.partial_fit(batch.bags, batch.target == label, [False, True], batch.weight)
        return self

    def _follow(self, blocks):
        if not hasattr(self, "theta_"):
            self._ascend(blocks, range(self.max_iter))
        if not hasattr(self, "stream_"):
            self.stream_ = open_stream(blocks, self._model())
            return
        model, self.stream_ = follow(blocks, self._model(), self.stream_)
        self._store(model)

    def _check_parameters(self):
        check_scalar(self.n_states, "n_states", numbers.Integral, min_val=1)
        check_scalar(self.order, "order", numbers.Integral, min_val=0)
        check_scalar(self.max_iter, "max_iter", numbers.Integral, min_val=1)
        check_scalar(self.n_init, "n_init", numbers.Integral, min_val=1)
        check_scalar(self.tol, "tol", numbers.Real, min_val=0)
        check_scalar(self.precision, "precision", numbers.Real, min_val=1e-12, max_val=1e-2)

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
        self.theta_ = model.theta
        self.omega_ = model.omega
        self.center_, self.scale_ = model.center, model.scale
        self.noise_, self.rate_ = model.noise, model.rate
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
            rate=self.rate_,
            precision=self.precision,
        )

    # Scores --------------------------------------------------------------------------------------

    def _score_bags(self, bags):
        return np.concatenate(self._cut(bags).collect(block_log_odds, self._model()))

    def _score_instances(self, bags):
        return logit(self._posterior(bags) @ self.theta_)

    def state_posterior(self, bags):
        """Probability of each state at every sample, in the order of ``bags.instances``.

        The first ``order`` samples of a bag have no full past; they take the posterior of the first
        sample that has one.
        """
        return self._posterior(self._fitted(bags))

    def _posterior(self, bags):
        return np.concatenate(self._cut(bags).collect(block_posterior, self._model()))


def refuse_short_bags(bags, order):
    """Raise a `ValueError` that names the first bag without a single full past."""
    short = bags.sizes <= order
    if short.any():
        i = int(np.argmax(short))
        raise ValueError(
            f"{bags.name(i)} has {bags.sizes[i]} samples; an autoregression of order {order} needs "
            f"at least {order + 1}"
        )


def count_usable(block, order):
    """Number of bags of a block, after checking their lengths."""
    refuse_short_bags(block.bags, order)
    return len(block.bags)


def block_log_odds(block, model):
    """log P(Y = 1 | X) − log P(Y = 0 | X) of every bag of a block."""
    rows, starts = model.read(block.bags)
    smoothed = model.smooth(rows, starts)
    log_evidence = [
        np.log(
            model.dynamics.evidence(
                smoothed, model.theta, model.omega, np.full(len(block.bags), label), model.precision
            )
        )
        for label in (True, False)
    ]
    return log_evidence[0] - log_evidence[1]


def block_posterior(block, model):
    """P(Z_t | X) at every sample of a block; the first of a bag repeat the first that is known."""
    bags = block.bags
    rows, starts = model.read(bags)
    posterior = model.smooth(rows, starts).posterior
    position = np.arange(bags.n_instances) - bags.spread(bags.offsets[:-1])
    return posterior[bags.spread(starts[:-1]) + np.maximum(position - model.order, 0)]
