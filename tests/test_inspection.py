"""Displays: what they draw is what the model says."""

import matplotlib as mpl
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mixedbag import Bags, _contributions, _permutation, inspection
from mixedbag.aggregate import AggregateLogisticRegression
from mixedbag.datasets import load_digits_bags, make_any, make_count, make_sum
from mixedbag.pooling import bag_max
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


def test_witnesses_are_ranked_by_what_the_answer_loses(digits):
    data, model = digits
    for bag in (int(np.argmax(data.y)), int(np.argmin(data.y))):
        shown = inspection.WitnessDisplay.from_estimator(
            model, data.bags, bag=bag, image_shape=(8, 8), top=3
        )
        found = _contributions.of_instances(model, data.bags[[bag]])
        assert np.array_equal(shown.contributions, np.sort(found.values)[::-1][:3])
        assert np.array_equal(shown.instances, data.bags[bag][shown.rows])
        assert len(shown.ax_.get_images()) == 1
        answer = model.predict(data.bags[[bag]])[0]
        assert f"log-odds of {answer}" in shown.ax_.get_xlabel()
        assert shown.ax_.get_title().endswith(f": {answer}")
    bars = inspection.WitnessDisplay.from_estimator(model, data.bags, bag=4).ax_
    assert len(bars.patches) == min(10, data.bags.sizes[4])


def test_sequences_are_shaded_in_order(digits):
    data, model = digits
    shown = inspection.SequenceDisplay.from_estimator(model, data.bags, bag=2)
    image = shown.ax_.get_images()[0].get_array()
    found = _contributions.of_instances(model, data.bags[[2]])
    assert np.argmax(image) == np.argmax(found.values)
    assert found.unit in shown.ax_.get_xlabel()
    assert len(shown.ax_.get_lines()) == data.bags.n_features


def test_scores_are_for_the_class_that_the_caption_names():
    data = make_any(n_bags=45, n_features=3, random_state=0)
    y = np.array(["a", "b", "c"])[np.arange(45) % 3]
    model = SpreadLabels(LogisticRegression()).fit(data.bags, y)
    scores = model.decision_function_instances(data.bags)
    shown = inspection.InstanceScoreDisplay.from_estimator(model, data.bags, y, label="b")
    assert np.array_equal(shown.scores, scores[:, 1])
    assert shown.ax_.get_xlabel() == "instance score for b"
    answers = data.bags.spread(np.searchsorted(["a", "b", "c"], model.predict(data.bags)))
    own = scores[np.arange(len(scores)), answers]
    assert np.array_equal(inspection.instance_scores(model, data.bags), own)
    with pytest.raises(ValueError, match="no class is called 'd'"):
        inspection.instance_scores(model, data.bags, "d")


# Importance ---------------------------------------------------------------------------------------


class FirstFeature(ClassifierMixin, BaseEstimator):
    """A model that looks at the largest value of the first feature alone."""

    classes_ = np.array([0, 1])

    def fit(self, bags, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, bags):
        return (bag_max(bags.instances[:, 0], bags.offsets) > 0).astype(int)

    def score(self, bags, y, sample_weight=None):
        return np.average(self.predict(bags) == y, weights=sample_weight)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_importance_is_that_of_the_features_that_are_used(is_sparse):
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 6, 200)
    X = rng.normal(size=(sizes.sum(), 3)) - 0.5
    bags = Bags(csr_array(X) if is_sparse else X, np.concatenate([[0], np.cumsum(sizes)]))
    model = FirstFeature() if not is_sparse else Dense()
    found = inspection.permutation_importance(
        model, bags, model.predict(bags), random_state=0, n_repeats=4
    )
    assert found.baseline == 1.0
    assert found.importances.shape == (3, 4)
    # The answers of another bag, half of them right by chance.
    share = model.predict(bags).mean()
    assert found.importances_mean[0] == pytest.approx(2 * share * (1 - share), abs=0.1)
    assert found.importances_std[0] > 0
    assert not found.importances[1:].any()
    both = inspection.permutation_importance(
        model, bags, model.predict(bags), n_repeats=4, random_state=0, features=[[1, 2], [0, 1]]
    )
    assert both.feature_names == ["feature 1 + feature 2", "feature 0 + feature 1"]
    assert not both.importances[0].any()
    assert np.array_equal(both.importances[1], found.importances[0])


class Dense(FirstFeature):
    def predict(self, bags):
        return super().predict(bags.with_instances(bags.instances.toarray()))


def test_a_permuted_feature_keeps_its_values_inside_a_bag():
    bags = Bags.from_list([np.full((n, 2), float(n)) for n in (1, 2, 3, 4)])
    rows = _permutation._rows_of_other_bags(bags, np.random.RandomState(3))
    for i in range(4):
        part = bags.instances[rows[bags.offsets[i] : bags.offsets[i + 1]], 0]
        assert len(set(part)) == 1
    assert sorted({bags.instances[rows[k], 0] for k in bags.offsets[:-1]}) == [1, 2, 3, 4]


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


def test_of_several_amounts_one_is_told():
    data = make_count(n_bags=30, n_classes=3, random_state=0)
    model = AggregateLogisticRegression().fit(data.bags, data.y)
    p = model.predict_proba_instances(data.bags)
    np.testing.assert_allclose(inspection.instance_scores(model, data.bags), p[:, 2])
    np.testing.assert_allclose(inspection.instance_scores(model, data.bags, 0), p[:, 0])
    shown = inspection.InstanceScoreDisplay.from_estimator(model, data.bags, data.y[:, 2] > 3)
    assert shown.caption == "predicted amount 2 of the instance"


def test_names_of_classes_bags_and_channels_are_no_formulas():
    name, rows = r"$\frac{1}$", np.arange(4)
    shown = [
        inspection.BagSizeDisplay(rows, np.array([name, "b", name, "b"])),
        inspection.InstanceScoreDisplay(rows, np.array([name, "b", name, "b"]), caption=name),
        inspection.WitnessDisplay(rows[:, None], rows, rows, title=name, caption=name),
        inspection.SequenceDisplay(rows[:, None], rows, [name], title=name, caption=name),
    ]
    for display in shown:
        display.plot().figure_.canvas.draw()  # raised by what is no formula
    assert shown[-1].ax_.get_title() == r"\$\frac{1}\$"
