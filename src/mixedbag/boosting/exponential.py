"""Boosting with a soft maximum that localizes the witnesses: ExpBin- and ExpReg-miBoost."""

from mixedbag._parameters import above
from mixedbag.boosting._loop import BoostedBags
from mixedbag.boosting.losses import ExponentialLoss
from mixedbag.boosting.steps import NewtonStep, SignStep
from mixedbag.pooling import LogMeanExp

__all__ = ["ExpBinBoost", "ExpRegBoost"]


class _LocalizedBoost(BoostedBags):
    """Log-mean-exp pooling and the exponential loss; the step is the subclass's."""

    _parameter_constraints = {"lam": [above(0)], "exhaustive": ["boolean"]}
    _loss = ExponentialLoss()

    def __init__(
        self,
        lam=0.1,
        *,
        exhaustive=False,
        n_rounds=100,
        learning_rate=1.0,
        estimator=None,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=10,
        n_jobs=None,
        random_state=None,
    ):
        super().__init__(
            n_rounds=n_rounds,
            learning_rate=learning_rate,
            estimator=estimator,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.lam = lam
        self.exhaustive = exhaustive

    @property
    def _pooling(self):  # type: ignore[override]
        return LogMeanExp(self.lam)


class ExpBinBoost(_LocalizedBoost):
    """ExpBin-miBoost: boosted binary stumps under a soft maximum.

    For bags that are positive when *some* of their instances are. Instance scores ``F`` are a sum
    of stumps, a bag's score is their log-mean-exp, and the exponential loss of the bags falls with
    every stump:

        ``Y_i = (1/λ) log((1/N_i) Σ_j exp(λ F_ij))``,  ``C = Σ_i exp(−t_i Y_i)``.

    Each round adds ``ρ·f(x)`` with ``f = ±1`` on either side of a threshold of one feature; among
    the stumps with the steepest descent, the one that lowers ``C`` most along an exact line search
    wins. With bags of one instance this is discrete AdaBoost. The paper searches along every
    threshold of every feature instead (section III-C): ``exhaustive=True``.

    Parameters
    ----------
    lam : float, default=0.1
        How sharply the pooling picks out the highest instances. Small: all instances of a bag speak
        with one voice (the mean); large: only the highest does (the maximum). Choose it by
        cross-validation where the share of positive instances in positive bags is unknown.
    exhaustive : bool, default=False
        Whether each round tries all thresholds of all features by the loss itself, instead of those
        that its derivatives promise most of: many times slower.
    n_rounds : int, default=100
        Stumps to add. Fewer are added when no stump lowers the loss any more.
    learning_rate : float in (0, 1], default=1.0
        Each step is shortened by this factor.
    estimator : scikit-learn classifier or regressor, optional
        Weak learner to boost instead of stumps; it must accept ``sample_weight``. It learns the
        class of each instance's bag, weighted by the derivative of the loss.
    early_stopping : bool, default=False
        Whether to hold out bags and stop when their loss no longer falls; the ensemble is cut back
        to its best round.
    validation_fraction : float, default=0.1
        Share of the bags to hold out (of both classes alike).
    n_iter_no_change : int, default=10
        Rounds without improvement to wait for.
    n_jobs : int, optional
        Threads for the search of stumps.
    random_state : int or RandomState, optional
        Decides which bags are held out, and seeds `estimator`.

    Attributes
    ----------
    objective_ : array of shape (n_iter_,)
        Mean training loss of a bag after each round; it always falls.
    n_iter_ : int
        Weak learners kept.
    feature_importances_ : array of shape (n_features,)
        Share of the fall of the loss that each feature brought.
    validation_loss_ : array
        Mean loss of a held-out bag after each round, with `early_stopping`.

    See Also
    --------
    ExpRegBoost : Stumps with two values of their own: fewer rounds.
    NoisyOrBoost : A likelihood in place of the exponential loss: gentler to mislabelled bags.
    PooledBoostingClassifier : Any pooling, loss and step.

    Notes
    -----
    Algorithm 1 of Li, Wang, Tian and Ding, "A Boosting Approach to Exploit Instance Correlations
    for Multi-Instance Classification". The paper starts from ``F_ij = −log N_i/λ`` at training
    time; here that is the ``1/N_i`` of the pooling, which applies to new bags as well, so that
    large bags do not turn positive for their size alone.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.boosting import ExpBinBoost
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> instances = rng.normal(size=(60, 5, 3))
    >>> instances[y == 1, 0, 2] += 4  # one instance of every positive bag stands out
    >>> bags = Bags.from_list(instances)
    >>> booster = ExpBinBoost().fit(bags[:40], y[:40])
    >>> float(booster.score(bags[40:], y[40:])) > 0.8
    True
    >>> int(booster.feature_importances_.argmax())
    2
    """

    # Half of the rounds lose no more than chance on the development collection.
    _search_space = {"lam": [0.03, 0.1, 0.3, 1.0], "n_rounds": [50]}

    @property
    def _step(self):
        return SignStep(None) if self.exhaustive else SignStep()


class ExpRegBoost(_LocalizedBoost):
    """ExpReg-miBoost: boosted real-valued stumps under a soft maximum, by Newton steps.

    For bags that are positive when *some* of their instances are. The model and the loss are those
    of `ExpBinBoost`; a stump's two values are a Newton step in the loss, whose second derivative
    couples the instances of a bag. It reaches a given training loss in fewer rounds.

    Parameters
    ----------
    lam : float, default=0.1
        How sharply the pooling picks out the highest instances. Small: all instances of a bag speak
        with one voice (the mean); large: only the highest does (the maximum). Choose it by
        cross-validation where the share of positive instances in positive bags is unknown.
    exhaustive : bool, default=False
        Whether each round tries all thresholds of all features by the loss itself, instead of those
        that its derivatives promise most of: many times slower.
    n_rounds : int, default=100
        Stumps to add. Fewer are added when no stump lowers the loss any more.
    learning_rate : float in (0, 1], default=1.0
        Each step is shortened by this factor.
    estimator : scikit-learn classifier or regressor, optional
        Weak learner to boost instead of stumps; it must accept ``sample_weight``. It learns the
        class of each instance's bag, weighted by the derivative of the loss.
    early_stopping : bool, default=False
        Whether to hold out bags and stop when their loss no longer falls; the ensemble is cut back
        to its best round.
    validation_fraction : float, default=0.1
        Share of the bags to hold out (of both classes alike).
    n_iter_no_change : int, default=10
        Rounds without improvement to wait for.
    n_jobs : int, optional
        Threads for the search of stumps.
    random_state : int or RandomState, optional
        Decides which bags are held out, and seeds `estimator`.

    See Also
    --------
    ExpBinBoost : Stumps of ±1 by an exact line search: more rounds, each a vote to be read.
    NoisyOrBoost : A likelihood in place of the exponential loss: gentler to mislabelled bags.
    mixedbag.embeddings.MINetworkClassifier : A smooth network under the same soft maximum.

    Notes
    -----
    Algorithm 2 of Li, Wang, Tian and Ding, "A Boosting Approach to Exploit Instance Correlations
    for Multi-Instance Classification". Positive bags make the second derivative indefinite, and the
    paper's plain Newton step can climb; here each step is bounded, never walks towards a maximum,
    and is halved until the loss falls.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.boosting import ExpRegBoost
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> instances = rng.normal(size=(60, 5, 3))
    >>> instances[y == 1, 0, 2] += 4  # one instance of every positive bag stands out
    >>> bags = Bags.from_list(instances)
    >>> booster = ExpRegBoost().fit(bags[:40], y[:40])
    >>> float(booster.score(bags[40:], y[40:])) > 0.8
    True
    >>> int(booster.feature_importances_.argmax())
    2
    """

    # Of two settings these are nearly as good on the development collection as of four.
    _search_space = {"lam": [0.03, 0.3]}

    @property
    def _step(self):
        return NewtonStep(None) if self.exhaustive else NewtonStep()
