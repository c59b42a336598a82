"""The contract every learner keeps: validation, label encoding, and both prediction levels.

The author of a learner writes ``_fit`` and one scoring method (``_score_instances`` or
``_score_bags``) and nothing else; everything public is here.
"""

import copy

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mixedbag._parameters import COMMON, check_parameters, declared
from mixedbag._validation import (
    check_choice,
    check_features,
    is_plain_rows,
    read_weights,
    refuse_missing_labels,
)
from mixedbag.bags import as_bags
from mixedbag.engines import ClusterLostError, LocalBlocks
from mixedbag.engines.local import (
    BlockedBags,
    Labelled,
    count_usable,
    with_signs,
    with_totals,
)
from mixedbag.pooling import Max, Mean, Pooling, Sum


class BagEstimator(CallbackSupportMixin, BaseEstimator):
    """What all learners share: reading bags, weights, progress, and a fit that fails cleanly.

    Class attributes describe a learner to the rest of the package:

    ``_rules``
        What the bag labels may say of the instances: any of "any", "majority", "count", "sum",
        "sequence".
    ``_search_space``
        A small grid for nested cross-validation.
    ``_compared``
        Whether `compare` should try it; False for kits and wrappers that need a choice first.
    ``_needs_scaling``
        Whether features should be standardised first.
    ``_accepts_sparse``, ``_accepts_nan``
        Which input the method can digest.
    ``_is_sequence``
        Whether a bag is a sequence, so that plain rows make no sense.
    ``_parameter_constraints``
        What each parameter may be (see `mixedbag._parameters`); checked when fitting.
    """

    _rules: tuple[str, ...] = ()
    _search_space: dict = {}
    _compared = True
    _needs_scaling = False
    _accepts_sparse = False
    _accepts_nan = False
    _is_sequence = False
    _parameter_constraints = COMMON

    # Fitting -------------------------------------------------------------------------------------

    @with_callbacks
    def fit(self, bags, y=None, sample_weight=None):
        """Learn from bags and one label a bag.

        Parameters
        ----------
        bags : Bags, list of 2-D arrays, 3-D array, or plain 2-D array (bags of one instance)
            Or `DistributedBags`, which live on a cluster and carry their labels and weights.
        y : array of shape (n_bags,)
            The bags' labels.
        sample_weight : array of shape (n_bags,), optional
            How much each bag counts; a bag of weight 2 counts like two equal bags, a bag of
            weight 0 is left out.

        Returns
        -------
        self
        """
        before = dict(self.__dict__)
        try:
            self._validate_params()
            self._forget()
            if isinstance(bags, BlockedBags):
                self._learn_from_cluster(bags, y, sample_weight)
            else:
                bags = self._read(bags, reset=True)
                if y is None:
                    raise ValueError(
                        f"{type(self).__name__} requires y to be passed, but the target y is None"
                    )
                y = self._read_targets(bags, y)
                self._learn(*Labelled(bags, y, read_weights(bags, sample_weight)).used())
            self._finish_progress()
        except BaseException as error:
            if isinstance(error, ClusterLostError):
                error.model = copy.copy(self)
            # A failed fit leaves the estimator as it was.
            self._restore(before)
            raise
        return self

    def _validate_params(self):
        """Refuse parameters that are not what the class declares."""
        check_parameters(self.get_params(deep=False), declared(type(self)))

    def _forget(self):
        for name in [n for n in self.__dict__ if n.endswith("_")]:
            del self.__dict__[name]

    def _restore(self, before):
        private = {n: v for n, v in self.__dict__.items() if n.startswith(("_skl", "_callback"))}
        self.__dict__.clear()
        self.__dict__.update(before | private)

    def _learn(self, bags, y, weight):
        self._fit(bags, y, weight)

    def _fit(self, bags, y, weight):
        """Learn from targets that the base has read. Authors write this or `_fit_blocks`."""
        if not hasattr(self, "_fit_blocks"):
            raise TypeError(f"{type(self).__name__} does not say how it learns: define _fit")
        n_jobs = getattr(self, "n_jobs", None)
        self._fit_blocks(LocalBlocks.cut(bags, y, weight, n_jobs))

    def _learn_from_cluster(self, source, y, sample_weight):
        if not hasattr(self, "_fit_blocks"):
            raise TypeError(
                f"{type(self).__name__} needs all bags in one place and cannot learn on a cluster"
            )
        if y is not None or sample_weight is not None:
            raise ValueError("distributed bags carry their own labels and weights")
        self.n_features_in_ = source.n_features
        self.feature_names_in_ = np.asarray(source.feature_names, dtype=object)
        source.blocks.sum(count_usable, self._accepts_nan)
        self._learn_blocks(source)

    def _learn_blocks(self, source):
        raise TypeError(f"{type(self).__name__} does not say how it reads labels on a cluster")

    # Progress ------------------------------------------------------------------------------------

    def _iterations(self, n):
        """``range(n)`` that tells scikit-learn's callbacks about every step.

        For the outermost loop of ``_fit``. A callback may stop the loop early.
        """
        if hasattr(self, "_callback_fit_ctx"):  # an inner loop: the outer one reports
            yield from range(n)
            return
        context = self._init_callback_context(max_subtasks=n)
        context.call_on_fit_task_begin(estimator=self)
        for i in range(n):
            step = context.subcontext(task_name="iteration")
            step.call_on_fit_task_begin(estimator=self)
            try:
                yield i
            finally:  # also when the learner breaks out of its loop
                stop = step.call_on_fit_task_end(estimator=self)
            if stop:
                return

    def _finish_progress(self):
        if not hasattr(self, "_callback_fit_ctx"):
            self._init_callback_context().call_on_fit_task_begin(estimator=self)
        self._callback_fit_ctx.call_on_fit_task_end(estimator=self)

    # Reading input -------------------------------------------------------------------------------

    def _read(self, x, reset=False):
        """`x` as bags that this learner can digest; `reset` remembers the features."""
        if self._is_sequence and is_plain_rows(x):
            raise ValueError(
                f"{type(self).__name__} learns from sequences, and plain rows have no order: pass "
                "Bags, a list of 2-D arrays or a 3-D array"
            )
        bags = as_bags(x)
        if len(bags) == 0:
            raise ValueError(
                "Found array with 0 sample(s) while a minimum of 1 is required: there are no bags"
            )
        if bags.is_sparse and not self._accepts_sparse:
            raise TypeError(
                f"Sparse data was passed, but {type(self).__name__} needs dense data: use "
                "bags.with_instances(bags.instances.toarray())"
            )
        bags.check_finite(allow_nan=self._accepts_nan)
        names = bags.feature_names
        if reset:
            self.n_features_in_ = bags.n_features
            if names is not None:
                self.feature_names_in_ = np.asarray(names, dtype=object)
        else:
            check_features(self, bags.n_features, names)
        return bags

    def _read_targets(self, bags, y):
        raise TypeError(f"{type(self).__name__} does not say how it reads labels")

    def _refuse_one_class(self):
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes; the bags contain one class "
                f"only: {self.classes_.tolist()[0]!r}"
            )

    def _fitted(self, bags):
        check_is_fitted(self)
        return self._read(bags)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._accepts_sparse
        tags.input_tags.allow_nan = self._accepts_nan
        tags.target_tags.required = True
        return tags

    # Scores --------------------------------------------------------------------------------------

    _pooling: Pooling = Max()

    def _score_instances(self, bags):
        """Scores of the instances; by default, of each as a bag of one."""
        if type(self)._score_bags is BagEstimator._score_bags:
            raise TypeError(
                f"{type(self).__name__} defines no score: write _score_instances or _score_bags"
            )
        return self._score_bags(bags.singletons())

    def _score_bags(self, bags):
        """Scores of the bags; by default, the pooled scores of their instances."""
        return self._pooling.value(self._score_instances(bags), bags.offsets)


class BagClassifier(ClassifierMixin, BagEstimator):
    """Base of classifiers whose bags carry one class label each.

    Binary learners get ``_fit(bags, sign, weight)`` with ``sign = ±1`` (the second of ``classes_``
    is positive) and return one score, positive where the second class wins. More than two classes
    are learned one against the rest. A learner that handles several classes itself sets
    ``_multiclass = True``: its ``_fit`` gets class codes and its scores have a column a class (one
    score is still enough for two classes).
    """

    _multiclass = False

    def _read_targets(self, bags, y):
        y = column_or_1d(y, warn=True)
        if len(y) != len(bags):
            raise ValueError(f"{len(y)} labels for {len(bags)} bags")
        refuse_missing_labels(bags, y)
        check_classification_targets(y)
        return y

    def _learn(self, bags, y, weight):
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._refuse_one_class()
        if self._multiclass:
            self._fit(bags, codes, weight)
        elif len(self.classes_) == 2:
            self._fit(bags, 2.0 * codes - 1.0, weight)
        else:
            self._fit_one_vs_rest(bags, codes, weight)

    def _learn_blocks(self, source):
        self.classes_ = source.labels
        self._refuse_one_class()
        if len(self.classes_) == 2:
            self._fit_blocks(source.blocks.map(with_signs, self.classes_[1]))
            return
        self.estimators_ = [clone(self) for _ in self.classes_]
        for learner, label in zip(self.estimators_, self.classes_, strict=True):
            learner.classes_, learner.n_features_in_ = np.array([False, True]), source.n_features
            learner._fit_blocks(source.blocks.map(with_signs, label))

    def _fit_one_vs_rest(self, bags, codes, weight):
        learners = [self._one_against_rest() for _ in self.classes_]
        for k in self._iterations(len(learners)):
            learners[k].fit(bags, codes == k, sample_weight=weight)
        self.estimators_ = learners
        if hasattr(learners[0], "n_iter_"):
            self.n_iter_ = max(learner.n_iter_ for learner in learners)

    def _one_against_rest(self):
        """An unfitted learner that will tell one class from the others."""
        return clone(self)

    def _class_scores(self, bags, method):
        if hasattr(self, "estimators_") and not self._multiclass:
            return np.column_stack([getattr(e, method)(bags) for e in self.estimators_])
        return getattr(self, method)(bags)

    def decision_function(self, bags):
        """Scores of the bags: positive for the second class, or a column a class."""
        return self._class_scores(self._fitted(bags), "_score_bags")

    def decision_function_instances(self, bags):
        """Scores of all instances, in the order of ``bags.instances``."""
        return self._class_scores(self._fitted(bags), "_score_instances")

    def predict(self, bags):
        """The predicted class of every bag."""
        return self._labels(self.decision_function(bags))

    def predict_instances(self, bags):
        """The predicted class of every instance, in the order of ``bags.instances``."""
        return self._labels(self.decision_function_instances(bags))

    def _labels(self, scores):
        if scores.ndim == 1:
            return self.classes_[(scores > 0).astype(int)]
        return self.classes_[scores.argmax(axis=1)]


class LogOddsMixin:
    """Adds probabilities to a classifier whose scores are log-odds times ``_log_odds_scale``."""

    _log_odds_scale = 1.0

    def predict_proba(self, bags):
        """Probability of each class, a row a bag."""
        return self._probabilities(self.decision_function(bags))

    def predict_proba_instances(self, bags):
        """Probability of each class, a row an instance."""
        return self._probabilities(self.decision_function_instances(bags))

    def _probabilities(self, scores):
        positive = expit(scores / self._log_odds_scale)
        if scores.ndim == 1:
            return np.column_stack([1.0 - positive, positive])
        # One-vs-rest: scaled to sum to one, by the largest first so that tiny ones survive.
        total = positive.sum(axis=1, keepdims=True)
        uniform = np.full_like(positive, 1.0 / positive.shape[1])
        return np.divide(positive, total, out=uniform, where=total > 0)


class BagRegressor(RegressorMixin, BagEstimator):
    """Base of regressors that know a total (or mean) per bag and predict a value per instance.

    ``_fit(bags, total, weight)`` always gets totals; ``_score_instances`` returns the instances'
    values. The constructor has ``aggregate``: "sum" when `y` and predictions are totals of bags,
    "mean" when they are means.
    """

    _rules = ("sum",)
    _pooling = Sum()
    aggregate = "sum"

    def _read_targets(self, bags, y):
        y = column_or_1d(y, warn=True)
        if len(y) != len(bags):
            raise ValueError(f"{len(y)} totals for {len(bags)} bags")
        try:
            y = y.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"Unknown label type: totals must be numbers; {error}") from error
        refuse_missing_labels(bags, y)
        return y

    def _learn(self, bags, y, weight):
        check_choice("aggregate", self.aggregate, ("sum", "mean"))
        total = y * bags.sizes if self.aggregate == "mean" else y
        self._fit(bags, total, weight)

    def _learn_blocks(self, source):
        check_choice("aggregate", self.aggregate, ("sum", "mean"))
        self._fit_blocks(source.blocks.map(with_totals, self.aggregate))

    def predict(self, bags):
        """The predicted total (or mean) of every bag."""
        bags = self._fitted(bags)
        pool = Mean() if self.aggregate == "mean" else Sum()
        return pool.value(self._score_instances(bags), bags.offsets)

    def predict_instances(self, bags):
        """The predicted value of every instance, in the order of ``bags.instances``."""
        return self._score_instances(self._fitted(bags))
