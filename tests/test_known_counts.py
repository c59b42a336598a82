"""Shares, unknown counts, known counts at prediction: what users of counts have and want."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge

from mixedbag import Bags, datasets
from mixedbag.aggregate import (
    AggregateLogisticRegression,
    AggregateRidgeClassifier,
    AggregateRidgeRegressor,
    AggregateSVC,
)
from mixedbag.comparison import fit_from_disk
from mixedbag.counts import labels_that_add_up
from mixedbag.datasets import make_count
from mixedbag.engines import Labelled, SpooledBags
from mixedbag.exceptions import InputError
from mixedbag.model_selection import BagStratifiedKFold
from mixedbag.uncertainty import bootstrap
from mixedbag.wrappers import SpreadLabels


def problem(n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 7, size=40)
    X = rng.normal(size=(sizes.sum(), 3))
    bags = Bags(X, np.r_[0, np.cumsum(sizes)])
    label = (X[:, 0] > 0).astype(int) if n_classes == 2 else X[:, :n_classes].argmax(axis=1)
    table = np.add.reduceat(np.eye(n_classes)[label], bags.offsets[:-1])
    return bags, table, label


def test_shares_are_known_by_their_fractions():
    bags, table, _ = problem()
    counts, shares = table[:, 1], table[:, 1] / bags.sizes
    by_count = AggregateLogisticRegression().fit(bags, counts)
    by_share = AggregateLogisticRegression().fit(bags, shares)
    asked = AggregateLogisticRegression(aggregate="mean").fit(bags, shares)
    np.testing.assert_allclose(by_share.coef_, by_count.coef_, rtol=1e-6)
    np.testing.assert_allclose(by_share.predict(bags), by_count.predict(bags) / bags.sizes)
    np.testing.assert_array_equal(by_share.predict(bags), asked.predict(bags))
    assert by_share.score(bags, shares) == pytest.approx(by_count.score(bags, counts))


def test_a_fraction_above_one_is_no_share_and_no_count():
    bags, table, _ = problem()
    wrong = table[:, 1] + 0.5
    with pytest.raises(ValueError, match="no whole number"):
        AggregateLogisticRegression().fit(bags, np.minimum(wrong, bags.sizes - 0.5))


@pytest.mark.parametrize("learner", [AggregateLogisticRegression(), AggregateRidgeRegressor()])
def test_bags_without_a_known_count_are_left_out_and_answered(learner):
    bags, table, _ = problem()
    y = table[:, 1].copy()
    y[[3, 8]] = np.nan
    with pytest.warns(UserWarning, match="bag 3 and 1 other of 40 bags have no known count"):
        partly = learner.fit(bags, y).predict_instances(bags)
    kept = ~np.isnan(y)
    alone = learner.fit(bags[kept], y[kept]).predict_instances(bags)
    np.testing.assert_allclose(partly, alone)


def test_bags_that_are_all_alike_are_said_to_tell_nothing():
    bags = Bags(np.random.default_rng(0).normal(size=(40, 2)), np.arange(0, 41, 4))
    with pytest.warns(UserWarning, match="all 10 bags have the same shares"):
        AggregateRidgeClassifier().fit(bags, np.full(10, 2))
    with pytest.warns(UserWarning, match="all 10 bags have the same mean"):
        AggregateRidgeRegressor().fit(bags, np.full(10, 2.0))


def test_bags_that_are_all_alike_are_said_to_tell_nothing_once():
    """Above a thousand instances the machine starts from other learners, which need not say it."""
    bags = Bags(np.random.default_rng(0).normal(size=(1200, 2)), np.arange(0, 1201, 4))
    with pytest.warns(UserWarning, match="same shares") as said:
        AggregateSVC(n_init=1, max_iter=1).fit(bags, np.full(300, 2))
    assert len(said) == 1


def test_bags_that_are_alike_are_so_in_any_size_and_only_all_of_them():
    rng = np.random.default_rng(0)
    bags = Bags(rng.normal(size=(45, 2)), np.cumsum(np.arange(10)))
    with pytest.warns(UserWarning, match="all 9 bags have the same shares"):
        AggregateRidgeClassifier().fit(bags, np.full(9, 0.3))
    counts = np.r_[1, np.full(8, 2)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of two thirds of the bags, nobody has asked
        bags = Bags(rng.normal(size=(36, 2)), np.arange(0, 37, 4))
        AggregateRidgeClassifier().fit(bags, counts).predict_proba(bags)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", [AggregateLogisticRegression, AggregateRidgeClassifier])
def test_labels_honour_the_known_counts(kind, n_classes):
    bags, table, _ = problem(n_classes)
    model = kind().fit(bags, table)
    unknown = table.copy()
    unknown[5] = np.nan
    told = model.predict_instances(bags, counts=unknown)
    found = np.add.reduceat(np.eye(n_classes)[told], bags.offsets[:-1])
    np.testing.assert_array_equal(np.delete(found, 5, axis=0), np.delete(table, 5, axis=0))
    own = slice(bags.offsets[5], bags.offsets[6])
    np.testing.assert_array_equal(told[own], model.predict_instances(bags)[own])
    if n_classes == 2:
        shares = table[:, 1] / bags.sizes
        again = model.predict_instances(bags, counts=shares)
        inside = bags.bag_of == 5
        np.testing.assert_array_equal(again[~inside], told[~inside])
    if kind is AggregateLogisticRegression:
        p = model.predict_proba_instances(bags, counts=table)
        np.testing.assert_allclose(np.add.reduceat(p, bags.offsets[:-1]), table, atol=1e-6)


def test_a_model_of_shares_may_be_told_counts():
    bags, table, _ = problem(2)
    model = AggregateLogisticRegression().fit(bags, table[:, 1] / bags.sizes)
    told = model.predict_instances(bags, counts=table[:, 1])
    np.testing.assert_array_equal(np.add.reduceat(told, bags.offsets[:-1]), table[:, 1])
    with pytest.raises(ValueError, match="above its size"):
        model.predict_instances(bags, counts=np.full(len(bags), 1000))


@pytest.mark.parametrize("counts", [(2, 2), (0, 4), (1, 2, 1), (0, 1, 3)])
def test_assigned_labels_are_the_best_of_all(counts):
    scores = np.random.default_rng(1).normal(size=(4, len(counts)))
    codes = labels_that_add_up(scores, np.array(counts, dtype=float))
    every = itertools.permutations(np.repeat(np.arange(len(counts)), counts))
    best = max(scores[np.arange(4), list(way)].sum() for way in every)
    assert scores[np.arange(4), codes].sum() == pytest.approx(best)
    np.testing.assert_array_equal(np.bincount(codes, minlength=len(counts)), counts)


def test_values_honour_known_totals():
    bags, table, _ = problem()
    total = table[:, 1].astype(float)
    for model in (AggregateRidgeRegressor(), SpreadLabels(Ridge(), rule="mean")):
        values = model.fit(bags, total).predict_instances(bags, totals=total)
        np.testing.assert_allclose(np.add.reduceat(values, bags.offsets[:-1]), total, atol=1e-12)


def test_spread_labels_pass_known_counts_on():
    bags, table, _ = problem()
    model = SpreadLabels(LogisticRegression(), rule="mean").fit(bags, table)
    told = model.predict_instances(bags, counts=table)
    np.testing.assert_array_equal(np.add.reduceat(told, bags.offsets[:-1]), table[:, 1])


@pytest.mark.parametrize("n_bags", [4, 5, 7, 12])
@pytest.mark.filterwarnings("error")
def test_folds_of_few_bags(n_bags):
    """Counts of which each occurs once or twice are cut into folds without a warning."""
    y = np.array([0, 2, 2, 3, 5, 5, 1, 7, 8, 0, 1, 4])[:n_bags]
    bags = Bags(np.zeros((n_bags, 1)), np.arange(n_bags + 1))
    for target in (y, y / 8, np.column_stack([8 - y, y])):
        n_splits = min(5, n_bags)
        tests = [t for _, t in BagStratifiedKFold(n_splits, random_state=0).split(bags, target)]
        assert sorted(np.concatenate(tests)) == list(range(n_bags))
        assert len(tests) == n_splits


def test_frames_with_a_column_a_class_or_with_sizes():
    frame = pd.DataFrame(
        {
            "precinct": ["a", "a", "b", "b", "b"],
            "age": [1.0, 2.0, 3.0, 4.0, 5.0],
            "income": [5.0, 1.0, 2.0, 2.0, 7.0],
            "yes": [30, 30, 10, 10, 10],
            "no": [10, 10, 30, 30, 30],
            "voters": [40, 40, 40, 40, 40],
        }
    )
    bags, shares = Bags.from_frame(frame, "precinct", label="yes", size="voters", features=["age"])
    assert bags.n_features == 1
    np.testing.assert_array_equal(shares, [0.75, 0.25])
    bags, table = Bags.from_frame(frame, "precinct", label=["no", "yes"], size="voters")
    assert bags.feature_names == ["age", "income"]
    np.testing.assert_array_equal(table, [[0.25, 0.75], [0.75, 0.25]])
    assert AggregateLogisticRegression().fit(bags, table).predict(bags).shape == (2, 2)
    with pytest.raises(ValueError, match="pass label"):
        Bags.from_frame(frame, "precinct", size="voters")


def read_pair(*arguments, **options):
    data = datasets.read(*arguments, **options)
    return data.bags, data.y


@pytest.mark.parametrize("read", [Bags.from_frame, read_pair])
@pytest.mark.filterwarnings("ignore:column 'voters' is taken")
def test_the_same_words_for_labels_everywhere(read):
    rng = np.random.default_rng(0)
    place = np.repeat(np.arange(6), 4)
    voters = np.array([40, 60, 80, 100, 120, 50])
    yes = np.array([10, 40, 30, 70, 80, 20])
    frame = pd.DataFrame({"place": place, "age": rng.normal(size=24)})
    frame = frame.assign(yes=yes[place], no=(voters - yes)[place], voters=voters[place])
    for label in ("yes/voters", "no,yes", ["no", "yes"]):
        bags, y = read(frame, "place", label=label)
        assert "voters" not in bags.feature_names or label != "yes/voters"
        np.testing.assert_allclose(y if y.ndim == 1 else y[:, 1], yes / voters)
    with pytest.warns(UserWarning, match="'voters' is taken as a feature.*labels add up to"):
        Bags.from_frame(frame, "place", label="no,yes")
    with pytest.warns(UserWarning, match="'voters' is taken as a feature.*'yes/voters'"):
        Bags.from_frame(frame[["place", "age", "yes", "voters"]], "place", label="yes")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("label", ["class", "share", "value"])
def test_columns_that_no_label_counts_among_are_features_without_a_word(label):
    place = np.repeat(np.arange(6), 4)
    known = {
        "class": np.array([0, 1, 1, 0, 0, 1]),
        "share": np.array([0.1, 0.5, 1.0, 0.0, 0.3, 0.25]),
        "value": np.array([3, 80, 7, 2, 90, 1]),  # above the height of some place
    }
    frame = pd.DataFrame({"place": place, label: known[label][place], "x": np.arange(24.0)})
    bags, _ = Bags.from_frame(frame.assign(height=(10 + place)), "place", label=label)
    assert bags.feature_names == ["x", "height"]


@pytest.mark.parametrize(
    "label", ["share", "text", "pct_yes", "unnamed", ["no", "pct_yes"], ["many no", "many yes"]]
)
def test_frames_are_understood_in_the_words_of_files(label):
    data = make_count(n_bags=20, size=7, random_state=0)
    share = data.bags.spread(data.y / 7)
    features = [f"x{j}" for j in range(data.bags.n_features)]
    frame = pd.DataFrame(data.bags.instances, columns=features)
    per_cent = np.round(100 * share, 1)
    frame = frame.assign(
        place=data.bags.bag_of,
        share=share,
        text=[f"{value} %" for value in per_cent],
        pct_yes=per_cent,
        no=100 - per_cent,
        unnamed=per_cent,
    )
    frame["many yes"] = np.round(400 * share)
    frame["many no"] = 400 - frame["many yes"]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "labels are in per cent")
        bags, y = Bags.from_frame(frame, "place", features, label=label)
    told = y[:, 1] if isinstance(label, list) else y
    np.testing.assert_allclose(told, data.y / 7, atol=0.002)
    found = AggregateLogisticRegression().fit(bags, y).predict_proba_instances(bags)
    own = AggregateLogisticRegression().fit(data.bags, data.y).predict_proba_instances(data.bags)
    assert np.mean((found > 0.5) == (own > 0.5)) > 0.9


def test_counts_with_gaps_come_from_frames():
    data = make_count(n_bags=20, size=7, random_state=0)
    frame = pd.DataFrame({"place": data.bags.bag_of, "x": data.bags.instances[:, 0]})
    counts = np.where(np.arange(20) % 5 == 0, np.nan, data.y)
    frame["yes"] = data.bags.spread(counts)
    bags, y = Bags.from_frame(frame, "place", label="yes")
    with pytest.warns(UserWarning, match="3 others of 20 bags have no known count"):
        model = AggregateLogisticRegression().fit(bags, y)
    known = counts == counts
    same = AggregateLogisticRegression().fit(bags[known], counts[known])
    np.testing.assert_allclose(model.coef_, same.coef_)
    objects = [None if c != c else int(c) for c in counts]
    with pytest.warns(UserWarning, match="3 others of 20"):
        again = AggregateLogisticRegression().fit(bags, np.array(objects, dtype=object))
    np.testing.assert_allclose(again.coef_, same.coef_)
    with pytest.warns(UserWarning, match="no known count"):
        models = bootstrap(AggregateLogisticRegression(), bags, np.array(objects), n_draws=20)
    assert models.rates(bags, bags.instances[:, 0] > 0).low.shape == (2,)


def three_answers():
    """Twelve bags of one and eight of four, and shares of three answers."""
    rng = np.random.default_rng(0)
    sizes = np.repeat([1, 4], [12, 8])
    bags = Bags(rng.normal(size=(44, 2)), np.concatenate([[0], np.cumsum(sizes)]))
    return bags, np.vstack([np.eye(3)[rng.integers(0, 3, 12)], rng.dirichlet(np.ones(3), 8)])


def in_two(bags, y, first):
    """Blocks of the first bags and of all others."""
    parts = slice(first), slice(first, None)
    return SpooledBags([Labelled(bags[part], y[part], np.ones(len(y[part]))) for part in parts])


def test_what_labels_are_is_told_by_all_blocks_together():
    bags, shares = three_answers()
    here = AggregateLogisticRegression().fit(bags, shares)
    there = AggregateLogisticRegression().fit(in_two(bags, shares, 12))
    np.testing.assert_allclose(there.predict(bags), here.predict(bags), atol=1e-5)
    shares[16:] *= 4
    for labelled in ((bags, shares), (in_two(bags, shares, 16), None)):
        with pytest.raises(InputError, match="bag 12 has counts that sum to 1, its size is 4"):
            AggregateLogisticRegression().fit(*labelled)


def test_known_counts_have_a_column_a_class():
    bags, shares = three_answers()
    model = AggregateLogisticRegression().fit(bags, shares)
    for counts in (shares[:, :2], shares[:, 0]):
        with pytest.raises(InputError, match="a column for each of 3 classes"):
            model.predict_proba_instances(bags, counts)


@pytest.mark.parametrize("shares", [False, True], ids=["counts", "shares"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learner", [AggregateLogisticRegression(), AggregateRidgeClassifier()])
def test_blocks_tell_counts_and_shares_of_any_number_of_classes(learner, n_classes, shares):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3))
    answer = np.argmax(2 * X[:, :n_classes] + rng.gumbel(size=(240, n_classes)), axis=1)
    bags = Bags(X, np.arange(0, 241, 8))
    y = np.array([np.bincount(answer[k : k + 8], minlength=n_classes) for k in range(0, 240, 8)])
    y = y / 8 if shares else y
    y = y[:, 1] if n_classes == 2 else y
    parts = [slice(0, 12), slice(12, 30)]
    blocks = [Labelled(bags[part], y[part], np.ones(len(y[part]))) for part in parts]
    here, there = clone(learner).fit(bags, y), clone(learner).fit(SpooledBags(blocks))
    np.testing.assert_allclose(there.predict(bags), here.predict(bags), atol=1e-5)
    assert there.predict(bags).shape == y.shape
    if n_classes == 3:
        with pytest.raises(ValueError, match="AggregateSVC tells 3 classes with all bags in"):
            AggregateSVC().fit(SpooledBags(blocks))
    fitted = fit_from_disk(SpooledBags(blocks), learner=type(learner).__name__)
    assert fitted.rule == ("proportion" if shares else "count")
    assert fitted.model.predict(bags).shape == y.shape
