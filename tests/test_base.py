"""The contract itself: probabilities that agree with predictions, refusals, old names."""

import numpy as np
import pytest
from sklearn.base import clone

from mixedbag import Bags
from mixedbag.base import BagClassifier
from mixedbag.base._levels import probabilities, winners
from mixedbag.classics import (
    EMDD,
    AxisParallelRectangle,
    MILogisticRegression,
    TwoLevelClassifier,
)
from mixedbag.sequence import MARClassifier
from mixedbag.testing import toy_problem
from mixedbag.testing._comparing import on_toys, outputs


@pytest.mark.parametrize(
    "scores",
    [
        [[-800.0, -900.0, -1000.0]],
        [[-1000.0, -900.0, -800.0]],
        [[800.0, 900.0, 1000.0]],
        [[-1e300, -1e301, -1e299], [1e-20, 2e-20, 0.0]],
        [-1e300, -1e-300, 0.0, 1e-300, 1e300],
    ],
)
def test_probabilities_agree_with_predictions(scores):
    scores = np.array(scores)
    table = probabilities(scores)
    np.testing.assert_array_equal(table.argmax(axis=1), winners(scores))
    np.testing.assert_allclose(table.sum(axis=1), 1.0)
    assert (table >= 0).all()


def test_ordinary_log_odds_are_scaled_to_sum_to_one():
    odds = 1 / (1 + np.exp([1.0, -2.0, 0.5]))
    np.testing.assert_allclose(probabilities(-np.array([[1.0, -2.0, 0.5]]))[0], odds / odds.sum())


class Lost(BagClassifier):
    """Learns a score that is no number."""

    _rules = ("any",)

    def _fit(self, bags, sign, weight):
        self.factor_ = np.nan

    def _score_instances(self, bags):
        return self.factor_ * bags.instances[:, 0]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_fit_without_finite_scores_fails_with_a_reason(n_classes):
    problem = toy_problem(Lost(), n_classes=n_classes)
    learner = Lost()
    with pytest.raises(ValueError, match=r"Lost found no usable model: it gives bag 0 .*feature"):
        learner.fit(problem.bags, problem.y)
    assert not hasattr(learner, "classes_")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_too_large_to_compute_with_are_named(dtype):
    problem = toy_problem(EMDD())
    rows = problem.bags.instances.astype(dtype)
    rows[problem.bags.offsets[7] + 0, 2] = 1e35
    bags = Bags(rows, problem.bags.offsets, ids=problem.bags.ids, feature_names=["a", "b", "pH"])
    with pytest.raises(ValueError, match=r"bag 7 \(id 'b07'\) has 1e\+35 in feature 'pH': too"):
        EMDD().fit(bags, problem.y)


def test_constant_features_have_a_rectangle():
    problem = toy_problem(AxisParallelRectangle())
    for value in (0.0, 3.0, 3e20):
        bags = problem.bags.with_instances(np.full_like(problem.bags.instances, value))
        model = AxisParallelRectangle().fit(bags, problem.y)
        assert np.isfinite(model.decision_function_instances(bags)).all()


@pytest.mark.parametrize(
    ("learner", "old", "new"),
    [(EMDD(7), "n_starts", "n_init"), (TwoLevelClassifier(), "n_trees", "n_estimators")],
)
def test_models_of_old_names_are_read(learner, old, new):
    state = dict(learner.__getstate__())
    state[old] = state.pop(new)
    restored = type(learner).__new__(type(learner))
    restored.__setstate__(state)
    assert restored.get_params() == learner.get_params()


def test_a_batch_that_is_refused_leaves_the_stream_as_it_was():
    learner = MARClassifier(n_states=3, order=1, max_iter=3, n_init=1, random_state=0)
    problem = toy_problem(learner, n_classes=3, n_bags=30)
    model = clone(learner).partial_fit(problem.bags, problem.y)
    before = model.decision_function(problem.bags)
    with pytest.raises(ValueError, match="not one of the classes"):
        model.partial_fit(problem.bags, problem.y + 1)
    model.estimators_[2].set_params(order=0)  # the third of three will fail on what was kept
    with pytest.raises(Exception):  # noqa: B017
        model.partial_fit(problem.bags, problem.y)
    model.estimators_[2].set_params(order=1)
    np.testing.assert_array_equal(model.decision_function(problem.bags), before)


def test_checks_share_bags_that_cannot_change_and_no_model():
    problem, model = on_toys(MILogisticRegression())
    before = outputs(model, problem.bags)
    model.coef_[:] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        problem.y[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        problem.bags.instances[0] = 1
    again, other = on_toys(MILogisticRegression())
    assert again.bags is problem.bags
    for one, same in zip(before, outputs(other, problem.bags)):
        np.testing.assert_array_equal(one, same)
