"""Work done once: the same results to the bit, nothing shared that may differ, bounded memory."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from mixedbag import Bags
from mixedbag._once import Shelf, once, sharing
from mixedbag.datasets import make_any
from mixedbag.learners import all_learners

DATA = make_any(n_bags=24, size=(1, 4), n_features=3, random_state=0)


def test_made_once_from_the_same_values():
    calls = []
    bags = Bags(np.arange(6.0).reshape(3, 2), [0, 1, 3])
    other = Bags(np.arange(6.0).reshape(3, 2), [0, 2, 3])
    with sharing(Shelf()):
        for value in (bags, bags[:], other, np.ones(2), np.ones(2, np.float32), {"a": 1}, {"a": 2}):
            once(lambda: calls.append(1), "piece", value)
        once(lambda: calls.append(1), "another piece", bags)
    assert len(calls) == 7  # only a copy of the bags was known


def test_alone_nothing_is_kept():
    made = [once(lambda: np.zeros(2), "piece", 1) for _ in range(2)]
    assert made[0] is not made[1]


def test_a_piece_is_nobody_elses():
    with sharing(Shelf()):
        for _ in range(3):
            piece = once(lambda: np.zeros(2), "piece", 1)
            assert piece.tolist() == [0.0, 0.0]
            piece += 1.0


def test_generators_change():
    rng = np.random.RandomState(0)
    with sharing(Shelf()):
        drawn = {once(rng.uniform, "draw", {"random_state": rng}) for _ in range(3)}
    assert len(drawn) == 3


def test_a_shelf_stays_within_its_capacity():
    shelf, made = Shelf(capacity=5_000), []
    with sharing(shelf):
        for k in [*range(8), 7, 0]:
            once(lambda k=k: made.append(k) or np.zeros(200), "piece", k)
            assert shelf.size <= shelf.capacity
        once(lambda: np.zeros(10_000), "too large", 0)
        once(lambda: made.append(0) or np.zeros(200), "piece", 0)
    assert made == [*range(8), 0]  # the latest was there, the first had left


@pytest.mark.parametrize(
    "kind",
    [kind for kind in all_learners() if "any" in kind._rules and kind._compared],
    ids=lambda kind: kind.__name__,
)
def test_settings_that_share_find_what_they_would_alone(kind):
    grid = list(ParameterGrid(kind._search_space))
    alone, shared = [], []
    shelf = Shelf()
    with sharing(shelf):
        # Only learners that put something there need to be fitted again.
        for setting in grid[:4]:
            shared.append(scores(kind, setting))
            if not shelf.size:
                pytest.skip("has nothing to share")
    alone = [scores(kind, setting) for setting in grid[:4]]
    np.testing.assert_array_equal(shared, alone)


def scores(kind, setting):
    model = clone(kind(**setting))
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model.fit(DATA.bags, DATA.y).decision_function(DATA.bags)
