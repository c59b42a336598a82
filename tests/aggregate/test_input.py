"""Counts and totals that cannot be are refused, and the message names the bag."""

import numpy as np
import pytest

import mixedbag.aggregate as aggregate
from mixedbag import Bags

CLASSIFIERS = [name for name in aggregate.__all__ if hasattr(getattr(aggregate, name), "_contrast")]
REGRESSORS = [name for name in aggregate.__all__ if name not in CLASSIFIERS]
IDS = ["north", "south", "east", "west"]


def bags():
    X = np.random.default_rng(0).normal(size=(12, 2))
    return Bags(X, [0, 2, 5, 9, 12], ids=IDS)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize(
    ("y", "bag"),
    [
        ([1, 4, 2, 1], "south"),  # above its size
        ([1, 2, -1, 1], "east"),
        ([1, 2, 2, np.inf], "west"),
        ([[1, 1], [1, 2], [2, 2], [2, 2]], "west"),  # four of three
        ([[0.5, 0.5], [0.4, 0.6], [0.3, 0.9], [1.0, 0.0]], "east"),
    ],
)
def test_impossible_counts_name_the_bag(name, y, bag):
    learner = getattr(aggregate, name)()
    if bag == "east" and np.ndim(y) == 2:
        learner.set_params(aggregate="mean")
    with pytest.raises(ValueError, match=bag):
        learner.fit(bags(), y)


@pytest.mark.parametrize("name", REGRESSORS)
def test_an_infinite_total_names_the_bag(name):
    with pytest.raises(ValueError, match="south"):
        getattr(aggregate, name)().fit(bags(), [1.0, np.inf, 2.0, 3.0])


def test_every_learner_is_one_or_the_other():
    assert set(CLASSIFIERS) == {name for name in aggregate.__all__ if "count" in rules(name)}
    assert set(REGRESSORS) == {name for name in aggregate.__all__ if "sum" in rules(name)}


def rules(name):
    return getattr(aggregate, name)._rules
