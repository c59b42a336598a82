"""The papers' ways to build bags from plain tables."""

import numpy as np
import pytest

from mixedbag.datasets import aggregate, load_aggregates, load_sessions, make_sessions

rng = np.random.default_rng(0)
ROWS = rng.standard_normal((47, 3))
NUMBERS = rng.standard_normal(47)
CLASSES = rng.integers(0, 3, 47)


def hidden_of(data):
    return np.split(data.instance_labels, data.bags.offsets[1:-1])


@pytest.mark.parametrize("randomness", [0, 25, 500])
@pytest.mark.parametrize("size", [1, 2, 5, 20, 100])
def test_aggregate_keeps_every_row_once(size, randomness):
    data = aggregate(ROWS, NUMBERS, size, randomness, random_state=0)
    assert sorted(data.instance_ids) == list(range(47))
    np.testing.assert_array_equal(data.bags.instances, ROWS[data.instance_ids])
    np.testing.assert_array_equal(data.instance_labels, NUMBERS[data.instance_ids])
    np.testing.assert_allclose(data.y, [h.sum() for h in hidden_of(data)])
    assert set(data.bags.sizes[:-1]) <= {size}
    assert data.bags.sizes[-1] == (47 % size or size)


def test_aggregate_without_swaps_is_sorted_and_each_swap_moves_two_rows():
    assert (np.diff(aggregate(ROWS, NUMBERS, 5, 0).instance_labels) >= 0).all()
    once = aggregate(ROWS, NUMBERS, 5, 1, random_state=0).instance_labels
    assert np.count_nonzero(once != np.sort(NUMBERS)) == 2


def test_more_swaps_make_bags_more_alike():
    spread = [aggregate(ROWS, NUMBERS, 5, r, random_state=0).y.std() for r in (0, 10, 2000)]
    assert spread[0] > spread[1] > spread[2]


def test_aggregate_counts_classes():
    two = aggregate(ROWS, np.where(CLASSES == 2, "yes", "no"), 4, 30, random_state=0)
    assert two.y.tolist() == [(h == "yes").sum() for h in hidden_of(two)]
    three = aggregate(ROWS, CLASSES, 4, 30, random_state=0)
    np.testing.assert_array_equal(three.y, [np.bincount(h, minlength=3) for h in hidden_of(three)])


@pytest.mark.parametrize("size", [1, 2, 3, 10])
def test_sessions_have_a_majority_of_their_class(size):
    data = make_sessions(ROWS, CLASSES, n_sessions=3, size=size, random_state=0)
    for label, hidden in zip(data.y, hidden_of(data)):
        others = np.count_nonzero(hidden != label)
        assert (1 if size > 2 else 0) <= others < max(size / 2, 1)
    np.testing.assert_array_equal(data.instance_labels, CLASSES[data.instance_ids])
    assert len(set(data.instance_ids)) == data.bags.n_instances == 3 * size


def test_sessions_use_up_the_rows_or_use_them_again():
    X, y = np.arange(400.0)[:, None], np.repeat([-1, 1], 200)
    most = make_sessions(X, y, random_state=0)
    assert 30 <= len(most.bags) <= 40
    assert len(set(most.instance_ids)) == most.bags.n_instances
    again = make_sessions(X, y, n_sessions=200, replace=True, random_state=0)
    assert len(again.bags) == 200
    assert all(len(np.unique(bag)) == 10 for bag in again.bags)
    strangers = [np.count_nonzero(h != label) for h, label in zip(hidden_of(again), again.y)]
    assert set(strangers) == {1, 2, 3, 4}
    with pytest.raises(ValueError, match="enough for"):
        make_sessions(X, y, n_sessions=100)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: aggregate(ROWS, NUMBERS[:-1], 5), "inconsistent"),
        (lambda: aggregate(ROWS, NUMBERS, 0), "size"),
        (lambda: aggregate(ROWS, NUMBERS, 5, -1), "randomness"),
        (lambda: aggregate(ROWS[:0], NUMBERS[:0], 5), "no rows"),
        (lambda: aggregate(NUMBERS, NUMBERS, 5), "2-D"),
        (lambda: make_sessions(ROWS, np.zeros(47)), "two classes"),
        (lambda: make_sessions(ROWS, CLASSES, replace=True), "n_sessions"),
        (lambda: make_sessions(ROWS[:5], CLASSES[:5]), "enough for 0 sessions"),
        (lambda: load_sessions("beer"), "name"),
    ],
)
def test_senseless_requests(call, reason):
    with pytest.raises(ValueError, match=reason):
        call()


@pytest.mark.parametrize("name", ["cancer", "wine"])
def test_built_in_tables(name):
    sessions = load_sessions(name)
    assert set(sessions.bags.sizes) == {10}
    counts = load_aggregates(name, size=4)
    total = counts.y.sum() if name == "wine" else counts.bags.n_instances
    assert total == counts.bags.n_instances
