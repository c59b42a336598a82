"""Measures beside scikit-learn's, and intervals that are as uncertain as the data."""

import numpy as np
import pytest
from sklearn import metrics

from mixedbag.comparison import _intervals
from mixedbag.comparison._cases import Cases, confusion
from mixedbag.comparison._measures import (
    INSTANCE_CORRELATION,
    MEASURES,
    choose_measure,
    suitable,
)
from mixedbag.exceptions import InputError


def of_classes(n=60, n_classes=2, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    answer = rng.dirichlet(np.ones(n_classes), n) + 0.6 * np.eye(n_classes)[codes]
    answer = answer.round(1) + 0.01 if ties else answer
    answer /= answer.sum(axis=1, keepdims=True)
    return Cases("classes", codes, rng.uniform(0.5, 3.0, n), n_classes), answer


def of_amounts(n=50, outputs=1, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.normal(2.0, 3.0, (n, outputs))
    return Cases("amounts", truth, rng.uniform(0.5, 3.0, n)), truth + rng.normal(0, 1, truth.shape)


@pytest.mark.parametrize("ties", [False, True])
def test_two_classes_are_measured_as_scikit_learn_does(ties):
    cases, answer = of_classes(ties=ties)
    given, codes = {"sample_weight": cases.weight}, answer.argmax(axis=1)
    expected = {
        "accuracy": metrics.accuracy_score(cases.truth, codes, **given),
        "balanced_accuracy": metrics.balanced_accuracy_score(cases.truth, codes, **given),
        "roc_auc": metrics.roc_auc_score(cases.truth, answer[:, 1], **given),
        "average_precision": metrics.average_precision_score(cases.truth, answer[:, 1], **given),
        "f1": metrics.f1_score(cases.truth, codes, **given),
        "neg_log_loss": -metrics.log_loss(cases.truth, answer, **given),
    }
    assert {m.name: m.score(cases, answer) for m in suitable(cases)} == pytest.approx(expected)


def test_three_classes_are_measured_as_scikit_learn_does():
    cases, answer = of_classes(n_classes=3)
    cases = Cases("classes", cases.truth, np.ones(len(cases)), 3)
    codes, labels = answer.argmax(axis=1), np.eye(3)[cases.truth]
    expected = {
        "accuracy": metrics.accuracy_score(cases.truth, codes),
        "balanced_accuracy": metrics.balanced_accuracy_score(cases.truth, codes),
        "roc_auc_ovr": metrics.roc_auc_score(cases.truth, answer, multi_class="ovr"),
        "average_precision": metrics.average_precision_score(labels, answer),
        "f1_macro": metrics.f1_score(cases.truth, codes, average="macro"),
        "neg_log_loss": -metrics.log_loss(cases.truth, answer),
    }
    assert {m.name: m.score(cases, answer) for m in suitable(cases)} == pytest.approx(expected)


@pytest.mark.parametrize("outputs", [1, 3])
def test_amounts_are_measured_as_scikit_learn_does(outputs):
    cases, answer = of_amounts(outputs=outputs)
    given = {"sample_weight": cases.weight}
    scores = {m.name: m.score(cases, answer) for m in suitable(cases)}
    assert scores["r2"] == pytest.approx(metrics.r2_score(cases.truth, answer, **given))
    error = metrics.mean_absolute_error(cases.truth, answer, **given)
    assert scores["neg_mean_absolute_error"] == pytest.approx(-error)
    if outputs == 1:
        error = metrics.root_mean_squared_error(cases.truth, answer, **given)
        assert scores["neg_root_mean_squared_error"] == pytest.approx(-error)


def test_counts_are_right_where_they_agree():
    counts, sizes = np.array([[2.0], [0.0], [4.0]]), np.array([4, 2, 4])
    cases = Cases("counts", counts, np.ones(3), sizes=sizes)
    measure = MEASURES["counted_right"]
    assert measure.score(cases, counts) == 1.0
    assert measure.score(cases, counts + np.array([[1.0], [1.0], [0.0]])) == pytest.approx(
        1 - 0.75 / 3
    )
    table = Cases("counts", np.hstack([sizes[:, None] - counts, counts]), np.ones(3), sizes=sizes)
    moved = table.truth + np.array([[1.0, -1.0], [0.0, 0.0], [0.0, 0.0]])
    assert measure.score(table, moved) == pytest.approx(1 - 0.25 / 3)


def every_measure():
    """Each measure once, with a problem that it suits."""
    two, three, amounts = of_classes(), of_classes(n_classes=3), of_amounts()
    costly = (
        Cases("classes", two[0].truth, two[0].weight, 2, costs=np.array([[0, 1], [5, 0]])),
        two[1],
    )
    sizes = np.full(50, 5)
    counts = np.random.default_rng(0).integers(0, 6, (50, 1)).astype(float)
    counted = Cases("counts", counts, np.ones(50), sizes=sizes), (counts * 0.9 + 0.2)
    problems = [costly, three, amounts, counted]
    return {m.name: (m, *p) for p in problems for m in suitable(p[0])}


def test_every_measure_is_tried_here():
    assert set(every_measure()) == set(MEASURES)


@pytest.mark.parametrize("name", MEASURES)
def test_an_interval_holds_its_figure_inside_the_limits(name):
    measure, cases, answer = every_measure()[name]
    figure, low, high = measure.interval(cases, answer)
    worst, best = measure.limits
    assert worst <= low < figure < high <= best
    fewer = np.arange(len(cases)) < 15
    if measure.name != "r2":  # which measures parts against the whole
        _, low_of_few, high_of_few = measure.interval(cases[fewer], answer[fewer])
        assert high_of_few - low_of_few > high - low


@pytest.mark.parametrize("name", MEASURES)
def test_perfection_on_a_few_bags_is_no_certainty(name):
    measure, cases, _ = every_measure()[name]
    if cases.kind == "classes":
        answer = np.eye(cases.n_classes)[cases.truth]
    else:
        answer = cases.truth.copy()
    figure, low, high = measure.interval(cases, answer)
    assert figure == pytest.approx(measure.limits[1])
    assert low < figure - 0.01
    assert high == pytest.approx(figure)


def test_no_error_in_eighty_bags():
    cases = Cases("classes", np.arange(80) % 2, np.ones(80), 2)
    figure, low, high = MEASURES["accuracy"].interval(cases, np.eye(2)[cases.truth])
    assert (figure, high) == (1.0, 1.0)
    assert low == pytest.approx(1 / (1 + 1.959964**2 / 80))  # Wilson's formula without an error


def test_share_intervals_cover_what_they_promise():
    rng = np.random.default_rng(0)
    for share, n in [(0.5, 21), (0.9, 40), (0.99, 80)]:
        covered = 0
        for _ in range(400):
            _, low, high = _intervals.share_interval(rng.random(n) < share, np.ones(n))
            covered += low <= share <= high
        assert covered / 400 > 0.91


def test_ranking_intervals_cover_what_they_promise():
    rng = np.random.default_rng(0)
    cases = Cases("classes", np.arange(40) % 2, np.ones(40), 2)
    covered = 0
    for _ in range(300):
        score = rng.normal(size=40) + 2.0 * cases.truth
        answer = np.column_stack([-score, score])
        _, low, high = MEASURES["roc_auc"].interval(cases, answer)
        covered += low <= 0.9214 <= high  # P(N(2, √2) > 0)
    assert covered / 300 > 0.92


@pytest.mark.parametrize("area", [1.0, 1.0 + 1e-12])
def test_a_perfect_ranking_is_uncertain_but_not_void(area):
    low, high = _intervals.ranking_interval(area, 26, 28)
    assert 0.85 < low < 0.97
    assert high == 1.0
    flipped = _intervals.ranking_interval(1.0 - area, 26, 28)
    np.testing.assert_allclose(flipped, (0.0, 1.0 - low), atol=1e-9)
    assert _intervals.ranking_interval(area, 3, 3)[0] < 0.6


@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
@pytest.mark.parametrize("label", [0, 1])
def test_one_class_has_no_ranking(name, label):
    cases = Cases("classes", np.full(5, label), np.ones(5), 2)
    with np.errstate(all="raise"):
        assert np.isnan(MEASURES[name].interval(cases, np.full((5, 2), 0.5))).all()


def test_mean_intervals_cover_what_they_promise():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        losses = (rng.random(60) < 0.05) * 3.0  # mostly nothing, now and then a large loss
        low, high = _intervals.ratio_interval(losses, np.ones(60), np.ones(60), plain=1.0)[1:]
        covered += low <= 0.15 <= high
    assert covered / 400 > 0.9


def test_patients_count_not_their_bags():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(10), 8)
    right = np.repeat(rng.random(10) < 0.6, 8)  # a patient's bags are all right or all wrong
    of_bags = _intervals.share_interval(right, np.ones(80))
    of_patients = _intervals.share_interval(right, np.ones(80), groups)
    ten = _intervals.share_interval(right[::8], np.ones(10))
    assert of_patients[2] - of_patients[1] > 2 * (of_bags[2] - of_bags[1])
    assert of_patients[2] - of_patients[1] == pytest.approx(ten[2] - ten[1], rel=0.1)
    perfect = _intervals.share_interval(np.ones(80), np.ones(80), groups)
    assert perfect[1] == pytest.approx(_intervals.wilson(1.0, 10)[0])


def test_unequal_weights_widen():
    hits, n = np.arange(40) % 4 > 0, 40
    even = _intervals.share_interval(hits, np.ones(n))
    uneven = _intervals.share_interval(hits, np.where(np.arange(n) < 8, 20.0, 1.0))
    assert uneven[2] - uneven[1] > even[2] - even[1]


def test_equal_differences_are_no_proof():
    assert _intervals.paired_p_value([1.0, 1.0, 1.0], [0.5, 0.5, 0.5], 1 / 3) == 0.25
    assert _intervals.paired_p_value([0.5] * 3, [0.5] * 3, 1 / 3) == 1.0


def test_the_default_says_why():
    def default(codes, **more):
        return choose_measure(None, Cases("classes", codes, np.ones(len(codes)), 2, **more))

    assert default(np.arange(20) % 2)[0].name == "accuracy"
    measure, reason = default(np.arange(20) % 5 // 4)
    assert measure.name == "average_precision"
    assert "16 bags against 4" in reason
    assert default(np.arange(20) % 2, costs=np.eye(2))[0].name == "neg_mean_cost"


def test_measures_are_asked_for_by_name():
    cases, _ = of_classes()
    assert choose_measure("roc_auc", cases)[0] is MEASURES["roc_auc"]
    assert choose_measure("log_loss", cases)[0] is MEASURES["neg_log_loss"]
    with pytest.raises(InputError, match="no measure is called 'auc'; for these labels: accuracy"):
        choose_measure("auc", cases)
    with pytest.raises(InputError, match="'r2' does not suit these labels"):
        choose_measure("r2", cases)


def test_errors_are_shown_turned_round():
    measure = MEASURES["neg_log_loss"]
    assert measure.shown(-0.25) == "0.250"
    assert measure.shown_interval(-0.5, -0.125) == "0.125 – 0.500"
    assert MEASURES["accuracy"].shown_interval(0.9, 1.0) == "90.0 % – 100.0 %"
    assert MEASURES["roc_auc"].shown(float("nan")) == ""


def test_costs_move_the_decision():
    answer = np.array([[0.8, 0.2], [0.3, 0.7]])
    costs = np.array([[0.0, 1.0], [10.0, 0.0]])  # a miss costs ten false alarms
    cases = Cases("classes", np.array([1, 0]), np.ones(2), 2, costs=costs)
    assert cases.decide(answer).tolist() == [1, 1]
    assert confusion(cases, answer).tolist() == [[0.0, 1.0], [0.0, 1.0]]
    assert MEASURES["neg_mean_cost"].score(cases, answer) == -0.5


@pytest.mark.parametrize(
    ("kind", "criterion"), [("counts", "counted right"), ("amounts", "squared")]
)
def test_what_decides_on_amounts_says_how_far_it_tells_of_instances(kind, criterion):
    truth = np.arange(6.0)[:, None]
    reason = choose_measure(None, Cases(kind, truth, np.ones(6), sizes=np.full(6, 9)))[1]
    assert (
        f"correlation with the quality of instances is {INSTANCE_CORRELATION[criterion]}" in reason
    )
