"""Blocks of whole bags: together they are the file."""

import errno
import gc
import json
import sqlite3
import weakref
from pathlib import Path
from tempfile import gettempdir

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from mixedbag.datasets import DataFormatError, read, read_blocks
from mixedbag.tables import Roles, _planning
from mixedbag.tables._engine import parquet_scan, sandbox, spooled
from mixedbag.tables._fetching import in_order
from mixedbag.tables._relation import Part, Relation
from mixedbag.tables._sources import open_relation
from tests.datasets.samples import ARFF, C45

SIZES = [3, 1, 4, 1, 5, 9, 2, 6]


@pytest.fixture(params=["csv", "csv.gz", "parquet"])
def table(request, tmp_path):
    pandas = pytest.importorskip("pandas")
    rows = np.arange(sum(SIZES), dtype=float)
    frame = pandas.DataFrame(
        {
            "molecule": np.repeat([f"m{i}" for i in range(len(SIZES))], SIZES),
            "active": np.repeat(np.arange(len(SIZES)) % 2, SIZES),
            "x": rows,
            "late": np.where(rows < 20, np.nan, rows),
            "shape": [f"s{r:g}" for r in rows],
        }
    )
    path = tmp_path / f"table.{request.param}"
    if request.param == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    return path, frame


@pytest.mark.parametrize("rows", [1, 4, 10, 1000])
def test_blocks_make_up_the_file(table, rows):
    path, _ = table
    options = {"bag": "molecule", "label": "active", "instance": "shape", "features": ["late", "x"]}
    whole = read(path, **options)
    blocks = list(read_blocks(path, **options, rows=rows))
    assert all(block.bags.n_instances >= rows for block in blocks[:-1])
    assert rows >= 1000 or len(blocks) > 1
    for part in ("y", "instance_ids"):
        together = np.concatenate([getattr(block, part) for block in blocks])
        assert together.tolist() == getattr(whole, part).tolist()
    assert [i for block in blocks for i in block.bags.ids] == whole.bags.ids.tolist()
    np.testing.assert_array_equal(
        np.concatenate([block.bags.instances for block in blocks]), whole.bags.instances
    )


def test_values_of_text_are_features_of_every_block(table):
    path, frame = table
    blocks = list(read_blocks(path, "molecule", features=["shape=s3", "x", "shape=no"], rows=4))
    rows = np.concatenate([block.bags.instances for block in blocks])
    expected = np.column_stack([frame["shape"] == "s3", frame["x"], np.zeros(len(frame))])
    np.testing.assert_array_equal(rows, expected)
    with pytest.raises(DataFormatError, match="column 'shape'"):
        list(read_blocks(path, "molecule", features=["shape"], rows=4))


def test_without_names_all_columns_are_features(tmp_path):
    (tmp_path / "t.csv").write_text("bag,x,y\na,1,2\nb,3,4\n")
    blocks = list(read_blocks(tmp_path / "t.csv", rows=1))
    assert [block.bags.instances.tolist() for block in blocks] == [[[1, 2]], [[3, 4]]]


def test_numbers_with_equal_hashes_are_two_bags(tmp_path):
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"bag": [-1, -2], "x": [1.0, 2.0]}).to_parquet(tmp_path / "t.parquet")
    (block,) = read_blocks(tmp_path / "t.parquet", features=["x"])
    assert block.bags.ids.tolist() == [-1, -2]


def test_rows_of_a_bag_need_not_be_adjacent(table):
    path, frame = table
    shuffled = frame.sample(frac=1, random_state=0)
    shuffled.to_parquet(path) if path.suffix == ".parquet" else shuffled.to_csv(path, index=False)
    blocks = list(read_blocks(path, "molecule", "active", features=["x"], rows=4))
    order = shuffled["molecule"].unique().tolist()
    assert [i for block in blocks for i in block.bags.ids] == order
    for block in blocks:
        for i, name in enumerate(block.bags.ids):
            expected = shuffled[shuffled["molecule"] == name]
            assert block.bags[i].ravel().tolist() == expected["x"].tolist()
            assert block.y[i] == expected["active"].iloc[0]


def test_blocks_that_were_looked_at_are_forgotten(tmp_path):
    lines = [f"b{i // 10},{i}" for i in range(60_000)]
    (tmp_path / "t.csv").write_text("\n".join(["bag,x", *lines]))
    seen: list = []
    for block in read_blocks(tmp_path / "t.csv", rows=10_000):
        gc.collect()
        assert not any(values() is not None for values in seen)
        X = block.bags.instances
        seen.append(weakref.ref(X if X.base is None else X.base))
        del block, X
    assert len(seen) > 4


def test_errors_keep_their_lines(table):
    path, frame = table
    frame.loc[20, "x"] = np.inf
    frame.loc[10, "active"] = 7
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    for feature, options, row in (("x", {}, 20), ("late", {"label": "active"}, 10)):
        with pytest.raises(DataFormatError) as caught:
            list(read_blocks(path, "molecule", features=[feature], rows=2, **options))
        if path.suffix == ".parquet":
            assert f"row {row}" in caught.value.reason
        else:
            assert caught.value.line == row + 2


def test_other_formats_are_cut_after_reading(tmp_path):
    path = tmp_path / "file"
    path.write_text(ARFF)
    blocks = list(read_blocks(path, features=["f1"], rows=1))
    assert [block.y.tolist() for block in blocks] == [[1], [0]]
    assert [block.weight.tolist() for block in blocks] == [[6], [1]]
    path.write_text(C45)
    blocks = list(read_blocks(path, features=["f1", "f2"], rows=1))
    assert [block.instance_ids.tolist() for block in blocks] == [["a1", "a2"], ["b1"]]


def test_senseless_requests(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(read_blocks(tmp_path / "none", features=["x"]))
    with pytest.raises(ValueError, match="rows"):
        list(read_blocks(tmp_path / "none", features=["x"], rows=0))
    (tmp_path / "header.csv").write_text("bag,x\n")
    with pytest.raises(DataFormatError, match="no rows below the header"):
        list(read_blocks(tmp_path / "header.csv", features=["x"]))


def test_batches_that_overtake_each_other_are_put_in_order():
    pa = pytest.importorskip("pyarrow")
    parts = [[4, 5, 6, 9], [0, 1], [7, 8, 2, 3]]
    batches = [pa.record_batch({"row": part, "x": [10 * i for i in part]}) for part in parts]
    relation = Relation(None, [], [], [Part("a.csv", 0, 10)])
    found = pa.Table.from_batches(in_order(relation, batches))
    assert found["row"].to_pylist() == list(range(10))
    assert found["x"].to_pylist() == list(range(0, 100, 10))
    for some in (batches[:2], [*batches, batches[1]]):
        with pytest.raises(DataFormatError, match="rows read of 10"):
            list(in_order(relation, some))


def test_large_groups_of_rows_have_the_memory_that_they_need(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = np.arange(90_000)
    noise = np.random.default_rng(0).normal(size=len(rows))
    columns = {"bag": rows // 10, **{f"x{j}": noise * j for j in range(1, 80)}}
    path = tmp_path / "wide.parquet"
    parquet.write_table(pa.table(columns), path, row_group_size=45_000, compression="none")
    blocks = read_blocks(path, rows=20_000)
    assert sum(block.bags.instances[:, 2].sum() for block in blocks) == pytest.approx(
        noise.sum() * 3
    )


@pytest.mark.parametrize("name", ["table.json", "table.jsonl"])
def test_json_is_read_in_blocks(tmp_path, name):
    rows = [{"bag": i // 3, "label": i // 3 % 2, "x": i + 0.5} for i in range(30)]
    text = json.dumps(rows) if name == "table.json" else "\n".join(map(json.dumps, rows))
    (tmp_path / name).write_text(text)
    blocks = list(read_blocks(tmp_path / name, features=["x"], rows=10))
    assert len(blocks) > 1
    x = np.concatenate([block.bags.instances for block in blocks])
    np.testing.assert_array_equal(x.ravel(), [row["x"] for row in rows])


def test_an_engine_that_needs_more_memory_is_given_it(tmp_path, monkeypatch):
    path = tmp_path / "wide.csv"
    names = [f"x{j}" for j in range(600)]
    lines = [f"{i // 2},{','.join(str(i + j) for j in range(600))}" for i in range(20)]
    path.write_text("\n".join([f"bag,{','.join(names)}", *lines]))
    expected = np.add.outer(np.arange(20.0), np.arange(600))
    limits = [{"memory_limit": "10MB"}, {"memory_limit": "400MB"}]  # of which it takes 40
    monkeypatch.setattr(_planning, "engine_limits", lambda *_: limits)
    blocks = list(read_blocks(path, features=names, rows=5))
    np.testing.assert_array_equal(np.concatenate([b.bags.instances for b in blocks]), expected)
    limits.pop()
    with pytest.raises(MemoryError, match=r"allocate|pin"):
        list(read_blocks(path, features=names, rows=5))


@pytest.mark.parametrize("kind", ["sqlite", "arrow"])
def test_wide_tables_of_few_rows_have_the_memory_that_they_need(tmp_path, kind):
    width = 60 if kind == "sqlite" else 2000  # whose numbers are text
    frame = pd.DataFrame({f"x{j}": np.arange(4) * 1.5 + j for j in range(width)})
    source = table = frame.assign(bag=[1, 1, 2, 2])
    if kind == "sqlite":
        source = tmp_path / "t.db"
        with sqlite3.connect(source) as database:
            table.to_sql("t", database, index=False)
        database.close()
    blocks = [block.bags.instances for block in read_blocks(source, rows=2)]
    np.testing.assert_array_equal(np.concatenate(blocks), frame)


def test_an_engine_without_memory_is_no_fault_of_the_table():
    with (
        pytest.raises(MemoryError, match="failed to allocate"),
        _planning.engine_on(pd.DataFrame()),
    ):
        raise pa.ArrowInvalid("Out of Memory Error: failed to allocate data")


@pytest.mark.parametrize("written", ["_text.spooled", "_json._fill"])
def test_a_full_disk_is_no_fault_of_the_table(tmp_path, monkeypatch, written):
    def full(*_):
        raise duckdb.IOException("Could not write file: No space left on device")

    monkeypatch.setattr(f"mixedbag.tables.{written}", full)
    is_json = written.startswith("_json")
    (tmp_path / "table").write_text('[{"bag": 1, "x": 2}]' if is_json else "bag,x\n1,2\n")
    with pytest.raises(OSError, match="No space left") as caught:
        read(tmp_path / "table")
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == gettempdir()


def test_wide_text_is_spooled_in_large_groups(tmp_path):
    line = "a" + ",0" * 700 + "\n"
    names = ",".join(f"x{j}" for j in range(700))
    (tmp_path / "wide.csv").write_text(f"bag,{names}\n" + 15_000 * line)
    with _planning.engine_on(tmp_path / "wide.csv") as (con, folder):
        open_relation(con, folder, tmp_path / "wide.csv", Roles())
        (spool,) = Path(folder).glob("*.parquet")
        about = parquet.read_metadata(spool)
    assert about.num_row_groups <= 1 + about.num_rows // 2048


def test_spooled_rows_keep_their_order_in_little_memory():
    with sandbox(limits={"memory_limit": "80MB"}) as (con, folder):
        n_rows = 3_000_000
        path, found = spooled(con, f"select i, i / 7 as x from range({n_rows}) t(i)", 2, folder)
        wrong = con.execute(
            f"select count_if(i <> file_row_number or x <> i / 7) from {parquet_scan(path)}"
        )
        assert (found, wrong.fetchone()[0]) == (n_rows, 0)


def test_a_large_group_of_rows_is_not_fetched_at_once(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path, column = tmp_path / "large.parquet", np.arange(1_000_000) * 0.7
    table = pa.table({f"x{j}": column + j for j in range(12)})  # 96 MB
    parquet.write_table(table, path, len(column), use_dictionary=False, compression="none")
    with sandbox([path], {"memory_limit": "40MB", "threads": "1"}) as (con, _):
        sums = con.execute(f"select sum(columns('x.*')) from {parquet_scan(str(path))}").fetchone()
    assert sums == pytest.approx([column.sum() + j * len(column) for j in range(12)])
