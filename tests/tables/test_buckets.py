"""Rows brought together in bounded memory: as in memory, whatever the buckets."""

from functools import cache

import numpy as np
import pytest

from mixedbag.datasets import DataFormatError, read, read_blocks
from mixedbag.tables import _gathering
from mixedbag.tables._arrays import as_array
from mixedbag.tables._buckets import Rows, parted

pa = pytest.importorskip("pyarrow")


@pytest.mark.parametrize("n_buckets", [1, 3, 400])
def test_rows_of_a_bucket_keep_their_order(tmp_path, n_buckets):
    rng = np.random.default_rng(0)
    bucket = rng.integers(n_buckets, size=1000)
    about = pa.table({
        "bucket": bucket,
        "row": np.arange(1000),
        "when": [None if i % 3 == 0 else i / 2 for i in range(1000)],
        "name": [None if i % 7 == 0 else "é" * (i % 5) for i in range(1000)],
    })  # fmt: skip
    X = rng.normal(size=(1000, 3)).astype(np.float32)
    pieces = (
        Rows(batch, X[130 * i : 130 * i + 130])
        for i, batch in enumerate(about.to_batches(max_chunksize=130))
    )
    found = list(parted(pieces, n_buckets, tmp_path, may_miss={"when"}))
    assert len(found) == len(np.unique(bucket))
    for rows, number in zip(found, np.unique(bucket)):
        which = np.flatnonzero(bucket == number)
        expected = about.drop_columns(["bucket"]).take(pa.array(which))
        assert pa.Table.from_batches([rows.about]).equals(expected)
        np.testing.assert_array_equal(rows.X, X[which])
    assert not list(tmp_path.iterdir())


ORDERS = {
    "scattered": lambda rng, bag: bag,
    "adjacent": lambda rng, bag: np.sort(bag)[::-1],
    "in the order of ids": lambda rng, bag: np.sort(bag),
    "a bag in two runs": lambda rng, bag: np.concatenate([bag[:1], np.sort(bag[1:])]),
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Tables by order and prefix of their ids, and what is read of them whole: made once each."""
    folder = tmp_path_factory.mktemp("tables")

    @cache
    def written(order, prefix):
        rng = np.random.default_rng(1)
        bag = ORDERS[order](rng, rng.choice(40, size=1500, p=rng.dirichlet(np.full(40, 0.3))))
        rows = [(f"{prefix}{b}", b % 2, rng.integers(9), f"p{b % 3}") for b in bag.tolist()]
        lines = [",".join(map(str, (*row, i))) for i, row in enumerate(rows)]
        path = folder / f"{prefix} {order}.csv"
        path.write_text("\n".join(["bag,label,when,g,x", *lines]))
        return path, [(options, read(path, **options)) for options in OPTIONS]

    return written


OPTIONS = ({}, {"time": "when"}, {"instance": "when", "group": "g"})
BUCKETS, ROWS = (10, 300, 10**6), (1, 300, 1499)


@pytest.mark.parametrize("bucket", BUCKETS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("prefix", ["", "b"])
def test_bags_in_blocks_are_those_of_a_whole_table(tables, monkeypatch, order, bucket, prefix):
    path, wholes = tables(order, prefix)
    monkeypatch.setattr(_gathering, "_BUCKET", bucket)
    monkeypatch.setattr(_gathering, "_BATCH", 1)  # as few rows as the engine gives
    turn = BUCKETS.index(bucket) + len(prefix)  # all options meet all numbers of rows in the end
    for k, (options, whole) in enumerate(wholes):
        rows = ROWS[(k + turn) % 3]
        blocks = list(read_blocks(path, **options, rows=rows))
        assert all(block.bags.n_instances >= rows for block in blocks[:-1])
        ids = [i for block in blocks for i in block.bags.ids]
        if bucket == 10**6 or order in ("adjacent", "in the order of ids"):
            assert ids == whole.bags.ids.tolist()
        assert sorted(ids) == sorted(whole.bags.ids.tolist())
        for block in blocks:
            which = np.array([whole.bags.ids.tolist().index(i) for i in block.bags.ids])
            rows_of = whole.bags.rows_of(which)
            np.testing.assert_array_equal(block.bags.sizes, whole.bags.sizes[which])
            np.testing.assert_array_equal(block.bags.instances, whole.bags.instances[rows_of])
            for part, place in (("y", which), ("groups", which), ("instance_ids", rows_of)):
                found, expected = getattr(block, part), getattr(whole, part)
                assert (found is None) == (expected is None)
                assert found is None or found.tolist() == expected[place].tolist()


def test_rows_that_disagree_are_named_from_any_bucket(tmp_path, monkeypatch):
    monkeypatch.setattr(_gathering, "_BUCKET", 10)
    rng = np.random.default_rng(0)
    bag = rng.integers(5, size=300)
    lines = [f"b{b},{b % 2},{i}" for i, b in enumerate(bag.tolist())]
    lines[200] = f"b{bag[200]},7,200"
    (tmp_path / "t.csv").write_text("\n".join(["bag,label,x", *lines]))
    with pytest.raises(DataFormatError, match="has two labels") as caught:
        list(read_blocks(tmp_path / "t.csv", rows=20))
    assert caught.value.line == 202


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
