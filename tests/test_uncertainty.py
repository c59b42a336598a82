"""Intervals cover the truth as often as they say; limits of tables are those of brute force."""

import itertools
import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import binom, multivariate_normal, poisson
from scipy.stats import t as student
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import Ridge

from mixedbag import Bags
from mixedbag._group_effects import GroupEffects
from mixedbag._laws import Amounts, Chances, Events
from mixedbag._span import outside_span
from mixedbag._unexplained import Unexplained, unexplained
from mixedbag.aggregate import (
    AggregateLogisticRegression,
    AggregatePoissonRegressor,
    AggregateRidgeRegressor,
    AggregateTreeClassifier,
)
from mixedbag.ecological import (
    PrecinctBoundsDisplay,
    RateDisplay,
    Rates,
    RowByColumn,
    TomographyDisplay,
)
from mixedbag.engines import Labelled, SpooledBags
from mixedbag.pooling import bag_sum
from mixedbag.uncertainty import PlausibleModels, _labelled, bootstrap, posterior

mpl.use("Agg")


def votes(seed, n_bags=60, size=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_bags * size, 2)) + 0.7 * np.repeat(rng.normal(size=(n_bags, 2)), size, 0)
    p = 1 / (1 + np.exp(-1.5 * X[:, 0] + 0.5 * X[:, 1]))
    bags = Bags(X, np.arange(0, n_bags * size + 1, size))
    label = rng.random(len(p)) < p
    return bags, np.add.reduceat(label, bags.offsets[:-1].astype(int), dtype=int), label, p


def test_posterior_of_bags_of_one_is_that_of_logistic_regression():
    bags, _, label, _ = votes(0)
    rows = bags.singletons()
    model = AggregateLogisticRegression(C=2.0).fit(rows, label.astype(int))
    models = posterior(model, rows, label.astype(int), n_draws=3000)
    p = model.predict_proba_instances(rows)[:, 1]
    X = np.column_stack([bags.instances, np.ones(len(p))])
    precision = X.T @ ((p * (1 - p))[:, None] * X) + np.diag([0.5, 0.5, 0.0])
    drawn = np.array([np.append(m.coef_[:, 0], m.intercept_) for m in models.models])
    np.testing.assert_allclose(np.cov(drawn.T), np.linalg.inv(precision), rtol=0.15, atol=5e-4)


def test_posterior_of_few_bags_is_that_of_all_weights_weighed():
    """Eight instances that a line tells apart: by likelihood times prior on a grid of weights."""
    x = np.array([-1.2, -1.0, -0.8, -0.3, 0.2, 0.7, 1.1, 1.3])
    y = (x > 0).astype(int)
    model = AggregateLogisticRegression(C=4.0).fit(x[:, None], y)
    law = model._posterior(_labelled(model, model._fitted(x[:, None]), y, None))
    drawn = law.drawn(6000, np.random.default_rng(0))
    slope, shift = (part.ravel() for part in np.meshgrid(*[np.linspace(-14, 14, 281)] * 2))
    z = np.outer(slope, x) + shift[:, None]
    log_density = (z * y - np.logaddexp(0.0, z)).sum(axis=1) - slope**2 / 8
    chance = np.exp(log_density - log_density.max())
    chance /= chance.sum()
    mean, power = chance @ slope, chance @ slope**2
    assert drawn[:, 0].mean() == pytest.approx(mean, rel=0.05)
    assert drawn[:, 0].std() == pytest.approx(np.sqrt(power - mean**2), rel=0.06)
    assert drawn[:, 1].std() == pytest.approx(np.sqrt(chance @ shift**2), rel=0.15)
    assert abs(law.mode[0] - mean) > 0.3  # which is not where Laplace's approximation has it


def test_posterior_of_ridge_on_bags_of_one_is_the_textbook_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X @ [1.0, -2.0] + 3.0 + 0.5 * rng.normal(size=80)
    model = AggregateRidgeRegressor(alpha=1e-6).fit(X, y)
    models = posterior(model, X, y, n_draws=4000)
    design = np.column_stack([X, np.ones(80)])
    expected = Ridge(alpha=1e-6).fit(X, y)
    variance = np.sum((y - expected.predict(X)) ** 2) / (80 - 3)
    drawn = np.array([np.append(m.coef_, m.intercept_) for m in models.models])
    covariance = variance * np.linalg.inv(design.T @ design)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, rtol=0.15, atol=3e-4)


@pytest.mark.parametrize("how", ["posterior", "bootstrap"])
def test_intervals_of_rates_cover_the_truth(how):
    hits = []
    for seed in range(12):
        bags, counts, label, _ = votes(seed)
        learner = AggregateLogisticRegression(C=10.0)
        if how == "posterior":
            models = posterior(learner.fit(bags, counts), bags, counts, n_draws=200)
        else:
            models = bootstrap(learner, bags, counts, n_draws=30)
        group = np.digitize(bags.instances[:, 0], [-1.0, 0.0, 1.0])
        told = models.rates(bags, group)
        truth = np.array([label[group == g].mean() for g in told.names])
        hits += ((told.low <= truth) & (truth <= told.high)).tolist()
    assert np.mean(hits) >= 0.85


def test_poisson_totals_have_intervals_with_exposure_left_alone():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=600), rng.uniform(1, 2, size=600)])
    y = rng.poisson(X[:, 1] * np.exp(0.5 * X[:, 0] - 1))
    bags = Bags(X, np.arange(0, 601, 10))
    totals = np.add.reduceat(y, bags.offsets[:-1])
    model = AggregatePoissonRegressor(exposure=1).fit(bags, totals)
    models = posterior(model, bags, totals)
    assert all(one.coef_[1] == 0 for one in models.models)
    told = models.totals(bags)
    assert 0.85 <= np.mean((told.low <= totals) & (totals <= told.high)) <= 1.0


def test_bootstrap_goes_on_where_it_stopped(tmp_path):
    bags, counts, _, _ = votes(1)
    seen = []
    settings = {"folder": tmp_path, "progress": lambda done, all_: seen.append((done, all_))}
    learner = AggregateTreeClassifier(2)
    first = bootstrap(learner, bags, counts, n_draws=6, **settings)
    files = sorted(tmp_path.rglob("*.skops"))
    assert len(files) == 6
    stamps = {file: file.stat().st_mtime_ns for file in files}
    again = bootstrap(learner, bags, counts, n_draws=8, **settings)
    assert all(file.stat().st_mtime_ns == stamps[file] for file in files)
    assert seen[-1] == (8, 8)
    one, other = first.ask(lambda m: m.predict(bags)), again.ask(lambda m: m.predict(bags))
    np.testing.assert_array_equal(one.estimate, other.estimate)
    np.testing.assert_array_equal(first.models[3].predict(bags), again.models[3].predict(bags))


def test_refits_that_are_damaged_are_made_again(tmp_path):
    bags, counts, _, _ = votes(1)
    learner = AggregateTreeClassifier(2)
    first = bootstrap(learner, bags, counts, n_draws=3, folder=tmp_path)
    cut, empty, whole = sorted(tmp_path.rglob("*.skops"))
    cut.write_bytes(cut.read_bytes()[:900])
    empty.write_bytes(b"")
    stamp = whole.stat().st_mtime_ns
    with pytest.warns(UserWarning, match="skops is not .*; this refit is made again") as told:
        again = bootstrap(learner, bags, counts, n_draws=3, folder=tmp_path)
    assert len(told) == 2
    assert whole.stat().st_mtime_ns == stamp
    for one, other in zip(first.models, again.models):
        np.testing.assert_array_equal(one.predict(bags), other.predict(bags))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bootstrap(learner, bags, counts, n_draws=3, folder=tmp_path)  # they are whole again


def test_a_draw_of_bags_that_are_alike_is_no_news():
    bags, counts, _, _ = votes(0, n_bags=3)
    counts = np.array([2, 2, 3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bootstrap(AggregateLogisticRegression(), bags, counts, n_draws=12)


def test_bags_in_memory_need_their_labels():
    with pytest.raises(ValueError, match="pass y"):
        bootstrap(AggregateLogisticRegression(), np.eye(3), n_draws=2)


def test_bootstrap_of_blocks_on_disk_is_that_of_memory(tmp_path):
    """Poisson draws in place of draws with replacement: the same limits but for chance."""
    bags, counts, _, _ = votes(2)
    parts = [slice(0, 25), slice(25, 60)]
    on_disk = SpooledBags([Labelled(bags[part], counts[part], np.ones(60)[part]) for part in parts])
    learner, seen = AggregateLogisticRegression(), []
    settings = {"folder": tmp_path, "progress": lambda done, all_: seen.append((done, all_))}
    blocks = bootstrap(learner, on_disk, n_draws=60, **settings)
    memory = bootstrap(learner, bags, counts, n_draws=60)
    np.testing.assert_allclose(blocks.model.coef_, memory.model.coef_, rtol=1e-4)
    assert blocks.spread == pytest.approx(memory.spread, rel=0.1)
    told, known = (models.totals(bags, outcome=False) for models in (blocks, memory))
    widths = [np.mean(limits.high - limits.low) for limits in (told, known)]
    assert 0.7 < widths[0] / widths[1] < 1.4
    stamps = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.skops")}
    again = bootstrap(learner, on_disk, n_draws=61, **settings)
    assert len(stamps) == 60
    assert all(file.stat().st_mtime_ns == stamp for file, stamp in stamps.items())
    assert seen[-1] == (61, 61)
    np.testing.assert_array_equal(again.models[7].coef_, blocks.models[7].coef_)


def leaning(seed, lean, n_bags=60, size=10):
    """Bags whose instances have more in common than their features, by `lean`."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_bags * size, 2))
    z = X[:, 0] + np.repeat(lean * rng.normal(size=n_bags), size)
    label = rng.random(len(z)) < 1 / (1 + np.exp(-z))
    bags = Bags(X, np.arange(0, len(z) + 1, size))
    return bags, np.add.reduceat(label, bags.offsets[:-1], dtype=int)


def test_bags_that_features_do_not_explain_are_told_and_their_totals_covered():
    learner, hits = AggregateLogisticRegression(), []
    for seed in range(4):
        bags, counts = leaning(seed, 2.0)
        seen = np.arange(len(bags)) % 2 == 0
        models = posterior(learner.fit(bags[seen], counts[seen]), bags[seen], counts[seen])
        assert models.spread > 1.5
        told = models.totals(bags[~seen])
        hits += ((told.low <= counts[~seen]) & (counts[~seen] <= told.high)).tolist()
    assert 0.88 <= np.mean(hits) <= 1.0
    with pytest.warns(UserWarning, match="something that the features do not tell"):
        models.rates(bags[seen], bags[seen].instances[:, 0] > 0)
    bags, counts = leaning(0, 0.0)
    models = posterior(learner.fit(bags, counts), bags, counts)
    assert models.spread < 1.25
    models.rates(bags, bags.instances[:, 0] > 0)  # no warning, or the test fails


def test_models_are_judged_on_bags_that_they_have_not_seen():
    rng = np.random.default_rng(0)
    bags = Bags(rng.normal(size=(40, 30)), np.arange(0, 41, 2))
    totals = rng.normal(size=20)  # 30 features explain 20 totals of nothing
    model = AggregateRidgeRegressor(alpha=1e-6).fit(bags, totals)
    near = np.sqrt(np.mean((model.predict(bags) - totals) ** 2))
    assert unexplained(model, [model], bags, totals).spread > 3 * near


@pytest.mark.parametrize(
    "law", [Chances(), Events(), Amounts()], ids=lambda law: type(law).__name__
)
def test_a_shift_moves_what_is_expected_as_fast_as_its_variance(law):
    value, step = np.array([0.1, 0.5, 0.7]), 1e-5
    slope = (law.shifted(value, step) - law.shifted(value, -step)) / (2 * step)
    np.testing.assert_allclose(slope, law.variance(value), rtol=1e-6)


def test_chances_of_bags_are_as_wide_as_said_and_those_of_groups_are_averages():
    rng = np.random.default_rng(0)
    bags = Bags(np.zeros((400, 1)), np.arange(0, 401, 20))
    group, p = np.arange(400) % 2, np.full(400, 0.5)
    draws = [Chances().found(p, bags.bag_of, 20, bags, 1.5, rng) for _ in range(2000)]
    np.testing.assert_allclose(np.std(draws, axis=0).mean(), 1.5 * np.sqrt(5.0), rtol=0.05)
    draws = [Chances().found(p, group, 2, bags, 1.5, rng) for _ in range(4000)]
    # The excess, 1.25 · 5 a bag, is common to its instances: of ten, a quarter of the variance.
    wanted = np.sqrt(50 + 20 * 1.25 * 5 / 4)
    np.testing.assert_allclose(np.std(draws, axis=0).mean(), wanted, rtol=0.05)
    p = np.where(np.arange(400) % 4 < 2, 0.01, 0.99)  # sure of instances, and wrong of some
    draws = [Chances().found(p, group, 2, bags, 3.0, rng) for _ in range(4000)]
    np.testing.assert_allclose(np.std(draws, axis=0).mean(), 3 * np.sqrt(200 * 0.0099), rtol=0.06)


def test_shifts_of_groups_are_those_of_the_joint_normal_law():
    bags, counts, _, _ = votes(3, n_bags=12)
    model = AggregateLogisticRegression().fit(bags, counts)
    group = np.digitize(bags.instances[:, 0], [-0.5, 0.5])
    left = unexplained(model, [model], bags, counts)
    effects = GroupEffects(model, left, group, 3)
    p = model.predict_proba_instances(bags)[:, 1]
    member = (bags.bag_of == np.arange(12)[:, None]).astype(float)
    rate = np.array([p[group == g].mean() for g in range(3)])
    S = (member @ np.eye(3)[group]) * (rate * (1 - rate))
    noise = np.diag(max(left.spread, 1.0) ** 2 * (member @ (p * (1 - p))))
    noise += np.diag(left.variance)
    means, logs = [], []
    for tau in effects.taus:
        whole = noise + tau**2 * S @ S.T
        means.append(tau**2 * S.T @ np.linalg.solve(whole, left.missed))
        law = multivariate_normal(np.zeros(12), whole)
        logs.append(law.logpdf(left.missed) - 2 * tau**2)
    weight = np.exp(logs - np.max(logs)) / np.exp(logs - np.max(logs)).sum()
    np.testing.assert_allclose(effects.weight, weight, rtol=1e-8)
    np.testing.assert_allclose(effects.mean(model), weight @ np.array(means), atol=1e-10)
    rng = np.random.default_rng(0)
    drawn = np.mean([effects.drawn(model, rng) for _ in range(4000)], axis=0)
    np.testing.assert_allclose(drawn, weight @ np.array(means), atol=0.05)


def test_what_bags_do_not_span_is_what_least_squares_leaves():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12)) * rng.uniform(0.1, 9.0, size=12) + rng.normal(size=12)
    bags, others = Bags(X, [0, 3, 10, 20, 28, 40]), Bags(X[::-1] + 1.0, [0, 40])
    codes = rng.integers(0, 3, size=40)
    share = outside_span(bags, others, codes, 4)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    means = np.array([scaled[bags.bag_of == c].mean(axis=0) for c in range(5)])
    for g in range(3):
        apart = (others.instances[codes == g].mean(axis=0) - X.mean(axis=0)) / X.std(axis=0)
        left = apart - means.T @ np.linalg.lstsq(means.T, apart)[0]
        assert share[g] == pytest.approx(left @ left / (apart @ apart), rel=1e-5)
    assert share[3] == 0.0  # nobody is in it
    in_sparse = [Bags(sparse.csr_array(one.instances), one.offsets) for one in (bags, others)]
    np.testing.assert_allclose(outside_span(*in_sparse, codes, 4), share, rtol=1e-6)
    np.testing.assert_array_equal(outside_span(bags.singletons(), others, codes, 4), 0.0)
    with_gaps = X.copy()
    with_gaps[:3, 1] = np.nan
    gaps = outside_span(Bags(with_gaps, bags.offsets), others, codes, 4)
    assert np.isfinite(gaps).all()


@pytest.mark.parametrize("spread", [0.8, 1.0, 2.0])
def test_a_group_that_bags_have_not_shown_may_have_any_rate(spread):
    bags, counts, _, _ = votes(3, n_bags=12)
    model = AggregateLogisticRegression().fit(bags, counts)
    group = np.digitize(bags.instances[:, 0], [-0.5, 0.5])
    left = unexplained(model, [model], bags, counts)._replace(spread=spread)
    effects = [GroupEffects(model, left, group, 3, np.array([0.0, 0.5, 1.0]) * k) for k in (0, 1)]
    rng = np.random.default_rng(0)
    told, untold = (np.var([one.drawn(model, rng) for _ in range(6000)], axis=0) for one in effects)
    # Bags that lie farther than by chance have shown as much of it in how far they lie.
    wanted = np.array([0.0, 1.25**2, 2.5**2]) / max(spread, 1.0) ** 4
    np.testing.assert_allclose(untold - told, wanted, rtol=0.1, atol=0.12)
    rates = Chances().shifted(np.full(6000, 0.5), 2.5 * rng.normal(size=6000))
    assert np.histogram(rates, bins=5, range=(0, 1))[0].min() > 0.07 * 6000  # nearly any


def test_what_is_added_to_means_is_in_their_unit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 20))
    bags, group = Bags(X, np.arange(0, 121, 10)), np.digitize(X[:, 0], [0.0])
    totals = np.add.reduceat(X[:, 0] + 0.1 * rng.normal(size=120), bags.offsets[:-1])
    told = []
    for unit in (1.0, 1000.0):
        model = AggregateRidgeRegressor().fit(bags, unit * totals)
        told.append(posterior(model, bags, unit * totals, n_draws=100).rates(bags, group))
    width = [one.high - one.low for one in told]
    np.testing.assert_allclose(width[1], 1000.0 * width[0], rtol=0.2)


def test_a_rare_answer_is_as_rare_in_all_chains():
    """Of what a group seldom says little is told, and one chain may stay where it never does."""
    rng = np.random.default_rng(39)
    n, size = int(rng.choice([12, 20, 30])), 12
    share = rng.uniform(0.1, 0.9, n)
    sex = rng.random((n, size)) < share[:, None]
    said = np.where(
        sex,
        rng.choice(3, (n, size), p=[0.75, 0.2, 0.05]),
        rng.choice(3, (n, size), p=[0.2, 0.63, 0.17]),
    )
    X = np.column_stack([sex.ravel(), rng.normal(size=n * size)])
    bags = Bags(X, np.arange(0, n * size + 1, size))
    counts = np.array([np.bincount(some, minlength=3) for some in said])
    model = AggregateLogisticRegression(C=10.0).fit(bags, counts)
    no, never = X[:, 0] == 0, []
    for seed in range(4):
        models = posterior(model, bags, counts, random_state=seed).models
        told = [one.predict_proba_instances(bags)[no, 0].mean() for one in models]
        never.append(np.median(told))
    assert 0.05 < min(never) < max(never) < 0.14  # 0.09 on average; one chain had 0.018


def test_four_bags_that_are_met_exactly_tell_little():
    """Residuals of a model's own bags are next to nothing there, and so limits were."""
    held = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        group = np.concatenate([rng.choice(3, 20, p=rng.dirichlet([2, 2, 2])) for _ in range(4)])
        x = rng.normal(size=80) + np.repeat(rng.normal(size=4), 20)
        value = x + np.array([0.6, 0.0, -0.3])[group] + rng.normal(0, 0.3, size=80)
        bags = Bags(np.column_stack([x, np.eye(3)[group]]), np.arange(0, 81, 20))
        totals = bag_sum(value, bags.offsets)
        model = AggregateRidgeRegressor(alpha=0.01).fit(bags, totals)
        told = posterior(model, bags, totals).rates(bags, group)
        truth = np.array([value[group == k].mean() for k in range(3)])
        held.append((told.low <= truth) & (truth <= told.high))
    assert np.mean(held) > 0.6


def test_a_group_in_which_nothing_happens_has_limits_near_none():
    """Its rate may be anything small: in logarithms far apart, which made an upper limit of 0.3."""
    for seed in (2, 3, 4):
        rng = np.random.default_rng(seed)
        old = np.concatenate([rng.random(20) < rng.random() for _ in range(60)])
        said = old & (rng.random(len(old)) < 0.05)
        X = np.column_stack([old, ~old, rng.normal(size=len(old))])
        bags = Bags(X, np.arange(0, len(X) + 1, 20))
        counts = bag_sum(said, bags.offsets)
        model = AggregateLogisticRegression(C=100.0).fit(bags, counts)
        told = posterior(model, bags, counts).rates(bags, old)
        assert told.low[0] == 0.0
        assert told.high[0] < 0.03
        assert told.low[1] < said[old].mean() < told.high[1]


def test_a_group_without_events_does_not_widen_the_others():
    """Of a rate that may be next to nothing, draws of a normal law have a billion events."""
    rng = np.random.default_rng(4)
    age = np.tile([0, 0, 1, 1, 2, 2], 40)
    years = np.exp(rng.normal(7.0, 1.0, len(age)))
    events = rng.poisson(years * np.array([1e-6, 1e-3, 8e-3])[age])
    bags = Bags(np.column_stack([np.eye(3)[age], years]), np.arange(0, len(age) + 1, 6))
    totals = bag_sum(events, bags.offsets)
    model = AggregatePoissonRegressor(C=1000.0, exposure=3).fit(bags, totals)
    models = posterior(model, bags, totals)
    assert models.unexplained.variance.max() < 100.0
    told = models.rates(bags, age)
    truth = np.bincount(age, events) / np.bincount(age, years)
    assert (told.low <= truth).all()
    assert (truth <= told.high).all()
    assert told.high[0] < 0.01
    assert told.high[2] < 1.3 * told.low[2]


class Constant(ClassifierMixin, BaseEstimator):
    """Gives every instance the same chance."""

    def __init__(self, chance):
        self.chance = chance

    def predict_proba_instances(self, bags):
        return np.tile([1 - self.chance, self.chance], (bags.n_instances, 1))


def test_draws_that_are_sure_of_a_rare_answer_do_not_move_the_others():
    bags = votes(0)[0]
    draws = [Constant(chance) for chance in [0.01] * 70 + [1e-9] * 30]
    told = PlausibleModels(Constant(0.01), draws, 1.0).rates(bags, np.zeros(bags.n_instances))
    assert told.low[0] < 0.01 < told.high[0] < 0.03


def bent(seed, n_bags=120, size=8):
    """Chances that no line tells: high at both ends of the second feature."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_bags * size, 2)) + 0.5 * np.repeat(rng.normal(size=(n_bags, 2)), size, 0)
    z = X[:, 0] + 1.5 * (X[:, 1] ** 2 - 1.2)
    label = (rng.random(len(z)) < 1 / (1 + np.exp(-z))).astype(int)
    bags = Bags(X, np.arange(0, len(z) + 1, size))
    return bags, np.add.reduceat(label, bags.offsets[:-1]), label


@pytest.mark.parametrize("asked", ["learned bags", "new bags"])
def test_rates_of_groups_are_covered_that_the_rule_cannot_bend_to(asked):
    hits, unjudged = [], []
    for seed in range(8):
        bags, counts, label = bent(seed)
        group = np.digitize(bags.instances[:, 1], [-1.2, 0.0, 1.2])
        seen = np.arange(len(bags)) < 80
        model = AggregateLogisticRegression().fit(bags[seen], counts[seen])
        models = posterior(model, bags[seen], counts[seen], n_draws=150, random_state=seed)
        where = seen if asked == "learned bags" else ~seen
        rows = bags.spread(where)
        settings = {"learned_groups": group[bags.spread(seen)]} if asked == "new bags" else {}
        told = models.rates(bags[where], group[rows], **settings)
        truth = [label[rows & (group == g)].mean() for g in told.names]
        hits += ((told.low <= truth) & (truth <= told.high)).tolist()
        alone = PlausibleModels(model, models.models, models.spread)
        told = alone.rates(bags[where], group[rows])
        unjudged += ((told.low <= truth) & (truth <= told.high)).tolist()
    assert np.mean(hits) >= 0.8 > 0.3 > np.mean(unjudged)


def test_limits_leave_out_as_much_as_they_say_whatever_the_number_of_draws():
    """Of 39 draws, one in forty more would lie below the least and one above the largest."""
    draws = np.random.default_rng(0).normal(size=39).tolist()
    told = PlausibleModels(0.0, draws).ask(np.atleast_1d)
    np.testing.assert_allclose([told.low[0], told.high[0]], [min(draws), max(draws)])
    rng, hits = np.random.default_rng(1), []
    for _ in range(4000):
        told = PlausibleModels(0.0, rng.normal(size=60).tolist()).ask(np.atleast_1d)
        hits.append(told.low[0] <= rng.normal() <= told.high[0])
    assert np.mean(hits) == pytest.approx(0.95, abs=0.01)


@pytest.mark.parametrize("n_bags", [6, 40])
def test_of_few_bags_normal_draws_become_students(n_bags):
    bags, _, _, _ = votes(0, n_bags + 3)
    told = np.arange(n_bags + 3) >= 3  # the others have no label
    models = PlausibleModels(None, [], unexplained=Unexplained(1.0, bags, told))
    rng = np.random.default_rng(0)
    normal = 2.0 + 0.5 * rng.normal(size=(100_000, 3))
    drawn = normal + models._from_few_bags(normal, rng)
    for share in (0.025, 0.3, 0.975):
        expected = 2.0 + 0.5 * student.ppf(share, n_bags)
        np.testing.assert_allclose(np.quantile(drawn, share, axis=0), expected, atol=0.03)


@pytest.mark.filterwarnings("ignore:.*no known count")
def test_what_a_plausible_model_expects_more_of_a_bag_is_taken_off_its_residual():
    bags, counts, _ = bent(2, n_bags=30)
    some = np.where(np.arange(30) == 4, np.nan, counts)
    models = bootstrap(AggregateLogisticRegression(), bags, some, n_draws=5, random_state=3)
    left, one = models.unexplained, models.models[0]
    group = (bags.instances[:, 1] > 0).astype(int)
    effects = GroupEffects(models.model, left, group, 2)
    effects.weight = np.eye(len(effects.taus))[4]  # one τ
    S, V, residual = effects._told_by(one)
    more = (one.predict_counts(bags) - models.model.predict_counts(bags))[left.told, -1]
    np.testing.assert_allclose(residual, left.missed - more)
    rng = np.random.default_rng(0)
    drawn = np.array([effects.drawn(one, rng) for _ in range(4000)])
    inverse = np.linalg.inv(S.T @ (S / V[:, None]) + np.eye(2) / effects.taus[4] ** 2)
    np.testing.assert_allclose(drawn.mean(axis=0), inverse @ S.T @ (residual / V), atol=0.03)
    np.testing.assert_allclose(np.cov(drawn.T), inverse, atol=0.02)


def test_what_is_not_known_of_a_rate_is_not_counted_twice():
    """Models that are free to say anything of one group, and bags of it alone that tell its rate.

    Whatever τ is, the rate is known as well as bags tell it: V / S² on the scale of log-odds.
    """
    n, size = 40, 10
    bags = Bags(np.ones((n * size, 1)), np.arange(0, n * size + 1, size))
    model = AggregateLogisticRegression(C=1e6).fit(bags, np.arange(n) % 2 + 5)
    models = posterior(model, bags, np.arange(n) % 2 + 5, n_draws=4000)
    told = models.rates(bags, np.zeros(n * size), outcome=False)
    p = told.estimate[0]
    by_bags = 1.96 * 2 * np.sqrt(p * (1 - p) / (n * size))
    assert 0.85 * by_bags < told.high[0] - told.low[0] < 1.1 * by_bags


@pytest.mark.parametrize("law", [Chances(), Events()], ids=lambda law: type(law).__name__)
def test_of_small_numbers_intervals_cover_what_they_say_on_average(law):
    """Over all rates, mid-P limits of a bag's total hold 95 %, those at whole numbers 97."""
    rng, found, size = np.random.default_rng(0), np.arange(90), 30
    bags, hits = Bags(np.zeros((size, 1)), [0, size]), []
    for p in np.linspace(0.05, 0.5, 40):
        asked = np.full(size, p), np.zeros(size, dtype=int), 1, bags, 1.0, rng
        drawn = [law.found(*asked)[0] for _ in range(1000)]
        low, high = np.quantile(drawn, [0.025, 0.975])
        chance = binom(size, p) if isinstance(law, Chances) else poisson(size * p)
        hits.append(chance.pmf(found)[(low <= found) & (found <= high)].sum())
    assert np.mean(hits) == pytest.approx(0.955, abs=0.007)


@pytest.mark.parametrize(("unit", "total"), [(1.0, 1e12), (1.0, 1e20), (1e-19, 100.0)])
def test_events_are_counted_however_many_they_are(unit, total):
    rng, each = np.random.default_rng(0), np.full(10, total / 10)
    asked = each, np.zeros(10, dtype=int), 1, None, 1.0, rng
    drawn = np.array([Events(unit).found(*asked)[0] for _ in range(2000)])
    chance = np.sqrt(unit * total)
    assert abs(drawn.mean() - total) < chance
    assert drawn.std() == pytest.approx(chance, rel=0.1)


def test_groups_of_new_bags_are_judged_only_where_those_of_learned_ones_are_known():
    bags, counts, _ = bent(0, n_bags=20)
    model = AggregateLogisticRegression().fit(bags, counts)
    models = posterior(model, bags, counts, n_draws=20)
    group = bags.instances[:, 1] > 0
    with pytest.warns(UserWarning, match="take the model's word"):
        models.rates(bags[:5], group[:40])
    with pytest.raises(ValueError, match="40 learned_groups for 160 instances"):
        models.rates(bags[:5], group[:40], learned_groups=group[:40])
    told = models.rates(bags[:5], np.zeros(40, dtype=bool), learned_groups=group)
    assert told.names.tolist() == [False]  # what was asked, not all that was learned


def test_bags_without_a_count_are_answered_with_the_others():
    bags, counts, _ = bent(1, n_bags=40)
    some = np.where(np.arange(40) % 5 == 0, np.nan, counts)
    model = AggregateLogisticRegression().fit(bags, some)
    told = posterior(model, bags, some, n_draws=50).rates(bags, bags.instances[:, 1] > 0)
    assert ((told.low <= told.estimate) & (told.estimate <= told.high)).all()


def test_events_that_come_in_clusters_widen_weights_and_totals():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 2))
    bags = Bags(X, np.arange(0, 1201, 10))
    luck = bags.spread(rng.gamma(2.0, 0.5, size=120))
    totals = np.add.reduceat(rng.poisson(luck * np.exp(X[:, 0])), bags.offsets[:-1])
    seen = np.arange(120) % 2 == 0
    model = AggregatePoissonRegressor().fit(bags[seen], totals[seen])
    models = posterior(model, bags[seen], totals[seen], n_draws=300)
    assert models.spread > 1.5
    labelled = _labelled(model, bags[seen], totals[seen], None)
    law = model._posterior(labelled)
    weights = np.array([np.append(one.coef_, one.intercept_) for one in models.models])
    wider = np.linalg.inv(law.told / models.spread**2 + law.prior)
    np.testing.assert_allclose(np.cov(weights.T), wider, rtol=0.3, atol=0.15 * wider.max())
    found = models.totals(bags[~seen])
    assert np.mean((found.low <= totals[~seen]) & (totals[~seen] <= found.high)) >= 0.85


def test_margins_of_bags_are_those_of_their_groups():
    bags = Bags(np.zeros((5, 1)), [0, 3, 5])
    table = RowByColumn.from_bags(bags, ["old", "new", "new", "old", "old"], [1, 2])
    np.testing.assert_array_equal(table.rows, [[2, 1], [0, 2]])
    np.testing.assert_array_equal(table.columns, [[2, 1], [0, 2]])
    shares = RowByColumn.from_bags(bags, ["old", "new", "new", "old", "old"], [1 / 3, 1.0])
    np.testing.assert_allclose(shares.columns, table.columns)
    with pytest.raises(ValueError, match="2 groups for 5 instances"):
        RowByColumn.from_bags(bags, ["old", "new"], [1, 2])


def test_bounds_are_those_of_all_possible_tables():
    table = RowByColumn([[3, 2]], [[2, 2, 1]])
    found = table.bounds()
    answers = np.repeat([0, 1, 2], [2, 2, 1])
    ways = np.array(list(set(itertools.permutations(answers))))
    for r, people in enumerate((slice(0, 3), slice(3, 5))):
        for c in range(3):
            share = (ways[:, people] == c).mean(axis=1)
            assert found.precincts_low[0, r, c] == pytest.approx(share.min())
            assert found.precincts_high[0, r, c] == pytest.approx(share.max())


def district(seed=0, n=80):
    rng = np.random.default_rng(seed)
    people = rng.integers(200, 800, size=n)
    share = rng.uniform(0.05, 0.95, size=n)
    rows = np.column_stack([np.round(people * share), people - np.round(people * share)])
    rate = np.array([0.3, 0.7])
    yes = rng.binomial(rows.astype(int), rate).sum(axis=1)
    return RowByColumn(rows, np.column_stack([yes, people - yes])), rate


def test_equal_rates_are_found_by_regression_and_model_within_the_bounds():
    table, rate = district()
    goodman, model, bounds = table.goodman(), table.model(n_draws=15), table.bounds()
    np.testing.assert_allclose(goodman.district[:, 0], rate, atol=0.03)
    np.testing.assert_allclose(model.district[:, 0], rate, atol=0.05)
    np.testing.assert_allclose(model.precincts.sum(axis=2), 1.0)
    assert ((bounds.low - 1e-9 <= model.district) & (model.district <= bounds.high + 1e-9)).all()
    slack = 0.03  # precincts stand as fifty people
    assert (model.precincts >= bounds.precincts_low - slack).all()
    assert (model.precincts <= bounds.precincts_high + slack).all()


@pytest.mark.parametrize("n_columns", [2, 3])
def test_rates_of_the_model_agree_with_margins_of_groups_however_small(n_columns):
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([2.0, 2.0, 0.02], size=30)
    rows = np.array([rng.multinomial(1000, share) for share in shares])
    rates = rng.dirichlet(np.ones(n_columns), size=3)
    columns = sum(rng.multinomial(rows[:, g], rates[g]) for g in range(3))
    table = RowByColumn(rows, columns)
    found, certain = table.model(n_draws=20), table.bounds()
    there = rows > 0
    assert not np.isfinite(found.precincts[~there]).any()
    assert there.sum() < there.size
    told = np.einsum("pr,prc->pc", rows, np.nan_to_num(found.precincts))
    np.testing.assert_allclose(told, columns, atol=1e-6)
    np.testing.assert_allclose(rows.sum(axis=0) @ found.district, columns.sum(axis=0), atol=1e-5)
    np.testing.assert_allclose(found.precincts[there].sum(axis=1), 1.0)
    for part in (found.precincts, found.precincts_low, found.precincts_high):
        assert (part >= certain.precincts_low - 1e-6)[there].all()
        assert (part <= certain.precincts_high + 1e-6)[there].all()


@pytest.mark.parametrize("size", [30, 500])
def test_limits_of_precincts_hold_what_their_people_answered(size):
    """What was answered differs by chance from rates that all precincts share."""
    held = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows = np.array([rng.multinomial(size, mix) for mix in rng.dirichlet([2, 2, 2], size=40)])
        rates = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
        answers = np.stack([rng.multinomial(rows[:, g], rates[g]) for g in range(3)], axis=1)
        found = RowByColumn(rows, answers.sum(axis=1)).model(n_draws=40)
        there = rows > 0
        truth = answers[there] / rows[there][:, None]
        low, high = found.precincts_low[there], found.precincts_high[there]
        assert (low <= found.precincts[there]).all()
        assert (found.precincts[there] <= high).all()
        held.append(((low <= truth + 1e-9) & (truth <= high + 1e-9)).mean())
    assert 0.9 < np.mean(held) < 0.99  # 0.45 and 0.53 where only the model was drawn


def test_what_is_no_rate_and_no_covariate_is_refused():
    table = district()[0]
    for told, reason in [
        (np.full((2, 2), np.nan), "unknown or negative"),
        (np.ones((3, 2)), r"shape \(3, 2\) for 80 tables of 2 by 2"),
    ]:
        with pytest.raises(ValueError, match=reason):
            table.agreeing(told)
    with pytest.raises(ValueError, match=r"covariates of shape \(3,\) for 80 precincts"):
        table.model(np.zeros(3))
    with pytest.raises(ValueError, match="precinct 7 has covariates that are unknown"):
        table.model(np.where(np.arange(80) == 7, np.nan, 0.0))
    with pytest.raises(ValueError, match=r"such as 0\.95; got 95"):
        table.goodman(level=95)


def test_a_group_that_is_nowhere_has_no_rate():
    table = RowByColumn(
        [[5, 5, 0], [3, 7, 0], [6, 2, 0], [1, 8, 0]], [[4, 6], [5, 5], [3, 5], [4, 5]]
    )
    for found in (table.bounds(), table.goodman(), table.model(n_draws=20), table.agreeing(0.5)):
        for part in (found.district, found.low, found.high):
            np.testing.assert_array_equal(np.isnan(part).any(axis=1), [False, False, True])


def test_covariates_of_precincts_that_differ_by_chance_alone_are_warned_of():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, size=(30, 32))
    yes = (rng.random((30, 32)) < 0.3 + 0.4 * group).sum(axis=1)

    def asked(old, covariates):
        table = RowByColumn(np.column_stack([32 - old, old]), np.column_stack([32 - yes, yes]))
        return table.model(covariates, n_draws=3)

    place = rng.normal(size=(30, 1))
    with pytest.warns(UserWarning, match="no more than chance"):
        asked(group.sum(axis=1), place)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked(group.sum(axis=1), None)
        asked(np.where(place[:, 0] > 0, 24, 8), place)


def test_goodman_says_little_of_a_group_that_one_precinct_has():
    rng = np.random.default_rng(0)
    young = rng.integers(200, 800, size=30)
    rows = np.column_stack([young, 1000 - young, np.eye(30)[0]])  # one person
    yes = 0.3 * rows[:, 0] + 0.6 * rows[:, 1] + rng.normal(scale=20.0, size=30)
    found = RowByColumn(rows, np.column_stack([rows.sum(axis=1) - yes, yes])).goodman()
    assert found.low[2, 1] < 0.0 < 1.0 < found.high[2, 1]  # as from noise alone
    assert found.low[0, 1] < 0.3 < found.high[0, 1]
    assert (found.high - found.low)[0, 1] < 0.2


def test_nobody_in_a_group_leaves_its_rates_open():
    certain = RowByColumn([[5, 0], [3, 0]], [[2, 3], [1, 2]]).bounds()
    assert np.isnan(certain.district[1]).all()
    np.testing.assert_allclose(certain.district[0], [3 / 8, 5 / 8])


def test_rates_that_cannot_be_the_same_in_all_precincts_are_warned_of():
    old = np.linspace(30, 70, 25).round()
    yes = 50 + 1.4 * (old - 50)  # of a hundred: more than if all old people said yes
    table = RowByColumn(np.column_stack([100 - old, old]), np.column_stack([100 - yes, yes]))
    with pytest.warns(UserWarning, match="in all precincts would lie beyond"):
        table.model(n_draws=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table.model((old - 50) / 10, n_draws=3)
        district()[0].model(n_draws=3)


def test_draws_of_weights_are_about_the_model():
    """With more features than bags, chances that are drawn lie nearer to one half."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(320, 60))
    yes = X[:, 0] + 0.3 * rng.normal(size=320) > 1.0
    bags = Bags(X, np.arange(0, 321, 8))
    y = np.add.reduceat(yes.astype(int), bags.offsets[:-1])
    model = AggregateLogisticRegression().fit(bags, y)
    models = posterior(model, bags, y, n_draws=200).models
    drawn = np.mean([one.predict_proba_instances(bags)[:, 1].mean() for one in models])
    told = PlausibleModels(model, models).rates(bags, np.zeros(320, dtype=int), outcome=False)
    own = model.predict_proba_instances(bags)[:, 1].mean()
    np.testing.assert_allclose(told.estimate, own)
    assert abs((told.low[0] + told.high[0]) / 2 - own) < 0.5 * abs(drawn - own)


def test_pictures_show_what_they_hold():
    table, _ = district(n=12)
    shown = PrecinctBoundsDisplay.from_table(table)
    assert (shown.low <= shown.high).all()
    lines = TomographyDisplay.from_table(table)
    # Every end of a line is a pair of rates that gives the precinct's answers.
    yes = (table.rows[:, None, :] * lines.ends).sum(axis=2)
    np.testing.assert_allclose(yes, table.columns[:, [0]] * np.ones(2))
    display = RateDisplay({"bounds": table.bounds(), "Goodman": table.goodman()}).plot()
    assert display.ax_.get_ylabel() == "rate"


def test_the_legend_of_rates_covers_no_bar_and_names_are_no_formulas():
    low = np.full((3, 1), 0.05)
    ways = {way: Rates(low + 0.45, low, low + 0.9) for way in ("bounds", "$x$", "Goodman", "ours")}
    names = ["$5k to $10k, all of the household together", r"$\frac{1}$", "more than that"]
    shown = RateDisplay(ways, names=names).plot()
    shown.figure_.canvas.draw()
    legend = shown.ax_.get_legend().get_window_extent()
    assert legend.y0 > shown.ax_.transData.transform([0, low.max() + 0.9])[1]
    assert legend.y1 <= shown.ax_.bbox.y1
    boxes = [tick.get_window_extent() for tick in shown.ax_.get_xticklabels()]
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))


def test_margins_that_do_not_agree_are_refused():
    with pytest.raises(ValueError, match="precinct 1 has 5 people and 4 answers"):
        RowByColumn([[1, 1], [2, 3]], [[1, 1], [2, 2]])
    with pytest.raises(ValueError, match="precinct 1 has no people: leave it out"):
        RowByColumn([[1, 1], [0, 0]], [[1, 1], [0, 0]])


@pytest.mark.parametrize(("names", "nothing"), [("ab", None), ("ab", pd.NA), ((1.0, 2.0), np.nan)])
def test_instances_without_a_group_are_named(names, nothing):
    bags, y, _, _ = votes(0, n_bags=10)
    groups = np.array([*names] * 40, dtype=object if isinstance(names, str) else float)
    groups[3] = nothing
    models = posterior(AggregateLogisticRegression().fit(bags, y), bags, y, n_draws=20)
    for ask in (
        lambda: models.rates(bags, groups),
        lambda: models.rates(bags, groups.astype(str), learned_groups=groups),
        lambda: RowByColumn.from_bags(bags, groups, y),
    ):
        with pytest.raises(ValueError, match="instance 3 has no group: name those"):
            ask()
