"""Any scikit-learn estimator works on bags: scikit-learn's checks with no exclusion, and ours."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from mixedbag import Bags, load, save
from mixedbag.classics import MILogisticRegression
from mixedbag.datasets import make_any, make_sequences
from mixedbag.sequence import SlidingWindows
from mixedbag.testing import toy_problem
from mixedbag.wrappers import BagFeatures, BagPipeline, InstanceWise, SpreadLabels
from tests.contract import keeps_our_contract, keeps_scikit_learns_contract

TRANSFORMERS = [InstanceWise(StandardScaler()), InstanceWise(MaxAbsScaler()), BagFeatures()]
SPREAD = [
    SpreadLabels(LogisticRegression()),
    SpreadLabels(DecisionTreeClassifier(max_depth=3, random_state=0), rule="majority"),
    SpreadLabels(LogisticRegression(), rule="mean"),
    SpreadLabels(Ridge(), rule="mean"),
]


@pytest.mark.parametrize("estimator", TRANSFORMERS + SPREAD, ids=str)
def test_scikit_learn_contract(estimator):
    keeps_scikit_learns_contract(estimator)


@pytest.mark.parametrize("learner", SPREAD, ids=str)
def test_bag_contract(learner):
    keeps_our_contract(learner)


@pytest.fixture
def bags():
    return toy_problem(SPREAD[0]).bags


def test_instance_wise_is_the_transformer_on_the_flat_table(bags):
    wrapped = InstanceWise(StandardScaler()).fit(bags)
    plain = StandardScaler().fit_transform(bags.instances)
    np.testing.assert_allclose(wrapped.transform(bags).instances, plain)
    assert wrapped.transform(bags).ids.tolist() == bags.ids.tolist()
    np.testing.assert_allclose(wrapped.transform(bags.instances), plain)
    np.testing.assert_allclose(wrapped.transform([bags[0], bags[1]])[1], wrapped.transform(bags)[1])


def test_instance_wise_names_what_it_makes():
    bags = Bags(np.eye(2), [0, 1, 2], feature_names=["pH", "mass"])
    out = InstanceWise(StandardScaler()).fit_transform(bags)
    assert out.feature_names == ["pH", "mass"]


def test_bag_features_against_a_loop(bags):
    rows = BagFeatures().fit_transform(bags)
    for i, bag in enumerate(bags):
        parts = [bag.min(0), bag.mean(0), bag.max(0), bag.std(0), [np.log(len(bag))]]
        np.testing.assert_allclose(rows[i], np.concatenate(parts), atol=1e-12)
    assert BagFeatures().fit(bags).get_feature_names_out()[-2:].tolist() == ["std_x2", "log_size"]


def test_bag_features_of_sparse_bags_stay_sparse(bags):
    rows = np.where(np.abs(bags.instances) < 1, 0, bags.instances)
    dense, thin = Bags(rows, bags.offsets), Bags(sparse.csr_array(rows), bags.offsets)
    out = BagFeatures().fit_transform(thin)
    assert sparse.issparse(out)
    np.testing.assert_allclose(out.toarray(), BagFeatures().fit_transform(dense), atol=1e-7)


def test_spread_totals_of_equal_instances_recover_the_line():
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.normal(size=(20, 2)), 3, axis=0)
    bags = Bags(rows, np.arange(21) * 3)
    total = 3 * (rows[::3] @ [2.0, -1.0] + 0.5)
    model = SpreadLabels(LinearRegression(), rule="mean").fit(bags, total)
    np.testing.assert_allclose(model.predict(bags), total)
    np.testing.assert_allclose(model.predict_instances(bags[:1]), total[0] / 3)
    means = SpreadLabels(LinearRegression(), rule="mean", aggregate="mean").fit(bags, total / 3)
    np.testing.assert_allclose(means.predict(bags), total / 3)


def test_majority_takes_the_class_of_most_instances():
    bags = Bags.from_list([[[0.0], [0.1], [5.0]], [[5.0], [5.1], [0.0]]] * 5)
    model = SpreadLabels(LogisticRegression(), rule="majority").fit(bags, [0, 1] * 5)
    assert model.predict(bags[:2]).tolist() == [0, 1]
    np.testing.assert_allclose(model.decision_function(bags[:2]), [-1 / 3, 1 / 3])


def test_a_regressor_cannot_follow_a_class_rule():
    with pytest.raises(ValueError, match="needs a classifier"):
        SpreadLabels(Ridge(), rule="any").fit(Bags(np.eye(2), [0, 1, 2]), [0, 1])


def test_bag_features_say_where_an_estimator_belongs(bags):
    with pytest.raises(TypeError, match=r"make_pipeline\(BagFeatures\(\), LogisticRegression"):
        BagFeatures(LogisticRegression()).fit(bags)


# Pipelines that answer about instances ------------------------------------------------------------


def test_a_pipeline_answers_about_instances(tmp_path):
    data = make_any(n_bags=30, random_state=0)
    learner = MILogisticRegression()
    model = BagPipeline([("scale", InstanceWise(StandardScaler())), ("learner", learner)])
    model.fit(data.bags, data.y)
    scaled = model[:-1].transform(data.bags)
    for name in ("predict", "decision_function", "predict_proba"):
        method = f"{name}_instances"
        said = getattr(model, method)(data.bags)
        assert np.array_equal(said, getattr(model[-1], method)(scaled))
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    assert np.array_equal(again.predict_instances(data.bags), model.predict_instances(data.bags))
    search = GridSearchCV(model, {"learner__C": [0.1, 1.0]}, cv=2).fit(data.bags, data.y)
    assert len(search.best_estimator_.predict_instances(data.bags)) == data.bags.n_instances


def test_a_pipeline_of_bag_statistics_sees_each_instance_alone():
    data = make_any(n_bags=30, random_state=0)
    model = BagPipeline([("statistics", BagFeatures()), ("forest", GaussianNB())])
    model.fit(data.bags, data.y)
    expected = model.predict(data.bags.singletons())
    assert np.array_equal(model.predict_instances(data.bags), expected)
    assert not hasattr(model, "decision_function_instances")


def test_windows_lend_samples_their_answer():
    data = make_sequences(n_bags=12, random_state=0)
    steps = [("windows", SlidingWindows(size=10)), ("learner", MILogisticRegression())]
    model = BagPipeline(steps).fit(data.bags, data.y == data.y.max())
    assert len(model.predict_instances(data.bags)) == data.bags.n_instances
