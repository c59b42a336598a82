"""Displays: what they draw is what the model says."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mixedbag import inspection
from mixedbag.datasets import load_digits_bags, make_sum
from mixedbag.wrappers import BagFeatures, InstanceWise, SpreadLabels

mpl.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def digits():
    data = load_digits_bags(n_bags=30)
    logistic = SpreadLabels(LogisticRegression(max_iter=1000))
    return data, make_pipeline(InstanceWise(StandardScaler()), logistic).fit(data.bags, data.y)


def test_bag_sizes(digits):
    data, _ = digits
    ax = inspection.BagSizeDisplay.from_bags(data.bags, data.y).ax_
    counted = max(bar.get_y() + bar.get_height() for bar in ax.patches)
    assert counted == np.bincount(data.bags.sizes).max()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1"]
    assert inspection.BagSizeDisplay.from_bags(data.bags).ax_.get_legend() is None


def test_instance_scores(digits):
    data, model = digits
    _, ax = plt.subplots()
    shown = inspection.InstanceScoreDisplay.from_estimator(model, data.bags, data.y, ax=ax)
    assert shown.ax_ is ax
    scaled = model[:-1].transform(data.bags)
    assert np.array_equal(shown.scores, model[-1].decision_function_instances(scaled))


def test_witnesses(digits):
    data, model = digits
    shown = inspection.WitnessDisplay.from_estimator(
        model, data.bags, bag=4, image_shape=(8, 8), top=3
    )
    scores = inspection.instance_scores(model, data.bags)[data.bags.bag_of == 4]
    assert np.array_equal(shown.scores, np.sort(scores)[::-1][:3])
    assert np.array_equal(shown.instances, data.bags[4][shown.rows])
    assert len(shown.ax_.get_images()) == 1
    bars = inspection.WitnessDisplay.from_estimator(model, data.bags, bag=4).ax_
    assert len(bars.patches) == min(10, data.bags.sizes[4])


def test_sequences_are_shaded_in_order(digits):
    data, model = digits
    shown = inspection.SequenceDisplay.from_estimator(model, data.bags, bag=2)
    image = shown.ax_.get_images()[0].get_array()
    assert np.argmax(image) == np.argmax(inspection.instance_scores(model, data.bags[[2]]))
    assert len(shown.ax_.get_lines()) == data.bags.n_features


def test_bag_level_models_score_instances_as_bags_of_one(digits):
    data, _ = digits
    model = make_pipeline(BagFeatures(), LogisticRegression(max_iter=1000))
    model.fit(data.bags, data.y)
    expected = model.decision_function(data.bags.singletons())
    assert inspection.instance_scores(model, data.bags) == pytest.approx(expected)


def test_amounts_are_scores_too():
    data = make_sum(n_bags=20, random_state=0)
    model = SpreadLabels(Ridge(), rule="mean").fit(data.bags, data.y)
    scores = inspection.instance_scores(model, data.bags)
    assert np.array_equal(scores, model.predict_instances(data.bags))


def test_bounds(digits):
    learner = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="LogisticRegression keeps no history"):
        inspection.BoundsDisplay.from_estimator(learner)
    learner.history_ = np.array([[0.0, -np.inf, 3.0], [1.0, 1.0, 2.0]])
    ax = inspection.BoundsDisplay.from_estimator(make_pipeline(learner)).ax_
    assert ax.get_lines()[0].get_ydata().tolist() == [3.0, 2.0]
