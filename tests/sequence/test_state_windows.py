"""Windows described by the states of ARHMMs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from sklearn.metrics import roc_auc_score

from mixedbag import Bags
from mixedbag.classics import MIForestClassifier
from mixedbag.io import load, save
from mixedbag.sequence import StateWindows
from mixedbag.wrappers import BagPipeline
from tests.sequence.worlds import make_world


def few(**more):
    settings = {"n_states": 3, "order": 1, "n_models": 2, "random_state": 0}
    return StateWindows(20, **settings | more)


def forward_backward(model, x):
    """P(Z_t | X) of one series by sums over all paths' prefixes and suffixes, without scaling."""
    inside = model._model()
    rows, _ = inside.read(Bags(x, [0, len(x)]))
    density = inside.emission.log_density(rows)
    move = np.log(model.transition_)
    ahead, behind = [np.log(model.initial_) + density[0]], [np.zeros(len(move))]
    for t in range(1, len(density)):
        ahead.append(logsumexp(ahead[-1][:, None] + move, axis=0) + density[t])
        behind.append(logsumexp(move + density[-t] + behind[-1], axis=1))
    joint = np.array(ahead) + np.array(behind[::-1])
    posterior = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    return np.vstack([posterior[: model.order], posterior])


def test_a_window_has_the_mean_of_its_states():
    bags, _, _ = make_world()
    windows = few(step=10).fit(bags)
    found = windows.transform(bags[:2])
    assert found.feature_names[:4] == [f"model0_state{j}" for j in range(3)] + ["model1_state0"]
    assert_allclose(found.instances.sum(axis=1), 2.0)  # a share of time is one in each model
    for k, model in enumerate(windows.models_):
        posterior = forward_backward(model, bags[0])
        assert_allclose(found.instances[1, 3 * k : 3 * k + 3], posterior[10:30].mean(axis=0))


def test_labels_play_no_part_and_models_have_starts_of_their_own():
    bags, y, _ = make_world()
    one = few().fit(bags).transform(bags).instances
    assert_array_equal(few().fit(bags, y).transform(bags).instances, one)
    assert not np.allclose(one[:, :3], one[:, 3:])
    assert not np.allclose(few(random_state=1).fit(bags).transform(bags).instances, one)


def test_units_of_channels_change_nothing():
    bags, _, _ = make_world()
    other = Bags(bags.instances * 7.0 - 3.0, bags.offsets)
    one, same = (few().fit(b).transform(b).instances for b in (bags, other))
    assert_allclose(same, one, atol=1e-6)


def test_missing_samples_are_passed_over():
    bags, _, _ = make_world()
    gaps = bags.instances.copy()
    gaps[np.random.default_rng(0).random(len(gaps)) < 0.05] = np.nan
    holed = Bags(gaps, bags.offsets)
    found = few().fit(holed).transform(holed)
    assert_allclose(found.instances.sum(axis=1), 2.0)


def test_a_series_without_a_past_is_refused():
    bags, _, _ = make_world()
    with pytest.raises(ValueError, match="needs at least 4"):
        few(order=3).fit([np.zeros((9, 1)), np.zeros((3, 1))])
    with pytest.raises(ValueError, match="needs at least 4"):
        few(order=3).fit(bags).transform([bags[0], bags[1][:3]])


def test_a_forest_behind_them_tells_bags_and_samples_and_is_saved(tmp_path):
    rng = np.random.default_rng(0)
    y, truth = np.arange(60) % 2, np.zeros((60, 80), dtype=bool)
    for i in np.flatnonzero(y):  # a positive series is shaky for a while
        begin = rng.integers(60)
        truth[i, begin : begin + 20] = True
    series = rng.normal(size=(60, 80, 1)) * np.where(truth, 1.0, 0.2)[:, :, None]
    forest = MIForestClassifier(n_estimators=20, random_state=0)
    model = BagPipeline([("states", few()), ("forest", forest)]).fit(series[:40], y[:40])
    assert roc_auc_score(y[40:], model.decision_function(series[40:])) > 0.9
    scores = model.decision_function_instances(series[40:])
    assert roc_auc_score(truth[40:].ravel(), scores) > 0.9
    save(model, tmp_path / "model")
    assert_array_equal(load(tmp_path / "model").decision_function_instances(series[40:]), scores)
