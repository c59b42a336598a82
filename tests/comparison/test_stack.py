"""The stack's weights, and the statistics of the leaderboard."""

import numpy as np
import pytest
from scipy import stats

from mixedbag.comparison import guess_rule, settle_rule
from mixedbag.comparison._calibration import calibrator
from mixedbag.comparison._intervals import fold_spread, paired_p_value
from mixedbag.comparison._leaderboard import Figure, widened
from mixedbag.comparison._questions import Classes, Counts
from mixedbag.comparison._weights import blend_weights


def squared(target):
    return lambda answer: ((answer - target) ** 2).sum(axis=1)


def test_opposite_errors_cancel():
    rng = np.random.default_rng(0)
    target, error = rng.normal(size=(60, 1)), rng.normal(size=(60, 1))
    answers = [target + error, target - error, target + 3 * rng.normal(size=(60, 1))]
    weights = blend_weights(answers, squared(target), np.ones(60))
    assert weights == pytest.approx([0.5, 0.5, 0.0], abs=0.02)


def test_a_perfect_answer_takes_all_and_one_best_is_a_choice():
    rng = np.random.default_rng(0)
    target = rng.normal(size=(40, 1))
    answers = [target + rng.normal(size=(40, 1)), target, target + rng.normal(size=(40, 1))]
    for n_best in (5, 1):
        weights = blend_weights(answers, squared(target), np.ones(40), n_best)
        assert weights.tolist() == [0.0, 1.0, 0.0]


def test_the_blend_is_no_worse_than_the_best_alone():
    rng = np.random.default_rng(1)
    target = rng.normal(size=(50, 1))
    answers = [target + rng.normal(size=(50, 1)) for _ in range(6)]
    loss = squared(target)
    weights = blend_weights(answers, loss, np.ones(50))
    assert weights.sum() == pytest.approx(1.0)
    assert (weights >= 0).all()
    blended = sum(w * a for w, a in zip(weights, answers))
    assert loss(blended).mean() < min(loss(a).mean() for a in answers)


@pytest.mark.parametrize("n_best", [1, 2])
def test_bags_of_little_weight_have_no_say(n_best):
    rng = np.random.default_rng(0)
    target = rng.normal(size=(40, 1))
    right_on_half = [target.copy(), target.copy()]
    right_on_half[0][:20] += 5.0
    right_on_half[1][20:] += 1.0
    weight = np.where(np.arange(40) < 20, 1e-6, 1.0)
    weighted, plain = (
        blend_weights(right_on_half, squared(target), w, n_best) for w in (weight, np.ones(40))
    )
    assert weighted == pytest.approx([1.0, 0.0])
    assert plain[1] > 0.5


def test_the_interval_is_wider_than_that_of_independent_folds():
    values = np.array([0.8, 0.9, 0.7, 0.85, 0.95])
    naive = stats.t.interval(0.95, 4, 0.0, stats.sem(values))
    assert fold_spread(values, 0.2) > naive[1]
    assert fold_spread([0.5, 0.6], 0.5) is None


def test_an_interval_is_as_wide_as_bags_and_folds_ask():
    def interval(folds, low, high):
        by_fold = dict(enumerate(folds))
        return widened(Figure(0.8, low, high, by_fold, {}), 0.25, (0.0, 1.0))

    assert interval([0.8, 0.8, 0.8, 0.8], 0.6, 0.9) == (0.6, 0.9)
    low, high = interval([0.4, 1.0, 0.9, 0.9], 0.75, 0.85)
    assert low < 0.6
    assert high == 1.0
    assert interval([0.5, 1.1], 0.7, 0.9) == (0.7, 0.9)  # two folds say nothing of their spread


def test_paired_tests():
    rng = np.random.default_rng(0)
    best = rng.normal(0.8, 0.02, size=10)
    assert paired_p_value(best, best, 0.1) == 1.0
    assert paired_p_value(best - 0.2 + rng.normal(0, 0.01, 10), best, 0.1) < 0.001
    assert paired_p_value(best + rng.normal(0, 0.05, 10), best, 0.1) > 0.05


def test_calibration_orders_and_bounds_wild_scores():
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=300)
    scores = (2 * codes - 1 + rng.normal(size=300)) * 10.0 ** rng.integers(0, 4, size=300)
    question = Classes("any", codes, np.ones(300))
    rows = np.arange(300)
    answer = calibrator(question, scores[:, None], rows)(np.sort(scores)[:, None])
    assert (np.diff(answer[:, 1]) >= 0).all()
    assert answer.sum(axis=1) == pytest.approx(1.0)
    assert question.loss(answer, rows).shape == (300,)


def test_counts_are_right_where_they_agree():
    question = Counts("count", np.array([1.0, 3.0]), np.ones(2), None, np.array([4, 4]))
    assert question.quality(np.array([[1.0], [1.0]]), np.arange(2)).tolist() == [1.0, 0.5]


@pytest.mark.parametrize(
    ("y", "sizes", "in_time", "rule"),
    [
        ([0, 1, 1, 0], [3, 2, 2, 4], False, "any"),
        (["yes", "no", "no", "yes"], [1, 1, 1, 1], False, "any"),
        (["a", "b", "c", "a"], [3, 3, 3, 3], False, "majority"),
        ([0, 1, 2, 3], [3, 3, 3, 3], False, "count"),
        ([5, 1, 2, 7] * 2, [3] * 8, False, "majority"),
        ([5, 1, 2, 7], [3, 3, 3, 3], False, "sum"),  # every bag would have a class of its own
        ([13170914, 27299194, 31463547, 5003], [3, 3, 3, 3], False, "sum"),
        ([0.5, 1.25, 2.0, 8.5], [3, 3, 3, 3], False, "sum"),
        ([0, 1, 1, 0], [30, 30, 30, 30], True, "sequence"),
        ([[1, 2], [0, 3]], [3, 3], False, "count"),
        ([0.5, 0.25, 1.0, 0.75], [4, 4, 2, 4], False, "proportion"),
        ([[0.5, 0.5], [0.2, 0.8]], [4, 5], False, "proportion"),
    ],
)
def test_rules_are_guessed(y, sizes, in_time, rule):
    assert guess_rule(y, sizes, in_time).rule == rule


@pytest.mark.parametrize(
    ("wrong", "rule", "hint"),
    [
        (1.3, "sum", "all but 1 of 12 are shares (--rule proportion), not 1.3: look there"),
        (-0.2, "sum", "all but 1 of 12 are shares (--rule proportion), not -0.2: look there"),
        (9, "majority", "all but 1 of 12 are counts of the rows (--rule count), not 9 of 4 rows"),
        (2.5, "sum", "all but 1 of 12 are counts of the rows (--rule count), not 2.5 of 4 rows"),
        (0.5, "sum", "some look like shares, others like counts of the rows: write all alike"),
    ],
)
def test_one_label_unlike_all_others_is_pointed_out(wrong, rule, hint):
    shares = wrong in (1.3, -0.2)
    y = np.tile([0.25, 0.5, 0.75] if shares else [0, 1, 2, 3], 4)[:12].astype(float)
    y[5] = wrong
    guess = guess_rule(y, np.full(12, 4))
    assert guess.rule == rule
    assert hint in guess.reason


@pytest.mark.parametrize(
    ("y", "rule"), [([0.5, 0.25, np.nan, 1.0], "proportion"), ([0.0, 1.0, 1.0, 0.0], "count")]
)
def test_shares_asked_for_as_counts_are_shares(y, rule):
    """As counts of less than one, all chances of instances would be too small."""
    assert settle_rule("count", np.array(y), np.full(4, 8)).rule == rule


def test_totals_have_no_such_hint():
    reason = guess_rule([0.5, 1.25, 2.0, 8.5] * 3, [3] * 12).reason
    assert reason == "the labels are numbers of many values; averages are --rule mean"


def test_marks_for_labels_that_are_not_known_are_refused():
    y = np.array(["3", "1", "2", "0", "4", "2", "1", "3", "2", "4", "<5"])
    with pytest.raises(ValueError, match=r"all but 1 of 11 labels are numbers \(not '<5'\): leave"):
        guess_rule(y, np.full(11, 5))
    assert guess_rule(np.where(y == "4", "four", y), np.full(11, 5)).rule == "majority"


@pytest.mark.parametrize(("mark", "refused"), [("*", True), ("<5", True), ("other", False)])
def test_marks_may_be_many_if_they_are_no_words(mark, refused):
    y = np.array(["3", "1", "2", "0", "4", *[mark] * 5])
    if not refused:
        assert guess_rule(y, np.full(10, 5)).rule == "majority"
        return
    with pytest.raises(ValueError, match=r"all but 5 of 10 labels are numbers \(not '[*<5]+'\)"):
        guess_rule(y, np.full(10, 5))


def test_decimal_commas_that_stayed_text_are_named():
    y = np.array([f"{k},5" for k in range(12)])
    with pytest.raises(ValueError, match="labels such as '0,5' are text: write numbers with a poi"):
        guess_rule(y, np.full(12, 5))
