"""The same table from every kind of source is the same bags, with pandas as the oracle."""

import gzip
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import dataset, parquet

from mixedbag.bags import Bags
from mixedbag.datasets import DataFormatError, read, read_blocks
from mixedbag.exceptions import InputError
from mixedbag.tables import Roles
from mixedbag.tables._planning import engine_on
from mixedbag.tables._sources import open_relation

FRAME = pd.DataFrame(
    {
        "bag": ["b", "a", "b", "c", "a", "b"],
        "label": [1, 0, 1, 0, 0, 1],
        "x": [0.5, np.nan, 2.5, -1.0, 1e-3, 7.0],
        "type": ["br", "c", "br", None, "c", "c"],
        "n": [3, 1, 4, 1, 5, 9],
    }
)


def write_sqlite(frame, path):
    with sqlite3.connect(path) as database:
        frame.to_sql("atoms", database, index=False)
    database.close()
    return path


def write_duckdb(frame, path):
    with duckdb.connect(str(path)) as database:
        database.register("frame", frame)
        database.execute("create table atoms as select * from frame")
    return path


def write_arrow(frame, path):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return path


def write_with(method, **options):
    def write(frame, path):
        getattr(frame, method)(path, **options)
        return path

    return write


SOURCES = {
    "csv": write_with("to_csv", index=False),
    "csv.gz": write_with("to_csv", index=False),
    "csv.zst": write_with("to_csv", index=False, compression=None),
    "tsv": write_with("to_csv", index=False, sep="\t"),
    "json": write_with("to_json", orient="records"),
    "jsonl": write_with("to_json", orient="records", lines=True),
    "parquet": write_with("to_parquet", index=False),
    "arrow": write_arrow,
    "sqlite": write_sqlite,
    "duckdb": write_duckdb,
    "pandas": lambda frame, path: frame,
    "polars": lambda frame, path: pl.from_pandas(frame),
    "lazy polars": lambda frame, path: pl.from_pandas(frame).lazy(),
    "pyarrow": lambda frame, path: pa.Table.from_pandas(frame, preserve_index=False),
    "relation": lambda frame, path: duckdb.from_df(frame),
}


def from_every_source(frame, folder):
    for kind, write in SOURCES.items():
        path = folder / f"table.{kind}"
        source = write(frame, path)
        if kind == "csv.zst":
            plain = path.read_bytes()
            with pa.CompressedOutputStream(str(path), "zstd") as packed:
                packed.write(plain)
        yield kind, source


def test_every_source_is_the_same_table(tmp_path):
    expected = [[0.5, 1, 0, 3], [2.5, 1, 0, 4], [7, 0, 1, 9], [np.nan, 0, 1, 1], [1e-3, 0, 1, 5],
                [-1, 0, 0, 1]]  # fmt: skip
    told = set()
    for kind, source in from_every_source(FRAME, tmp_path):
        data = read(source)
        assert data.bags.ids.tolist() == ["b", "a", "c"], kind
        assert data.bags.feature_names == ["x", "type=br", "type=c", "n"], kind
        np.testing.assert_array_equal(data.bags.instances, expected, err_msg=kind)
        assert data.y.tolist() == [1, 0, 0], kind
        told.add(data.notes)
    assert len(told) == 1
    bags, y = Bags.from_frame(FRAME, bag="bag", label="label")
    np.testing.assert_array_equal(bags.instances, expected)
    assert y.tolist() == [1, 0, 0]


@pytest.mark.parametrize("blanks", ["", " ", "\t"])
def test_blanks_around_names_do_not_count_in_any_source(tmp_path, blanks):
    """Text files lose them: a model of one answers about a data frame that has them, and back."""
    expected = read(FRAME, features=["x", "type=br"]).bags.instances
    frame = FRAME.rename(columns=" {}".format)
    for kind, source in from_every_source(frame, tmp_path):
        asked = [f"{blanks}x", f"{blanks}type=br"]
        data = read(source, "bag", f"label{blanks}", features=asked, drop=["n"])
        assert data.bags.feature_names == asked, kind
        np.testing.assert_array_equal(data.bags.instances, expected, err_msg=kind)
        assert data.y.tolist() == [1, 0, 0], kind
    both = frame.assign(**{"x ": 0.0})
    assert not read(both, features=["x "]).bags.instances.any()
    with pytest.raises(DataFormatError, match="no column is called 'x'"):
        read(both, features=["x"])


def test_packed_files_of_every_kind_are_the_same_table(tmp_path):
    FRAME.to_parquet(tmp_path / "t.pq")
    query = "select bag, label, n from data"
    expected = read(tmp_path / "t.pq"), read(tmp_path / "t.pq", query=query)
    for kind, source in from_every_source(FRAME, tmp_path):
        if isinstance(source, Path) and source.suffix not in (".gz", ".zst"):
            for codec, ending in (("gzip", "gz"), ("zstd", "zst")):
                packed = tmp_path / f"packed-{kind}.{ending}"
                with pa.CompressedOutputStream(str(packed), codec) as file:
                    file.write(source.read_bytes())
                for same, data in zip(expected, (read(packed), read(packed, query=query))):
                    np.testing.assert_array_equal(data.bags.instances, same.bags.instances, kind)
                    assert data.notes == same.notes, packed


def test_text_in_a_wide_encoding_may_be_packed(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress("bag,x\né,1\n".encode("utf-16")))
    assert read(path).bags.ids.tolist() == ["é"]


def test_a_sqlite_column_of_binary_values_is_left_out_and_told(tmp_path):
    with sqlite3.connect(tmp_path / "t.db") as database:
        database.execute("create table cells (bag, x, image)")
        rows = [("a", 1, None), ("a", 2, "ü"), ("b", 4, b"\x00\xff")]
        database.executemany("insert into cells values (?, ?, ?)", rows)
    database.close()
    data = read(tmp_path / "t.db")
    assert data.bags.feature_names == ["x"]
    assert "column 'image' left out: its values are of type blob" in data.notes
    with pytest.raises(DataFormatError, match="'image=ü' cannot be a feature: its values are of"):
        read(tmp_path / "t.db", features=["x", "image=ü"])


def test_levels_of_an_index_are_asked_for_by_name():
    expected = read(FRAME, time="n", features=["x"])
    for levels in (["bag"], ["bag", "label"], ["bag", "n"], ["n"], ["x", "n"]):
        data = read(FRAME.set_index(levels), time="n", features=["x"])
        assert data.notes == expected.notes, levels
        np.testing.assert_array_equal(data.bags.instances, expected.bags.instances)
        assert data.y.tolist() == expected.y.tolist()
    # Those that are not asked for name the rows, and are no features.
    bags, _ = Bags.from_frame(FRAME.set_index(["bag", "label", "n"]), bag="bag", label="label")
    assert bags.feature_names == ["x", "type=br", "type=c"]
    with pytest.raises(DataFormatError, match="no column is called 'n'"):
        read(FRAME.set_index("n", drop=True).rename_axis("m"), time="n")


def test_columns_of_frames_may_be_called_by_tuples():
    frame = pd.concat({"atom": FRAME[["bag", "x"]]}, axis=1)
    bags = Bags.from_frame(frame, bag=("atom", "bag"))
    assert bags.ids.tolist() == ["b", "a", "c"]
    assert bags.feature_names == ["('atom', 'x')"]


@pytest.mark.parametrize(
    "source", [FRAME["x"], FRAME.set_index("bag")["x"], FRAME.groupby("bag"), {"bag": [1]}, [["a"]]]
)
def test_what_has_no_columns_is_no_table(source):
    with pytest.raises(InputError, match=f"{type(source).__name__} is no table with named columns"):
        read(source)


def test_a_frame_without_columns_is_refused():
    with pytest.raises(DataFormatError, match="the table: no columns"):
        read(pd.DataFrame(index=[1, 2]))


def test_data_sets_of_arrow_are_tables(tmp_path):
    expected = read(FRAME)
    FRAME.to_parquet(tmp_path / "t.parquet", index=False)
    found = dataset.dataset(tmp_path / "t.parquet")
    for source in (found, found.scanner(batch_size=2)):
        data = read(source)
        np.testing.assert_array_equal(data.bags.instances, expected.bags.instances)
        assert data.notes == expected.notes


def test_a_folder_or_files_of_two_kinds_are_no_table(tmp_path):
    (tmp_path / "a.csv").write_text("bag,x\na,1\n")
    (tmp_path / "b.csv").write_text('[{"bag": "b", "x": 2}]')
    with pytest.raises(DataFormatError, match="json cannot be one table with text"):
        read(tmp_path / "*.csv")
    with pytest.raises(InputError, match="is a folder, and a table is a file"):
        read(tmp_path, query="select * from data")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_alike_are_one_scan(tmp_path, kind):
    whole = pd.DataFrame({"bag": np.arange(80) // 3, "x": np.arange(80) % 7 / 2, "n": 1.0})
    whole.loc[40:49, "n"] = np.arange(10) / 2
    whole["file_index" if kind == "csv" else "file"] = np.arange(80) % 3
    for start in range(0, 80, 10):
        part = whole[start : start + 10].astype({"n": float if start == 40 else int})
        part = part[part.columns[::-1]] if start == 60 else part
        getattr(part, f"to_{kind}")(tmp_path / f"{start:02}.{kind}", index=False)
    if kind == "csv":
        (tmp_path / "05.csv").write_text("bag,x,n,file_index\n")
    source = tmp_path / f"*.{kind}"
    expected, data = read(whole), read(source)
    np.testing.assert_array_equal(data.bags.instances, expected.bags.instances)
    assert data.bags.ids.tolist() == expected.bags.ids.tolist()
    assert data.notes == expected.notes
    blocks = [block.bags.instances for block in read_blocks(source, rows=10)]
    np.testing.assert_array_equal(np.concatenate(blocks), expected.bags.instances)
    with engine_on(source) as (con, folder):
        open_relation(con, folder, source, Roles())
        ((view,),) = con.execute(
            "select sql from duckdb_views() where view_name = 'rows'"
        ).fetchall()
    # A text with columns in another order, and a Parquet file of other numbers, part them.
    assert view.count("read_parquet") == 3


@pytest.mark.parametrize("kind", ["csv", "parquet", "json"])
def test_marks_of_patterns_in_the_name_of_a_file_mean_no_others(tmp_path, kind):
    for name, x in (("w1", 1.5), ("w[1]", 7.5)):
        frame = pd.DataFrame({"bag": [f"{name}a", f"{name}b"], "x": [x, x + 1]})
        options = {"orient": "records"} if kind == "json" else {"index": False}
        getattr(frame, f"to_{kind}")(tmp_path / f"{name}.{kind}", **options)
    assert read(tmp_path / f"w[1].{kind}").bags.instances.ravel().tolist() == [7.5, 8.5]
    together = read(tmp_path / f"w*.{kind}")
    assert together.bags.instances.ravel().tolist() == [1.5, 2.5, 7.5, 8.5]


def test_columns_may_be_called_as_the_engine_calls_its_own(tmp_path):
    for part, bag in enumerate("ab"):
        frame = pd.DataFrame({"bag": [bag] * 2, "file_row_number": [5, part], "File_Index": [9, 3]})
        frame.to_parquet(tmp_path / f"{part}.parquet", index=False)
    expected = [[5, 9], [0, 3], [5, 9], [1, 3]]
    assert read(tmp_path / "*.parquet").bags.instances.tolist() == expected
    for part in "01":
        frame = pd.read_parquet(tmp_path / f"{part}.parquet").drop(columns="file_row_number")
        frame.to_parquet(tmp_path / f"{part}.parquet", index=False)
    assert read(tmp_path / "*.parquet").bags.instances.tolist() == [[9], [3], [9], [3]]


@pytest.mark.parametrize("rows", [["", "", ""], ["1", "", ""]])
def test_bags_without_labels_are_told_in_blocks_too(tmp_path, rows):
    lines = [f"{bag},{label},{x}" for bag, label, x in zip("abc", rows, (1, 2, 4))]
    (tmp_path / "t.csv").write_text("\n".join(["bag,label,x", *lines]))
    whole = read(tmp_path / "t.csv")
    assert whole.y.tolist() == [int(label) if label else None for label in rows]
    assert f"{rows.count('')} without label" in whole.notes[1]
    blocks = read_blocks(tmp_path / "t.csv", rows=1)
    assert [block.y.tolist() for block in blocks] == [[y] for y in whole.y.tolist()]


def test_values_asked_for_are_as_written(tmp_path):
    frame = pd.DataFrame({"bag": ["a", "a", "b"], "grade": [1, 2, 1]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    for source in (frame, tmp_path / "t.csv"):
        data = read(source, features=["grade=1"])
        assert data.bags.instances.ravel().tolist() == [1, 0, 1]


@pytest.mark.parametrize("value", [b"\xff", [1], {"a": 1}])
def test_no_nested_or_binary_value_names_an_instance(value):
    frame = pd.DataFrame({"bag": ["a", "b"], "x": [1, 2], "q": [value, value]})
    with pytest.raises(DataFormatError, match="'q' holds nested or binary values, no instances"):
        read(frame, instance="q")


def test_columns_of_frames_may_be_called_by_numbers():
    frame = FRAME[["bag", "label", "x"]].set_axis([0, 1, 2], axis=1)
    assert read(frame, 0, 1).bags.feature_names == ["2"]
    bags, y = Bags.from_frame(frame, bag=0, label=1)
    assert bags.ids.tolist() == ["b", "a", "c"]
    assert y.tolist() == [1, 0, 0]


BEYOND = [2**63, 2**70, 2**70 + 1]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"bag": pd.Series(BEYOND, dtype=object), "x": [1, 2, 4]}),
        pl.DataFrame({"bag": pl.Series(BEYOND, dtype=pl.Int128), "x": [1, 2, 4]}),
        pa.table({"bag": pa.array(BEYOND, pa.decimal256(50, 0)), "x": [1, 2, 4]}),
    ],
)
def test_whole_numbers_of_any_length_are_exact(frame):
    data = read(frame)
    assert data.bags.ids.tolist() == list(map(str, BEYOND))
    assert data.bags.instances.ravel().tolist() == [1, 2, 4]


def test_times_that_arrow_makes_numbers_of_are_as_in_a_file(tmp_path):
    frame = pd.DataFrame({"bag": [1, 1, 2], "x": [1, 2, 4]})
    for freq in ("M", "D"):
        frame["when"] = pd.period_range("2020-01", periods=3, freq=freq)
        frame.to_csv(tmp_path / "t.csv", index=False)
        data, same = read(frame), read(tmp_path / "t.csv")
        np.testing.assert_array_equal(data.bags.instances, same.bags.instances)
        assert data.bags.feature_names == same.bags.feature_names
    zoned = [pd.Timestamp("2020-01-01 01:00+01:00"), pd.Timestamp("2020-01-01 00:30"), None]
    frame["when"] = pd.Series(zoned, dtype=object)
    with pytest.raises(DataFormatError, match=r"column 'when' mixes date with a time zone .row 0"):
        read(frame)


def written_by_pandas(frame, folder):
    frame.to_parquet(folder / "t.parquet")
    frame.to_csv(folder / "t.csv", index=False)
    return frame, pl.from_pandas(frame), folder / "t.parquet", folder / "t.csv"


@pytest.mark.parametrize("zone", [None, "US/Eastern"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_of_any_unit_are_dates_with_or_without_a_zone(tmp_path, unit, zone):
    when = pd.to_datetime(["2024-01-01", "2024-01-03", "2024-01-02"]).astype(f"datetime64[{unit}]")
    frame = pd.DataFrame({"bag": [1, 1, 2], "when": when.tz_localize(zone)})
    days = np.array([19723, 19725, 19724]) + (0 if zone is None else 5 / 24)
    for source in written_by_pandas(frame, tmp_path):
        np.testing.assert_allclose(read(source).bags.instances.ravel(), days, rtol=1e-12)


@pytest.mark.parametrize("zone", [None, "US/Eastern"])
@pytest.mark.parametrize("numbers", [False, True])
def test_rows_are_in_order_to_the_nanosecond(tmp_path, zone, numbers):
    """Where days, or numbers with a point, are the same."""
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta([3, 1, 2, 0], unit="ns")
    frame = pd.DataFrame({"bag": 1, "x": [3, 1, 2, 0], "t": when.tz_localize(zone)})
    if numbers:
        frame["t"] = frame["t"].astype("int64")
    for source in written_by_pandas(frame, tmp_path):
        for data in (read(source, time="t"), *read_blocks(source, features=["x"], time="t")):
            assert data.bags.instances.ravel().tolist() == [0, 1, 2, 3]


def test_queries_on_every_source(tmp_path):
    query = "select bag, x * 2 as twice, n from {} where n > 1 order by n desc"
    for kind, source in from_every_source(FRAME, tmp_path):
        for table in ["data", "atoms"] if kind in ("sqlite", "duckdb") else ["data"]:
            data = read(source, query=query.format(table))
            assert data.bags.ids.tolist() == ["b", "a"], kind
            assert data.bags.instances.tolist() == [[14, 9], [5, 4], [1, 3], [2e-3, 5]], kind


def test_a_query_may_end_with_a_comment(tmp_path):
    for kind, source in from_every_source(FRAME, tmp_path):
        data = read(source, query="select * from data -- of the field")
        assert len(data.bags) == 3, kind


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("select nothing from data", "the query failed"),
        ("select * from read_csv('/etc/passwd')", "the query failed"),
        ("drop table data", "one select statement"),
        ("select 1; select 2", "one select statement"),
        ("copy data to 'elsewhere.csv'", "one select statement"),
        ("", "one select statement"),
        ("select * from data where n > 99", "no rows"),
    ],
)
def test_bad_queries_are_explained(tmp_path, query, reason):
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(DataFormatError, match=reason) as caught:
        read(tmp_path / "t.csv", query=query)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "elsewhere.csv").exists()


def test_sqlite_queries_only_read(tmp_path):
    path = write_sqlite(FRAME, tmp_path / "t.sqlite")
    for query in ("drop table atoms", "attach 'other.db' as other", "delete from atoms"):
        with pytest.raises(DataFormatError, match="SQLite"):
            read(path, query=query)
    assert len(read(path).bags) == 3


def test_a_sqlite_file_with_a_journal_ahead_is_read_where_none_can_be(tmp_path):
    path = write_sqlite(FRAME, tmp_path / "t.sqlite")
    with closing(sqlite3.connect(path)) as database:
        database.execute("pragma journal_mode = wal")
    tmp_path.chmod(0o555)
    if os.access(tmp_path, os.W_OK):
        pytest.skip("who runs this may write anywhere")
    assert len(read(path).bags) == 3


def test_a_database_of_several_tables_asks_for_a_query(tmp_path):
    path = write_sqlite(FRAME, tmp_path / "t.sqlite")
    with sqlite3.connect(path) as database:
        database.execute("create table more (x)")
    database.close()
    with pytest.raises(DataFormatError, match="choose with a query; 'atoms', 'more'"):
        read(path)


@pytest.mark.parametrize("query", [None, "select * from data"])
def test_a_database_whose_table_is_called_data(tmp_path, query):
    path = write_sqlite(FRAME, tmp_path / "t.sqlite")
    with sqlite3.connect(path) as database:
        database.execute("alter table atoms rename to data")
    database.close()
    assert len(read(path, query=query).bags) == 3
    with duckdb.connect(str(tmp_path / "t.duckdb")) as database:
        database.register("atoms", FRAME)
        database.execute("create table data as select * from atoms")
    assert len(read(tmp_path / "t.duckdb", query=query).bags) == 3


def test_several_files_are_one_table(tmp_path):
    FRAME[:2].to_csv(tmp_path / "p1.csv", index=False)
    FRAME[2:][["n", "type", "x", "label", "bag"]].to_csv(tmp_path / "p2.csv", index=False)
    whole = read(FRAME)
    data = read(str(tmp_path / "p*.csv"))
    assert data.bags.ids.tolist() == whole.bags.ids.tolist()
    np.testing.assert_array_equal(data.bags.instances, whole.bags.instances)
    with pytest.raises(FileNotFoundError, match="no file matches"):
        read(str(tmp_path / "q*.csv"))
    broken = FRAME[2:].assign(label=[1, 0, 0, 0])
    broken.to_csv(tmp_path / "p2.csv", index=False)
    with pytest.raises(DataFormatError, match=r"p2.csv, line 5: bag 'b' has two labels"):
        read(str(tmp_path / "p*.csv"))
    FRAME[2:].drop(columns="x").to_csv(tmp_path / "p2.csv", index=False)
    with pytest.raises(DataFormatError, match=r"p2.csv: column 'x' is not in both"):
        read(str(tmp_path / "p*.csv"))


@st.composite
def frames(draw):
    n_rows = draw(st.integers(1, 30))
    names = st.sampled_from(["a", "b", "07", "7", "é", "x,y", 'q"q', "two\nlines"])
    column = st.lists(names, min_size=n_rows, max_size=n_rows)
    numbers = st.lists(
        st.floats(-1e6, 1e6, allow_nan=False) | st.none(), min_size=n_rows, max_size=n_rows
    )
    frame = pd.DataFrame({"bag": draw(column), "x": draw(numbers), "y": draw(numbers)})
    frame["z"] = np.arange(n_rows)[::-1] * 1.0
    return frame.astype({"x": float, "y": float})


@settings(max_examples=25, deadline=None)
@given(frame=frames(), kind=st.sampled_from(["csv", "parquet", "arrow", "pandas", "polars"]))
def test_bags_are_those_of_pandas(tmp_path_factory, frame, kind):
    source = SOURCES[kind](frame, tmp_path_factory.mktemp("t") / "t")
    features = ["z", "x", "y"]
    data = read(source, bag="bag", features=features)
    ids = [str(i) for i in data.bags.ids]
    assert ids == list(dict.fromkeys(frame["bag"]))
    assert data.bags.n_instances == len(frame)
    for i, name in enumerate(ids):
        expected = frame.loc[frame["bag"] == name, features].to_numpy(float)
        np.testing.assert_array_equal(data.bags[i], expected)
    blocks = list(read_blocks(source, "bag", features=["x", "y"], rows=5, time="z"))
    assert [str(i) for block in blocks for i in block.bags.ids] == ids
    together = np.concatenate([block.bags.instances for block in blocks])
    backwards = [data.bags[i][::-1, 1:] for i in range(len(ids))]  # z decreases
    np.testing.assert_array_equal(together, np.concatenate(backwards))


def test_float32_stays_float32(tmp_path):
    frame = pd.DataFrame({"bag": [1, 2], "x": np.float32([0.1, 0.2])})
    frame.to_parquet(tmp_path / "t.parquet")
    data = read(tmp_path / "t.parquet")
    assert data.bags.instances.dtype == np.float32
    assert data.bags.instances.ravel().tolist() == frame["x"].tolist()


def test_names_of_columns_are_never_sql(tmp_path):
    name = 'x"; drop table bags; --'
    frame = pd.DataFrame({"bag": ["a", "b", "a", "b"], name: [1.0, 2, 3, 4]})
    frame["it's"] = ["u'", "v", "u'", "v"]
    for kind in ("csv", "parquet", "pandas", "duckdb", "sqlite"):
        data = read(SOURCES[kind](frame, tmp_path / f"t.{kind}"))
        assert data.bags.feature_names == [name, "it's=u'", "it's=v"]
        assert data.bags.instances[:, 0].tolist() == [1, 3, 2, 4]


def test_mixed_objects_of_pandas_are_refused_like_those_of_a_file():
    frame = pd.DataFrame({"bag": ["a", "b", "a"], "x": [1, "two", 3.5]})
    with pytest.raises(DataFormatError, match=r"column 'x' mixes number .row 0 has '1'., text"):
        read(frame)


def test_parquet_parts_must_agree_on_types(tmp_path):
    parquet.write_table(pa.table({"bag": [1, 2], "x": [1.0, 2.0]}), tmp_path / "p1.parquet")
    parquet.write_table(pa.table({"bag": ["1"], "x": [1.0]}), tmp_path / "p2.parquet")
    with pytest.raises(
        DataFormatError, match=r"p2.parquet: column 'bag' is varchar here and bigint"
    ):
        read(str(tmp_path / "p*.parquet"))


def test_parquet_parts_may_differ_in_how_they_hold_numbers(tmp_path):
    first = pa.table({"bag": [1, 1], "label": [0, 0], "x": [1, 2], "y": pa.nulls(2)})
    second = pa.table({"bag": [2], "label": [1.0], "x": [2.5], "y": [0.5]})
    third = pa.table({"bag": [3], "label": [0], "x": pa.nulls(1), "y": [4]})
    for number, table in enumerate((first, second, third)):
        parquet.write_table(table, tmp_path / f"p{number}.parquet")
        table.to_pandas().to_csv(tmp_path / f"p{number}.csv", index=False)
    data, same = (read(str(tmp_path / f"p*.{kind}")) for kind in ("parquet", "csv"))
    assert data.bags.ids.tolist() == same.bags.ids.tolist() == [1, 2, 3]
    assert data.y.tolist() == same.y.tolist() == [0, 1, 0]
    np.testing.assert_array_equal(data.bags.instances, same.bags.instances)
    # But ids must not become 1.0, and what a query makes of a column is not known.
    parquet.write_table(pa.table({**third.to_pydict(), "bag": [3.5]}), tmp_path / "p3.parquet")
    with pytest.raises(DataFormatError, match=r"column 'bag' is double here and bigint in .*p0"):
        read(str(tmp_path / "p*.parquet"))
    with pytest.raises(DataFormatError, match=r"column 'label' is double here and bigint in .*p0"):
        read(str(tmp_path / "p*.parquet"), query="select * from data")


def test_rows_of_several_files_are_named_with_their_file(tmp_path):
    (tmp_path / "a.csv").write_text("bag,label,x\nu,0,1\n")
    (tmp_path / "b.csv").write_text("bag,label,x\nv,1,1\nu,1,2\n")
    with pytest.raises(DataFormatError, match=r"0 .line 2 of a.csv. and 1 .line 3 of b.csv"):
        read(str(tmp_path / "*.csv"))


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations_are_days_whatever_holds_them(tmp_path, unit):
    long = pa.array([86_400, 43_200, None]).cast(pa.duration("s")).cast(pa.duration(unit))
    table = pa.table({"bag": [1, 1, 2], "lag": long})
    parquet.write_table(table, tmp_path / "t.parquet")
    for source in (tmp_path / "t.parquet", table, table.to_pandas(), pl.from_arrow(table)):
        data = read(source)
        assert str(data.bags.instances.ravel().tolist()) == "[1.0, 0.5, nan]"
        assert "column 'lag' holds durations: they are read as days" in data.notes
    ordered = read(table.slice(0, 2).append_column("x", pa.array([1, 2])), time="lag")
    assert ordered.bags.instances.ravel().tolist() == [2, 1]


def test_a_column_may_be_called_as_the_engine_calls_its_number(tmp_path):
    table = pa.table({"bag": np.arange(900) // 3, "File_Row_Number": np.arange(900) % 7.0})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=100)
    data = read(tmp_path / "t.parquet")
    assert data.bags.feature_names == ["File_Row_Number"]
    assert data.bags.instances.ravel().tolist() == table["File_Row_Number"].to_pylist()


def test_a_time_that_is_nan_is_refused_whatever_statistics_a_file_has(tmp_path):
    table = pa.table({"bag": ["a", "a"], "x": [1.0, 2.0], "t": [0.0, float("nan")]})
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(DataFormatError, match="no time in column 't'"):
        read(tmp_path / "t.parquet", time="t")
