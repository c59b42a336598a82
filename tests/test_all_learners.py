"""Every learner of the package passes scikit-learn's checks and ours."""

from functools import partial
from itertools import chain

import joblib
import pytest
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

from mixedbag.base._calibrating import CalibratedBags
from mixedbag.testing import example_learners, parametrize_with_bag_checks
from mixedbag.testing._configurations import expected_failed_checks

LEARNERS = example_learners()
# Sequence learners refuse plain rows, which is all that scikit-learn's checks have.
ON_ROWS = [learner for learner in LEARNERS if not learner._is_sequence]


# These fit over and over on what is one table once it is read: a sparse one in nine formats, an
# array and its list.
ONE_TABLE = ("check_estimator_sparse_array", "check_estimator_sparse_matrix")
ONE_TABLE += ("check_classifiers_train",)


def once(function, known):
    """A method that does not work out again what it has told of an equal learner and table."""

    def told(self, bags, *others):
        rows = bags.instances
        stored = rows.data if issparse(rows) else rows
        key = joblib.hash((repr(self), rows, stored.flags.writeable, bags.offsets, others))
        if key not in known:
            before = dict(vars(self))
            answer = function(self, bags, *others)
            new = (n for n, v in vars(self).items() if before.get(n, ...) is not v)
            learned = {n: vars(self)[n] for n in new if not n.startswith("_callback")}
            known[key] = answer, learned
        answer, learned = known[key]
        vars(self).update(learned)
        return answer

    return told


TOLD = {}


@pytest.fixture
def each_table_once(monkeypatch, estimator, check):
    """What scores of a learner mean, which takes three further fits, is settled once a table.

    And in checks of how tables are read, what is read equally is learned from once.
    """
    learner = type(estimator)
    if learner not in TOLD:  # those of one learner come one after the other
        TOLD.clear()
        TOLD[learner] = {}, {}
    meanings, models = TOLD[learner]
    settle = CalibratedBags._what_scores_mean
    monkeypatch.setattr(CalibratedBags, "_what_scores_mean", once(settle, meanings))
    if check.func.__name__ in ONE_TABLE:
        monkeypatch.setattr(learner, "_learn", once(learner._learn, models))


def scikit_learn_checks(learners):
    checks = (
        estimator_checks_generator(
            learner, expected_failed_checks=expected_failed_checks(learner), mark="xfail"
        )
        for learner in learners
    )
    return [*chain.from_iterable(checks)]


def told(value):
    """A learner by its class, a check by its name and options.

    Those of scikit-learn's own decorator print every learner anew for each of its checks.
    """
    if not isinstance(value, partial):
        return type(value).__name__
    options = "-".join(f"{name}={option}" for name, option in value.keywords.items())
    return f"{value.func.__name__}({options})" if options else value.func.__name__


@pytest.mark.parametrize(("estimator", "check"), scikit_learn_checks(ON_ROWS), ids=told)
def test_scikit_learn_contract(each_table_once, estimator, check):
    check(estimator)


@parametrize_with_bag_checks(LEARNERS)
def test_bag_contract(estimator, check):
    check(clone(estimator))
