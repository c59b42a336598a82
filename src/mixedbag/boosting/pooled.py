"""Pooled boosting: bag scores pooled from boosted instance scores, one loss, one kind of step.

One loop, three pieces to swap. The named boosters are the combinations of the literature (see also
`mixedbag.boosting.exponential`); `PooledBoostingClassifier` takes any.
"""

from sklearn.utils._param_validation import HasMethods

from mixedbag._parameters import above, one_of
from mixedbag.boosting._loop import BoostedBags
from mixedbag.boosting.losses import ExponentialLoss, LogisticLoss
from mixedbag.boosting.steps import NewtonStep, PartitionStep, SignStep
from mixedbag.pooling import ISR, OWA, LogMeanExp, MeanProbability, NoisyOr, Pooling

__all__ = ["ISRBoost", "NoisyOrBoost", "OWABoost", "PooledBoostingClassifier"]


class NoisyOrBoost(BoostedBags):
    """Noisy-or boosting: a bag is positive if any instance is, independently.

    Instance scores ``F`` are log-odds and a sum of stumps; the probability of a bag is ``p_i = 1 −
    Π_j (1 − σ(F_ij))``, and the log-likelihood of the bags rises with every ±1 stump (exact line
    search). With bags of one instance this is logistic boosting.

    Parameters
    ----------
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
    ISRBoost : Odds of instances add up: several weak witnesses make a strong one.
    ExpRegBoost : A soft maximum, so that large bags are not positive for their size alone.
    mixedbag.classics.MILogisticRegression : The same noisy-or for a linear score.

    Notes
    -----
    Viola, Platt and Zhang, "Multiple instance boosting for object detection". Scores start from the
    best constant, so that the first stumps are not spent on the size of the bags.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.boosting import NoisyOrBoost
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> instances = rng.normal(size=(60, 5, 3))
    >>> instances[y == 1, 0, 2] += 4  # one instance of every positive bag stands out
    >>> bags = Bags.from_list(instances)
    >>> booster = NoisyOrBoost().fit(bags[:40], y[:40])
    >>> float(booster.score(bags[40:], y[40:])) > 0.8
    True
    >>> int(booster.feature_importances_.argmax())
    2
    """

    _pooling = NoisyOr()
    _loss = LogisticLoss()
    _step = SignStep(n_candidates=8)  # each trial of a step visits all instances
    _starts_from_constant = True


class ISRBoost(BoostedBags):
    """Boosting with the integrated segmentation rule.

    Instance scores ``F`` are a sum of stumps and the odds of a bag are the sum of its instances'
    odds, ``p_i/(1 − p_i) = Σ_j exp F_ij``: several weak witnesses make a strong one. The
    log-likelihood of the bags rises with every ±1 stump (exact line search). With bags of one
    instance this is logistic boosting.

    Parameters
    ----------
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
    NoisyOrBoost : The probability that some instance is positive, independently.
    ExpRegBoost : A soft maximum, so that large bags are not positive for their size alone.
    PooledBoostingClassifier : Any pooling, loss and step.

    Notes
    -----
    Viola, Platt and Zhang, "Multiple instance boosting for object detection". Scores start from the
    best constant, so that the first stumps are not spent on the size of the bags.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.boosting import ISRBoost
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> instances = rng.normal(size=(60, 5, 3))
    >>> instances[y == 1, 0, 2] += 4  # one instance of every positive bag stands out
    >>> bags = Bags.from_list(instances)
    >>> booster = ISRBoost().fit(bags[:40], y[:40])
    >>> float(booster.score(bags[40:], y[40:])) > 0.8
    True
    >>> int(booster.feature_importances_.argmax())
    2
    """

    _pooling = ISR()
    _loss = LogisticLoss()
    _step = SignStep()
    _starts_from_constant = True


class OWABoost(BoostedBags):
    """Real boosting with an ordered weighted average.

    A bag's score is a weighted average of its instances' scores, the highest first: between the
    maximum and the mean. Each round adds a real-AdaBoost stump, ``½ log(W₊/W₋)`` on either side of
    a threshold, where ``W`` sums the loss's derivatives over the instances of positive and of
    negative bags; it is shortened until the exponential loss of the bags falls.

    Parameters
    ----------
    a : float, default=0.5
        Exponent of the weights ``(k/n)^a − ((k−1)/n)^a`` of a bag's k-th highest of n scores: 0 is
        the maximum, 1 the mean.
    average : {"scores", "probabilities"}, default="scores"
        What is averaged: the scores, or the probabilities ``σ(2F)`` that they mean, whose average
        is the probability of the bag. The latter follows what later papers say of the original.
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
    ExpRegBoost : A soft maximum in place of an ordered average.
    SBoost : For labels that hold for most instances of a bag.
    PooledBoostingClassifier : Any pooling, loss and step.

    Notes
    -----
    Hajimirsadeghi and Mori, "Multiple instance real boosting with aggregation functions".

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.boosting import OWABoost
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> instances = rng.normal(size=(60, 5, 3))
    >>> instances[y == 1, 0, 2] += 4  # one instance of every positive bag stands out
    >>> bags = Bags.from_list(instances)
    >>> booster = OWABoost().fit(bags[:40], y[:40])
    >>> float(booster.score(bags[40:], y[40:])) > 0.8
    True
    >>> int(booster.feature_importances_.argmax())
    2
    """

    _search_space = {"a": [0.25, 0.5, 1.0], "n_rounds": [50]}
    _parameter_constraints = {"a": [above(0)], "average": [one_of("scores", "probabilities")]}
    _loss = ExponentialLoss()
    _step = PartitionStep()

    def __init__(
        self,
        a=0.5,
        *,
        average="scores",
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
        self.a = a
        self.average = average

    @property
    def _pooling(self):  # type: ignore[override]
        if self.average == "probabilities":
            return MeanProbability(self.a, 1.0 / self._loss.log_odds_scale)
        return OWA(self.a)


class PooledBoostingClassifier(BoostedBags):
    """Boosting with any pooling, loss and step.

    Instance scores are a sum of weak learners, bag scores pool them, and every round lowers the
    loss of the bags. Use a named booster where one fits; use this to combine the pieces anew, or
    with a pooling, loss or step of your own.

    Parameters
    ----------
    pooling : object from `mixedbag.pooling`, default=LogMeanExp(1.0)
        From instance scores to bag scores.
    loss : ExponentialLoss or LogisticLoss, default=LogisticLoss()
        What every round lowers.
    step : SignStep, NewtonStep or PartitionStep, default=NewtonStep()
        What a stump adds. Ignored with `estimator`, which always gets an exact line search.
    fit_intercept : bool, default=True
        Whether scores start from the best constant.
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
    ExpRegBoost : Log-mean-exp, exponential loss, Newton steps: the first to try.
    NoisyOrBoost : Noisy-or, logistic loss, sign steps.
    OWABoost : Ordered average, exponential loss, partition steps.
    mixedbag.pooling.Pooling : Base of poolings of your own.

    Notes
    -----
    A pooling derives from `mixedbag.pooling.Pooling` and has ``value``, ``weights`` and
    ``curvature``; a loss has ``derivatives`` and ``log_odds_scale``; a step names the ``sums`` it
    wants from the codes and derivatives of a block of bags, turns them into ``candidates``, and
    says whether the search along them is ``exact``.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.boosting import PooledBoostingClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> instances = rng.normal(size=(60, 5, 3))
    >>> instances[y == 1, 0, 2] += 4  # one instance of every positive bag stands out
    >>> bags = Bags.from_list(instances)
    >>> booster = PooledBoostingClassifier().fit(bags[:40], y[:40])
    >>> float(booster.score(bags[40:], y[40:])) > 0.8
    True
    >>> int(booster.feature_importances_.argmax())
    2
    """

    _parameter_constraints = {
        "pooling": [Pooling, None],
        "loss": [HasMethods("derivatives"), None],
        "step": [HasMethods(["sums", "candidates"]), None],
        "fit_intercept": ["boolean"],
    }

    def __init__(
        self,
        pooling=None,
        *,
        loss=None,
        step=None,
        fit_intercept=True,
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
        self.pooling = pooling
        self.loss = loss
        self.step = step
        self.fit_intercept = fit_intercept

    @property
    def _pooling(self):  # type: ignore[override]
        return LogMeanExp(1.0) if self.pooling is None else self.pooling

    @property
    def _loss(self):
        return LogisticLoss() if self.loss is None else self.loss

    @property
    def _step(self):
        return NewtonStep() if self.step is None else self.step

    @property
    def _starts_from_constant(self):  # type: ignore[override]
        return self.fit_intercept
