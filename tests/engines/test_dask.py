"""Bags on a cluster: read whole, split bags brought together, sums added on the workers."""

import numpy as np
import pytest

from mixedbag import Bags
from mixedbag.bags import bag_labels
from mixedbag.engines import Labelled, LocalBlocks

DistributedBags = pytest.importorskip("mixedbag.engines.dask").DistributedBags


def row_count(block):
    return block.bags.n_instances


def everything(block):
    return [(block.bags.ids.tolist(), np.array(block.bags.instances), block.target)]


@pytest.mark.parametrize("cuts", [[100, 200], [3, 101, 202, 203, 299], []])
@pytest.mark.parametrize("shuffled", [False, True])
def test_bags_arrive_whole_and_in_order(client, write, table, tmp_path, cuts, shuffled):
    if shuffled:
        order = np.random.default_rng(1).permutation(300)
        table = [column[order] for column in table]
    write(tmp_path, *table, cuts)
    found = DistributedBags.from_parquet(tmp_path, bag="mol", label="active", client=client)
    expected = Bags.from_groups(table[0], table[1])
    assert (found.n_bags, found.n_instances, found.n_features) == (60, 300, 3)
    assert found.feature_names == ["f0", "f1", "f2"]
    assert found.labels.tolist() == [0, 1]
    parts = found.blocks.sum(everything)
    assert [name for ids, _, _ in parts for name in ids] == expected.ids.tolist()
    np.testing.assert_array_equal(np.concatenate([x for _, x, _ in parts]), expected.instances)
    labels = np.concatenate([y for _, _, y in parts])
    np.testing.assert_array_equal(labels, bag_labels(table[2], table[1]))


def test_sums_are_those_of_the_local_engine(client, write, table, tmp_path):
    write(tmp_path, *table, [150])
    found = DistributedBags.from_parquet(tmp_path / "*.parquet", "mol", "active", client=client)
    bags = Bags.from_groups(table[0], table[1])
    local = LocalBlocks.cut(bags, np.ones(60), np.ones(60), n_blocks=4)
    assert found.blocks.sum(row_count) == local.sum(row_count) == 300
    assert sum(found.blocks.map(row_count).collect(int)) == 300


def test_bags_without_weight_are_left_out_whole_files_of_them_too(client, write, table, tmp_path):
    rows, groups, labels = table
    bag = np.repeat(np.arange(60), 5)
    rows[:, 0] = (bag >= 20) & (bag != 50)
    write(tmp_path, rows, groups, labels, [100, 200])
    found = DistributedBags.from_parquet(tmp_path, "mol", "active", weight="f0", client=client)
    ids = [name for part, _, _ in found.blocks.sum(everything) for name in part]
    assert ids == [f"m{i}" for i in range(20, 60) if i != 50]
    assert found.n_bags == 39
    (tmp_path / "part-1.parquet").unlink()
    (tmp_path / "part-2.parquet").unlink()
    with pytest.raises(ValueError, match="no bags in these files, or none of any weight"):
        DistributedBags.from_parquet(tmp_path, "mol", "active", weight="f0", client=client)


def test_errors_reach_the_client(client, write, table, tmp_path):
    rows, groups, labels = table
    labels = labels.copy()
    labels[7] = 1 - labels[7]
    write(tmp_path, rows, groups, labels, [])
    with pytest.raises(ValueError, match="bag 'm1' has two labels"):
        DistributedBags.from_parquet(tmp_path, "mol", "active", client=client)
    with pytest.raises(ValueError, match="no column 'molecule'"):
        DistributedBags.from_parquet(tmp_path, "molecule", "active", client=client)
    with pytest.raises(FileNotFoundError, match="no Parquet file"):
        DistributedBags.from_parquet(tmp_path / "none*.parquet", "mol", "active", client=client)


def test_local_blocks_keep_bags_whole():
    bags = Bags(np.zeros((100, 1)), [0, 90, 91, 95, 100])
    blocks = LocalBlocks.cut(bags, np.arange(4), np.ones(4), n_blocks=3)
    assert np.concatenate([b.target for b in blocks.blocks]).tolist() == [0, 1, 2, 3]
    assert all(isinstance(b, Labelled) for b in blocks.blocks)
    assert sum(blocks.map(row_count).blocks) == 100
