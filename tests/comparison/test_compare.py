"""`compare` from the outside: every rule, both levels, and what comes out."""

import numpy as np
import pytest

from mixedbag import Bags, compare, load, save
from mixedbag.comparison import _trials, fit_best_setting
from mixedbag.comparison._calibration import calibrator
from mixedbag.comparison._candidates import find_candidates
from mixedbag.comparison._protocol import Protocol
from mixedbag.comparison._questions import ask
from mixedbag.datasets import make_any, make_count, make_sum


@pytest.fixture(scope="module")
def result():
    data = make_any(n_bags=40, size=(2, 5), n_features=3, random_state=0)
    learners = ["bag statistics + SVM", "spread labels + logistic"]
    return compare(data.bags, data.y, learners=learners, folds=3, inner_folds=3)


def test_the_leaderboard_has_learners_and_what_is_made_of_them(result):
    kinds = sorted(row.kind for row in result.leaderboard())
    assert kinds == ["choice", "constant", "learner", "learner", "stack"]
    assert all(row.status == "done" and row.folds == 3 for row in result.leaderboard())
    means = [row.mean for row in result.leaderboard()]
    assert means == sorted(means, reverse=True)


def test_a_row_is_the_mean_of_out_of_fold_accuracies(result):
    candidate = result.candidates[0]
    folds = []
    for split in result.splits:
        trial = result.trials(candidate)[split.name]
        model = _trials.fit(result.protocol, candidate, trial.setting, split.train)
        calibrate = calibrator(result.question, trial.inner, split.train)
        answer = calibrate(model.decision_function(result.bags[split.test])[:, None])
        folds.append(np.mean(answer.argmax(axis=1) == result.y[split.test]))
    row = next(r for r in result.leaderboard() if r.name == candidate.name)
    sizes = [len(split.test) for split in result.splits]
    assert row.mean == pytest.approx(np.average(folds, weights=sizes))


def test_one_learner_is_fitted_with_its_threshold_settled():
    data = make_any(n_bags=80, size=(8, 12), n_features=3, random_state=0)
    fitted = fit_best_setting(data.bags, data.y, learner="spread labels + logistic")
    (plain,) = fitted.model.members
    ours, own = (np.mean(m.predict(data.bags) == data.y) for m in (fitted.model, plain))
    assert own < 0.6  # witnesses drown among rows with the same label
    assert ours > own + 0.1


def test_the_model_answers_at_both_levels(result):
    bags, model = result.bags, result.model
    assert set(model.predict(bags)) <= set(result.y)
    assert model.predict_proba(bags).sum(axis=1) == pytest.approx(1.0)
    assert model.decision_function_instances(bags).shape == (bags.n_instances,)
    assert np.mean(model.predict(bags) == result.y) > 0.7


def test_out_of_fold_answers_cover_every_bag_and_instance(result):
    answers = result.out_of_fold()
    assert answers.bags.shape == (len(result.bags), 2)
    assert answers.instances.shape == (result.bags.n_instances, 2)
    assert np.isfinite(answers.instances).all()
    assert answers.quality.mean() == pytest.approx(np.mean(answers.labels == result.y))


@pytest.mark.parametrize(
    ("make", "rule", "measure", "learner"),
    [
        (make_count, "count", "counted right", "spread counts + logistic"),
        (make_sum, "sum", "R²", "spread totals + ridge"),
    ],
)
def test_amounts(make, rule, measure, learner, tmp_path):
    data = make(n_bags=40, random_state=0)
    result = compare(data.bags, data.y, learners=[learner], folds=3, inner_folds=3)
    assert (result.rule, result.measure) == (rule, measure)
    assert result.chosen().mean > 0.3
    assert result.model.predict(data.bags).shape == data.y.shape
    assert len(result.model.predict_instances(data.bags)) == data.bags.n_instances
    save(result.model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    assert np.array_equal(again.predict(data.bags), result.model.predict(data.bags))


def test_a_table_of_two_counts_has_two_columns_at_both_levels():
    data = make_count(n_bags=24, random_state=0)
    y = np.column_stack([data.bags.sizes - data.y, data.y])
    learners = ["spread counts + logistic", "bag statistics + extra"]
    result = compare(data.bags, y, learners=learners, folds=2, inner_folds=2)
    assert all(row.status == "done" for row in result.leaderboard())
    candidate = next(c for c in result.candidates if c.name == learners[0])
    assert result.out_of_fold(candidate).instances.sum(axis=1) == pytest.approx(1.0)
    assert result.model.predict_instances(data.bags).shape == (data.bags.n_instances, 2)


@pytest.mark.parametrize("make", [make_count, make_sum])
def test_bag_statistics_know_that_an_instance_is_a_small_bag(make):
    data = make(n_bags=40, size=10, random_state=0)
    settings = {"learners": ["bag statistics + extra"], "folds": 2, "inner_folds": 2}
    model = compare(data.bags, data.y, make.__name__.removeprefix("make_"), **settings).model
    instances, totals = model.predict_instances(data.bags), model.predict(data.bags)
    assert abs(instances.mean() * 10 - totals.mean()) < 0.5 * np.ptp(data.y)
    assert np.ptp(instances) * 2 < np.ptp(data.y)


def test_the_same_seed_gives_the_same_figures():
    data = make_any(n_bags=30, size=(2, 4), n_features=3, random_state=0)
    runs = [
        compare(data.bags, data.y, learners=["bag statistics + extra"], folds=3, random_state=1)
        for _ in range(2)
    ]
    first, second = (run.out_of_fold().bags for run in runs)
    assert np.array_equal(first, second)


def mislabelled(n_bags=60):
    """Bags of which the last third have wrong labels and hardly any weight."""
    data = make_any(n_bags=n_bags, size=(2, 5), n_features=3, random_state=0)
    wrong = np.arange(n_bags) >= 2 * n_bags // 3
    return data, np.where(wrong, 1 - data.y, data.y), np.where(wrong, 1e-4, 7.0)


def test_weights_count_in_fits_and_in_figures():
    data, y, weight = mislabelled()
    settings = {"learners": ["bag statistics + SVM", "spread labels + logistic"], "folds": 3}
    blind = compare(data.bags, y, **settings)
    result = compare(data.bags, y, sample_weight=weight, **settings)
    assert np.mean(result.model.predict(data.bags) == data.y) > 0.8
    assert np.mean(blind.model.predict(data.bags) == data.y) < 0.8
    candidate, right = result.candidates[0], weight > 1
    hit = result.out_of_fold(candidate).labels == y
    row = next(r for r in result.leaderboard() if r.name == candidate.name)
    assert row.mean == pytest.approx(hit[right].mean(), abs=1e-3)


def test_equal_weights_are_none():
    data = make_any(n_bags=24, random_state=0)
    settings = {"learners": ["bag statistics + forest"], "folds": 2, "inner_folds": 2}
    plain = compare(data.bags, data.y, **settings).out_of_fold().bags
    same = compare(data.bags, data.y, sample_weight=np.full(24, 4.0), **settings)
    assert np.array_equal(plain, same.out_of_fold().bags)


@pytest.mark.parametrize("rule", ["any", "majority", "count", "sum", "sequence"])
def test_every_learner_heeds_weights(rule):
    make = {"count": make_count, "sum": make_sum}.get(rule, make_any)
    settings = {"n_bags": 12, "size": 24 if rule == "sequence" else 4, "n_features": 3}
    data, new = (make(**settings, random_state=seed) for seed in (0, 1))
    y = np.random.default_rng(1).permutation(data.y)  # nothing fits: weights must tell
    weights = np.ones(12), np.where(np.arange(12) % 3 == 0, 0.01, 1.5)
    questions = [ask(rule, y, data.bags.sizes, weight) for weight in weights]
    for candidate in find_candidates(rule, data.bags)[0]:
        plain, weighted = (
            question.evidence_of_instances(
                _trials.fit(Protocol(data.bags, y, question), candidate, {}, np.arange(12)),
                new.bags,
            )
            for question in questions
        )
        assert not np.allclose(plain, weighted), candidate.name


def test_weights_must_be_positive():
    data = make_any(n_bags=20, random_state=0)
    with pytest.raises(ValueError, match="bag 3 has weight zero"):
        compare(data.bags, data.y, sample_weight=np.arange(20) != 3)
    with pytest.raises(ValueError, match="3 weights for 20 bags"):
        compare(data.bags, data.y, sample_weight=np.ones(3))


def test_hopeless_labels_are_refused():
    bags = Bags.from_list([np.eye(2)] * 10)
    with pytest.raises(ValueError, match="all 10 bags have the same label, 'yes'"):
        compare(bags, ["yes"] * 10, rule="any")
    with pytest.raises(ValueError, match="only 1 bags have the label 'no'"):
        compare(bags, ["yes"] * 9 + ["no"], rule="any")
    with pytest.raises(ValueError, match="9 labels for 10 bags"):
        compare(bags, [0, 1, 0] * 3, rule="any")
    with pytest.raises(ValueError, match="no learner for the rule 'any' is called 'nonsense'"):
        compare(bags, [0, 1] * 5, learners=["nonsense"])
    with pytest.raises(ValueError, match="rule must be one of"):
        compare(bags, [0, 1] * 5, rule="odd")


def test_no_group_is_learned_from_and_asked_about():
    data = make_any(n_bags=48, size=(2, 5), n_features=3, random_state=0)
    groups = np.arange(48) % 12
    settings = {"learners": ["bag statistics + SVM"], "folds": 4, "inner_folds": 3}
    result = compare(data.bags, data.y, groups=groups, **settings)
    for split in result.splits:
        assert not set(groups[split.train]) & set(groups[split.test])
        for train, test in result.protocol.inner_splits(split.train):
            assert not set(groups[split.train][train]) & set(groups[split.train][test])
    assert result.chosen().status == "done"
    with pytest.raises(ValueError, match="come from only 3 groups"):
        compare(data.bags, data.y, groups=np.arange(48) % 3, **settings)
    with pytest.raises(ValueError, match="5 groups for 48 bags"):
        compare(data.bags, data.y, groups=np.arange(5), **settings)
