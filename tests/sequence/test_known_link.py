"""A link of known steepness: it stays, EM climbs, and 'any' is learned as such."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score

from mixedbag.bags import Bags
from mixedbag.sequence import ARHMMClassifier, MARClassifier
from mixedbag.sequence._link import positive_probability
from tests.sequence.worlds import make_world

LEARNERS = [ARHMMClassifier, MARClassifier]
SETTINGS = {"order": 1, "n_init": 1, "random_state": 0}


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("omega", [-2.0, 4.0])
def test_it_stays_and_the_posterior_density_never_falls(learner, omega):
    bags, y, _ = make_world()
    model = learner(3, omega=omega, max_iter=8, tol=0, **SETTINGS).fit(bags, y)
    assert model.omega_ == omega
    assert np.diff(model.objective_).min() > -1e-6 * len(bags)


def test_it_stays_while_a_stream_goes_on():
    bags, y, _ = make_world()
    model = ARHMMClassifier(3, omega=4.0, max_iter=2, **SETTINGS)
    model.partial_fit(bags[:20], y[:20]).partial_fit(bags[20:], y[20:])
    assert model.omega_ == 4.0


@pytest.mark.parametrize("omega", [-1.0, 0.0, 4.0])
def test_labels_start_where_bags_of_one_state_have_those_of_its_time(omega):
    bags, y, _ = make_world()
    learner = ARHMMClassifier(2, omega=omega, max_iter=1, **SETTINGS).fit(bags, y)
    ones, zeros = np.array([300.0, 20.0]), np.array([100.0, 80.0])
    model = learner._model()
    theta = model.theta_of_labels(ones, zeros)
    found = positive_probability(1000 * theta, 1000, omega)
    assert_allclose(found, model.most_likely_theta(ones, zeros), rtol=1e-9)


def test_one_short_part_is_enough():
    """A sixth of a positive bag is its own: its samples are found if the link is known as 'any'."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    own = np.zeros((60, 120), dtype=bool)
    for i in np.flatnonzero(y):
        start = rng.integers(0, 100)
        own[i, start : start + 20] = True
    level = np.where(own, 3, rng.integers(0, 3, size=(60, 12)).repeat(10, axis=1))
    series = Bags.from_list(list((level + 0.4 * rng.normal(size=level.shape))[..., None]))
    found = {}
    for omega in (None, 4.0):
        model = ARHMMClassifier(6, omega=omega, order=0, n_init=1, random_state=0)
        model.fit(series[:30], y[:30])
        scores = model.decision_function_instances(series[30:])
        found[omega] = roc_auc_score(own[30:].ravel(), scores)
        found[omega, "calibration"] = abs(model._positive(series[30:]).mean() - own[30:].mean())
    assert found[4.0] > 0.95
    assert found[4.0, "calibration"] < 0.5 * found[None, "calibration"]
