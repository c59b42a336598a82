"""Series with gaps: rows that say nothing, states from their neighbours, and learning."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score

from mixedbag.bags import Bags
from mixedbag.exceptions import InputError
from mixedbag.sequence import ARHMMClassifier, MARClassifier
from mixedbag.sequence._regression import embed, second_moments, unseen
from tests.sequence.worlds import enumerate_paths, make_world


def with_gaps(bags, share, seed=0):
    """The bags without so many of their values."""
    rng = np.random.default_rng(seed)
    x = bags.instances.copy()
    x[rng.random(x.shape) < share] = np.nan
    return Bags(x, bags.offsets)


@pytest.mark.parametrize("order", [0, 2])
def test_rows_with_a_missing_value_add_nothing(order):
    rng = np.random.default_rng(0)
    x, offsets = rng.normal(size=(12, 2)), np.array([0, 5, 12])
    whole = embed(x, offsets, order, np.zeros(2), np.ones(2))
    x[7, 1] = np.nan
    rows = embed(x, offsets, order, np.zeros(2), np.ones(2))
    gone = unseen(rows, 2)
    at = 7 - order * 2  # two bags begin before it
    assert_array_equal(np.flatnonzero(gone), np.arange(at, at + order + 1))
    assert_array_equal(rows[~gone], whole[~gone])
    weights = rng.random((len(rows), 3))
    expected = second_moments(whole[~gone], weights[~gone])
    assert_allclose(second_moments(rows, weights), expected, rtol=1e-12)


def test_a_missing_sample_has_the_states_of_its_neighbours():
    """Against the sum over all paths, in which such a sample has no density."""
    bags, y, _ = make_world(n_bags=20, length=30)
    model = ARHMMClassifier(2, order=1, max_iter=2, n_init=1).fit(bags, y)._model()
    gap = Bags.from_list([np.vstack([bags[0][:3], [[np.nan, 0.0]], bags[0][4:6]])])
    rows, starts = model.read(gap)
    log_density = model.emission.log_density(rows)
    log_density[2:4] = 0.0  # the sample, and the one that it should predict
    posterior = 0.0
    for label in (True, False):
        ones, zeros, _, _, evidence, log_likelihood = enumerate_paths(
            log_density, model.dynamics, model.theta, 0.0, label
        )
        posterior += (ones + zeros) * evidence
    found = model.smooth(rows, starts)
    assert_allclose(found.posterior, posterior, rtol=1e-9)
    assert_allclose(found.log_likelihood, log_likelihood, rtol=1e-9)


@pytest.mark.parametrize("learner", [ARHMMClassifier, MARClassifier])
def test_learns_from_series_with_gaps(learner):
    bags, y, truth = make_world(n_bags=80, seed=1)
    gaps = with_gaps(bags, 0.05)
    model = learner(3, order=1, max_iter=6, tol=0, n_init=1, random_state=0).fit(gaps[:50], y[:50])
    assert np.diff(model.objective_).min() > -1e-6 * 50
    scores = model.decision_function_instances(gaps[50:])
    assert roc_auc_score(truth[bags.offsets[50] :], scores) > 0.8
    assert roc_auc_score(y[50:] == "walk", model.decision_function(gaps[50:])) > 0.8


def test_a_series_of_which_nothing_is_known_has_a_score():
    bags, y, _ = make_world()
    model = ARHMMClassifier(2, order=1, max_iter=2, n_init=1).fit(bags, y)
    assert np.isfinite(model.decision_function(np.full((1, 5, 2), np.nan))).all()


def test_a_channel_that_is_never_there_is_refused():
    bags, y, _ = make_world()
    nothing = np.full((bags.n_instances, 1), np.nan)
    with pytest.raises(InputError, match="no sample has all its values"):
        ARHMMClassifier(2).fit(Bags(np.hstack([bags.instances, nothing]), bags.offsets), y)
