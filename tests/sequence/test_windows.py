import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mixedbag import Bags
from mixedbag.classics import MIForestClassifier
from mixedbag.io import load, save
from mixedbag.sequence import QuantileWindows, SlidingWindows
from mixedbag.wrappers import BagPipeline, InstanceWise, SpreadLabels
from tests.sequence.worlds import make_world


def ragged(seed=0):
    rng = np.random.default_rng(seed)
    return Bags.from_list([rng.normal(size=(n, 2)) for n in (50, 7, 21, 20)], ids=list("abcd"))


def test_windows_cover_every_bag_to_its_end():
    bags = ragged()
    windows = SlidingWindows(size=20, step=10).fit(bags)
    found = windows.transform(bags)
    assert_array_equal(found.sizes, [4, 1, 2, 1])
    assert_array_equal(found.ids, bags.ids)
    mean = found.instances[:, :2]
    assert_allclose(mean[3], bags[0][30:50].mean(axis=0))
    assert_allclose(mean[4], bags[1].mean(axis=0))  # shorter than a window
    assert_allclose(mean[6], bags[2][1:21].mean(axis=0))


def test_features_are_what_their_names_say():
    bags = ragged()
    found = SlidingWindows(size=20, step=10, n_frequencies=3).fit_transform(bags)
    window = bags[0][10:30]
    row = dict(zip(found.feature_names, found.instances[1], strict=True))
    assert_allclose(row["std_x1"], window[:, 1].std())
    assert_allclose(row["min_x0"], window[:, 0].min())
    assert_allclose(row["max_x0"], window[:, 0].max())
    assert_allclose(row["slope_x1"], np.abs(np.diff(window[:, 1])).mean())
    assert_allclose(row["correlation_x0_x1"], np.corrcoef(window.T)[0, 1])
    wave = np.exp(-2j * np.pi * 2 * np.arange(20) / 20) @ (window[:, 0] - window[:, 0].mean())
    assert_allclose(row["frequency2_x0"], np.abs(wave) / 20)


def test_a_constant_channel_has_no_correlation():
    bags = Bags.from_list([np.column_stack([np.arange(30.0), np.ones(30)])])
    found = SlidingWindows(size=10).fit_transform(bags)
    assert np.isfinite(found.instances).all()
    assert_array_equal(found.instances[:, -1], 0.0)


def test_quantiles_are_those_of_the_parts_in_their_names():
    bags = ragged()
    found = QuantileWindows(size=20, step=10, depth=3).fit_transform(bags)
    assert len(set(found.feature_names)) == found.n_features
    row = dict(zip(found.feature_names, found.instances[1], strict=True))
    window = bags[0][10:30, 1]
    assert_allclose(row["series0-20_q0_x1"], window.min())
    assert_allclose(row["series0-20_q25_x1"], np.quantile(window, 0.25) - window.mean())
    half = window[10:]
    assert_allclose(row["series10-20_q100_x1"], half.max())
    assert_allclose(row["series10-20_q50_x1"], np.median(half) - half.mean())
    later = window[5:15]  # a half, half its length later
    assert_allclose(row["series5-15_q0_x1"], later.min())
    assert_allclose(row["change0-19_q0_x1"], np.diff(window).min())
    assert_allclose(row["bend0-18_q0_x1"], np.diff(window, n=2).min())
    assert_allclose(row["spectrum0-11_q0_x1"], np.abs(np.fft.rfft(window)).min())


def test_quantiles_of_a_shifted_series_move_by_the_shift():
    bags = ragged()
    windows = QuantileWindows(size=20).fit(bags)
    before = windows.transform(bags)
    after = windows.transform(Bags(bags.instances + 3.0, bags.offsets))
    move = after.instances - before.instances
    names = before.feature_names
    whole = [j for j, name in enumerate(names) if name.startswith("series")]
    assert_allclose(move[:, [j for j in whole if "_q0_" in names[j]]], 3.0)
    motion = [j for j, name in enumerate(names) if name.startswith(("change", "bend"))]
    assert_allclose(move[:, motion], 0.0, atol=1e-12)


@pytest.mark.parametrize("size", [2, 3, 7, 50])
def test_quantiles_of_windows_however_short(size):
    bags = Bags.from_list([np.arange(n * 2.0).reshape(n, 2) for n in (1, 2, 3, 9, 60)])
    found = QuantileWindows(size=size).fit_transform(bags)
    assert np.isfinite(found.instances).all()
    assert_array_equal(found.instances[0][:2], bags.instances[0])  # one sample is its own quantile


@pytest.mark.parametrize("kind", [SlidingWindows, QuantileWindows])
def test_window_values_return_to_the_samples(kind):
    bags = ragged()
    windows = kind(size=20, step=10).fit(bags)
    n_windows = windows.transform(bags).n_instances
    assert_allclose(windows.to_samples(bags, np.full(n_windows, 3.0)), np.full(98, 3.0))
    values = np.random.default_rng(0).normal(size=(n_windows, 2))
    samples = windows.to_samples(bags, values)
    assert samples.shape == (98, 2)
    assert_allclose(samples[5], values[0])
    assert_allclose(samples[15], values[:2].mean(axis=0))
    with pytest.raises(ValueError, match="3 values for 8 windows"):
        windows.to_samples(bags, [1, 2, 3])


def test_any_learner_runs_on_time_series():
    bags, y, _ = make_world()
    learner = make_pipeline(
        SlidingWindows(size=20),
        InstanceWise(StandardScaler()),
        SpreadLabels(LogisticRegression(), rule="majority"),
    )
    assert learner.fit(bags, y).score(bags, y) > 0.8


def test_quantile_windows_with_a_forest_are_saved_and_answer_the_same(tmp_path):
    bags, y, _ = make_world()
    forest = MIForestClassifier(n_estimators=5, random_state=0)
    model = BagPipeline([("windows", QuantileWindows(size=20)), ("forest", forest)]).fit(bags, y)
    assert model.score(bags, y) > 0.8
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert_array_equal(
        loaded.decision_function_instances(bags), model.decision_function_instances(bags)
    )
    assert len(loaded.decision_function_instances(bags)) == bags.n_instances


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match="step"):
        SlidingWindows(size=10, step=11).fit(ragged())
    with pytest.raises(ValueError, match="sequences"):
        SlidingWindows().fit(np.zeros((5, 2)))
