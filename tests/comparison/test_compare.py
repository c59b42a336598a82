"""`compare` from the outside: every rule, both levels, and what comes out."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from mixedbag import Bags, compare, load, save
from mixedbag.comparison import _trials, fit_best_setting
from mixedbag.comparison._calibration import calibrator
from mixedbag.comparison._candidates import find_candidates
from mixedbag.comparison._compare import _read
from mixedbag.comparison._protocol import Protocol, make_protocol
from mixedbag.comparison._questions import ask, choose_positive
from mixedbag.comparison._weights import blend_weights
from mixedbag.datasets import make_any, make_count, make_sum

FAST = {"learners": ["bag statistics + SVM"], "folds": 3, "inner_folds": 2}


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


FRAMES = {
    "pandas": lambda pd, table: pd.DataFrame(table),
    "polars": lambda pl, table: pl.DataFrame(table),
    "pyarrow": lambda pa, table: pa.table(table),
    "duckdb": lambda db, table: db.from_arrow(pytest.importorskip("pyarrow").table(table)),
}


@pytest.mark.parametrize("library", FRAMES)
def test_a_data_frame_is_read_as_the_command_line_reads_it(library, tmp_path):
    rng = np.random.default_rng(0)
    table = {
        "ward": [f"w{i % 20}" for i in range(60)],  # rows of a bag are not adjacent
        "state": ["ill" if i % 20 < 8 else "well" for i in range(60)],
        "sex": ["f" if i % 3 else "m" for i in range(60)],
        "age": [float(round(v, 3)) for v in rng.normal(size=60)],
        "town": [f"t{i % 20 % 10}" for i in range(60)],
    }
    frame = FRAMES[library](pytest.importorskip(library), table)
    path = tmp_path / "table.csv"
    lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values()))]
    path.write_text("\n".join(lines))
    told = _read(frame, "ward", "state", "town", None)
    read = _read(path, "ward", "state", "town", None)
    assert told[0].feature_names == read[0].feature_names == ["sex=f", "sex=m", "age"]
    for one, other in zip((told[0].instances, *told[1:3]), (read[0].instances, *read[1:3])):
        assert np.array_equal(one, other)
    assert told[4] == read[4]
    if library == "pandas":
        result = compare(frame, bag="ward", label="state", groups="town", **FAST)
        assert result.bags.ids.tolist() == [f"w{i}" for i in range(20)]
        assert result.protocol.groups is not None
        assert any("sex=f" in note for note in result.notes)


def test_a_table_without_labels_is_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"bag": [1, 2], "x": [0.5, 1.5]})
    with pytest.raises(ValueError, match="no column 'label'"):
        compare(frame)
    with pytest.raises(ValueError, match="labels are missing"):
        compare(np.ones((4, 2)))
    with pytest.raises(ValueError, match="columns of a table without y"):
        compare(np.ones((4, 2)), [0, 1, 0, 1], label="x")
    with pytest.raises(ValueError, match="name of a column"):
        compare(frame, groups=[1, 2])


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


@pytest.mark.parametrize(("make", "rule"), [(make_count, "proportion"), (make_sum, "mean")])
def test_means_and_shares_are_learned_as_sums_and_counts_are(make, rule):
    data = make(n_bags=40, size=(3, 9), random_state=0)
    learner = {"proportion": "spread shares + logistic", "mean": "spread means + ridge"}[rule]
    y = np.asarray(data.y) / data.bags.sizes
    result = compare(data.bags, y, rule, learners=[learner], folds=3, inner_folds=3)
    assert result.chosen().mean > result.constant().mean
    model = result.model
    answer, of_instances = model.predict(data.bags), model.predict_instances(data.bags)
    total = np.add.reduceat(of_instances, data.bags.offsets[:-1]) / data.bags.sizes
    assert total == pytest.approx(answer, abs=1e-6)
    twice = Bags(
        np.repeat(data.bags.instances, 2, axis=0), 2 * data.bags.offsets
    )  # each instance two times: totals double, means stay
    assert model.predict(twice) == pytest.approx(answer, abs=1e-6)


@pytest.mark.parametrize("rule", ["proportion", "mean"])
def test_every_learner_of_sums_and_counts_takes_means(rule):
    data = make_count(n_bags=30, size=(3, 6), random_state=0)
    names = {c.name for c in find_candidates(rule, data.bags)[0]}
    base = {
        c.name for c in find_candidates({"proportion": "count", "mean": "sum"}[rule], data.bags)[0]
    }
    assert {name for name in base if name.startswith("Aggregate")} <= names
    for candidate in find_candidates(rule, data.bags, y=data.y)[0]:
        told = {
            k: v for k, v in candidate.estimator.get_params().items() if k.endswith("aggregate")
        }
        assert set(told.values()) <= {"mean"}, candidate.name


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
        compare(data.bags, data.y, learners=["bag statistics + extra"], folds=2, random_state=1)
        for _ in range(2)
    ]
    first, second = (run.out_of_fold().bags for run in runs)
    assert np.array_equal(first, second)


def mislabelled(n_bags=90):
    """Bags of which the last two fifths have wrong labels and hardly any weight."""
    data = make_any(n_bags=n_bags, size=(2, 5), n_features=3, random_state=0)
    wrong = np.arange(n_bags) >= 3 * n_bags // 5
    return data, np.where(wrong, 1 - data.y, data.y), np.where(wrong, 1e-4, 7.0)


def test_weights_count_in_fits_and_in_figures():
    data, y, weight = mislabelled()
    settings = {"learners": ["bag statistics + SVM", "spread labels + logistic"], "folds": 3}
    blind = compare(data.bags, y, **settings)
    result = compare(data.bags, y, sample_weight=weight, **settings)
    ours, theirs = (np.mean(r.model.predict(data.bags) == data.y) for r in (result, blind))
    assert ours > 0.85
    assert theirs < ours
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
    for candidate in find_candidates(rule, data.bags, y=data.y)[0]:
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
    with pytest.raises(ValueError, match="only 1 bag has the label 'no'"):
        compare(bags, ["yes"] * 9 + ["no"], rule="any")
    for nothing in (None, np.nan, pd.NA):
        with pytest.raises(ValueError, match="no bag has a label"):
            compare(bags, [nothing] * 10)
    with pytest.raises(ValueError, match="9 labels for 10 bags"):
        compare(bags, [0, 1, 0] * 3, rule="any")
    with pytest.raises(ValueError, match="no learner for the rule 'any' is called 'nonsense'"):
        compare(bags, [0, 1] * 5, learners=["nonsense"])
    words = bags.with_instances(csr_array(bags.instances))
    with pytest.raises(ValueError, match="AxisParallelRectangle: needs dense data"):
        compare(words, [0, 1] * 5, "any", learners=["AxisParallelRectangle"])
    with pytest.raises(ValueError, match="rule must be one of"):
        compare(bags, [0, 1] * 5, rule="odd")


@pytest.mark.parametrize("n_bags", [4, 5, 7])
def test_a_few_bags_of_two_counts_are_no_classes(n_bags):
    rng = np.random.default_rng(0)
    bags = Bags(rng.normal(size=(8 * n_bags, 2)), np.arange(0, 8 * n_bags + 1, 8))
    counts = np.array([5] * (n_bags - 1) + [4])
    found = fit_best_setting(bags, counts, "count")
    assert found.name == "AggregateLogisticRegression"
    assert 3 < found.model.predict(bags).mean() < 6
    with pytest.raises(ValueError, match="with the rule 'count'"):
        fit_best_setting(bags, counts)


@pytest.mark.parametrize(("n_bags", "folds"), [(4, 4), (40, 10)])
def test_folds_that_few_bags_do_not_have_are_not_missed(n_bags, folds):
    data = make_count(n_bags=n_bags, random_state=0)
    learners = ["AggregateRidgeClassifier", "AggregateForestClassifier"]
    result = compare(data.bags, data.y, "count", learners=learners, time_budget=0.2)
    assert any(f"3 folds for all, not {folds}:" in note for note in result.notes)


def test_one_label_is_refused_whatever_the_rule():
    bags = Bags.from_list([np.eye(2)] * 10)
    for y, rule in [
        ([1] * 10, "auto"),
        ([0.5] * 10, "auto"),
        ([2.0] * 10, "sum"),
        ([1] * 10, "count"),
    ]:
        with pytest.raises(ValueError, match="all 10 bags have the same label"):
            compare(bags, y, rule)


def test_one_count_in_bags_of_different_sizes_is_no_one_label():
    """Two of three and two of twelve tell instances apart."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(3, 13, size=40)
    label = np.concatenate([np.arange(n) < 2 for n in sizes])
    bags = Bags(label[:, None] + 0.3 * rng.normal(size=(len(label), 1)), np.r_[0, sizes.cumsum()])
    model = fit_best_setting(bags, np.full(40, 2), "auto", "AggregateLogisticRegression").model
    assert np.mean((model.predict_instances(bags) > 0.5) == label) > 0.9


def test_the_positive_class_is_last_and_keeps_its_word():
    data = make_any(n_bags=40, size=(2, 5), n_features=3, random_state=0)
    rare = np.flatnonzero(data.y == 1)[:-8]
    keep = np.setdiff1d(np.arange(40), rare[:8])
    bags, truth = data.bags[keep], data.y[keep]
    words = np.where(truth == 1, "ill", "well")
    result = compare(bags, words, **FAST)
    assert result.question.classes.tolist() == ["well", "ill"]
    assert result.question.why_positive == "it is the rarer one"
    other = compare(bags, words, positive="well", **FAST)
    assert other.model.classes_.tolist() == ["ill", "well"]
    assert set(result.model.predict(bags)) <= {"ill", "well"}
    as_numbers = compare(bags, truth, **FAST)  # the same, whatever the words
    assert result.out_of_fold().bags == pytest.approx(as_numbers.out_of_fold().bags)
    with pytest.raises(ValueError, match="no bag is labelled 'dead'"):
        compare(bags, words, positive="dead", **FAST)


@pytest.mark.parametrize(
    ("words", "counts", "positive"),
    [
        (["no", "yes"], (5, 9), "yes"),
        (["healthy", "dead"], (5, 9), "dead"),
        (["not ill", "ill"], (5, 9), "ill"),
        (["0", "1"], (5, 9), "1"),
        (["ja", "nein"], (7, 7), "ja"),
        (["Oui", "Non"], (9, 5), "Oui"),
        (["negativo", "positivo"], (5, 9), "positivo"),
        (["a", "b"], (5, 9), "a"),
        (["a", "b"], (9, 5), "b"),
        (["a", "b"], (7, 7), "b"),
    ],
)
def test_which_class_is_positive(words, counts, positive):
    classes, codes = np.unique(np.repeat(words, counts), return_inverse=True)
    assert classes[choose_positive(classes, codes)[0]] == positive


def test_the_metric_decides_sort_choice_and_winner():
    data = make_any(n_bags=60, size=(2, 5), n_features=3, random_state=0)
    y = np.where(np.arange(60) % 5 == 0, data.y, 0)  # positives are rare
    more = {**FAST, "learners": ["bag statistics + SVM", "spread labels + logistic"]}
    by_default = compare(data.bags, y, **more)
    assert by_default.metric == "average_precision"
    assert "uneven" in by_default.why_metric
    for metric in ("roc_auc", "neg_log_loss", "f1"):
        result = compare(data.bags, y, metric=metric, **more)
        rows = [row for row in result.leaderboard() if row.status == "done"]
        assert [row.mean for row in rows] == sorted((r.mean for r in rows), reverse=True)
        assert all(row.mean == pytest.approx(row.scores[metric]) for row in rows)
        assert {row.kind for row in rows} == {"learner", "stack", "choice", "constant"}
        assert result.chosen().kind == "stack"
    with pytest.raises(ValueError, match="no measure is called 'nonsense'"):
        compare(data.bags, y, metric="nonsense", **more)


def test_a_ranking_measure_chooses_who_ranks_best():
    sure, timid = np.array([0.95, 0.4, 0.45, 0.05]), np.array([0.52, 0.51, 0.5, 0.49])
    answers = [np.column_stack([1 - p, p]) for p in (sure, timid)]
    rows = np.arange(4)
    for metric, best in (("accuracy", 0), ("roc_auc", 1)):
        question = ask("any", np.array([1, 1, 0, 0]), np.ones(4), np.ones(4), metric)
        losses = partial(question.loss, rows=rows)
        weights = blend_weights(answers, losses, np.ones(4), 1, question.judge(rows))
        assert weights.argmax() == best


def test_costs_move_the_answers_of_the_model():
    data = make_any(n_bags=60, size=(2, 5), n_features=3, random_state=0)
    plain = compare(data.bags, data.y, **FAST)
    careful = compare(data.bags, data.y, cost="20:1", **FAST)
    assert careful.metric == "neg_mean_cost"
    probability = careful.model.predict_proba(data.bags)[:, 1]
    assert np.array_equal(careful.model.predict(data.bags), (probability > 1 / 21).astype(int))
    assert careful.confusion()[1, 0] <= plain.confusion()[1, 0]
    assert careful.chosen().mean >= plain_cost(plain)
    for cost, message in [
        ("cheap", "cannot be read"),
        ("1:2:3", "cannot be read"),
        ("0,1;1", "cannot be read"),
        ("-1:2", "not negative"),
        ("1,1;1,0", "diagonal"),
        ("0:1", "costs nothing"),
        (np.eye(3), "no table of 2 by 2"),
    ]:
        with pytest.raises(ValueError, match=message):
            compare(data.bags, data.y, cost=cost, **FAST)


def plain_cost(result):
    table = result.confusion()
    return -(20 * table[1, 0] + table[0, 1]) / table.sum()


def test_balanced_accuracy_minds_the_rare_class():
    rng = np.random.default_rng(0)
    y = (np.arange(100) % 10 == 0).astype(int)
    bags = Bags((y * 1.5 + rng.normal(size=100))[:, None], np.arange(101))
    fast = {"learners": ["spread labels + logistic"], "folds": 5, "inner_folds": 2}
    plain = compare(bags, y, "any", metric="accuracy", **fast)
    minded = compare(bags, y, "any", metric="balanced_accuracy", **fast)
    row = minded.chosen()
    assert row.mean > plain.chosen().scores["balanced_accuracy"] + 0.05
    assert minded.constant().mean == pytest.approx(0.5)


def test_a_constant_ranks_nothing():
    y = np.random.default_rng(0).permutation(np.arange(50) < 13).astype(int)
    bags = Bags(np.random.default_rng(1).normal(size=(50, 1)), np.arange(51))
    fast = {"learners": ["spread labels + logistic"], "folds": 4, "inner_folds": 2}
    row = compare(bags, y, "any", metric="roc_auc", **fast).constant()
    assert row.mean == 0.5
    assert row.scores["roc_auc"] == 0.5
    assert row.scores["average_precision"] == pytest.approx(13 / 50)


def test_no_error_is_no_certainty():
    y = np.arange(80) % 2
    bags = Bags((10.0 * y + np.random.default_rng(0).normal(size=80))[:, None], np.arange(81))
    row = compare(bags, y, "any", **{**FAST, "folds": 10}).chosen()
    assert row.mean == 1.0
    assert row.low < 0.96
    few = compare(bags[:21], y[:21], "any", **FAST).chosen()
    assert few.mean == 1.0
    assert few.low < 0.86


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


# Settings race over the inner folds ---------------------------------------------------------------


def test_who_is_clearly_behind_gives_up():
    rng = np.random.default_rng(0)
    best = rng.uniform(size=60)
    close, far = best + rng.normal(0.005, 0.2, 60), best + rng.normal(0.5, 0.2, 60)
    weight = np.ones(60)
    assert _trials.not_behind(np.array([close, best, far]), weight).tolist() == [True, True, False]
    same = np.array([best, best])
    assert _trials.not_behind(same, weight).all()
    # Bags of weight two are bags that are there twice, for means; what is sure is less so.
    twice = rng.integers(1, 3, 60).astype(float)
    lead = far - best
    error = np.sqrt(((lead - np.average(lead, weights=twice)) ** 2) @ twice**2) / twice.sum()
    distance = np.average(lead, weights=twice) / error
    losses = np.array([best, far])
    assert not _trials.not_behind(losses, twice, 0.99 * distance)[1]
    assert _trials.not_behind(losses, twice, 1.01 * distance)[1]


def test_a_race_finds_what_trying_all_finds_with_fewer_fits(monkeypatch):
    data = make_any(n_bags=80, size=(2, 4), n_features=4, separation=4.0, random_state=0)
    (candidate,), _ = find_candidates("any", data.bags, ["bag statistics + SVM"])
    _, protocol = make_protocol(data.bags, data.y, "any")
    one_is_hopeless = {"learner__model__gamma": ["scale", 1e6, 0.1]}
    candidate = replace(candidate, grid=one_is_hopeless)
    tried, rows = _trials.settings(candidate), protocol.everything.train
    made = []

    def counted(*args, learned=_trials.learned):
        made.append(args)
        return learned(*args)

    monkeypatch.setattr(_trials, "learned", counted)
    raced = _trials._best_setting(protocol, candidate, rows, tried)
    n_raced = len(made)
    monkeypatch.setattr(_trials, "_WARM_UP", np.inf)
    whole = _trials._best_setting(protocol, candidate, rows, tried)
    assert (len(made) - n_raced, len(raced.learners)) == (15, 5)
    assert n_raced < 15
    assert raced.setting == whole.setting
    assert raced.loss == whole.loss
    assert np.array_equal(raced.inner, whole.inner)


@pytest.mark.parametrize("name", ["AggregateRidgeClassifier", "AggregateTreeClassifier"])
def test_counts_of_three_classes_without_probabilities(name):
    """Of an instance such a learner says the class: it is one of that, and none of the others."""
    data = make_count(n_bags=40, size=(2, 6), n_classes=3, separation=6.0, random_state=0)
    found = compare(data.bags, data.y, "count", learners=[name], folds=3, inner_folds=2)
    assert [row.status for row in found.leaderboard() if row.kind == "learner"] == ["done"]
    said = found.out_of_fold(found.candidates[0]).instances
    np.testing.assert_allclose(said.max(axis=1), 1.0)
    np.testing.assert_allclose(said.sum(axis=1), 1.0)
    assert np.mean(said.argmax(axis=1) == data.instance_labels) > 0.9
