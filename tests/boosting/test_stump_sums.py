"""The streaming sums equal direct 2×2 sums at every feature and threshold, dense and sparse."""

import numpy as np
import pytest
from scipy import sparse

from mixedbag import Bags
from mixedbag.boosting._codes import DenseCodes, LargeBagCodes, encode
from mixedbag.boosting._grid import MAX_CELLS, Grid, common_grid
from mixedbag.boosting._scores import Scores
from mixedbag.boosting.steps import class_sums, newton_sums
from mixedbag.engines import Labelled, LocalBlocks
from mixedbag.pooling import bag_sum
from tests.boosting.toys import LOSSES, POOLINGS, hessian, random_bags, side_values


def with_gaps(bags, share=0.2, seed=0):
    """The same bags with missing values in all features but the first."""
    X = bags.instances.copy()
    holes = np.random.default_rng(seed).random(X.shape) < share
    holes[:, 0] = False
    X[holes] = np.nan
    return bags.with_instances(X)


def zeros_inside(bags, seed=0):
    X = bags.instances.copy()
    X[np.random.default_rng(seed).random(X.shape) < 0.7] = 0.0
    return bags.with_instances(X)


KINDS = {
    "plain": lambda bags: bags,
    "missing": with_gaps,
    "zeros": zeros_inside,
    "zeros and missing": lambda bags: with_gaps(zeros_inside(bags)),
}


def a_block(bags, sign, weight, pooling, loss):
    """Grid, codes and derivatives of bags at random scores."""
    labelled = Labelled(bags, sign, weight)
    grid = Grid.from_instances(bags.instances)
    scores = Scores.of(labelled, pooling, loss)
    values = np.random.default_rng(1).normal(size=bags.n_instances)
    return grid, encode(labelled, grid), scores.plus(values).derived(0.0)


def cuts(grid):
    """Every candidate: cell, feature, threshold, and whether missing values go left."""
    for cell in np.flatnonzero(~np.isnan(grid.cut)):
        slot = grid.slot[cell]
        goes_left = grid.sees_missing[slot] and grid.missing[slot] == 0
        yield cell, grid.feature[slot], grid.cut[cell], goes_left


@pytest.mark.kernel
@pytest.mark.parametrize("kind", KINDS)
def test_codes_of_large_bags_give_the_same_sums(kind):
    bags, sign, _ = random_bags(seed=5)
    bags = KINDS[kind](bags)
    grid = Grid.from_instances(bags.instances)
    small, large = DenseCodes.of(bags, grid), LargeBagCodes.of(bags, grid)
    rng = np.random.default_rng(0)
    q, d = rng.random((2, bags.n_instances))
    slope, cross = rng.normal(size=(2, len(bags)))
    slots = rng.integers(0, len(grid.feature), 5)
    codes = rng.integers(0, np.diff(grid.cells)[slots])
    for asked in (
        lambda codes_of: codes_of.class_sums(q, sign > 0),
        lambda codes_of: codes_of.newton_sums(q, bag_sum(q, bags.offsets), d, slope, cross),
        lambda codes_of: codes_of.shares(slots, codes, q),
        lambda codes_of: codes_of.left_of(slots, codes),
    ):
        np.testing.assert_allclose(asked(large), asked(small), atol=1e-12)


def test_large_bags_have_codes_of_their_own():
    X = np.random.default_rng(0).normal(size=(600, 2)).astype(np.float32)
    for offsets, kind in (([0, 300, 600], LargeBagCodes), (np.arange(0, 601, 3), DenseCodes)):
        bags = Bags(X, offsets)
        labelled = Labelled(bags, np.ones(len(bags)), np.ones(len(bags)))
        assert type(encode(labelled, Grid.from_instances(X))) is kind


@pytest.mark.kernel
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("pooling", [POOLINGS[1], POOLINGS[3], *POOLINGS[6:8]], ids=repr)
def test_newton_sums_equal_direct_sums(pooling, loss, kind, is_sparse):
    bags, sign, weight = random_bags(seed=4)
    bags = KINDS[kind](bags)
    dense = bags.instances
    if is_sparse:
        bags = bags.with_instances(sparse.csr_array(dense))
    grid, codes, here = a_block(bags, sign, weight, pooling, loss)
    sums = newton_sums(codes, here)
    blocks = [hessian(here, bag) for bag in range(len(bags))]
    slopes = bags.spread(here.slope) * here.weights
    for cell, feature, threshold, goes_left in cuts(grid):
        left = side_values(dense[:, feature], threshold, goes_left)
        runs = [slice(a, b) for a, b in zip(bags.offsets[:-1], bags.offsets[1:])]
        v = slopes @ left
        u_ll = sum(left[r] @ H @ left[r] for r, H in zip(runs, blocks))
        u_lr = sum(left[r] @ H @ (1 - left[r]) for r, H in zip(runs, blocks))
        np.testing.assert_allclose(sums[cell], [v, u_ll, u_lr], atol=1e-9)
    # The last cell of each slot has everything on its left.
    total = sum(H.sum() for H in blocks)
    for last in grid.cells[1:] - 1:
        np.testing.assert_allclose(sums[last], [slopes.sum(), total, 0.0], atol=1e-9)


@pytest.mark.kernel
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_class_sums_equal_direct_sums(kind, is_sparse):
    bags, sign, weight = random_bags(seed=6)
    bags = KINDS[kind](bags)
    dense = bags.instances
    if is_sparse:
        bags = bags.with_instances(sparse.csr_array(dense))
    grid, codes, here = a_block(bags, sign, weight, POOLINGS[2], LOSSES[0])
    sums, size, target = class_sums(codes, here), here.gradient(), bags.spread(sign)
    for cell, feature, threshold, goes_left in cuts(grid):
        left = side_values(dense[:, feature], threshold, goes_left) * size
        expected = left[target < 0].sum(), left[target > 0].sum()
        np.testing.assert_allclose(sums[cell], expected, atol=1e-12)


@pytest.mark.kernel
@pytest.mark.parametrize("is_sparse", [False, True])
def test_sides_and_shares(is_sparse):
    bags, sign, weight = random_bags(seed=7)
    bags = with_gaps(zeros_inside(bags))
    dense = bags.instances
    if is_sparse:
        bags = bags.with_instances(sparse.csr_array(dense))
    grid, codes, here = a_block(bags, sign, weight, POOLINGS[2], LOSSES[0])
    for cell, feature, threshold, goes_left in cuts(grid):
        slot = grid.slot[cell]
        cut = cell - grid.cells[slot]
        left = side_values(dense[:, feature], threshold, goes_left)
        twice = np.array([slot, slot]), np.array([cut, cut])
        np.testing.assert_array_equal(codes.left_of(*twice), [left.astype(bool)] * 2)
        expected = [np.add.reduceat(here.weights * m, bags.offsets[:-1]) for m in (left, 1 - left)]
        shares = codes.shares(*twice, here.weights)
        np.testing.assert_allclose(shares, [expected, expected])


@pytest.mark.kernel
@pytest.mark.parametrize("n_blocks", [2, 3, 20])
def test_sums_of_blocks_add_up(n_blocks):
    labelled = random_bags(n_bags=15, seed=8)
    grid = Grid.from_instances(labelled[0].instances)
    results = []
    for n in (1, n_blocks):
        blocks = LocalBlocks.cut(*labelled, n_blocks=n)
        codes = blocks.map(encode, grid)
        scores = blocks.map(Scores.of, POOLINGS[1], LOSSES[0])
        here = scores.map(Scores.derived, 0.0)
        results.append(
            [
                codes.sum(newton_sums, here),
                codes.sum(class_sums, here),
                scores.sum(Scores.loss_and_weight),
            ]
        )
    for one, many in zip(*results):
        np.testing.assert_allclose(one, many, atol=1e-12)


def test_blocks_share_one_grid(monkeypatch):
    bags, sign, weight = random_bags(n_bags=40, seed=9)
    whole = Grid.from_instances(bags.instances)
    shared = common_grid(LocalBlocks.cut(bags, sign, weight, n_blocks=3))
    np.testing.assert_array_equal(whole.cut, shared.cut)
    # With more rows than are needed, a sample decides, but every missing value counts.
    monkeypatch.setattr("mixedbag.engines._sampling.LIMIT", 30)
    X = bags.instances.copy()
    X[1, 2] = np.nan
    sampled = common_grid(LocalBlocks.cut(bags.with_instances(X), sign, weight, n_blocks=3))
    assert len(sampled.cut) < len(whole.cut)
    np.testing.assert_array_equal(np.unique(sampled.feature[sampled.sees_missing]), [2])


@pytest.mark.parametrize("size", [3, 24, 25, 300, 70_000])
def test_codes_are_sorted_inside_bags_of_any_size(size):
    """Insertion sort, counting sort, and positions too wide for two bytes."""
    rng = np.random.default_rng(size)
    X = rng.normal(size=(size + 5, 2)).round(2)
    bags = Bags(X, [0, size, size + 5])
    grid = Grid.from_instances(X)
    codes = DenseCodes.of(bags, grid)
    for slot, f in enumerate(grid.feature):
        thresholds = grid.thresholds[grid.start[f] : grid.start[f + 1]]
        expected = np.searchsorted(thresholds, X[:, f])
        for begin, end in zip(bags.offsets[:-1], bags.offsets[1:]):
            here = codes.codes[slot, begin:end].astype(int)
            assert (np.diff(here) >= 0).all()
            np.testing.assert_array_equal(
                here, expected[begin:end][codes.order[slot, begin:end].astype(int)]
            )
            np.testing.assert_array_equal(
                np.sort(codes.order[slot, begin:end]), np.arange(end - begin)
            )


EXTREMES = {
    "range beyond floats": np.tile([1e308, -1e308, 0.0, 1.0, 2.0], 200),
    "long tails": np.exp(30 * np.random.default_rng(0).normal(size=1000)),
    "one threshold": np.tile([0.0, 5e-324], 500),
    "constant": np.ones(1000),
    "single precision": np.random.default_rng(1).normal(size=1000).astype(np.float32),
    "missing": np.where(np.arange(1000) % 3 == 0, np.nan, np.arange(1000.0) ** 2),
}


@pytest.mark.kernel
@pytest.mark.parametrize("kind", EXTREMES)
def test_buckets_never_change_a_code(kind):
    column = EXTREMES[kind]
    grid = Grid.from_instances(column[:, None])
    codes = LargeBagCodes.of(Bags(column[:, None], np.arange(0, 1001, 10)), grid).codes
    for slot in range(len(grid.feature)):
        expected = np.searchsorted(grid.thresholds, column.astype(float)) + grid.shift[slot]
        expected[np.isnan(column)] = grid.missing[slot]
        np.testing.assert_array_equal(codes[slot], expected)


def test_thresholds_are_midpoints_between_distinct_values():
    X = np.array([[0.0, 5.0], [1.0, 5.0], [1.0, 5.0], [4.0, 5.0]])
    grid = Grid.from_instances(X)
    np.testing.assert_array_equal(grid.thresholds, [0.5, 2.5])  # a constant feature has none
    np.testing.assert_array_equal(grid.feature, [0])


def test_many_values_get_a_byte_of_cells_and_repeating_rows_changes_nothing():
    X = np.random.default_rng(0).normal(size=(2000, 3))
    grid = Grid.from_instances(X)
    assert (np.diff(grid.start) == MAX_CELLS - 1).all()
    again = Grid.from_instances(np.repeat(X, 2, axis=0))
    np.testing.assert_array_equal(grid.thresholds, again.thresholds)


def test_adjacent_floats_stay_apart():
    low = 1.0
    high = np.nextafter(low, 2.0)
    grid = Grid.from_instances(np.array([[low], [high]]))
    assert low <= grid.thresholds[0] < high


def test_nothing_varies():
    grid = Grid.from_instances(np.ones((5, 2)))
    assert len(grid.cut) == 1
    assert grid.cut[0] == np.inf
