"""Rows sorted in bounded memory: those of a sort in memory, whatever the buckets."""

import numpy as np
import pytest

from mixedbag.datasets import read, read_blocks
from mixedbag.tables import _buckets
from mixedbag.tables._arrays import as_array

pa = pytest.importorskip("pyarrow")


@pytest.mark.parametrize("edges", [[0], [0, 400], [0, 1, 2, 999], list(range(0, 1000, 7))])
@pytest.mark.parametrize("keys", [("first", "row"), ("first", "time", "row"), ("first",)])
@pytest.mark.parametrize("factor", [1, 2**40])
def test_rows_come_in_the_order_of_their_keys(tmp_path, edges, keys, factor):
    rng = np.random.default_rng(0)
    first = rng.permutation(1000) if len(keys) == 1 else rng.integers(1000, size=1000)
    table = pa.table({
        "first": first * factor,
        "time": rng.integers(5, size=1000).astype(float),
        "row": rng.permutation(1000) * factor,
        "name": [None if i % 7 == 0 else "é" * (i % 5) for i in range(1000)],
    })  # fmt: skip
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=130))
    edges = np.array(edges) * factor
    found = pa.Table.from_batches(list(_buckets.in_order(reader, keys, edges, tmp_path)))
    assert found.equals(table.sort_by([(key, "ascending") for key in keys]))
    assert not list(tmp_path.iterdir())


def test_shuffled_rows_in_blocks_are_those_of_a_whole_table(tmp_path, monkeypatch):
    monkeypatch.setattr(_buckets, "_PLACES", 8)
    rng = np.random.default_rng(1)
    bag = rng.choice(40, size=500, p=rng.dirichlet(np.full(40, 0.3)))
    lines = [f"{b},{b % 2},{rng.integers(9)},{i}" for i, b in enumerate(bag.tolist())]
    (tmp_path / "t.csv").write_text("\n".join(["bag,label,when,x", *lines]))
    for options in ({}, {"time": "when"}, {"instance": "when"}):
        whole = read(tmp_path / "t.csv", **options)
        for rows in (1, 30, 499):
            blocks = list(read_blocks(tmp_path / "t.csv", **options, rows=rows))
            for part in ("ids", "instances", "sizes"):
                found = np.concatenate([getattr(block.bags, part) for block in blocks])
                np.testing.assert_array_equal(found, getattr(whole.bags, part))
            np.testing.assert_array_equal(np.concatenate([b.y for b in blocks]), whole.y)
            if "instance" in options:
                names = np.concatenate([block.instance_ids for block in blocks])
                np.testing.assert_array_equal(names, whole.instance_ids)


@pytest.mark.parametrize("odd", ["007", "+7", " 7", "7.0", "x7", "9223372036854775808"])
def test_ids_are_numbers_only_where_all_are_written_as_such(tmp_path, odd):
    ids = [*range(2000), odd]
    (tmp_path / "t.csv").write_text("\n".join(["bag,x", *(f"{i},1.5" for i in ids)]))
    found = read(tmp_path / "t.csv").bags
    assert found.ids.tolist() == [str(i).strip() for i in ids] or odd == " 7"
    assert found.instances.dtype == np.float64
    (tmp_path / "t.csv").write_text("\n".join(["bag,x", *(f"{i},1.5" for i in ids[:-1])]))
    assert read(tmp_path / "t.csv").bags.ids.tolist() == ids[:-1]


def test_columns_with_missing_values_are_objects():
    assert as_array(pa.array([1, None])).tolist() == [1, None]
    assert as_array(pa.array([1, 2]).slice(1)).tolist() == [2]
