"""Every learner of the package passes scikit-learn's checks and ours."""

from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from mixedbag.testing import example_learners, parametrize_with_bag_checks
from mixedbag.testing._configurations import expected_failed_checks

LEARNERS = example_learners()
# Sequence learners refuse plain rows, which is all that scikit-learn's checks have.
ON_ROWS = [learner for learner in LEARNERS if not learner._is_sequence]


@parametrize_with_checks(ON_ROWS, expected_failed_checks=expected_failed_checks)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@parametrize_with_bag_checks(LEARNERS)
def test_bag_contract(estimator, check):
    check(clone(estimator))
