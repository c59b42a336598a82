"""Optimal balls against trying every ball, and boosting against its own arithmetic."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from mixedbag.classics import OptimalBallClassifier
from mixedbag.datasets import make_any


def best_by_trying(data, weight):
    """The largest weight of bags told right by any ball around an instance of a positive bag."""
    best = 0.0
    for i in np.flatnonzero(data.y == 1):
        for center in data.bags[i]:
            distance = np.array([cdist(center[None], bag).min() for bag in data.bags])
            for radius in np.unique(distance)[:-1]:
                best = max(best, weight @ ((distance <= radius) == (data.y == 1)))
    return best


@pytest.mark.parametrize("seed", range(4))
def test_one_ball_is_the_best_of_all(seed):
    data = make_any(n_bags=16, size=(1, 4), n_features=2, separation=2.0, random_state=seed)
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, size=16)
    model = OptimalBallClassifier(1).fit(data.bags, data.y, sample_weight=weight)
    right = weight @ (model.predict(data.bags) == data.y)
    assert right == pytest.approx(best_by_trying(data, weight))


def test_balls_together_tell_more_than_one():
    data = make_any(n_bags=60, n_features=6, separation=2.5, random_state=0)
    one = OptimalBallClassifier(1).fit(data.bags, data.y).score(data.bags, data.y)
    many = OptimalBallClassifier(40).fit(data.bags, data.y)
    assert many.score(data.bags, data.y) > one
    assert len(many.votes_) > 5


def test_votes_are_those_of_adaboost():
    data = make_any(n_bags=30, n_features=4, separation=2.0, random_state=2)
    model = OptimalBallClassifier(5).fit(data.bags, data.y)
    sign, weight = 2 * data.y - 1, np.full(30, 1 / 30)
    for center, radius, vote in zip(model.centers_, model.radii_, model.votes_):
        distance = np.array([cdist(center[None], bag).min() for bag in data.bags])
        says = np.where(distance <= radius, 1, -1)
        error = weight @ (says != sign)
        assert vote == pytest.approx(0.5 * np.log((1 - error) / error))
        weight *= np.exp(-vote * sign * says)
        weight /= weight.sum()


def test_a_ball_without_errors_is_enough():
    bags = [[[0.0], [5.0]], [[5.2]], [[0.1], [0.3]], [[-0.2]]]
    model = OptimalBallClassifier().fit(bags, [1, 1, 0, 0])
    assert model.n_iter_ == 1
    assert abs(model.centers_[0, 0] - 5.1) < 0.2
    assert 1.0 < model.radii_[0] < 4.9


def test_bags_in_no_ball_or_in_all_tie_exactly_however_many_are_asked():
    data = make_any(n_bags=40, size=(1, 3), n_features=3, separation=1.0, random_state=1)
    model = OptimalBallClassifier(30).fit(data.bags, data.y)
    assert len(model.votes_) > 8
    far = data.bags.with_instances(data.bags.instances + 1e3)
    assert set(model.decision_function(far)) == {-1.0}
    model.radii_ = model.radii_ + 1e6
    for n in (1, 3, 40):
        assert set(model.decision_function(far[:n])) == {1.0}
