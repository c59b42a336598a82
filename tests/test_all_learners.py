"""Every learner of the package passes scikit-learn's checks and ours."""

import joblib
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from mixedbag.base._calibrating import CalibratedBags
from mixedbag.testing import example_learners, parametrize_with_bag_checks
from mixedbag.testing._configurations import expected_failed_checks

LEARNERS = example_learners()
# Sequence learners refuse plain rows, which is all that scikit-learn's checks have.
ON_ROWS = [learner for learner in LEARNERS if not learner._is_sequence]


@pytest.fixture
def settled_once(monkeypatch):
    """What scores of a learner mean, which takes three further fits, is settled once a table.

    scikit-learn asks for probabilities after fits on one sparse table in nine formats.
    """
    known, settle = {}, CalibratedBags._what_scores_mean

    def once(self, bags, *others):
        told = joblib.hash((repr(self), bags.instances, bags.offsets, others))
        if told not in known:
            known[told] = settle(self, bags, *others)
        return known[told]

    monkeypatch.setattr(CalibratedBags, "_what_scores_mean", once)


@parametrize_with_checks(ON_ROWS, expected_failed_checks=expected_failed_checks)
def test_scikit_learn_contract(settled_once, estimator, check):
    check(estimator)


@parametrize_with_bag_checks(LEARNERS)
def test_bag_contract(estimator, check):
    check(clone(estimator))
