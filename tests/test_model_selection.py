"""Folds balance what they promise; metrics agree with hand counts."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from mixedbag import Bags
from mixedbag.metrics import (
    bag_roc_auc_scorer,
    instance_accuracy,
    instance_roc_auc,
    proportion_error,
    proportion_scorer,
    witness_hit_rate,
)
from mixedbag.model_selection import BagStratifiedKFold
from mixedbag.testing import toy_problem
from mixedbag.wrappers import SpreadLabels


def make_bags(sizes):
    return Bags(np.arange(float(sum(sizes)))[:, None], np.cumsum([0, *sizes]))


def test_every_bag_is_tested_once():
    bags = make_bags([1, 2, 3] * 20)
    y = np.tile([0, 1, 1], 20)
    seen = [test for _, test in BagStratifiedKFold(5, random_state=0).split(bags, y)]
    assert sorted(np.concatenate(seen)) == list(range(60))
    assert {y[test].sum() for test in seen} == {8}


def test_totals_are_balanced_by_bins():
    y = np.random.default_rng(0).exponential(size=100)
    means = [
        y[t].mean() for _, t in BagStratifiedKFold(5, random_state=0).split(make_bags([1] * 100), y)
    ]
    assert np.ptp(means) < 0.5 * y.std()


def test_proportions_in_a_table_are_balanced():
    positives = np.random.default_rng(0).integers(0, 11, size=100)
    table = np.column_stack([10 - positives, positives])
    folds = BagStratifiedKFold(5, random_state=0).split(make_bags([10] * 100), table)
    assert np.ptp([positives[t].mean() for _, t in folds]) < 1.0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_folds_do_not_mind_the_order_of_classes(n_classes):
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([2.0, 3.0, 5.0][:n_classes], size=120)
    counts = np.array([rng.multinomial(20, share) for share in shares])
    bags = make_bags([20] * 120)
    folds = BagStratifiedKFold(5, shuffle=True, random_state=0)
    for (_, test), (_, other) in zip(folds.split(bags, counts), folds.split(bags, counts[:, ::-1])):
        np.testing.assert_array_equal(test, other)


def test_sizes_are_balanced_when_asked():
    sizes = np.r_[np.full(50, 2), np.full(10, 90)]
    y = np.tile([0, 1], 30)
    folds = BagStratifiedKFold(5, size_bins=2, random_state=0).split(make_bags(sizes), y)
    assert [(sizes[test] == 90).sum() for _, test in folds] == [2] * 5


def test_random_state_is_honoured():
    bags, y = make_bags([1] * 40), np.tile([0, 1], 20)
    one, other = (list(BagStratifiedKFold(4, random_state=3).split(bags, y)) for _ in range(2))
    for (a, b), (c, d) in zip(one, other):
        np.testing.assert_array_equal(a, c)
        np.testing.assert_array_equal(b, d)


@pytest.fixture
def fitted():
    bags = Bags.from_list([[[0.0], [3.0]], [[0.0], [0.5]], [[4.0]], [[-1.0], [0.2]]])
    return SpreadLabels(LogisticRegression()).fit(bags, [1, 0, 1, 0]), bags


def test_instance_metrics(fitted):
    model, bags = fitted
    truth = [0, 1, 0, 0, 1, 0, 0]
    assert instance_accuracy(model, bags, truth) == 1.0
    assert instance_roc_auc(model, bags, truth) == 1.0
    assert witness_hit_rate(model, bags, truth) == 1.0
    assert witness_hit_rate(model, bags, [1, 0, 0, 0, 1, 0, 0]) == 0.5
    with pytest.raises(ValueError, match="2 instance labels for 7"):
        instance_accuracy(model, bags, [0, 1])


def test_proportion_error_by_hand():
    assert proportion_error([2, 0], [1, 0], sizes=[4, 3]) == pytest.approx(0.125)
    assert proportion_error([[0.5, 0.5]], [[0.25, 0.75]]) == pytest.approx(0.25)


def test_scorers_work_in_a_search():
    counts = SpreadLabels(LogisticRegression(), rule="mean")
    bags, y = toy_problem(counts)
    search = GridSearchCV(counts, {"estimator__C": [0.01, 1]}, scoring=proportion_scorer, cv=3)
    assert -0.5 < search.fit(bags, y).best_score_ <= 0
    classes = SpreadLabels(LogisticRegression())
    bags, y = toy_problem(classes)
    search = GridSearchCV(classes, {}, scoring=bag_roc_auc_scorer, cv=3).fit(bags, y)
    assert 0.5 < search.best_score_ <= 1
