"""Checks that every bag learner must pass, for this package's learners and for your own."""

from mixedbag.learners import all_learners
from mixedbag.testing._checks import bag_checks, check_bag_estimator, parametrize_with_bag_checks
from mixedbag.testing._configurations import example_learners
from mixedbag.testing._problems import toy_problem

__all__ = [
    "all_learners",
    "bag_checks",
    "check_bag_estimator",
    "example_learners",
    "parametrize_with_bag_checks",
    "toy_problem",
]


def __dir__():
    return __all__
