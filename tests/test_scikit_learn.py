"""Bags inside scikit-learn's own tools: one test each."""

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.callback import ProgressBar
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    train_test_split,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mixedbag import Bags, io
from mixedbag.testing import toy_problem
from mixedbag.wrappers import BagFeatures, InstanceWise, SpreadLabels

LEARNER = SpreadLabels(LogisticRegression())
GRID = {"estimator__C": [0.1, 1.0]}


@pytest.fixture
def problem():
    return toy_problem(LEARNER, n_bags=60)


def test_cross_val_score(problem):
    assert cross_val_score(LEARNER, problem.bags, problem.y, cv=3).mean() > 0.6


def test_cross_val_predict(problem):
    proba = cross_val_predict(LEARNER, problem.bags, problem.y, method="predict_proba", cv=3)
    assert proba.shape == (60, 2)


def test_cross_validate(problem):
    result = cross_validate(
        LEARNER, problem.bags, problem.y, scoring=["accuracy", "roc_auc"], return_estimator=True
    )
    assert result["test_roc_auc"].mean() > 0.6
    assert len(result["estimator"]) == 5


def test_grid_search_in_two_processes(problem):
    search = GridSearchCV(LEARNER, GRID, n_jobs=2, cv=3).fit(problem.bags, problem.y)
    assert search.predict(problem.bags).shape == (60,)


def test_halving_search(problem):
    search = HalvingGridSearchCV(LEARNER, GRID, cv=3, random_state=0).fit(problem.bags, problem.y)
    assert search.best_params_["estimator__C"] in (0.1, 1.0)


def test_learning_curve(problem):
    sizes, train, test = learning_curve(
        LEARNER, problem.bags, problem.y, train_sizes=[0.5, 1.0], cv=3, shuffle=True, random_state=0
    )
    assert sizes.tolist() == [20, 40]
    assert train.shape == test.shape == (2, 3)


def test_train_test_split(problem):
    left, right, y_left, y_right = train_test_split(
        problem.bags, problem.y, stratify=problem.y, test_size=0.25, random_state=0
    )
    assert (len(left), len(right)) == (45, 15)
    assert abs(y_left.mean() - y_right.mean()) < 0.05
    assert set(left.ids) | set(right.ids) == set(problem.bags.ids)


def test_pipeline_with_memory(problem, tmp_path):
    pipeline = make_pipeline(InstanceWise(StandardScaler()), LEARNER, memory=str(tmp_path))
    first = pipeline.fit(problem.bags, problem.y).predict(problem.bags)
    np.testing.assert_array_equal(
        pipeline.fit(problem.bags, problem.y).predict(problem.bags), first
    )
    assert any(tmp_path.rglob("*.pkl"))


def test_bag_features_pipeline(problem):
    pipeline = make_pipeline(BagFeatures(), LogisticRegression())
    assert cross_val_score(pipeline, problem.bags, problem.y, cv=3).mean() > 0.6


def test_calibration(problem):
    model = CalibratedClassifierCV(LEARNER, cv=3).fit(problem.bags, problem.y)
    np.testing.assert_allclose(model.predict_proba(problem.bags).sum(axis=1), 1)


def test_one_vs_rest():
    problem = toy_problem(LEARNER, n_bags=60, n_classes=3)
    model = OneVsRestClassifier(LEARNER).fit(problem.bags, problem.y)
    assert model.decision_function(problem.bags).shape == (60, 3)


def test_voting(problem):
    voters = [("one", LEARNER), ("two", make_pipeline(BagFeatures(), LogisticRegression()))]
    model = VotingClassifier(voters, voting="soft").fit(problem.bags, problem.y)
    assert model.score(problem.bags, problem.y) > 0.6


def test_stacking(problem):
    layers = [("one", LEARNER), ("two", make_pipeline(BagFeatures(), LogisticRegression()))]
    model = StackingClassifier(layers, cv=3).fit(problem.bags, problem.y)
    assert model.score(problem.bags, problem.y) > 0.6


def test_tuned_threshold(problem):
    model = TunedThresholdClassifierCV(LEARNER, cv=3).fit(problem.bags, problem.y)
    assert set(model.predict(problem.bags)) <= {0, 1}


def test_clone_keeps_settings_and_forgets_the_fit(problem):
    model = clone(LEARNER).set_params(estimator__C=3.0).fit(problem.bags, problem.y)
    copy = clone(model)
    assert copy.get_params()["estimator__C"] == 3.0
    assert not hasattr(copy, "learner_")


def test_joblib_and_skops(problem, tmp_path):
    model = clone(LEARNER).fit(problem.bags, problem.y)
    joblib.dump((model, problem.bags), tmp_path / "both.joblib")
    loaded, bags = joblib.load(tmp_path / "both.joblib")
    np.testing.assert_array_equal(loaded.predict(bags), model.predict(problem.bags))
    io.save(model, tmp_path / "model.skops")
    again = io.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict(bags), model.predict(bags))


def test_progress_bar(problem, capsys):
    clone(LEARNER).set_callbacks(ProgressBar()).fit(problem.bags, problem.y)
    assert "fit" in capsys.readouterr().out


def test_memory_mapped_workers_get_whole_bags():
    # Large enough for joblib to hand the table to the workers as a read-only memory map.
    rows = np.random.default_rng(0).normal(size=(30_000, 8))
    bags = Bags(rows, np.arange(0, 30_001, 10))
    total = (rows @ np.arange(8)).reshape(-1, 10).sum(axis=1)
    model = SpreadLabels(Ridge(), rule="mean")
    here = cross_val_score(model, bags, total, cv=2)
    np.testing.assert_allclose(cross_val_score(model, bags, total, cv=2, n_jobs=2), here)
