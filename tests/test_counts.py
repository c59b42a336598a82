"""Counts, proportions and plain labels are read for what they are, or refused by bag."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from mixedbag import Bags
from mixedbag.wrappers import SpreadLabels

RNG = np.random.default_rng(0)
SIZES = RNG.integers(2, 6, size=40)
TRUTH = [RNG.integers(2, size=n) for n in SIZES]
POSITIVES = np.array([t.sum() for t in TRUTH])
BAGS = Bags(
    np.concatenate(TRUTH)[:, None] * 3.0 + RNG.normal(size=(SIZES.sum(), 1)),
    np.concatenate([[0], np.cumsum(SIZES)]),
    ids=[f"precinct {i}" for i in range(40)],
)


def learner(**kwargs):
    return SpreadLabels(LogisticRegression(), rule="mean", **kwargs)


def test_all_forms_of_the_same_counts_give_the_same_model():
    table = np.column_stack([SIZES - POSITIVES, POSITIVES])
    share = POSITIVES / SIZES
    models = [
        learner().fit(BAGS, POSITIVES),
        learner().fit(BAGS, table),
        learner().fit(BAGS, table / SIZES[:, None]),
        learner(aggregate="mean").fit(BAGS, share),
        learner(aggregate="mean").fit(BAGS, table / SIZES[:, None]),
    ]
    expected = models[0].decision_function_instances(BAGS)
    for model in models[1:]:
        np.testing.assert_allclose(model.decision_function_instances(BAGS), expected)
    counts = models[0].predict(BAGS)
    np.testing.assert_allclose(models[1].predict(BAGS)[:, 1], counts)
    np.testing.assert_allclose(models[2].predict(BAGS)[:, 1], counts / SIZES)
    np.testing.assert_allclose(models[3].predict(BAGS), counts / SIZES)
    scores = {round(m.score(BAGS, y), 9) for m, y in zip(models[:2], (POSITIVES, table))}
    assert len(scores) == 1


def test_plain_labels_are_counts_of_one():
    rows, labels = BAGS.instances, np.where(np.concatenate(TRUTH) == 1, "yes", "no")
    model = learner().fit(rows, labels)
    assert model.classes_.tolist() == ["no", "yes"]
    plain = LogisticRegression().fit(rows, labels)
    np.testing.assert_array_equal(model.predict(rows), plain.predict(rows))
    np.testing.assert_allclose(model.predict_proba(rows), plain.predict_proba(rows), atol=1e-6)
    assert model.score(rows, labels) == plain.score(rows, labels)


def spoil(y, i, value):
    y = np.array(y, dtype=float)
    y[i] = value
    return y


TABLE = np.column_stack([SIZES - POSITIVES, POSITIVES])


@pytest.mark.parametrize(
    ("y", "aggregate", "message"),
    [
        (spoil(POSITIVES, 7, 99), "sum", "count of 99, above its size"),
        (spoil(POSITIVES, 7, -1), "sum", "negative count"),
        (spoil(POSITIVES, 7, np.inf), "sum", "no usable count"),
        (spoil(POSITIVES, 7, 0.5), "sum", "no whole number"),
        (spoil(POSITIVES / SIZES, 7, 12), "mean", "12, above 1: .*; per cent have a column"),
        (spoil(TABLE, 7, [50, 50]), "sum", "sum to 100, its size is"),
        (spoil(TABLE, 7, [-1, SIZES[7] + 1]), "sum", "negative count"),
        (spoil(TABLE, 7, [np.inf, 1]), "sum", "not a number"),
        (spoil(TABLE / SIZES[:, None], 7, [0.5, 0.4]), "mean", "proportions that sum to 0.9"),
    ],
)
def test_impossible_counts_name_the_bag(y, aggregate, message):
    with pytest.raises(ValueError, match=rf"\(id 'precinct 7'\).*{message}"):
        learner(aggregate=aggregate).fit(BAGS, y)


def test_words_are_not_counts():
    with pytest.raises(ValueError, match="counts must be numbers"):
        learner().fit(BAGS, np.full(40, "many"))
