"""Every learner of the package passes scikit-learn's checks and ours."""

import joblib
import pytest
from scipy.sparse import issparse

from mixedbag.base._calibrating import CalibratedBags
from mixedbag.testing import example_learners
from mixedbag.testing._configurations import expected_failed_checks
from tests.contract import keeps_our_contract, keeps_scikit_learns_contract

LEARNERS = example_learners()
# Sequence learners refuse plain rows, which is all that scikit-learn's checks have.
ON_ROWS = [learner for learner in LEARNERS if not learner._is_sequence]


# These fit over and over on what is one table once it is read: a sparse one in nine formats, an
# array and its list, whole numbers of several kinds, labels in a column.
ONE_TABLE = ("check_estimator_sparse_array", "check_estimator_sparse_matrix")
ONE_TABLE += ("check_classifiers_train", "check_classifier_data_not_an_array")
ONE_TABLE += ("check_estimators_dtypes", "check_dtype_object", "check_supervised_y_2d")


def once(function, known, kind=lambda stored: None):
    """A method that does not work out again what it has told of an equal learner and table.

    Tables are equal that have equal values; those of another `kind` are others all the same.
    """

    def told(self, bags, *others):
        rows = bags.instances
        values = rows
        if issparse(rows):
            values = rows.data, rows.indices.tolist(), rows.indptr.tolist()
        key = joblib.hash((repr(self), values, kind(rows), bags.offsets, others))
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


def kind_of_memory(rows):
    """What else a learner might stumble over: wide indices, and arrays that it may not write to."""
    if issparse(rows):
        return str(rows.indices.dtype), rows.data.flags.writeable
    return rows.flags.writeable


@pytest.mark.parametrize("learner", ON_ROWS, ids=lambda learner: type(learner).__name__)
def test_scikit_learn_contract(learner, monkeypatch):
    """What scores mean, which takes three further fits, is settled once for equal values; and in
    checks of how tables are read, what is read equally is learned from once."""
    settle, learn = CalibratedBags._what_scores_mean, type(learner)._learn
    monkeypatch.setattr(CalibratedBags, "_what_scores_mean", once(settle, {}))
    learn_once = once(learn, {}, kind_of_memory)

    def before(name):
        monkeypatch.setattr(type(learner), "_learn", learn_once if name in ONE_TABLE else learn)

    keeps_scikit_learns_contract(learner, expected_failed_checks(learner), before)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_bag_contract(learner):
    keeps_our_contract(learner)
