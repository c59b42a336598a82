"""What turns scores into probabilities: it rises with them, and no other that rises is likelier."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.linear_model import LogisticRegression

from mixedbag.comparison._calibration import Rising


def drawn(n_classes, seed, n_bags=60, tells=1.5):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n_bags) % n_classes)
    scores = rng.normal(size=(n_bags, n_classes)) + tells * np.eye(n_classes)[codes]
    scores = scores[:, 1:] - scores[:, :1] if n_classes == 2 else scores
    return scores * 7.0, codes, rng.uniform(0.5, 2.0, n_bags)


def penalised(calibration, scores, codes, weight):
    answer = calibration(scores)[np.arange(len(codes)), codes]
    return (
        calibration.slope_**2 + calibration.bonus_**2
    ) / 2 / calibration.strength - weight @ np.log(answer)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("tells", [1.5, -1.5])
def test_answers_never_fall_where_a_score_rises(n_classes, tells):
    scores, codes, weight = drawn(n_classes, 0, tells=tells)
    calibration = Rising().fit(scores, codes, n_classes, weight)
    for k in range(scores.shape[1]):
        rising = np.tile(scores[0], (200, 1))
        rising[:, k] = np.linspace(-100.0, 100.0, 200)
        chance = calibration(rising)[:, k + (n_classes == 2)]
        assert (np.diff(chance) >= -1e-12).all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_nothing_near_is_better(n_classes, seed):
    scores, codes, weight = drawn(n_classes, seed)
    calibration = Rising().fit(scores, codes, n_classes, weight)

    def objective(x):
        moved = Rising()
        moved.scale_, moved.slope_, moved.bonus_ = calibration.scale_, x[0], x[1]
        moved.level_ = x[2:]
        return penalised(moved, scores, codes, weight)

    at = np.array([calibration.slope_, calibration.bonus_, *calibration.level_])
    gradient = approx_fprime(at, objective, 1e-6)
    assert gradient[2:] == pytest.approx(np.zeros(n_classes), abs=0.02)
    for value, slope in zip(at[:2], gradient[:2]):
        assert slope == pytest.approx(0.0, abs=0.02) if value > 0 else slope > -0.02


def test_where_both_rise_freely_it_is_logistic_regression():
    rng = np.random.default_rng(0)
    codes = np.arange(80) % 2
    right = rng.uniform(size=80) < np.repeat([0.7, 0.95], 40)
    scores = np.where(right, 1, -1) * (2 * codes - 1) * np.repeat([1.0, 5.0], 40)
    calibration = Rising().fit(scores[:, None], codes, 2, np.ones(80))
    assert min(calibration.slope_, calibration.bonus_) > 0
    features = np.column_stack([np.arcsinh(scores / calibration.scale_), scores > 0])
    free = LogisticRegression(C=calibration.strength, tol=1e-8).fit(features, codes)
    assert calibration(scores[:, None]) == pytest.approx(free.predict_proba(features), abs=1e-3)


def test_scores_against_the_labels_tell_nothing():
    scores, codes, weight = drawn(2, 0, tells=4.0)
    answer = Rising().fit(-scores, codes, 2, weight)(scores)
    share = np.bincount(codes, weight) / weight.sum()
    assert answer == pytest.approx(np.tile(share, (len(codes), 1)), abs=1e-4)


def test_a_weight_of_two_is_two_bags():
    scores, codes, _ = drawn(3, 1)
    weighted = Rising().fit(scores, codes, 3, np.full(len(codes), 2.0))
    twice = Rising().fit(np.tile(scores, (2, 1)), np.tile(codes, 2), 3, np.ones(2 * len(codes)))
    assert weighted(scores) == pytest.approx(twice(scores), abs=1e-4)


def test_a_class_without_bags_is_impossible():
    scores, codes, weight = drawn(3, 1)
    answer = Rising().fit(scores, np.minimum(codes, 1), 3, weight)(scores)
    assert (answer[:, 2] == 0).all()
    assert answer.sum(axis=1) == pytest.approx(1.0)
