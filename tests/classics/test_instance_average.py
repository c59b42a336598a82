"""Averages of instance probabilities, by hand, and the limit of bags of one."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from mixedbag.classics import InstanceAverageClassifier
from mixedbag.datasets import make_majority


def test_bags_of_one_are_the_classifier_itself():
    data = make_majority(n_bags=60, size=(1, 1), n_features=3, random_state=0)
    plain = LogisticRegression().fit(data.bags.instances, data.y)
    for average in ("arithmetic", "geometric"):
        model = InstanceAverageClassifier(LogisticRegression(), average=average)
        model.fit(data.bags, data.y)
        np.testing.assert_allclose(
            model.predict_proba(data.bags), plain.predict_proba(data.bags.instances), atol=1e-6
        )


@pytest.mark.parametrize("average", ["arithmetic", "geometric"])
def test_a_bag_has_the_average_of_its_instances(average):
    data = make_majority(n_bags=40, n_features=3, random_state=0)
    model = InstanceAverageClassifier(LogisticRegression(), average=average)
    model.fit(data.bags, data.y)
    weight = data.bags.spread(1.0 / data.bags.sizes)
    plain = LogisticRegression().fit(data.bags.instances, data.bags.spread(data.y), weight)
    for bag, found in zip(data.bags, model.predict_proba(data.bags)):
        p = plain.predict_proba(bag)
        wanted = p.mean(axis=0) if average == "arithmetic" else np.exp(np.log(p).mean(axis=0))
        np.testing.assert_allclose(found, wanted / wanted.sum(), atol=1e-4)


def test_probabilities_and_weights_are_needed():
    data = make_majority(n_bags=20, random_state=0)
    with pytest.raises(ValueError, match="predict_proba"):
        InstanceAverageClassifier(LinearSVC()).fit(data.bags, data.y)


def test_without_an_estimator_it_asks_a_forest():
    data = make_majority(n_bags=20, random_state=0)
    model = InstanceAverageClassifier(random_state=0).fit(data.bags, data.y)
    assert isinstance(model.estimator_, ExtraTreesClassifier)
    assert model.score(data.bags, data.y) > 0.9
