"""The pooled network between the mean and the maximum."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from mixedbag.datasets import make_any
from mixedbag.embeddings import MINetworkClassifier


@pytest.mark.parametrize(("sharpness", "pool"), [(1e-6, np.mean), (1e4, np.max)])
def test_sharpness_goes_from_the_mean_to_the_maximum(sharpness, pool):
    data = make_any(n_bags=20, n_features=3, random_state=0)
    model = MINetworkClassifier(4, sharpness=sharpness, n_init=1, random_state=0)
    model.fit(data.bags, data.y)
    scores = np.split(model.decision_function_instances(data.bags), data.bags.offsets[1:-1])
    wanted = [pool(of_bag) for of_bag in scores]
    np.testing.assert_allclose(model.decision_function(data.bags), wanted, rtol=1e-2, atol=1e-2)


def test_bags_of_one_do_not_know_of_sharpness():
    data = make_any(n_bags=40, size=(1, 1), n_features=3, random_state=0)
    scores = [
        MINetworkClassifier(4, sharpness=m, n_init=1, alpha=0.1, random_state=0)
        .fit(data.bags, data.y)
        .decision_function(data.bags)
        for m in (1.0, 10.0)
    ]
    np.testing.assert_allclose(*scores, atol=0.02)


def test_witnesses_stand_out():
    data = make_any(n_bags=100, n_features=5, separation=4.0, random_state=0)
    model = MINetworkClassifier(random_state=0).fit(data.bags, data.y)
    assert roc_auc_score(data.instance_labels, model.decision_function_instances(data.bags)) > 0.9
