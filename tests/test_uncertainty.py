"""Intervals cover the truth as often as they say; limits of tables are those of brute force."""

import itertools

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.linear_model import Ridge

from mixedbag import Bags
from mixedbag._unexplained import unexplained
from mixedbag.aggregate import (
    AggregateLogisticRegression,
    AggregatePoissonRegressor,
    AggregateRidgeRegressor,
    AggregateTreeClassifier,
)
from mixedbag.ecological import BoundsDisplay, RateDisplay, RowByColumn, TomographyDisplay
from mixedbag.uncertainty import bootstrap, posterior

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
        models.rates(bags, bags.instances[:, 0] > 0)
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
    assert unexplained(model, [model], bags, totals) > 3 * near


def test_margins_of_bags_are_those_of_their_groups():
    bags = Bags(np.zeros((5, 1)), [0, 3, 5])
    table = RowByColumn.from_bags(bags, ["old", "new", "new", "old", "old"], [1, 2])
    np.testing.assert_array_equal(table.rows, [[2, 1], [0, 2]])
    np.testing.assert_array_equal(table.columns, [[2, 1], [0, 2]])
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


def test_pictures_show_what_they_hold():
    table, _ = district(n=12)
    shown = BoundsDisplay.from_table(table)
    assert (shown.low <= shown.high).all()
    lines = TomographyDisplay.from_table(table)
    # Every end of a line is a pair of rates that gives the precinct's answers.
    yes = (table.rows[:, None, :] * lines.ends).sum(axis=2)
    np.testing.assert_allclose(yes, table.columns[:, [0]] * np.ones(2))
    display = RateDisplay({"bounds": table.bounds(), "Goodman": table.goodman()}).plot()
    assert display.ax_.get_ylabel() == "rate"


def test_margins_that_do_not_agree_are_refused():
    with pytest.raises(ValueError, match="precinct 1 has 5 people and 4 answers"):
        RowByColumn([[1, 1], [2, 3]], [[1, 1], [2, 2]])
