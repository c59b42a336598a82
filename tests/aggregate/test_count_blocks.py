"""Counts learned from blocks of bags: the model of a large fit in one place."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from mixedbag.aggregate import AggregateSVC
from mixedbag.aggregate._alternation import _totals
from mixedbag.aggregate._bag_totals import ridge_scores
from mixedbag.bags import Bags
from mixedbag.engines import LocalBlocks


def counted(n_bags, seed):
    """Bags of 3 to 8, their counts of positives, and weights."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(3, 9, n_bags))])
    X = rng.normal(size=(offsets[-1], 4))
    hidden = X[:, 0] - 0.5 * X[:, 1] + 0.3 * rng.normal(size=len(X)) > 0
    positives = np.add.reduceat(hidden.astype(float), offsets[:-1])
    return Bags(X, offsets), positives, rng.uniform(0.5, 2.0, n_bags)


def in_blocks(bags, positives, weight):
    """The bags in three blocks, as a cluster would hold them."""
    table = np.column_stack([bags.sizes - positives, positives])
    cuts = np.array_split(np.arange(len(bags)), 3)
    return LocalBlocks(
        [LocalBlocks.cut(bags[rows], table[rows], weight[rows]).blocks[0] for rows in cuts]
    )


def fit_blocks(model, blocks):
    """Learn from blocks whose labels have been read: counts of two classes."""
    model.classes_ = np.array([0, 1])
    model._fit_blocks(blocks)
    return model


@pytest.mark.parametrize("n_bags", [3, 60])  # fewer and more than features
def test_first_guess_is_a_ridge_regression_on_totals_of_centred_instances(n_bags):
    bags, positives, weight = counted(n_bags, seed=0)
    spread = bags.spread(weight)
    share = weight @ positives / spread.sum()
    centred = bags.instances - np.average(bags.instances, axis=0, weights=spread)
    totals = np.add.reduceat(centred, bags.offsets[:-1])
    ridge = Ridge(alpha=spread.sum() / (weight.sum() * 0.7), fit_intercept=False)
    ridge.fit(totals, 2.0 * (positives - share * bags.sizes), sample_weight=weight)
    scores = ridge_scores(bags, positives, weight, 0.7)
    assert scores == pytest.approx(bags.instances @ ridge.coef_, abs=1e-10)


def test_first_guess_is_a_sum_over_blocks():
    bags, positives, weight = counted(60, seed=0)
    there = in_blocks(bags, positives, weight).sum(_totals).ridge(C=0.7)
    here = ridge_scores(bags, positives, weight, 0.7)
    assert bags.instances @ there == pytest.approx(here, abs=1e-10)


@pytest.mark.parametrize("D", [np.inf, 2.0])
def test_blocks_give_the_model_of_a_large_fit_in_one_place(D):
    bags, positives, weight = counted(220, seed=1)  # above a thousand rows no labels are searched
    here = AggregateSVC(C=0.5, D=D).fit(bags, positives, sample_weight=weight)
    there = fit_blocks(AggregateSVC(C=0.5, D=D), in_blocks(bags, positives, weight))
    assert there.coef_ == pytest.approx(here.coef_, abs=1e-6)
    assert there.intercept_ == pytest.approx(here.intercept_, abs=1e-6)
    assert there.objective_[-1] == pytest.approx(here.objective_[-1])


def test_bags_of_one_class_need_no_machine():
    bags, _, weight = counted(10, seed=2)
    model = fit_blocks(AggregateSVC(), in_blocks(bags, bags.sizes.astype(float), weight))
    assert (model.coef_ == 0).all()
    assert model.intercept_ == 1.0


@pytest.mark.parametrize("D", [np.inf, 2.0])
@pytest.mark.parametrize("n_bags", [12, 220])  # whose labels are searched, and not
def test_adding_a_constant_to_every_feature_changes_no_answer(n_bags, D):
    bags, positives, weight = counted(n_bags, seed=3)
    moved = bags.with_instances(bags.instances + 10.0)
    here, there, placed = (AggregateSVC(C=0.5, D=D, random_state=0) for _ in range(3))
    here.fit(bags, positives, sample_weight=weight)
    there.fit(moved, positives, sample_weight=weight)
    assert there.coef_ == pytest.approx(here.coef_, abs=1e-6)
    assert there.intercept_ == pytest.approx(here.intercept_ - 10.0 * here.coef_.sum(), abs=1e-5)
    if n_bags > 100:
        fit_blocks(placed, in_blocks(moved, positives, weight))
        assert placed.coef_ == pytest.approx(here.coef_, abs=1e-6)
        assert placed.intercept_ == pytest.approx(there.intercept_, abs=1e-5)
