"""The search on blocks of bags: the models of a fit in one place."""

import numpy as np
import pytest
from sklearn.base import clone

from mixedbag.datasets import make_any
from mixedbag.engines import LocalBlocks
from mixedbag.engines.local import BlockedBags
from mixedbag.margin import BagMarginSVC, InstanceMarginSVC


class Blocks(BlockedBags):
    """Labelled bags in four blocks of this process."""

    def __init__(self, bags, y, weight):
        self.blocks = LocalBlocks.cut(bags, y, weight, n_blocks=4)
        self.labels = np.unique(y)
        self.n_features = bags.n_features
        self.feature_names = [f"f{j}" for j in range(bags.n_features)]


def problem(seed):
    data = make_any(n_bags=60, random_state=seed)
    return data.bags, data.y, np.random.default_rng(seed).integers(1, 4, 60).astype(float)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"C": (1.0, 10.0), "class_weight": "balanced"},
        {"class_weight": {1: 3.0}},
        {"loss": "squared_hinge"},
        {"loss": "squared_hinge", "C": (0.1, 1.0), "class_weight": "balanced"},
        {"loss": "squared_hinge", "n_init": 3},
    ],
)
@pytest.mark.parametrize("kind", [BagMarginSVC, InstanceMarginSVC])
@pytest.mark.parametrize("seed", [0, 1])
def test_blocks_give_the_model_of_one_place(kind, options, seed):
    if kind is InstanceMarginSVC:
        options = options | {"n_init": 1}
    bags, y, weight = problem(seed)
    learner = kind(kernel="linear", tol=1e-9, random_state=0, **options)
    here = clone(learner).fit(bags, y, sample_weight=weight)
    there = clone(learner).fit(Blocks(bags, y, weight))
    tol = 1e-9 if learner.loss == "squared_hinge" else 1e-6
    scale = max(1.0, np.abs(here.coef_).max())
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=tol, atol=tol * scale)
    assert there.intercept_ == pytest.approx(here.intercept_, rel=tol, abs=tol)
    assert there.objective_[-1] == pytest.approx(here.objective_[-1], rel=1e-8)
    assert there.dual_gap_ <= 1e-9 * there.objective_[-1]
    assert (np.diff(there.objective_) <= 1e-8 * there.objective_[0]).all()


@pytest.mark.parametrize("kind", [BagMarginSVC, InstanceMarginSVC])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_adding_a_constant_to_every_feature_changes_no_answer_of_blocks(kind, loss):
    bags, y, weight = problem(0)
    moved = bags.with_instances(bags.instances + 10.0)
    learner = kind(kernel="linear", loss=loss, tol=1e-9, n_init=1)
    here = clone(learner).fit(Blocks(bags, y, weight))
    there = clone(learner).fit(Blocks(moved, y, weight))
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-6)
    assert there.intercept_ == pytest.approx(here.intercept_ - 10.0 * here.coef_.sum(), abs=1e-5)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # the blocks have them
def test_more_than_two_classes():
    bags, _, weight = problem(0)
    y = np.arange(len(bags)) % 3
    learner = BagMarginSVC(kernel="linear", loss="squared_hinge", tol=1e-10)
    here = clone(learner).fit(bags, y, sample_weight=weight).decision_function(bags)
    there = clone(learner).fit(Blocks(bags, y, weight)).decision_function(bags)
    np.testing.assert_allclose(there, here, rtol=1e-8, atol=1e-8)
