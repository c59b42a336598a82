"""How high a choice could go: an oracle of other folds, by hand."""

import numpy as np

from benchmarks.product.reach import by_other_folds, mean_and_error, reached, table
from mixedbag import compare
from mixedbag.datasets import make_any


def test_the_choice_for_a_fold_does_not_see_it():
    right = np.array([[1, 1, 0, 0], [0, 0, 1, 1]], dtype=bool)
    # Whoever is right outside a fold is wrong inside it.
    assert not by_other_folds(right, np.array([0, 0, 1, 1])).any()


def test_the_error_of_a_mean_of_two_sets():
    told = mean_and_error([np.arange(100) % 2, np.arange(100) % 2])
    assert told["accuracy"] == 50.0
    assert told["standard error"] == 3.5


def test_every_way_answers_about_every_bag():
    data = make_any(n_bags=24, size=(2, 4), n_features=3, random_state=0)
    names = ["bag statistics + SVM", "spread labels + logistic", "MILogisticRegression"]
    result = compare(data.bags, data.y, learners=names, folds=3, inner_folds=2, metric="accuracy")
    row = reached(result)
    assert {len(digits) for digits in row["right"].values()} == {24}
    assert row["right"]["chosen model"].count("1") == round(24 * result.chosen().mean)
    best, means = table([{"data": "made", **row}])
    assert best.rows[0]["best afterwards"] >= best.rows[0]["by test bags"]
    assert len(means.rows) == 10
