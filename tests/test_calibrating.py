"""`calibrate`: honest probabilities for learners that have scores alone."""

import numpy as np
import pytest

from mixedbag import load, save
from mixedbag.classics import CitationKNN, MILogisticRegression, SetKernelSVC
from mixedbag.datasets import make_any
from mixedbag.learners import all_learners
from mixedbag.margin import BagMarginSVC
from mixedbag.pooling import bag_max


def problem(n_bags=120, seed=0):
    return make_any(n_bags=n_bags, size=(2, 6), n_features=3, random_state=seed)


def log_loss(p, y):
    return -np.mean(np.log(np.clip(p[np.arange(len(y)), y], 1e-6, None)))


@pytest.mark.parametrize("learner", [BagMarginSVC(kernel="linear"), SetKernelSVC(), CitationKNN()])
def test_probabilities_beat_the_frequencies_of_classes(learner, tmp_path):
    train, test = problem(), problem(seed=1)
    model = learner.fit(train.bags, train.y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as refused:
        model.predict_proba(test.bags)
    assert "calibrate(bags, y)" in str(refused.value.__cause__)
    model.calibrate(train.bags, train.y)
    p, q = model.predict_proba(test.bags), model.predict_proba_instances(test.bags)
    share = np.bincount(train.y) / len(train.y)
    assert log_loss(p, test.y) < log_loss(np.tile(share, (len(p), 1)), test.y)
    assert (bag_max(q[:, 1], test.bags.offsets) <= p[:, 1] + 1e-9).all()
    order = np.argsort(model.decision_function(test.bags))
    assert (np.diff(p[order, 1]) >= -1e-12).all()
    save(model, tmp_path / "model.skops")
    assert np.array_equal(load(tmp_path / "model.skops").predict_proba(test.bags), p)
    model.fit(train.bags, train.y)  # what was learned of other scores is forgotten
    assert not hasattr(model, "predict_proba")


def test_scores_of_bags_left_out_are_what_counts():
    """A learner that knows its bags by heart is no surer for it: labels here are random."""
    data = problem(60)
    y = np.random.default_rng(0).permutation(data.y)
    model = SetKernelSVC(kernel="rbf", gamma=50.0, C=1e4).fit(data.bags, y)
    assert np.mean(model.predict(data.bags) == y) == 1.0
    p = model.calibrate(data.bags, y).predict_proba(problem(60, seed=1).bags)
    assert np.abs(p[:, 1] - y.mean()).max() < 0.25


def test_more_classes_and_weights():
    data = problem()
    y = np.array(["a", "b", "c"])[np.arange(len(data.y)) % 3]
    shift = data.bags.spread(np.arange(len(y)) % 3)[:, None]
    bags = data.bags.with_instances(data.bags.instances + 2.0 * shift)
    model = BagMarginSVC(kernel="linear").fit(bags, y).calibrate(bags, y)
    p, q = model.predict_proba(bags), model.predict_proba_instances(bags)
    assert p.sum(axis=1) == pytest.approx(1.0)
    assert (q.sum(axis=1) <= 1 + 1e-9).all()
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


def test_every_classifier_has_probabilities_or_can_learn_them():
    for kind in all_learners():
        if {"any", "majority", "sequence"} & set(kind._rules):
            assert hasattr(kind, "calibrate") or hasattr(kind, "predict_proba"), kind
