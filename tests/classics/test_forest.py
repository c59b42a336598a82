"""The annealed forest: its limits, and whether it finds what is hidden."""

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import roc_auc_score

from mixedbag.classics import MIForestClassifier
from mixedbag.datasets import make_any


def test_bags_of_one_have_certain_labels():
    data = make_any(n_bags=80, size=(1, 1), n_features=3, random_state=0)
    model = MIForestClassifier(20, random_state=0).fit(data.bags, data.y)
    plain = ExtraTreesClassifier(
        20, min_weight_fraction_leaf=0.005, random_state=model.forest_.random_state
    ).fit(data.bags.instances, data.y)
    np.testing.assert_allclose(
        model.forest_.predict_proba(data.bags.instances),
        plain.predict_proba(data.bags.instances),
        atol=1e-9,
    )


def test_hidden_labels_are_found_better_than_by_spreading_those_of_bags():
    found, spread = [], []
    for seed in range(3):
        data = make_any(n_bags=80, separation=3.0, n_features=5, random_state=seed)
        model = MIForestClassifier(50, random_state=0).fit(data.bags, data.y)
        inside = data.bags.spread(data.y) == 1
        naive = ExtraTreesClassifier(50, min_weight_fraction_leaf=0.005, random_state=0)
        naive.fit(data.bags.instances, data.bags.spread(data.y))
        for scores, into in (
            (model.decision_function_instances(data.bags), found),
            (naive.predict_proba(data.bags.instances)[:, 1], spread),
        ):
            into.append(roc_auc_score(data.instance_labels[inside], scores[inside]))
    assert np.mean(found) > 0.9
    assert np.mean(found) >= np.mean(spread)


def test_scaling_a_feature_changes_nothing():
    data = make_any(n_bags=40, n_features=3, random_state=1)
    model = MIForestClassifier(10, random_state=0).fit(data.bags, data.y)
    larger = data.bags.with_instances(data.bags.instances * np.array([1024.0, 1.0, 0.5]))
    other = MIForestClassifier(10, random_state=0).fit(larger, data.y)
    np.testing.assert_allclose(
        model.decision_function(data.bags), other.decision_function(larger), atol=1e-6
    )
