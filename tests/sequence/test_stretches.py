"""Bags judged by their best stretch: the means, and what they are worth."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from mixedbag.bags import Bags
from mixedbag.sequence import ARHMMClassifier, MARClassifier
from mixedbag.sequence._stretches import best_stretch
from tests.sequence.worlds import make_world


@pytest.mark.parametrize("length", [1, 3, 8, 100])
def test_the_best_of_all_means(length):
    rng = np.random.default_rng(0)
    parts = [rng.uniform(size=n) for n in (5, 1, 20, 3, 8)]
    found = best_stretch(np.concatenate(parts), np.cumsum([0, 5, 1, 20, 3, 8]), length)
    for part, value in zip(parts, found):
        k = min(length, len(part))
        means = [part[i : i + k].mean() for i in range(len(part) - k + 1)]
        assert value == pytest.approx(max(means))


@pytest.mark.parametrize("learner", [ARHMMClassifier, MARClassifier])
def test_learning_and_samples_are_as_without(learner):
    bags, y, _ = make_world()
    plain = learner(3, order=1, max_iter=3, n_init=1).fit(bags, y)
    model = learner(3, order=1, max_iter=3, n_init=1, stretch=1).fit(bags, y)
    samples = model.decision_function_instances(bags)
    np.testing.assert_array_equal(samples, plain.decision_function_instances(bags))
    largest = np.maximum.reduceat(samples, bags.offsets[:-1])
    np.testing.assert_allclose(model.decision_function(bags), largest, rtol=1e-6, atol=1e-6)


def test_one_short_part_of_a_long_series_shows():
    """Thirty shaky samples in a row, in series that are shaky for a few at a time anyway."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    spread = np.full((60, 300), 0.5)
    for i, row in enumerate(spread):
        for start in rng.integers(0, 294, rng.integers(0, 15)):
            row[start : start + 6] = 2.0
        start = rng.integers(0, 270)
        row[start : start + 30 * y[i]] = 2.0
    series = Bags.from_list(list((spread * rng.standard_normal(spread.shape))[..., None]))
    areas = {}
    for stretch in (None, 30):
        model = ARHMMClassifier(3, order=0, stretch=stretch, random_state=0)
        model.fit(series[:40], y[:40])
        areas[stretch] = roc_auc_score(y[40:], model.decision_function(series[40:]))
    assert areas[30] > areas[None]
    assert areas[30] > 0.9
