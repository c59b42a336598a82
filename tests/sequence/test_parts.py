"""Large blocks, as those of a disk: looked at part by part, and first guesses from a sample."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.utils import check_random_state

from mixedbag.engines import LocalBlocks
from mixedbag.sequence import ARHMMClassifier, _parts, _start
from mixedbag.sequence._chain import Chain
from mixedbag.sequence._parts import in_parts
from tests.sequence.worlds import make_world


@pytest.fixture(scope="module")
def world():
    return make_world()


def blocks_of(bags, y, n_blocks):
    target = np.where(y == y[0], 1.0, -1.0)
    return LocalBlocks.cut(bags, target, np.ones(len(bags)), n_blocks=n_blocks)


def test_a_large_block_is_looked_at_part_by_part(world, monkeypatch):
    bags, y, _ = world
    monkeypatch.setattr(_parts, "SAMPLES", bags.n_instances // 6)
    sizes = []

    @in_parts
    def weighted(block, factor):
        sizes.append(block.bags.n_instances)
        return factor * (block.weight @ block.target)

    (block,) = blocks_of(bags, y, 1).blocks
    assert weighted(block, 3.0) == 3.0 * block.target.sum()
    assert len(sizes) == 6
    assert sum(sizes) == bags.n_instances
    assert max(sizes) <= bags.n_instances // 6 + bags.sizes.max()


def test_the_first_guess_looks_at_the_same_few_bags_in_any_blocks(world, monkeypatch):
    bags, y, _ = world
    few = bags.n_instances // 4
    monkeypatch.setattr(_start, "SAMPLE", few * bags.n_features)
    looked_at = []
    guess = _start._window_states

    def noted(rows, *others):
        looked_at.append(len(rows))
        return guess(rows, *others)

    monkeypatch.setattr(_start, "_window_states", noted)
    settings = ARHMMClassifier(n_states=3, order=2, n_init=1)
    one, other = (
        _start.find_states(blocks_of(bags, y, n), Chain, settings, check_random_state(0))
        for n in (1, 7)
    )
    assert looked_at[0] == looked_at[1] < 1.5 * few
    assert_allclose(one.emission.coefficients, other.emission.coefficients, rtol=1e-6, atol=1e-9)
