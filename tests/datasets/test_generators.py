"""Generators: the bag labels follow from the hidden ones by the rule, and seeds repeat."""

import numpy as np
import pytest

from mixedbag.datasets import (
    load_digits_bags,
    make_any,
    make_count,
    make_majority,
    make_sequences,
    make_sum,
)

GENERATORS = [make_any, make_majority, make_count, make_sum, make_sequences, load_digits_bags]


def hidden_of(data):
    return np.split(data.instance_labels, data.bags.offsets[1:-1])


@pytest.mark.parametrize("make", GENERATORS)
def test_a_seed_repeats_and_another_differs(make):
    first, again, other = (make(n_bags=10, random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.bags.instances, again.bags.instances)
    np.testing.assert_array_equal(first.y, again.y)
    np.testing.assert_array_equal(first.instance_labels, again.instance_labels)
    assert first.bags.instances.shape != other.bags.instances.shape or not np.array_equal(
        first.bags.instances, other.bags.instances
    )


def test_any():
    data = make_any(n_bags=50, size=(2, 6), max_witnesses=2, random_state=0)
    assert data.y.tolist() == [int(h.any()) for h in hidden_of(data)]
    assert data.y.sum() == 25
    assert max(h.sum() for h in hidden_of(data)) <= 2
    assert 2 <= data.bags.sizes.min() <= data.bags.sizes.max() <= 6


def test_the_hidden_classes_can_be_learned():
    from sklearn.linear_model import LogisticRegression

    for data in (make_any(random_state=0), make_majority(random_state=0)):
        X, hidden = data.bags.instances, data.instance_labels
        assert LogisticRegression().fit(X, hidden).score(X, hidden) > 0.8


def test_majority():
    data = make_majority(n_bags=50, size=(1, 8), random_state=0)
    shares = [h.mean() for h in hidden_of(data)]
    assert data.y.tolist() == [int(share > 0.5) for share in shares]
    assert not any(share == 0.5 for share in shares)
    assert any(0 < share < 0.5 for share in shares)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_count(n_classes):
    data = make_count(n_bags=30, n_classes=n_classes, random_state=0)
    counts = np.array([np.bincount(h, minlength=n_classes) for h in hidden_of(data)])
    np.testing.assert_array_equal(data.y, counts[:, 1] if n_classes == 2 else counts)


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_sum(n_features):
    data = make_sum(n_bags=30, n_features=n_features, noise=0, random_state=0)
    np.testing.assert_allclose(data.y, [h.sum() for h in hidden_of(data)])
    X = data.bags.instances
    expected = X[:, 0].copy()
    if n_features > 1:
        expected += 2 * np.sin(X[:, 1])
    if n_features > 2:
        expected += X[:, 2] ** 2 / 2
    np.testing.assert_allclose(data.instance_labels, expected)


def test_sequences():
    data = make_sequences(n_bags=40, length=(50, 80), random_state=0)
    assert data.y.tolist() == [int(h.mean() > 0.5) for h in hidden_of(data)]
    assert 50 <= data.bags.sizes.min() <= data.bags.sizes.max() <= 80
    switches = np.mean([np.mean(np.diff(h) != 0) for h in hidden_of(data)])
    assert 0 < switches < 0.05
    every = make_sequences(n_bags=40, target=None, n_activities=3, random_state=0)
    assert every.y.tolist() == [int(np.bincount(h).argmax()) for h in hidden_of(every)]
    data.bags.check_finite()


def test_soft_sequence_labels_follow_their_probability():
    data = make_sequences(n_bags=4000, length=20, omega=1.0, random_state=0)
    share = np.array([h.mean() for h in hidden_of(data)])
    expected = share * np.e / (share * np.e + 1 - share)
    assert abs((data.y - expected).mean()) < 0.02
    for low, high in ((0, 0.1), (0.4, 0.6), (0.9, 1.01)):
        inside = (share >= low) & (share < high)
        assert abs((data.y - expected)[inside].mean()) < 0.06


def test_digits():
    data = load_digits_bags(n_bags=60, digit=3, random_state=1)
    assert data.y.tolist() == [int(h.any()) for h in hidden_of(data)]
    assert data.images.shape == (data.bags.n_instances, 8, 8)
    assert len(set(data.instance_ids)) == data.bags.n_instances
    assert data.bags.instances.max() == 1
    with pytest.raises(ValueError, match="different images"):
        load_digits_bags(n_bags=1000)
    with pytest.raises(ValueError, match="digit"):
        load_digits_bags(digit=10)


@pytest.mark.parametrize(
    ("make", "options", "reason"),
    [
        (make_any, {"size": 0}, "bag sizes"),
        (make_any, {"size": (5, 2)}, "bag sizes"),
        (make_any, {"n_bags": 0}, "n_bags"),
        (make_sequences, {"target": 9}, "target"),
        (make_sequences, {"target": None, "omega": 1.0}, "omega"),
    ],
)
def test_senseless_requests(make, options, reason):
    with pytest.raises(ValueError, match=reason):
        make(**options)
