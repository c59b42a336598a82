"""An exposure is named in the same words to learners, to `compare` and on the command line."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from mixedbag import Bags, compare, load, save
from mixedbag.aggregate import AggregatePoissonRegressor
from mixedbag.comparison import fit_best_setting, fit_from_disk
from mixedbag.comparison._candidates import find_candidates
from mixedbag.datasets import BagData
from mixedbag.engines import SpooledBags
from mixedbag.exceptions import InputError
from mixedbag.uncertainty import posterior
from mixedbag.wrappers import InstanceWise
from tests.command import mixedbag


def districts(seed=0, n_bags=60, size=8):
    """Cases in proportion to the hours that people were there, and rising with their age."""
    rng = np.random.default_rng(seed)
    age, hours = rng.normal(size=n_bags * size), rng.uniform(1, 40, size=n_bags * size)
    cases = rng.poisson(hours * np.exp(0.5 * age - 2))
    bags = Bags(
        np.column_stack([age, hours]),
        np.arange(0, len(age) + 1, size),
        feature_names=["age", "hours"],
    )
    return bags, np.add.reduceat(cases, bags.offsets[:-1]).astype(float)


def in_proportion(model, bags):
    """Whether twice the exposure is expected to bring twice as much, instance by instance."""
    twice = bags.instances * [1, 2]
    told = [
        model.predict_instances(bags.with_instances(X, bags.feature_names))
        for X in (bags.instances, twice)
    ]
    return np.allclose(2 * told[0], told[1])


def test_the_learner_that_is_fitted_by_default_is_in_proportion_to_the_exposure():
    bags, y = districts()
    found = fit_best_setting(bags, y, "sum", exposure="hours")
    assert found.name == "AggregatePoissonRegressor"
    assert in_proportion(found.model, bags)
    plain = AggregatePoissonRegressor(exposure="hours", C=found.setting["learner__C"]).fit(bags, y)
    np.testing.assert_allclose(found.model.predict(bags), plain.predict(bags), rtol=0.1)
    half = [BagData(bags[part], y[part]) for part in (slice(30), slice(30, 60))]
    assert in_proportion(fit_from_disk(SpooledBags(half), "sum", exposure="hours").model, bags)


def test_features_may_be_in_any_unit_beside_an_exposure():
    bags, y = districts()
    wild = bags.with_instances(bags.instances * [1e-5, 1.0] + [10.0, 0.0], bags.feature_names)
    told = [fit_best_setting(b, y, "sum", exposure="hours").model.predict(b) for b in (bags, wild)]
    np.testing.assert_allclose(*told, rtol=1e-4)
    young = bags.instances[:, 0] < 0
    rates = []
    for b in (bags, wild):
        scaled = InstanceWise(StandardScaler(), keep="hours").fit_transform(b)
        model = AggregatePoissonRegressor(exposure="hours").fit(scaled, y)
        rates.append(posterior(model, scaled, y).rates(scaled, young).estimate)
    np.testing.assert_allclose(*rates, rtol=1e-4)


def test_rates_that_are_all_equal_but_for_rounding_have_intervals_about_them():
    bags, _ = districts()
    y = 0.1 * np.add.reduceat(bags.instances[:, 1], bags.offsets[:-1])
    model = AggregatePoissonRegressor(exposure="hours").fit(bags, y)
    found = posterior(model, bags, y).rates(bags, bags.instances[:, 0] < 0)
    np.testing.assert_allclose(found.estimate, 0.1)
    assert (found.low < 0.1).all()
    assert (found.high > 0.1).all()


@pytest.mark.parametrize("keep", [1, "hours"])
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_a_feature_that_is_kept_has_its_unit_still(kind, keep):
    bags, _ = districts()
    X = kind(bags.instances)
    told = InstanceWise(MaxAbsScaler(), keep=keep).fit_transform(
        bags.with_instances(X, bags.feature_names)
    )
    found = told.instances if kind is np.asarray else told.instances.toarray()
    np.testing.assert_array_equal(found[:, 1], bags.instances[:, 1])
    assert np.abs(found[:, 0]).max() == 1.0
    assert told.feature_names == ["age", "hours"]


@pytest.mark.parametrize(
    ("transformer", "keep", "message"),
    [
        (StandardScaler(), "years", "keep 'years' is not a column: age, hours"),
        (StandardScaler(), 2, "keep is column 2, but there are 2"),
        (PCA(1), "hours", "PCA makes other features: keep='hours' is none of them"),
    ],
)
def test_a_feature_that_cannot_be_kept_is_named(transformer, keep, message):
    with pytest.raises(InputError, match=message):
        InstanceWise(transformer, keep=keep).fit_transform(districts()[0])


def test_compare_tells_who_knows_what_an_exposure_is():
    bags, y = districts()
    asked = {"learners": ["AggregatePoissonRegressor", "AggregateRidgeRegressor"], "folds": 3}
    told = compare(bags, y, "sum", exposure="hours", **asked)
    blind = compare(bags, y, "sum", **asked)

    def score(result):
        return {line.name: line.mean for line in result.leaderboard()}

    name = "AggregatePoissonRegressor"
    assert score(told)[name] > score(blind)[name]
    assert score(told)["AggregateRidgeRegressor"] == score(blind)["AggregateRidgeRegressor"]


def test_who_knows_what_an_exposure_is_begins():
    bags, y = districts()
    candidates, _ = find_candidates("sum", bags, y=y, exposure="hours")
    first = max(candidates, key=lambda candidate: candidate.effort.merit)
    assert first.name == "AggregatePoissonRegressor"
    assert first.effort.merit > sorted(one.effort.merit for one in candidates)[-2]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rule": "sum", "exposure": "hour"}, "none of the features 'age', 'hours'"),
        ({"rule": "count", "exposure": "hours"}, "say 'sum'"),
        ({"rule": "sum", "exposure": "hours", "learner": "AggregateSVR"}, "takes an exposure"),
    ],
)
def test_an_exposure_that_cannot_be_one_is_refused(settings, message):
    bags, y = districts()
    y = y % (bags.sizes + 1) if settings["rule"] == "count" else y
    with pytest.raises(InputError, match=message):
        fit_best_setting(bags, y, **settings)


def test_a_saved_model_with_an_exposure_is_loaded(tmp_path):
    bags, y = districts()
    model = AggregatePoissonRegressor(exposure="hours").fit(bags, y)
    save(model, tmp_path / "m.skops")
    np.testing.assert_array_equal(load(tmp_path / "m.skops").predict(bags), model.predict(bags))


def test_known_events_are_shared_out_in_proportion_to_rates(tmp_path):
    """Moved by one amount a bag, instances of bags with few events had fewer than none."""
    bags, y = districts()
    learner = AggregatePoissonRegressor(exposure="hours").fit(bags, y)
    save(fit_best_setting(bags, y, "sum", exposure="hours").model, tmp_path / "m.skops")
    known = np.where(np.arange(60) % 3 == 0, 0.0, 7.0)
    known[5] = np.nan
    for model in (learner, load(tmp_path / "m.skops")):
        own, told = model.predict_instances(bags), model.predict_instances(bags, known)
        told = told.reshape(60, 8)
        total = np.where(np.isnan(known), model.predict(bags), known)
        np.testing.assert_allclose(told.sum(axis=1), total, atol=1e-9)
        share = own.reshape(60, 8) / own.reshape(60, 8).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(told, total[:, None] * share, atol=1e-9)


def test_from_a_table_to_predictions_in_proportion_to_the_exposure(tmp_path):
    bags, y = districts()
    lines = [
        f"d{c},{age:.3f},{{}},{y[c]:g}" for c, (age, _) in zip(bags.bag_of, bags.instances.tolist())
    ]
    for name, times in (("t.csv", 1), ("twice.csv", 2)):
        hours = (times * bags.instances[:, 1]).round(3)
        rows = [line.format(h) for line, h in zip(lines, hours)]
        (tmp_path / name).write_text("\n".join(["district,age,hours,cases", *rows]) + "\n")
    asked = ("--bag=district", "--label=cases", "--rule=sum", "--exposure=hours")
    assert "AggregatePoissonRegressor" in mixedbag("fit", "t.csv", *asked, folder=tmp_path).stdout
    amounts = []
    for name in ("t.csv", "twice.csv"):
        told = mixedbag("predict", "model.skops", name, folder=tmp_path).stdout.splitlines()[1:]
        amounts.append([float(line.split(",")[1]) for line in told])
    np.testing.assert_allclose(2 * np.array(amounts[0]), amounts[1], rtol=1e-3)
    done = mixedbag("compare", "t.csv", *asked, "--learners=ridge", folder=tmp_path, code=2)
    assert "takes an exposure" in done.stderr


def test_rates_of_groups_are_events_by_exposure():
    rng = np.random.default_rng(2)
    bags, _ = districts()
    hours, old = bags.instances[:, 1], bags.instances[:, 0] > 0
    hours = np.where(old, hours, hours / 10)  # who is young is there for a tenth of the time
    bags = bags.with_instances(np.column_stack([old, hours]), ["old", "hours"])
    rate = np.where(old, 0.4, 1.2)
    y = np.add.reduceat(rng.poisson(hours * rate), bags.offsets[:-1]).astype(float)
    model = AggregatePoissonRegressor(exposure="hours").fit(bags, y)
    told = posterior(model, bags, y, n_draws=800).rates(bags, old)
    assert np.all(told.low < [1.2, 0.4])
    assert np.all(told.high > [1.2, 0.4])
    np.testing.assert_allclose(told.estimate, [1.2, 0.4], rtol=0.15)
    # Hours are as well told by minutes.
    in_minutes = bags.with_instances(np.column_stack([old, 60 * hours]), ["old", "hours"])
    model = AggregatePoissonRegressor(exposure="hours").fit(in_minutes, y)
    by_minute = posterior(model, in_minutes, y, n_draws=800).rates(in_minutes, old)
    for part in ("estimate", "low", "high"):
        np.testing.assert_allclose(60 * getattr(by_minute, part), getattr(told, part), rtol=0.08)


def test_the_command_tells_rates_by_exposure(tmp_path):
    bags, y = districts(n_bags=40)
    rows = [
        f"D{bag},{'old' if age > 0 else 'young'},{hours:.6f},{int(y[bag])}"
        for bag, (age, hours) in zip(bags.bag_of, bags.instances)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["district,who,hours,cases", *rows]) + "\n")
    asked = ("rates", "t.csv", "--bag=district", "--label=cases", "--by=who", "--draws=60")
    done = mixedbag(*asked, "--rule=sum", "--exposure=hours", "--json", folder=tmp_path)
    told = json.loads(done.stdout)
    assert told["learner"] == "AggregatePoissonRegressor"
    rate = {line["group"]: line for line in told["groups"]}
    # Cases by the hour are exp(0.5 age - 2), in the mean over ages above and below zero.
    for who, wanted in (("old", 0.212), ("young", 0.095)):
        assert rate[who]["low"] < wanted < rate[who]["high"] < 2 * wanted
