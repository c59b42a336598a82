"""Bags that test the rule: labels follow it in training and shifted bags, the sign does not."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from mixedbag.datasets import make_false_frequency, make_single_concept, make_threshold
from mixedbag.wrappers import BagFeatures

GENERATORS = [make_single_concept, make_threshold, make_false_frequency]


def present(data, concept):
    return np.add.reduceat(data.instance_labels == concept, data.bags.offsets[:-1])


def poisoned(data):
    far = (np.abs(data.bags.instances[:, 2] - 10) < 1).astype(int)
    return np.add.reduceat(far, data.bags.offsets[:-1]) > 0


@pytest.mark.parametrize("make", GENERATORS)
def test_a_seed_repeats(make):
    first, again, other = (make(n_bags=10, random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.bags.instances, again.bags.instances)
    assert not np.array_equal(first.y, other.y) or len(first.instance_labels) != len(
        other.instance_labels
    )


@pytest.mark.parametrize("shifted", [False, True])
def test_labels_follow_the_rule_whatever_the_sign(shifted):
    one = make_single_concept(60, shifted=shifted, random_state=0)
    np.testing.assert_array_equal(present(one, 1) > 0, one.y == 1)
    np.testing.assert_array_equal(poisoned(one), one.y == shifted)
    for make in (make_threshold, make_false_frequency):
        two = make(60, shifted=shifted, random_state=0)
        both = (present(two, 1) > 0) & (present(two, 2) > 0)
        np.testing.assert_array_equal(both, two.y == 1)
        assert (present(two, 1) + present(two, 2) > 0).all()
    np.testing.assert_array_equal(poisoned(make_threshold(60, shifted=shifted)).sum(), 30)
    often = make_false_frequency(60, shifted=shifted, random_state=0)
    total = present(often, 1) + present(often, 2)
    if shifted:
        assert set(total[often.y == 0]) == {8}
        assert set(total[often.y == 1]) == {2}
    else:
        assert set(total[often.y == 0]) == {1}
        assert set(total[often.y == 1]) == {9}


@pytest.mark.parametrize("make", GENERATORS)
def test_the_sign_misleads_who_takes_it(make):
    """A learner of bag statistics, which knows no rule, orders shifted bags worse than chance."""
    train, same = make(200, random_state=0), make(100, random_state=1)
    other = make(100, shifted=True, random_state=2)
    model = make_pipeline(BagFeatures(), ExtraTreesClassifier(100, random_state=0))
    model.fit(train.bags, train.y)
    auc = [roc_auc_score(d.y, model.predict_proba(d.bags)[:, 1]) for d in (same, other)]
    assert auc[0] > 0.9
    assert auc[1] < 0.5


def test_bags_that_are_too_small_are_refused():
    with pytest.raises(ValueError, match="bags of 5 cannot hold"):
        make_false_frequency(size=5)
    with pytest.raises(ValueError, match="n_features"):
        make_threshold(n_features=2)
