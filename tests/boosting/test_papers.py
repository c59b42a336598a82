"""Boosting as published: every threshold tried by the loss, and averages of probabilities."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from mixedbag.boosting import ExpBinBoost, ExpRegBoost, OWABoost, _search
from mixedbag.classics import MILogisticRegression
from mixedbag.pooling import LogMeanExp, Max, MeanProbability
from tests.boosting.toys import random_bags


def exponential_loss(scores, bags, sign, weight, lam):
    pooled = LogMeanExp(lam).value(scores, bags.offsets)
    return weight @ np.exp(-sign * pooled)


def best_by_brute_force(bags, sign, weight, lam):
    """Algorithm 1, first round: a line search along the stump of every threshold."""
    gradient = bags.spread(weight * sign / bags.sizes)  # at scores of zero
    best = np.inf
    for column in bags.instances.T:
        values = np.unique(column)
        for threshold in (values[1:] + values[:-1]) / 2:
            left = column <= threshold
            stump = np.where(left, np.sign(gradient[left].sum()), np.sign(gradient[~left].sum()))

            def loss(rho, stump=stump):
                return exponential_loss(rho * stump, bags, sign, weight, lam)

            best = min(best, minimize_scalar(loss, bounds=(0, 10), method="bounded").fun)
    return best / weight.sum()


@pytest.mark.parametrize("lam", [0.1, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_an_exhaustive_round_is_the_best_of_all_thresholds(monkeypatch, seed, lam):
    bags, sign, weight = random_bags(n_bags=10, n_features=3, seed=seed)
    options = {"lam": lam, "n_rounds": 1}
    every = ExpBinBoost(exhaustive=True, **options).fit(bags, sign, sample_weight=weight)
    expected = best_by_brute_force(bags, sign, weight, lam)
    assert every.objective_[0] == pytest.approx(expected, rel=1e-5)
    some = ExpBinBoost(**options).fit(bags, sign, sample_weight=weight)
    assert every.objective_[0] <= some.objective_[0] * (1 + 1e-9)
    monkeypatch.setattr(_search, "_AT_ONCE", 4)
    parts = ExpBinBoost(exhaustive=True, **options).fit(bags, sign, sample_weight=weight)
    assert parts.objective_[0] == pytest.approx(every.objective_[0], rel=1e-12)
    np.testing.assert_allclose(parts.decision_function(bags), every.decision_function(bags))


@pytest.mark.parametrize("lam", [0.1, 1.0, 5.0])
def test_thresholds_without_hope_would_not_have_won(monkeypatch, lam):
    for seed in range(3):
        bags, sign, weight = random_bags(n_bags=20, seed=seed)
        losses = []
        for hope in (_search.HOPE, 1e9):
            monkeypatch.setattr(_search, "HOPE", hope)
            model = ExpBinBoost(lam, exhaustive=True, n_rounds=15)
            losses.append(model.fit(bags, sign, sample_weight=weight).objective_)
            monkeypatch.undo()
        np.testing.assert_allclose(*losses, rtol=1e-10)


@pytest.mark.parametrize("Booster", [ExpBinBoost, ExpRegBoost])
def test_an_exhaustive_first_round_is_never_worse(Booster):
    for seed in range(3):
        bags, sign, weight = random_bags(n_bags=20, seed=seed)
        every, some = (
            Booster(exhaustive=tried, n_rounds=5).fit(bags, sign, sample_weight=weight)
            for tried in (True, False)
        )
        assert every.objective_[0] <= some.objective_[0] * (1 + 1e-9)
        assert (np.diff(every.objective_) < 0).all()


def test_the_mean_of_probabilities_is_what_its_name_says():
    rng = np.random.default_rng(0)
    scores, offsets = 2 * rng.normal(size=12), np.array([0, 1, 5, 12])
    mean = np.add.reduceat(expit(scores), offsets[:-1]) / np.diff(offsets)
    np.testing.assert_allclose(MeanProbability().value(scores, offsets), logit(mean))
    half = 0.5 * logit(np.add.reduceat(expit(2 * scores), offsets[:-1]) / np.diff(offsets))
    np.testing.assert_allclose(MeanProbability(scale=2.0).value(scores, offsets), half)
    highest = MeanProbability(1e-12).value(scores, offsets)
    np.testing.assert_allclose(highest, Max().value(scores, offsets), atol=1e-6)
    far = MeanProbability().value(1000 * scores, offsets)
    assert np.isfinite(far).all()


def test_mi_lr_minimises_the_loss_of_mean_probabilities():
    bags, sign, weight = random_bags(n_bags=30, n_features=2, seed=1)

    def objective(parameters):
        p = expit(bags.instances @ parameters[:2] + parameters[2])
        mean = np.add.reduceat(p, bags.offsets[:-1]) / bags.sizes
        likelihood = np.log(np.where(sign > 0, mean, 1 - mean))
        return 0.5 * parameters[:2] @ parameters[:2] - 2.0 * weight @ likelihood

    model = MILogisticRegression(2.0, pooling="mean_probability")
    model.fit(bags, sign, sample_weight=weight)
    found = np.append(model.coef_, model.intercept_)
    assert objective(found) == pytest.approx(model.objective_[-1])
    starts = [np.zeros(3), found, *np.random.default_rng(0).normal(size=(4, 3))]
    assert objective(found) <= min(minimize(objective, start).fun for start in starts) + 1e-6
    p = model.predict_proba(bags)[:, 1]
    instances = model.predict_proba_instances(bags)[:, 1]
    np.testing.assert_allclose(p, np.add.reduceat(instances, bags.offsets[:-1]) / bags.sizes)


def test_mi_lr_of_bags_of_one_is_logistic_regression():
    bags, sign, _ = random_bags(n_bags=60, largest=1)
    ours = MILogisticRegression(1.0, pooling="mean_probability", tol=1e-8).fit(bags, sign)
    theirs = LogisticRegression(C=1.0, tol=1e-8).fit(bags.instances, sign)
    np.testing.assert_allclose(ours.coef_, theirs.coef_[0], atol=1e-4)


def test_owa_of_probabilities():
    bags, sign, weight = random_bags(n_bags=30, seed=2)
    model = OWABoost(0.5, average="probabilities", n_rounds=20)
    model.fit(bags, sign, sample_weight=weight)
    assert (np.diff(model.objective_) < 0).all()
    p, order = model.predict_proba_instances(bags)[:, 1], np.arange(1, bags.sizes.max() + 1)
    for i, expected in enumerate(model.predict_proba(bags)[:, 1]):
        own = np.sort(p[bags.offsets[i] : bags.offsets[i + 1]])[::-1]
        k = order[: len(own)] / len(own)
        assert (k**0.5 - (k - 1 / len(own)) ** 0.5) @ own == pytest.approx(expected, abs=1e-9)
