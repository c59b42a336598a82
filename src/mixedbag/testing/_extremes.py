"""Values at the limits of what numbers can say: a model with finite scores, or a reason."""

import warnings

import numpy as np
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from mixedbag.bags import Bags
from mixedbag.testing._comparing import outputs
from mixedbag.testing._problems import toy_problem

SCALES = (1e-300, 1e-150, 1e-30, 1e-8, 1e8, 1e15, 1e30, 1e45, 1e60, 1e150, 1e300)
# What a library says when our own numbers have run out of range: no help to anyone.
_SYMPTOMS = ("contains NaN", "contains infinity", "0 sample", "array must not contain", "converge")


def check_any_scale_fits_or_is_refused(estimator):
    """From 1e-300 to 1e300: finite scores, or an error that names a bag and a feature."""
    problem = toy_problem(estimator)
    for scale in SCALES:
        _fits_or_is_refused(estimator, problem.bags.instances * scale, problem, f"scale {scale:g}")


def check_constant_features_fit_or_are_refused(estimator):
    """All zeros, all the same, one feature that never varies, or varies by rounding alone."""
    problem = toy_problem(estimator)
    rows = problem.bags.instances
    frozen, nearly = rows.copy(), rows.copy()
    frozen[:, 1] = -7.5
    nearly[:, 1] = 1e6 + 1e-10 * rows[:, 1]
    for name, instances in [
        ("all zeros", np.zeros_like(rows)),
        ("all the same", np.full_like(rows, 3.0)),
        ("a constant feature", frozen),
        ("a nearly constant feature", nearly),
    ]:
        _fits_or_is_refused(estimator, instances, problem, name)


def check_one_huge_value_fits_or_is_refused(estimator):
    problem = toy_problem(estimator)
    for value in (1e10, 1e20, 1e40, -1e100, 1e200, 1e300, np.finfo(float).max):
        instances = problem.bags.instances.copy()
        instances[problem.bags.offsets[3], 1] = value
        _fits_or_is_refused(estimator, instances, problem, f"one value of {value:g}")


def _fits_or_is_refused(estimator, instances, problem, what):
    """Fit on other values; the outcome must be finite scores, or a reason in words of the data."""
    bags = Bags(instances, problem.bags.offsets, ids=problem.bags.ids)
    name = type(estimator).__name__
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", LinAlgWarning)  # a library's word on values it still solves
        warnings.simplefilter("ignore", ConvergenceWarning)  # said, and the model is usable
        try:
            model = clone(estimator).fit(bags, problem.y)
        except ValueError as error:
            message = str(error)
            assert "bag " in message, f"{name} on {what} names no bag: {message!r}"
            assert "feature" in message, f"{name} on {what} names no feature: {message!r}"
            for symptom in _SYMPTOMS:
                assert symptom not in message, f"{name} on {what}: {message!r}"
            return
        for scores in outputs(model, bags):
            assert np.isfinite(scores).all(), f"{name} on {what} gives scores that are not finite"
