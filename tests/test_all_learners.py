"""Every learner of the package passes scikit-learn's checks and ours."""

from unittest import SkipTest

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
# array and its list, whole numbers of several kinds, labels in a column.
ONE_TABLE = ("check_estimator_sparse_array", "check_estimator_sparse_matrix")
ONE_TABLE += ("check_classifiers_train", "check_classifier_data_not_an_array")
ONE_TABLE += ("check_estimators_dtypes", "check_dtype_object", "check_supervised_y_2d")


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


def told(check):
    """A check by its name and options."""
    options = "-".join(f"{name}={option}" for name, option in check.keywords.items())
    return f"{check.func.__name__}({options})" if options else check.func.__name__


@pytest.mark.parametrize("learner", ON_ROWS, ids=lambda learner: type(learner).__name__)
def test_scikit_learn_contract(learner, monkeypatch):
    """Every check is tried, whatever becomes of the others; those that fail are told together.

    One test a learner: sixty of them would cost more than what they do. What scores mean, which
    takes three further fits, is settled once a table; and in checks of how tables are read, what is
    read equally is learned from once.
    """
    settle, learn = CalibratedBags._what_scores_mean, type(learner)._learn
    monkeypatch.setattr(CalibratedBags, "_what_scores_mean", once(settle, {}))
    learn_once = once(learn, {})
    expected, faults = expected_failed_checks(learner), []
    for estimator, check in estimator_checks_generator(learner):
        name = check.func.__name__
        monkeypatch.setattr(type(learner), "_learn", learn_once if name in ONE_TABLE else learn)
        try:
            check(estimator)
        except SkipTest:
            continue
        except Exception as fault:
            if name not in expected:
                fault.add_note(f"in {told(check)}")
                faults.append(fault)
        else:
            if name in expected:
                faults.append(AssertionError(f"{told(check)} passes, and was expected to fail"))
    if faults:
        raise ExceptionGroup(f"{len(faults)} checks of {type(learner).__name__}", faults)


@parametrize_with_bag_checks(LEARNERS)
def test_bag_contract(estimator, check):
    check(clone(estimator))
