"""Reading input: bags of the features a learner knows, in a form that it can digest."""

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mixedbag._validation import refuse_unusable
from mixedbag.bags import Bags, as_bags
from mixedbag.exceptions import InputError


class Reading:
    """What a learner accepts as bags, at fit and ever after."""

    _accepts_sparse = False
    _accepts_nan = False
    _is_sequence = False
    _refuse_values = staticmethod(refuse_unusable)

    def _read(self, x, reset=False) -> Bags:
        """`x` as bags that this learner can digest; `reset` remembers the features."""
        if self._is_sequence and _is_plain_rows(x):
            raise InputError(
                f"{type(self).__name__} learns from sequences, and plain rows have no order: pass "
                "Bags, a list of 2-D arrays or a 3-D array"
            )
        bags = as_bags(x)
        if len(bags) == 0:
            raise InputError(
                "Found array with 0 sample(s) while a minimum of 1 is required: there are no bags"
            )
        if bags.is_sparse and not self._accepts_sparse:
            raise TypeError(
                f"Sparse data was passed, but {type(self).__name__} needs dense data: use "
                "bags.with_instances(bags.instances.toarray())"
            )
        self._refuse_values(bags, self._accepts_nan)
        if reset:
            self._remember_features(bags.n_features, bags.feature_names)
        else:
            _check_features(self, bags.n_features, bags.feature_names)
        return bags

    def _remember_features(self, n_features, names):
        self.n_features_in_ = n_features
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)

    def _column_of(self, parameter) -> int | None:
        """The column of the feature that a parameter names or numbers, where it does."""
        feature = getattr(self, parameter)
        if not isinstance(feature, str):
            if feature is not None and feature >= self.n_features_in_:
                raise InputError(
                    f"{parameter} is column {feature}, but there are {self.n_features_in_}"
                )
            return feature
        names = getattr(self, "feature_names_in_", np.array([], dtype=object)).tolist()
        if feature not in names:
            raise InputError(f"{parameter} {feature!r} is not a column: {', '.join(names)}")
        return names.index(feature)

    def _fitted(self, bags) -> Bags:
        check_is_fitted(self)
        return self._read(bags)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = self._accepts_sparse
        tags.input_tags.allow_nan = self._accepts_nan
        tags.target_tags.required = True
        return tags


def _is_plain_rows(x):
    """Whether `x` is a plain table, whose rows would be bags of one."""
    if isinstance(x, Bags):
        return False
    if hasattr(x, "columns") or getattr(x, "ndim", None) == 2:
        return True
    return isinstance(x, (list, tuple)) and len(x) > 0 and np.ndim(x[0]) < 2


def _check_features(estimator, n_features, names):
    """Refuse features other than those an estimator was fitted on."""
    if n_features != estimator.n_features_in_:
        raise InputError(
            f"X has {n_features} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    known = getattr(estimator, "feature_names_in_", None)
    if names is None or known is None or list(known) == names:
        if (names is None) != (known is None):
            _warn_about_names(type(estimator).__name__, names)
        return
    lines = ["The feature names should match those that were passed during fit."]
    unseen = sorted(set(names) - set(known))
    missing = sorted(set(known) - set(names))
    if unseen:
        lines += ["Feature names unseen at fit time:", *(f"- {n}" for n in unseen[:5])]
    if missing:
        lines += ["Feature names seen at fit time, yet now missing:"]
        lines += [f"- {n}" for n in missing[:5]]
    if not unseen and not missing:
        lines += ["Feature names must be in the same order as they were in fit."]
    raise InputError("\n".join(lines) + "\n")


def _warn_about_names(learner, names):
    if names is None:
        message = (
            f"X does not have valid feature names, but {learner} was fitted with feature names"
        )
    else:
        message = f"X has feature names, but {learner} was fitted without feature names"
    warnings.warn(message, UserWarning, stacklevel=5)
