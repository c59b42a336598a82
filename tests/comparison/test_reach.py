"""How high a choice could go: an oracle of other folds, by hand."""

import numpy as np

from benchmarks.product.reach import (
    by_other_folds,
    lead_by_chance,
    mean_and_error,
    none_beyond,
    reached,
    table,
)
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


def test_the_lead_of_many_equals_picked_afterwards_is_chance():
    rng = np.random.default_rng(0)
    n_bags, n_learners = 100, 20
    found = []
    for _ in range(40):  # all are right four times of five, whoever is asked
        right = rng.random((n_learners + 1, n_bags)) < 0.8
        found.append(lead_by_chance(right[0], right[1:], draws=300))
    # The largest of 20 normal deviates is 1.87 in the mean; that of the chosen model's error is 0.
    assert abs(np.mean([one["lead"] for one in found]) - 1.87) < 0.5
    assert abs(np.mean([one["by chance"] for one in found]) - 1.87) < 0.5
    # A p value that is honest: rarely small though the best was picked afterwards.
    assert np.mean([one["as large"] < 0.1 for one in found]) <= 0.2


def test_a_learner_that_is_better_in_truth_is_no_chance():
    chosen = np.arange(100) % 2 == 0
    better = np.arange(100) % 10 != 0
    told = lead_by_chance(chosen, np.array([chosen, better]))
    assert told["lead"] == np.float64(0.4 / 0.05)
    assert told["as large"] < 0.01
    # Whoever answers as the chosen model does is never ahead, by chance or otherwise.
    assert lead_by_chance(chosen, chosen[None])["more than one"] == 0.0


def test_never_is_a_product():
    assert none_beyond([0.5, 0.5, 0.0]) == 0.25


def test_every_way_answers_about_every_bag():
    data = make_any(n_bags=24, size=(2, 4), n_features=3, random_state=0)
    names = ["bag statistics + SVM", "spread labels + logistic", "MILogisticRegression"]
    result = compare(data.bags, data.y, learners=names, folds=3, inner_folds=2, metric="accuracy")
    row = reached(result)
    assert {len(digits) for digits in row["right"].values()} == {24}
    assert row["right"]["chosen model"].count("1") == round(24 * result.chosen().mean)
    best, means, leads = table([{"data": "made", **row}])
    assert best.rows[0]["best afterwards"] >= best.rows[0]["by test bags"]
    assert len(means.rows) == 10
    assert [line["data"] for line in leads.rows] == ["made", "all"]
