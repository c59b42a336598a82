"""`check_bag_estimator`: the invariants of bag learners, those that apply to one."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sklearn.base import clone, is_classifier

from mixedbag.testing import _classes, _conventions, _extremes, _invariances, _refusals
from mixedbag.testing._configurations import expected_failed_checks

_EVERY_LEARNER = [
    _conventions.check_both_levels,
    _invariances.check_fit_is_deterministic,
    _invariances.check_order_of_bags_does_not_matter,
    _invariances.check_weight_two_is_a_duplicate,
    _invariances.check_weight_zero_is_absence,
    _refusals.check_input_is_not_touched,
    _invariances.check_list_and_frame_give_the_same,
    _invariances.check_sparse_is_dense,
    _refusals.check_bad_input_names_the_bag,
    _refusals.check_failed_fit_leaves_the_model,
    _conventions.check_copies_predict_the_same,
    _conventions.check_pipeline_and_search,
    _conventions.check_callbacks_see_the_fit,
    _conventions.check_learns_something,
    _extremes.check_any_scale_fits_or_is_refused,
    _extremes.check_constant_features_fit_or_are_refused,
    _extremes.check_one_huge_value_fits_or_is_refused,
]
_UNORDERED = [
    _invariances.check_order_of_instances_does_not_matter,
    _invariances.check_plain_rows_are_bags_of_one,
]
_SEQUENCES = [_refusals.check_plain_rows_are_refused]
_CLASSIFIERS = [
    _classes.check_any_two_labels,
    _classes.check_three_labels,
    _refusals.check_one_label_is_refused,
    _classes.check_witnesses_are_in_positive_bags,
    _classes.check_probabilities,
]


def check_bag_estimator(estimator: Any, expected_failures: Mapping[str, str] | None = None) -> None:
    """Run every invariant that applies to `estimator`.

    Parameters
    ----------
    estimator : bag learner
        An unfitted instance, with settings that fit quickly.
    expected_failures : dict of str to str, optional
        Names of checks to leave out, each with the reason.

    Raises
    ------
    AssertionError
        At the first invariant that does not hold.

    See Also
    --------
    bag_checks : The same checks one by one.
    parametrize_with_bag_checks : The same as tests of pytest.
    sklearn.utils.estimator_checks.check_estimator : What scikit-learn asks of any estimator.

    Examples
    --------
    A learner that answers by chance is found out:

    >>> import numpy as np
    >>> from mixedbag.base import BagClassifier
    >>> from mixedbag.testing import check_bag_estimator
    >>> class Moody(BagClassifier):
    ...     _rules = ("any",)
    ...
    ...     def _fit(self, bags, sign, weight):
    ...         self.mood_ = np.random.default_rng().normal(size=bags.n_features)
    ...
    ...     def _score_instances(self, bags):
    ...         return bags.instances @ self.mood_
    >>> try:
    ...     check_bag_estimator(Moody())
    ... except AssertionError:
    ...     print("two fits on the same bags differ")
    two fits on the same bags differ
    """
    for check in bag_checks(estimator, expected_failures):
        check(clone(estimator))


def bag_checks(
    estimator: Any, expected_failures: Mapping[str, str] | None = None
) -> list[Callable[[Any], None]]:
    """The checks that apply to `estimator`, as functions of an estimator.

    Parameters
    ----------
    estimator : bag learner
        An unfitted instance, with settings that fit quickly.
    expected_failures : dict of str to str, optional
        Names of checks to leave out, each with the reason.

    Returns
    -------
    list of callables
        Each raises when its invariant does not hold.

    See Also
    --------
    check_bag_estimator : Runs them all.

    Examples
    --------
    >>> from mixedbag.classics import CitationKNN
    >>> from mixedbag.testing import bag_checks
    >>> bag_checks(CitationKNN())[0].__name__
    'check_both_levels'
    """
    left_out = expected_failed_checks(estimator) | (expected_failures or {})
    checks = list(_EVERY_LEARNER)
    if is_classifier(estimator) and "count" not in estimator._rules:
        checks += _CLASSIFIERS
    checks += _SEQUENCES if estimator._is_sequence else _UNORDERED
    return [check for check in checks if check.__name__ not in left_out]


def parametrize_with_bag_checks(estimators: Iterable) -> Any:
    """A pytest decorator: one test for each estimator and check.

    Parameters
    ----------
    estimators : iterable of bag learners
        Unfitted instances, with settings that fit quickly.

    Returns
    -------
    decorator
        For a test with the arguments ``estimator`` and ``check``.

    See Also
    --------
    check_bag_estimator : The same in one call, without pytest.

    Examples
    --------
    >>> from sklearn.base import clone
    >>> from mixedbag.classics import CitationKNN
    >>> from mixedbag.testing import parametrize_with_bag_checks
    >>> @parametrize_with_bag_checks([CitationKNN()])
    ... def test_my_learner(estimator, check):
    ...     check(clone(estimator))
    """
    import pytest

    cases = [
        pytest.param(estimator, check, id=f"{type(estimator).__name__}-{check.__name__}")
        for estimator in estimators
        for check in bag_checks(estimator)
    ]
    return pytest.mark.parametrize(("estimator", "check"), cases)
