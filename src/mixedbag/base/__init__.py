"""The contract every learner keeps: validation, label encoding, and both prediction levels.

The author of a learner writes ``_fit`` (or ``_fit_blocks``, for bags anywhere) and one scoring
method (``_score_instances`` or ``_score_bags``) and nothing else; everything public is here.
"""

from functools import cache
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from mixedbag._account.counts import add_up
from mixedbag._validation import (
    check_choice,  # noqa: F401
    leave_out_unknown,
    refuse_missing_labels,
    warn_if_alike,
)
from mixedbag.base._calibrating import CalibratedBags
from mixedbag.base._fitting import Fitting
from mixedbag.base._levels import Levels, LogOddsMixin, winners
from mixedbag.base._one_vs_rest import OneVsRest, against_rest
from mixedbag.base._reading import Reading
from mixedbag.engines.local import with_signs, with_totals
from mixedbag.exceptions import InputError
from mixedbag.pooling import Mean, Sum, bag_sum

__all__ = ["BagClassifier", "BagEstimator", "BagRegressor", "LogOddsMixin"]


class BagEstimator(Reading, Fitting, OneVsRest, Levels, BaseEstimator):
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
    ``_renamed``
        Parameters of saved models that have another name now.

    See Also
    --------
    BagClassifier : For bags that carry a class.
    BagRegressor : For bags that carry a total.
    mixedbag.counts.CountClassifier : For bags that carry counts of classes.

    Examples
    --------
    >>> from mixedbag.base import BagEstimator
    >>> from mixedbag.learners import all_learners
    >>> all(issubclass(learner, BagEstimator) for learner in all_learners())
    True
    """

    _rules: tuple[str, ...] = ()
    _search_space: dict = {}
    _compared = True
    _needs_scaling = False
    _renamed: dict[str, str] = {}

    @classmethod
    @cache
    def _get_param_names(cls):
        """As in scikit-learn, which reads the constructor anew at every clone and fit."""
        return super()._get_param_names()

    def __setstate__(self, state):
        """Parameters that a saved model does not know yet have their defaults."""
        super().__setstate__({self._renamed.get(name, name): v for name, v in state.items()})
        for name, parameter in signature(type(self).__init__).parameters.items():
            if parameter.default is not parameter.empty and not hasattr(self, name):
                setattr(self, name, parameter.default)

    def _refuse_one_class(self):
        if len(self.classes_) < 2:
            raise InputError(
                f"{type(self).__name__} needs at least two classes; the bags contain one class "
                f"only: {self.classes_.tolist()[0]!r}"
            )


class BagClassifier(ClassifierMixin, CalibratedBags, BagEstimator):
    """Base of classifiers whose bags carry one class label each.

    Binary learners get ``_fit(bags, sign, weight)`` with ``sign = ±1`` (the second of ``classes_``
    is positive) and return one score, positive where the second class wins. More than two classes
    are learned one against the rest. A learner that handles several classes itself sets
    ``_multiclass = True``: its ``_fit`` gets class codes and its scores have a column a class (one
    score is still enough for two classes).

    Learners whose scores are log-odds add `LogOddsMixin`; the others' probabilities are calibrated
    when they are first asked for (see `mixedbag.base._calibrating`).

    See Also
    --------
    LogOddsMixin : Adds probabilities.
    mixedbag.testing.check_bag_estimator : Whether a learner keeps the contract.
    mixedbag.counts.CountClassifier : For bags that carry counts of classes.

    Examples
    --------
    >>> from mixedbag.base import BagClassifier
    >>> from mixedbag.datasets import make_any
    >>> class FarOut(BagClassifier):
    ...     def _fit(self, bags, sign, weight):
    ...         self.centre_ = bags.instances.mean(axis=0)
    ...
    ...     def _score_instances(self, bags):
    ...         return ((bags.instances - self.centre_) ** 2).sum(axis=1) - 20.0
    >>> data = make_any(n_bags=20, random_state=0)
    >>> model = FarOut().fit(data.bags, data.y)
    >>> len(model.predict(data.bags))
    20
    >>> len(model.predict_instances(data.bags)) == data.bags.n_instances
    True
    """

    def _read_targets(self, bags, y):
        y = column_or_1d(y, warn=True)
        if len(y) != len(bags):
            raise InputError(f"{len(y)} labels for {len(bags)} bags")
        refuse_missing_labels(bags, y)
        two = y.dtype.kind == "b" or (y.dtype.kind in "iu" and np.ptp(y) == 1)
        if not two:  # what scikit-learn takes longer to see than a quick learner to learn
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
            self._fit_one_vs_rest(lambda one, k: one.fit(bags, codes == k, sample_weight=weight))

    def _learn_blocks(self, source):
        check_classification_targets(source.labels)
        self.classes_ = source.labels
        self._refuse_one_class()
        if len(self.classes_) == 2:
            self._fit_blocks(source.blocks.map(with_signs, self.classes_[1]))
        else:
            self._fit_one_vs_rest(lambda one, k: one.fit(against_rest(source, self.classes_[k])))

    def _training_scores(self, bags):
        return self._class_scores(bags, "_score_bags")

    def decision_function(self, bags: Any) -> np.ndarray:
        """Scores of the bags: positive for the second class, or a column a class."""
        return self._class_scores(self._fitted(bags), "_score_bags")

    def decision_function_instances(self, bags: Any) -> np.ndarray:
        """Scores of all instances, in the order of ``bags.instances``."""
        return self._class_scores(self._fitted(bags), "_score_instances")

    def predict(self, bags: Any) -> np.ndarray:
        """The predicted class of every bag."""
        return self._labels(self.decision_function(bags))

    def predict_instances(self, bags: Any) -> np.ndarray:
        """The predicted class of every instance, in the order of ``bags.instances``."""
        return self._labels(self.decision_function_instances(bags))

    def _labels(self, scores):
        return self.classes_[winners(scores)]


class BagRegressor(RegressorMixin, BagEstimator):
    """Base of regressors that know a total (or mean) per bag and predict a value per instance.

    ``_fit(bags, total, weight)`` always gets totals; ``_score_instances`` returns the instances'
    values. The constructor has ``aggregate``: "sum" when `y` and predictions are totals of bags,
    "mean" when they are means. A learner that sets ``_multioutput = True`` may get totals with a
    column a quantity, and then returns as many values an instance.

    See Also
    --------
    BagClassifier : For bags that carry a class.
    mixedbag.testing.check_bag_estimator : Whether a learner keeps the contract.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.base import BagRegressor
    >>> from mixedbag.datasets import make_sum
    >>> class SameForAll(BagRegressor):
    ...     def _fit(self, bags, total, weight):
    ...         self.value_ = (weight @ total) / (weight @ bags.sizes)
    ...
    ...     def _score_instances(self, bags):
    ...         return np.full(bags.n_instances, self.value_)
    >>> data = make_sum(n_bags=20, random_state=0)
    >>> model = SameForAll().fit(data.bags, data.y)
    >>> np.allclose(model.predict(data.bags).sum(), data.y.sum())
    True
    """

    _multioutput = False
    _rules = ("sum",)
    aggregate = "sum"

    @property
    def _pooling(self):  # type: ignore[override]
        return Mean() if self.aggregate == "mean" else Sum()

    def _read_targets(self, bags, y):
        y = self._columns(y)
        if len(y) != len(bags):
            raise InputError(f"{len(y)} totals for {len(bags)} bags")
        try:
            y = y.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"Unknown label type: totals must be numbers; {error}") from error
        refuse_missing_labels(bags, y)
        return y

    def _columns(self, y):
        """One total a bag, or a row of them where the learner can have several."""
        y = np.asarray(y)
        if self._multioutput and y.ndim == 2 and y.shape[1] > 1:
            return y
        return column_or_1d(y, warn=True)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._multioutput
        return tags

    def _with_labels(self, bags, y, weight):
        return leave_out_unknown(bags, y, weight)

    def _learn(self, bags, y, weight):
        total = (y.T * bags.sizes).T if self.aggregate == "mean" else y
        warn_if_alike(bags, (total.T / bags.sizes).T, "mean")
        self._fit(bags, total, weight)

    def _learn_blocks(self, source):
        self._fit_blocks(source.blocks.map(with_totals, self.aggregate))

    _to_totals = staticmethod(add_up)

    def predict(self, bags: Any) -> np.ndarray:
        """The predicted total (or mean) of every bag."""
        return self._score_bags(self._fitted(bags))

    def predict_instances(self, bags: Any, totals: Any = None) -> np.ndarray:
        """The predicted value of every instance, in the order of ``bags.instances``.

        `totals` are the known totals (or means, as `y`) of these bags: the values of a bag are
        moved by one amount (rates of events: multiplied by one number) so that they add up to its
        total; NaN where it is not known.
        """
        bags = self._fitted(bags)
        values = self._score_instances(bags)
        if totals is None:
            return values
        totals = self._columns(totals).astype(np.float64)
        if len(totals) != len(bags):
            raise InputError(f"{len(totals)} totals for {len(bags)} bags")
        if self.aggregate == "mean":
            totals = (totals.T * bags.sizes).T
        known = np.where(np.isnan(totals), bag_sum(values, bags.offsets), totals)
        return self._to_totals(values, bags.offsets, known)


def __dir__():
    return __all__
