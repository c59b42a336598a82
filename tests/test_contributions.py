"""Contributions: what an answer loses, checked against models whose answers are known sums."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline

from mixedbag import Bags, _contributions
from mixedbag.aggregate import AggregateLogisticRegression, AggregateRBFRegressor
from mixedbag.classics import MILogisticRegression
from mixedbag.datasets import make_any
from mixedbag.wrappers import BagFeatures


@pytest.fixture(scope="module")
def model_and_bags():
    data = make_any(n_bags=60, random_state=0)
    return MILogisticRegression().fit(data.bags, data.y), data.bags


def by_hand(model, bag, i, code):
    rest = Bags.from_list([np.delete(bag.instances, i, axis=0)])

    def odds(bags):
        p = model.predict_proba(bags)[0, code]
        return np.log(p / (1 - p))

    return odds(bag) - odds(rest)


@pytest.mark.parametrize("i", range(6))
def test_left_out_one_by_one_for_the_class_that_was_answered(model_and_bags, i):
    model, bags = model_and_bags
    bag = bags[[i]]
    found = _contributions.of_instances(model, bag)
    code = list(model.classes_).index(model.predict(bag)[0])
    assert found.answer == model.classes_[code]
    assert found.run_length == 1
    expected = [by_hand(model, bag, j, code) for j in range(bag.n_instances)]
    assert_allclose(found.values, expected, rtol=1e-6, atol=1e-9)


def test_the_witness_contributes_most_to_yes_and_least_to_no(model_and_bags):
    model, bags = model_and_bags
    predicted = model.predict(bags)
    for i in range(len(bags)):
        found = _contributions.of_instances(model, bags[[i]])
        best = model.decision_function_instances(bags[[i]]).argmax()
        place = (
            found.values.argmax() if predicted[i] == model.classes_[1] else found.values.argmin()
        )
        assert place == best


def test_runs_of_large_bags_are_left_out_together(model_and_bags):
    model, bags = model_and_bags
    large = Bags(bags.instances, np.array([0, bags.n_instances]))
    found = _contributions.of_instances(model, large, most=20)
    assert found.run_length == -(-bags.n_instances // 20)
    first = found.run_length
    rest = Bags.from_list([bags.instances[first:]])
    code = list(model.classes_).index(found.answer)
    lost = found.strength - _contributions._strength(model, rest, np.array([code]))[0]
    assert_allclose(found.values[:first].sum(), lost, rtol=1e-6, atol=1e-9)


def test_many_bags_are_asked_about_as_one_by_one(model_and_bags):
    model, bags = model_and_bags
    together = _contributions.of_many(model, bags)
    alone = [_contributions.of_instances(model, bags[[i]]) for i in range(len(bags))]
    assert [one.answer for one in together] == [one.answer for one in alone]
    for one, other in zip(together, alone, strict=True):
        assert_allclose(one.values, other.values, rtol=1e-9, atol=1e-12)
        assert_allclose(one.strength, other.strength)


def test_blocks_do_not_matter(model_and_bags, monkeypatch):
    model, bags = model_and_bags
    whole = _contributions.of_instances(model, bags[[0]]).values
    monkeypatch.setattr(_contributions, "_ROWS", 1)
    assert_allclose(_contributions.of_instances(model, bags[[0]]).values, whole)


def test_totals_fall_by_the_instances_own_value():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 2))
    bags = Bags(X, np.arange(0, 121, 4))
    model = AggregateRBFRegressor(random_state=0)
    model.fit(bags, np.add.reduceat(X[:, 0], bags.offsets[:-1]))
    found = _contributions.of_instances(model, bags[[3]])
    assert found.answer is None
    assert_allclose(found.values, model.predict_instances(bags[[3]]), atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_of_counts_of_classes_it_is_the_last_that_is_lost(n_classes):
    """All of them add up to the bag, which loses one whoever is left out."""
    rng = np.random.default_rng(0)
    bags = Bags(rng.normal(size=(200, n_classes)), np.arange(0, 201, 5))
    best = bags.instances.argmax(axis=1)
    counts = np.array([np.bincount(part, minlength=n_classes) for part in best.reshape(40, 5)])
    model = AggregateLogisticRegression(C=100.0).fit(bags, counts)
    found = _contributions.of_instances(model, bags[:1])
    assert found.caption == f"amount {n_classes - 1} lost without it"
    assert_allclose(found.values, model.predict_proba_instances(bags[:1])[:, -1], atol=1e-12)
    assert np.ptp(found.values) > 0.5
    by_feature = _contributions.of_features(model, bags[:1], 0, np.full(n_classes, 9.0))
    assert np.abs(by_feature).max() > 0.01


def test_features_of_an_instance_are_set_to_typical_values_one_by_one(model_and_bags):
    model, bags = model_and_bags
    bag, typical = bags[[1]], _contributions.typical_values(bags)
    found = _contributions.of_features(model, bag, 0, typical)
    code = _contributions.answered(model, bag)
    for j in range(bags.n_features):
        X = bag.instances.copy()
        X[0, j] = typical[j]
        lost = _contributions._strength(model, bag, code) - _contributions._strength(
            model, bag.with_instances(X), code
        )
        assert_allclose(found[j], lost[0], atol=1e-9)


def test_sparse_bags_have_the_same_contributions(model_and_bags):
    model, bags = model_and_bags
    bag, typical = bags[[2]], _contributions.typical_values(bags)
    thin = bag.with_instances(csr_array(bag.instances))
    assert_allclose(
        _contributions.of_instances(model, thin).values,
        _contributions.of_instances(model, bag).values,
        atol=1e-9,
    )
    assert_allclose(
        _contributions.of_features(model, thin, 0, typical),
        _contributions.of_features(model, bag, 0, typical),
        atol=1e-9,
    )


def test_models_that_only_know_bags_and_three_classes():
    data = make_any(n_bags=60, random_state=1)
    y = np.array(["a", "b", "c"])[(np.arange(60) % 3)]
    model = make_pipeline(BagFeatures(), RandomForestClassifier(random_state=0)).fit(data.bags, y)
    found = _contributions.of_instances(model, data.bags[[4]])
    assert found.answer == model.predict(data.bags[[4]])[0]
    assert found.unit == f"log-odds of {found.answer}"
    assert len(found.values) == data.bags.sizes[4]


def test_a_bag_of_one_is_all_its_instance(model_and_bags):
    model, bags = model_and_bags
    one = Bags.from_list([bags.instances[:1]])
    found = _contributions.of_instances(model, one)
    assert_allclose(found.values, [found.strength])
