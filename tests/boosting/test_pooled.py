"""The boosters as a whole: the loss falls, bags of one are the classical methods, and options."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from mixedbag import Bags
from mixedbag.boosting import (
    ExpBinBoost,
    ExponentialLoss,
    ExpRegBoost,
    ISRBoost,
    NewtonStep,
    NoisyOrBoost,
    OWABoost,
    PartitionStep,
    PooledBoostingClassifier,
    SBoost,
    SignStep,
)
from mixedbag.boosting._codes import encode
from mixedbag.boosting._grid import common_grid
from mixedbag.boosting._scores import Scores
from mixedbag.boosting._search import Standing, StumpSearch
from mixedbag.engines import LocalBlocks
from mixedbag.pooling import LogMeanExp, MeanProbability
from tests.boosting.toys import LOSSES, POOLINGS, best_sign_stump, random_bags

STEPS = [SignStep(), NewtonStep(), PartitionStep()]
# Means of probabilities are flat where all of a bag's instances are sure: nothing falls from there.
UNBOUNDED = [pooling for pooling in POOLINGS if not isinstance(pooling, MeanProbability)]
PRESETS = [ExpBinBoost, ExpRegBoost, NoisyOrBoost, ISRBoost, OWABoost]


def rows_and_target(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n) > 1, 1.0, -1.0)


# The loss falls every round --------------------------------------------------------------------


def assert_falls(model):
    assert model.n_iter_ > 0
    assert np.isfinite(model.objective_).all()
    assert (np.diff(model.objective_) < 0).all()


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("largest", [1, 6, 300])
def test_training_loss_falls_every_round(preset, largest):
    bags, sign, weight = random_bags(n_bags=30, largest=largest, seed=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_falls(preset(n_rounds=40).fit(bags, sign, sample_weight=weight))


@pytest.mark.parametrize("preset", [ExpBinBoost, ExpRegBoost])
@pytest.mark.parametrize("lam", [0.01, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("largest", [1, 50, 10_000])
def test_training_loss_falls_for_every_lam_and_bag_size(preset, lam, largest):
    bags, sign, weight = random_bags(n_bags=14, n_features=2, largest=largest, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_falls(preset(lam=lam, n_rounds=25).fit(bags, sign, sample_weight=weight))


@pytest.mark.parametrize("step", STEPS, ids=repr)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("pooling", POOLINGS, ids=repr)
def test_training_loss_falls_for_every_combination(pooling, loss, step):
    bags, sign, _ = random_bags(n_bags=24, largest=5, seed=5)
    model = PooledBoostingClassifier(pooling, loss=loss, step=step, n_rounds=15)
    assert_falls(model.fit(bags, sign))


@pytest.mark.parametrize("step", STEPS, ids=repr)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("pooling", UNBOUNDED, ids=repr)
@pytest.mark.parametrize("scale", [100.0, 1e4])
def test_rounds_from_extreme_scores_fall(pooling, loss, step, scale):
    bags, sign, weight = random_bags(n_bags=20, largest=30, seed=6)
    start = scale * np.random.default_rng(0).uniform(-1, 1, bags.n_instances)
    blocks = LocalBlocks.cut(bags, sign, weight)
    grid = common_grid(blocks)
    search = StumpSearch(blocks.map(encode, grid), grid, step)
    scores = blocks.map(Scores.of, pooling, loss).map(Scores.plus, start)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        worst = (-sign * pooling.value(start, bags.offsets)).max()
        level = worst if type(loss).__name__ == "ExponentialLoss" else 0.0
        standing = Standing.at(scores, level)
        for _ in range(5):
            before = standing.level
            standing = search.next(standing).standing
            assert standing.level < before
    assert np.isfinite(standing.level)


@pytest.mark.parametrize("preset", PRESETS)
def test_objective_is_the_loss_of_the_staged_scores(preset):
    bags, sign, weight = random_bags(n_bags=30, seed=2)
    model = preset(n_rounds=30).fit(bags, sign, weight)
    losses = [
        model._loss.derivatives(sign * scores)[0] @ weight / weight.sum()
        for scores in model.staged_decision_function(bags)
    ]
    np.testing.assert_allclose(model.objective_, losses, rtol=1e-9)


# Bags of one: the classical methods ------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_expbin_on_bags_of_one_is_discrete_adaboost(seed):
    X, t = rows_and_target(seed=seed)
    model = ExpBinBoost(n_rounds=15, lam=0.7).fit(X, t)
    distribution = np.full(len(t), 1 / len(t))
    stumps = model.ensemble_
    for k in range(15):
        edge, feature, threshold, h = best_sign_stump(X, t, distribution)
        error = distribution[h != t].sum()
        alpha = 0.5 * np.log((1 - error) / error)
        assert edge == pytest.approx(1 - 2 * error)
        assert stumps.feature[k] == feature
        assert stumps.threshold[k] == pytest.approx(threshold)
        assert abs(stumps.left[k]) == pytest.approx(alpha, rel=1e-6)
        assert abs(stumps.right[k]) == pytest.approx(alpha, rel=1e-6)
        distribution *= np.exp(-alpha * t * h)
        distribution /= distribution.sum()


@pytest.mark.parametrize("preset", [ISRBoost, NoisyOrBoost])
def test_isr_and_noisy_or_on_bags_of_one_are_logistic_boosting(preset):
    X, t = rows_and_target(seed=1)
    model = preset(n_rounds=10).fit(X, t)
    p = (t > 0).mean()
    assert model.intercept_ == pytest.approx(np.log(p / (1 - p)), rel=1e-6)
    F = np.full(len(t), model.intercept_)
    for k, scores in enumerate(model.ensemble_.staged(X)):
        # The added stump is the steepest or as good, and no other length along it is better.
        h = np.sign(model.intercept_ + scores - F)
        size = expit(-t * F)
        length = abs(model.ensemble_.left[k])
        stationary = (t * h * expit(-t * (F + length * h))).sum()
        assert stationary == pytest.approx(0.0, abs=1e-6)
        steepest = best_sign_stump(X, t, size)[3]
        losses = [np.logaddexp(0, -t * (F + length * d)).sum() for d in (h, steepest)]
        assert losses[0] <= losses[1] + 1e-9
        F = model.intercept_ + scores
    np.testing.assert_allclose(model.decision_function(X), F)


def test_owa_on_bags_of_one_is_real_adaboost():
    X, t = rows_and_target(seed=2)
    model = OWABoost(n_rounds=8).fit(X, t)
    w = np.ones(len(t))
    for k in range(8):
        f, threshold = model.ensemble_.feature[k], model.ensemble_.threshold[k]
        left, smooth = X[:, f] <= threshold, w.sum() / (2 * len(t))
        for side, value in ((left, model.ensemble_.left[k]), (~left, model.ensemble_.right[k])):
            up, down = w[side & (t > 0)].sum(), w[side & (t < 0)].sum()
            assert value == pytest.approx(0.5 * np.log((up + smooth) / (down + smooth)))
        w *= np.exp(-t * np.where(left, model.ensemble_.left[k], model.ensemble_.right[k]))


def test_expreg_on_bags_of_one_takes_gentle_newton_steps():
    X, t = rows_and_target(seed=3)
    stumps = ExpRegBoost(n_rounds=1).fit(X, t).ensemble_
    left = X[:, stumps.feature[0]] <= stumps.threshold[0]
    # With all weights equal, a side's Newton step is its mean label.
    assert stumps.left[0] == pytest.approx(t[left].mean())
    assert stumps.right[0] == pytest.approx(t[~left].mean())


# Both levels, probabilities ----------------------------------------------------------------------


def test_large_bags_do_not_turn_positive_for_their_size():
    bags, sign, _ = random_bags(n_bags=30, seed=4)
    model = ExpBinBoost(n_rounds=20).fit(bags, sign)
    one = bags[0]
    many = Bags.from_list([one, np.repeat(one, 50, axis=0)])
    small, large = model.decision_function(many)
    assert small == pytest.approx(large)


@pytest.mark.parametrize("preset", PRESETS)
def test_probabilities_agree_with_labels(preset):
    bags, sign, _ = random_bags(n_bags=40, seed=9)
    model = preset(n_rounds=10).fit(bags, sign)
    for level in ("", "_instances"):
        proba = getattr(model, "predict_proba" + level)(bags)
        np.testing.assert_allclose(proba.sum(axis=1), 1)
        labels = model.classes_[(proba[:, 1] > 0.5).astype(int)]
        np.testing.assert_array_equal(labels, getattr(model, "predict" + level)(bags))


# Options ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_staged_scores_end_at_the_final_ones(preset):
    bags, sign, _ = random_bags(n_bags=20, seed=1)
    model = preset(n_rounds=7).fit(bags, sign)
    stages = list(model.staged_decision_function(bags))
    assert len(stages) == model.n_iter_
    np.testing.assert_allclose(stages[-1], model.decision_function(bags))
    np.testing.assert_array_equal(list(model.staged_predict(bags))[-1], model.predict(bags))


def test_staged_scores_of_several_classes():
    bags, _, _ = random_bags(n_bags=30, seed=1)
    y = np.arange(30) % 3
    model = ExpRegBoost(n_rounds=5).fit(bags, y)
    stages = list(model.staged_decision_function(bags))
    assert stages[-1].shape == (30, 3)
    np.testing.assert_allclose(stages[-1], model.decision_function(bags))
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_importances_find_the_feature_that_matters():
    bags, sign, _ = random_bags(n_bags=200, n_features=5, seed=2)
    for model in (ExpBinBoost(n_rounds=5), ExpRegBoost(n_rounds=5)):
        importances = model.fit(bags, sign).feature_importances_
        assert importances.argmax() == 0
        assert importances.sum() == pytest.approx(1)


def test_early_stopping_cuts_back_to_the_best_round():
    bags, sign, _ = random_bags(n_bags=150, largest=4, seed=3)
    model = ExpRegBoost(n_rounds=300, early_stopping=True, n_iter_no_change=5, random_state=0)
    model.fit(bags, sign)
    assert model.n_iter_ < 100
    assert model.n_iter_ == model.validation_loss_.argmin() + 1
    assert len(model.validation_loss_) == model.n_iter_ + 5
    again = ExpRegBoost(
        n_rounds=300, early_stopping=True, n_iter_no_change=5, random_state=0, n_jobs=3
    ).fit(bags, sign)
    np.testing.assert_allclose(again.decision_function(bags), model.decision_function(bags))


def test_early_stopping_needs_bags_to_hold_out():
    bags, sign, _ = random_bags(n_bags=6)
    with pytest.raises(ValueError, match="validation_fraction"):
        ExpRegBoost(early_stopping=True, validation_fraction=0.01).fit(bags, sign)


@pytest.mark.parametrize("preset", PRESETS)
def test_threads_give_the_same_model(preset):
    bags, sign, weight = random_bags(n_bags=40, seed=8)
    one = preset(n_rounds=10).fit(bags, sign, weight)
    two = preset(n_rounds=10, n_jobs=2).fit(bags, sign, weight)
    np.testing.assert_allclose(one.decision_function(bags), two.decision_function(bags))


@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=2)])
@pytest.mark.parametrize("early", [False, True])
def test_blocks_learn_what_whole_data_learn(early, estimator):
    """The way to a cluster: blocks of bags, functions mapped over them, and sums."""
    bags, sign, weight = random_bags(n_bags=60, seed=8)
    model = ExpRegBoost(n_rounds=10, early_stopping=early, estimator=estimator, random_state=0)
    whole = clone(model).fit(bags, sign, weight)
    model.classes_, model.n_features_in_ = np.array([-1.0, 1.0]), bags.n_features
    model._fit_blocks(LocalBlocks.cut(bags, sign, weight, n_blocks=4))
    np.testing.assert_allclose(model.decision_function(bags), whole.decision_function(bags))
    if early:
        np.testing.assert_allclose(model.validation_loss_, whole.validation_loss_)


@pytest.mark.parametrize("preset", PRESETS)
def test_sparse_is_dense(preset):
    bags, sign, _ = random_bags(n_bags=40, seed=8, values=[0.0, 0.0, 0.0, 1.0, -2.0])
    thin = bags.with_instances(sparse.csr_array(bags.instances))
    dense, thin_model = (preset(n_rounds=10).fit(b, sign) for b in (bags, thin))
    np.testing.assert_allclose(dense.decision_function(bags), thin_model.decision_function(thin))


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("preset", PRESETS)
def test_missing_values_go_to_the_better_side(preset, side):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1))
    t = np.sign(X[:, 0])
    gone = rng.random(200) < 0.3
    t[gone] = side  # a missing value tells the class
    X[gone] = np.nan
    model = preset(n_rounds=3).fit(X, t)
    assert model.score(X, t) == 1.0


def test_a_feature_that_was_never_missing_abstains():
    X, t = rows_and_target()
    model = ExpBinBoost(n_rounds=5).fit(X, t)
    assert model.decision_function(np.full((1, 3), np.nan)) == pytest.approx(0.0)


def test_learning_rate_shortens_steps():
    bags, sign, _ = random_bags(n_bags=40, seed=8)
    full = ExpBinBoost(n_rounds=1).fit(bags, sign).ensemble_
    short = ExpBinBoost(n_rounds=1, learning_rate=0.1).fit(bags, sign).ensemble_
    assert abs(short.left[0]) == pytest.approx(0.1 * abs(full.left[0]), rel=0.2)


@pytest.mark.parametrize(
    "estimator",
    [
        DecisionTreeClassifier(max_depth=2),
        DecisionTreeRegressor(max_depth=2),
        LogisticRegression(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("preset", PRESETS)
def test_any_estimator_can_be_boosted(preset, estimator):
    bags, sign, weight = random_bags(n_bags=40, seed=8)
    model = preset(n_rounds=8, estimator=estimator, random_state=0).fit(bags, sign, weight)
    assert_falls(model)
    stages = list(model.staged_decision_function(bags))
    np.testing.assert_allclose(stages[-1], model.decision_function(bags))
    if "max_depth" in estimator.get_params():
        assert model.feature_importances_.sum() == pytest.approx(1)


def test_boosted_tree_stumps_reach_the_loss_of_our_stumps():
    """scikit-learn's depth-one trees and our stumps are the same weak learners on bags of one."""
    X, t = rows_and_target(seed=5)
    ours = ExpBinBoost(n_rounds=20).fit(X, t)
    trees = DecisionTreeClassifier(max_depth=1)
    theirs = ExpBinBoost(n_rounds=20, estimator=trees, random_state=0).fit(X, t)
    # Trees split by impurity, not by error: close, but ours is greedier in the loss.
    assert ours.objective_[-1] <= theirs.objective_[-1] * 1.05


def test_nothing_varies_learns_the_balance_of_classes():
    t = np.array([1.0, 1.0, 1.0, -1.0])
    model = ExpBinBoost().fit(np.ones((4, 2)), t)
    assert (model.predict(np.ones((2, 2))) == 1.0).all()


@pytest.mark.parametrize(
    ("booster", "bad"),
    [
        (ExpBinBoost, {"lam": 0.0}),
        (ExpBinBoost, {"lam": np.inf}),
        (ExpBinBoost, {"n_rounds": 0}),
        (ExpRegBoost, {"learning_rate": 0.0}),
        (ExpRegBoost, {"learning_rate": 2.0}),
        (NoisyOrBoost, {"validation_fraction": -0.2}),
        (NoisyOrBoost, {"validation_fraction": 1.0}),
        (ISRBoost, {"n_iter_no_change": 0}),
        (ISRBoost, {"early_stopping": "yes"}),
        (OWABoost, {"a": 0.0}),
        (PooledBoostingClassifier, {"pooling": "max"}),
        (PooledBoostingClassifier, {"loss": "exponential"}),
        (PooledBoostingClassifier, {"step": "newton"}),
        (SBoost, {"n_rounds": 0}),
        (SBoost, {"gamma": -1.0}),
        (SBoost, {"sample": 1.5}),
    ],
    ids=repr,
)
def test_bad_parameters_are_refused(booster, bad):
    bags, sign, _ = random_bags()
    with pytest.raises(ValueError, match=next(iter(bad))):
        booster(**bad).fit(bags, sign)


@pytest.mark.parametrize("preset", [*PRESETS, PooledBoostingClassifier])
@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e16, 1e300])
def test_features_of_any_scale_give_finite_scores(preset, scale):
    bags, sign, weight = random_bags(n_bags=30, seed=2)
    plain = preset(n_rounds=20).fit(bags, sign, weight).decision_function(bags)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wide = bags.with_instances(scale * bags.instances)
        model = preset(n_rounds=20).fit(wide, sign, weight)
    np.testing.assert_allclose(model.decision_function(wide), plain, rtol=1e-6)


def test_values_as_far_apart_as_floats_go():
    X = np.array([[-1.7e308], [1.7e308]] * 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ExpRegBoost(n_rounds=3).fit(X, X[:, 0] > 0).score(X, X[:, 0] > 0) == 1.0


def test_a_loss_that_is_not_finite_is_refused():
    class Broken(LogMeanExp):
        def value(self, scores, offsets):
            return np.full(len(offsets) - 1, np.nan)

    bags, sign, _ = random_bags()
    with pytest.raises(ValueError, match="left the range of floating-point numbers"):
        PooledBoostingClassifier(Broken(), loss=ExponentialLoss()).fit(bags, sign)
