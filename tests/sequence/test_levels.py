"""States that know their level: modes, ascent, the limit without, and what levels are worth."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score

from mixedbag.bags import Bags
from mixedbag.sequence import ARHMMClassifier, MARClassifier
from mixedbag.sequence._autoregression import Autoregression
from mixedbag.sequence._levels import Levelled, most_likely_emission
from mixedbag.sequence._regression import second_moments
from tests.sequence.worlds import make_world


def some_rows(n=80, order=2, d=2, n_states=3):
    """Rows (past, 1, present), and weights of the states."""
    rng = np.random.default_rng(0)
    rows = np.hstack([rng.normal(size=(n, order * d)), np.ones((n, 1)), rng.normal(size=(n, d))])
    return rows, rng.dirichlet(np.ones(n_states), size=n), np.full(d, 0.05)


def test_the_mode_is_a_mode():
    """No small change of levels or covariances raises weighted density and prior together."""
    rows, share, noise = some_rows()
    weight = 0.3
    found = most_likely_emission(second_moments(rows, share), noise, weight)

    def value(levels, covariances):
        level = Autoregression(levels, covariances)
        emission = Levelled(found.motion, level, weight)
        return (share * emission.log_density(rows)).sum() + emission.log_prior(noise)

    best = value(found.level.coefficients, found.level.covariances)
    rng = np.random.default_rng(1)
    for _ in range(20):
        shift = 1e-3 * rng.normal(size=found.level.coefficients.shape)
        bend = 1e-3 * rng.normal(size=found.level.covariances.shape)
        bend = bend + bend.transpose(0, 2, 1)
        assert value(found.level.coefficients + shift, found.level.covariances) < best
        assert value(found.level.coefficients, found.level.covariances + bend) < best


def test_without_weight_it_is_the_autoregression():
    rows, share, noise = some_rows()
    moments = second_moments(rows, share)
    plain = most_likely_emission(moments, noise, 0.0)
    assert isinstance(plain, Autoregression)
    little = most_likely_emission(moments, noise, 1e-9)
    assert_allclose(little.log_density(rows), plain.log_density(rows), atol=1e-6)


@pytest.mark.parametrize("learner", [ARHMMClassifier, MARClassifier])
def test_the_composite_density_never_falls(learner):
    bags, y, _ = make_world()
    model = learner(4, order=2, level=0.3, max_iter=8, n_init=1, tol=0, random_state=1)
    model.fit(bags, y)
    assert np.diff(model.objective_).min() > -1e-6 * len(bags)
    assert model.levels_.shape == (4, 2)


def test_levels_tell_postures_apart():
    """Slow drifts about two levels: their steps are alike, where they are is not."""
    rng = np.random.default_rng(0)
    series, truth = [], []
    for i in range(40):
        standing = np.repeat(rng.permutation([True, False, False]), 40)
        if i % 2:
            standing[:] = False
        drift = np.zeros(120)
        for t in range(1, 120):
            drift[t] = 0.97 * drift[t - 1] + 0.1 * rng.normal()
        series.append((np.where(standing, 1.0, -1.0) + drift)[:, None])
        truth.append(standing)
    bags, y = Bags.from_list(series), np.array([t.any() for t in truth])
    found = {}
    for level in (0.0, 0.3):
        model = ARHMMClassifier(3, order=2, level=level, random_state=0).fit(bags[:20], y[:20])
        scores = model.decision_function_instances(bags[20:])
        found[level] = roc_auc_score(np.concatenate(truth[20:]), scores)
    assert found[0.3] > 0.9
    assert found[0.3] > found[0.0]
