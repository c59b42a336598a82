"""Honest probabilities for learners that have scores alone, made when they are first asked for."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC

from mixedbag import Bags, load, save
from mixedbag.aggregate import AggregateRidgeClassifier, AggregateSVC
from mixedbag.base._calibrating import as_sure, fit_sureness, scores_only
from mixedbag.base._fingerprints import fingerprints
from mixedbag.classics import CitationKNN, MILogisticRegression, SetKernelSVC
from mixedbag.datasets import make_any, make_count
from mixedbag.margin import BagMarginSVC
from mixedbag.pooling import bag_max
from mixedbag.wrappers import SpreadLabels


def problem(n_bags=120, seed=0):
    return make_any(n_bags=n_bags, size=(2, 6), n_features=3, random_state=seed)


def log_loss(p, y):
    return -np.mean(np.log(np.clip(p[np.arange(len(y)), y], 1e-6, None)))


@pytest.mark.parametrize("learner", [BagMarginSVC(kernel="linear"), SetKernelSVC(), CitationKNN()])
def test_probabilities_beat_the_frequencies_of_classes(learner, tmp_path):
    train, test = problem(), problem(seed=1)
    model = learner.fit(train.bags, train.y)
    p, q = model.predict_proba(test.bags), model.predict_proba_instances(test.bags)
    share = np.bincount(train.y) / len(train.y)
    assert log_loss(p, test.y) < log_loss(np.tile(share, (len(p), 1)), test.y)
    if isinstance(learner, BagMarginSVC):  # the others' instances may contradict their bags
        assert (bag_max(q[:, 1], test.bags.offsets) <= p[:, 1] + 1e-9).all()
    order = np.argsort(model.decision_function(test.bags))
    assert (np.diff(p[order, 1]) >= -1e-12).all()
    save(model, tmp_path / "model.skops")
    assert np.array_equal(load(tmp_path / "model.skops").predict_proba(test.bags), p)
    asked = clone(learner).fit(train.bags, train.y).calibrate(train.bags, train.y)
    assert_allclose(asked.predict_proba(test.bags), p)


def test_training_bags_are_held_until_asked_and_never_saved():
    data = problem(40)
    model = BagMarginSVC(kernel="linear").fit(data.bags, data.y)
    assert "bags" in copy.copy(model)._held_
    stored = pickle.dumps(model)
    assert data.bags.instances.tobytes()[:64] not in stored
    p = model.predict_proba(data.bags)
    assert "bags" not in model._held_
    assert np.array_equal(pickle.loads(stored).predict_proba(data.bags), p)
    with scores_only():
        plain = clone(model).fit(data.bags, data.y)
    assert not hasattr(plain, "predict_proba")
    with pytest.raises(AttributeError) as refused:
        plain.predict_proba(data.bags)
    assert "calibrate(bags, y)" in str(refused.value.__cause__)
    assert_allclose(plain.calibrate(data.bags, data.y).predict_proba(data.bags), p)


def test_a_bag_of_weight_two_counts_like_two_wherever_they_stand():
    data = problem(40)
    weight = np.where(np.arange(40) % 4 == 0, 2.0, 1.0)
    again = np.random.default_rng(0).permutation(np.r_[np.arange(40), np.arange(0, 40, 4)])
    learner = SetKernelSVC(tol=1e-10)
    one = clone(learner).fit(data.bags, data.y, weight).predict_proba(data.bags)
    two = clone(learner).fit(data.bags[again], data.y[again]).predict_proba(data.bags)
    assert_allclose(one, two, atol=1e-5)


@pytest.mark.parametrize("form", [np.float32, sparse.csr_array])
def test_chances_do_not_mind_how_a_table_is_held(form):
    """What bags hold decides on who is left out: by its bytes, chances were others by .1 to .3."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(120, 3)), 1).astype(np.float32)  # some are zero
    offsets = np.arange(0, 121, 4)
    counts = np.add.reduceat(X[:, 0] + rng.normal(size=120) > 0, offsets[:-1], dtype=int)
    dense, other = Bags(X.astype(float), offsets), Bags(form(X), offsets)
    p = AggregateRidgeClassifier().fit(dense, counts).predict_proba_instances(dense)
    q = AggregateRidgeClassifier().fit(other, counts).predict_proba_instances(other)
    assert_allclose(q, p, atol=1e-6)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_chances_do_not_mind_the_order_of_features(form):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(120, 5)), 1)
    X[:, 3:] = np.eye(2)[rng.integers(2, size=120)]  # marks of two names
    offsets, order = np.arange(0, 121, 4), [4, 2, 0, 3, 1]
    counts = np.add.reduceat(X[:, 0] + rng.normal(size=120) > 0, offsets[:-1], dtype=int)
    bags, other = (Bags(form(table), offsets) for table in (X, X[:, order]))
    p = AggregateRidgeClassifier().fit(bags, counts).predict_proba_instances(bags)
    q = AggregateRidgeClassifier().fit(other, counts).predict_proba_instances(other)
    assert_allclose(q, p, atol=1e-6)


def test_what_bags_hold_tells_them_apart_unless_they_are_equal():
    rng = np.random.default_rng(0)
    one, two = rng.normal(size=(2, 3, 4))
    bags = Bags.from_list([one, two, one[::-1], one[:, ::-1], np.vstack([one, 0 * one]), -one])
    first, *others = fingerprints(bags)
    assert [first == other for other in others] == [False, True, False, False, False]
    assert fingerprints(bags[[1, 0, 0]]).tolist() == fingerprints(bags[[1, 0]])[[0, 1, 1]].tolist()
    marks = Bags(np.eye(6)[[0, 1, 2, 3, 4, 5, 0]], np.arange(8))  # features that occur alike
    told = fingerprints(marks)
    assert told[0] == told[6]
    assert len(np.unique(told)) == 6


def test_a_class_of_one_bag_is_never_left_out():
    data = problem(30)
    y = np.where(np.arange(30) == 3, 2, data.y)
    model = SetKernelSVC().fit(data.bags, y)
    p = model.predict_proba(data.bags)
    assert_allclose(p.sum(axis=1), 1.0)
    assert np.array_equal(p.argmax(axis=1), model.predict(data.bags))
    lonely = SetKernelSVC().fit(data.bags[:2], [0, 1])  # nothing can be left out, nobody knows
    assert_allclose(lonely.predict_proba(data.bags), 0.5)


def test_how_sure_scores_are_is_the_likeliest():
    rng = np.random.default_rng(0)
    scores, codes = rng.normal(size=(80, 3)), rng.integers(0, 3, 80)
    weight, alone = rng.uniform(0.5, 2.0, 80), np.arange(81)
    counts = np.eye(3)[codes]

    def likelihood(x):
        p = as_sure(scores, x)
        return weight @ (counts * np.log(p)).sum(axis=1)

    found = fit_sureness(scores, alone, counts, weight)
    for step in np.vstack([np.eye(4), -np.eye(4)]):
        tried = np.maximum(found + 1e-3 * step, 0.0)
        assert likelihood(tried) <= likelihood(found) + 1e-6
    assert np.array_equal(as_sure(scores, found).argmax(axis=1), scores.argmax(axis=1))


def test_counts_of_bags_left_out_tell_how_sure_an_instance_is():
    data = make_count(n_bags=80, size=(3, 8), random_state=0)
    bags, new = data.bags[:50], data.bags[50:]
    model = AggregateSVC(kernel="linear", random_state=0).fit(bags, data.y[:50])
    q = model.predict_proba_instances(new)
    assert_allclose(q.sum(axis=1), 1.0)
    assert np.array_equal(q.argmax(axis=1), model.predict_instances(new))
    truth = data.instance_labels[bags.n_instances :].astype(int)
    rate = data.y[:50].sum() / bags.n_instances
    assert log_loss(q, truth) < log_loss(np.tile([1 - rate, rate], (len(q), 1)), truth)
    assert_allclose(model.predict_proba(new)[0], q[: new.sizes[0]].mean(axis=0))


def test_scores_of_bags_left_out_are_what_counts():
    """A learner that knows its bags by heart is no surer for it: labels here are random."""
    data = problem(60)
    y = np.random.default_rng(0).permutation(data.y)
    model = SetKernelSVC(kernel="rbf", gamma=50.0, C=1e4).fit(data.bags, y)
    assert np.mean(model.predict(data.bags) == y) == 1.0
    p = model.calibrate(data.bags, y).predict_proba(problem(60, seed=1).bags)
    assert np.abs(p[:, 1] - y.mean()).mean() < 0.2


def test_more_classes_and_weights():
    data = problem()
    y = np.array(["a", "b", "c"])[np.arange(len(data.y)) % 3]
    shift = data.bags.spread(np.arange(len(y)) % 3)[:, None]
    bags = data.bags.with_instances(data.bags.instances + 2.0 * shift)
    model = BagMarginSVC(kernel="linear").fit(bags, y).calibrate(bags, y)
    p, q = model.predict_proba(bags), model.predict_proba_instances(bags)
    assert p.sum(axis=1) == pytest.approx(1.0)
    assert q.sum(axis=1) == pytest.approx(1.0)
    assert np.mean(model.classes_[p.argmax(axis=1)] == y) > 0.6
    heavy = np.where(y == "a", 5.0, 1.0)
    weighted = BagMarginSVC(kernel="linear").fit(bags, y).calibrate(bags, y, heavy)
    assert weighted.predict_proba(bags)[:, 0].mean() > p[:, 0].mean() + 0.005


def test_what_cannot_be_calibrated_is_refused():
    data = problem(30)
    with pytest.raises(TypeError, match="probabilities of its own"):
        MILogisticRegression().fit(data.bags, data.y).calibrate(data.bags, data.y)
    model = BagMarginSVC().fit(data.bags, data.y)
    with pytest.raises(ValueError, match="has not learned"):
        model.calibrate(data.bags, data.y + 5)
    with pytest.raises(ValueError, match="labels for"):
        model.calibrate(data.bags, data.y[:3])


@pytest.mark.parametrize("rule", ["any", "majority"])
@pytest.mark.parametrize("estimator", [LogisticRegression(), GaussianNB(), LinearSVC(), SVC()])
def test_spread_labels_predict_their_most_probable_class(rule, estimator):
    rng = np.random.default_rng(3)
    bags, y = problem(60).bags, rng.integers(0, 3, 60)
    model = SpreadLabels(estimator, rule=rule).fit(bags, y)
    p, q = model.predict_proba(bags), model.predict_proba_instances(bags)
    assert np.array_equal(p.argmax(axis=1), model.predict(bags))
    assert np.array_equal(q.argmax(axis=1), model.predict_instances(bags))
