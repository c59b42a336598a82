"""Tables with named columns: CSV, TSV, Parquet; what becomes of every column."""

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from mixedbag.bags import Bags
from mixedbag.datasets import DataFormatError, read
from mixedbag.tables import read_rows
from tests.datasets.samples import CSV


@pytest.fixture
def write(tmp_path):
    def write(text, name="table.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_reads_a_table_and_says_what_it_did(write):
    data = read(write(CSV), bag="molecule", label="active", instance="shape")
    assert data.bags.feature_names == ["charge", "polar", "pH"]
    np.testing.assert_array_equal(
        data.bags.instances, [[0.5, 1, 7], [np.nan, 0, np.nan], [-0.1, 1, 6.5]]
    )
    assert data.bags.ids.tolist() == ["m-1", "m-2"]
    assert data.y.tolist() == ["yes", "no"]
    assert data.instance_ids.tolist() == [1, 2, 3]
    notes = "\n".join(data.notes)
    assert "2 bags (1 of yes, 1 of no), 3 instances of 3 features" in notes
    assert "'colour' left out: it is text of 2 values in 3 rows (line 2 has 'red')" in notes
    assert "column 'charge': 1 missing values read as NaN" in notes


ATOMS = """bag,label,charge,type,name,note
a,1,0.5,br,n1,same
a,1,0.25,c,n2,same
b,0,0.5,,n3,same
b,0,1,c,n4,same
b,0,2,br,n5,same
"""


def test_text_of_few_values_is_coded(write):
    data = read(write(ATOMS))
    assert data.bags.feature_names == ["charge", "type=br", "type=c"]
    np.testing.assert_array_equal(
        data.bags.instances[:, 1:], [[1, 0], [0, 1], [0, 0], [0, 1], [1, 0]]
    )
    notes = "\n".join(data.notes)
    assert "column 'type' is text: type=br, type=c say which" in notes
    assert "column 'type': 1 missing values read as none of these" in notes
    assert "'name' left out: it is text of 5 values in 5 rows" in notes
    assert "'note' left out: it has no other value than 'same'" in notes


def test_values_of_text_can_be_asked_for(write):
    whole = read(write(ATOMS)).bags.instances
    asked = read(write(ATOMS), features=["type=c", "charge", "type=zn"])
    assert asked.bags.feature_names == ["type=c", "charge", "type=zn"]
    np.testing.assert_array_equal(asked.bags.instances[:, :2], whole[:, [2, 0]])
    assert not asked.bags.instances[:, 2].any()
    assert read(write(ATOMS), features=["type"]).bags.feature_names == ["type=br", "type=c"]
    literal = ATOMS.replace("charge", "type=c")
    with pytest.raises(DataFormatError, match="two columns are called 'type=c'"):
        read(write(literal))
    assert read(write(literal), features=["type=c"]).bags.instances[0, 0] == 0.5


def test_text_of_many_values_is_left_out(write):
    rows = "".join(f"{i % 7},v{i % 31},{i / 3}\n" for i in range(100))
    data = read(write("bag,v,x\n" + rows))
    assert data.bags.feature_names == ["x"]
    assert any("text of more than 30 values in 100 rows" in note for note in data.notes)


@pytest.mark.parametrize(("mark", "name"), [("\t", "t.tsv"), (";", "t.csv"), ("\t", "t.csv")])
def test_separators(write, mark, name):
    data = read(write(CSV.replace(",", mark), name), bag="molecule", label="active")
    assert len(data.bags) == 2


def test_default_column_names(write):
    data = read(write("bag,label,x\n7,1.0,2\n7,1,3\n007,-1,3\n"))
    assert data.bags.ids.tolist() == ["7", "007"]  # not the same bag, so not numbers
    assert data.y.tolist() == [1, -1]
    assert read(write("bag,x\n1,2\n")).y is None
    assert read(write("bag,label,x\n1,0.5,2\n")).y.tolist() == [0.5]


def test_weights_features_and_drop(write):
    text = "bag,label,w,x,z\na,1,2,3,4\nb,0,1,5,6\n"
    data = read(write(text), weight="w", features=["z"])
    assert data.weight.tolist() == [2, 1]
    assert data.bags.feature_names == ["z"]
    data = read(write(text), drop=["w"])
    assert data.bags.feature_names == ["x", "z"]
    assert any("'w'" in note and "asked" in note for note in data.notes)


def test_row_numbers_are_noticed(write):
    data = read(write(",bag,number,x\n0,a,5,1\n1,a,6,0\n2,b,7,1\n"))
    assert data.bags.feature_names == ["number", "x"]
    assert any("'unnamed 1' left out" in note for note in data.notes)
    assert any("'number' only numbers the rows, yet was kept" in note for note in data.notes)


@pytest.mark.parametrize("kind", ["csv", "frame of csv", "parquet", "db"])
def test_an_index_of_pandas_is_no_feature(tmp_path, kind):
    """It was the order of the rows, and often that of the labels, before they were shuffled."""
    frame = pd.DataFrame(
        {"bag": list("aabbccdd"), "label": [0] * 4 + [1] * 4, "x": range(0, 16, 2)}
    )
    source, frame = tmp_path / "table", frame.drop(5).sample(frac=1, random_state=0)
    if kind == "parquet":
        frame.to_parquet(source)
    elif kind == "db":
        with closing(sqlite3.connect(source)) as database:
            frame.to_sql("table", database, index_label="Unnamed: 0")
    else:
        frame.to_csv(source)
    if kind == "frame of csv":
        source = pd.read_csv(source)
    data = read(source)
    assert data.bags.feature_names == ["x"]
    (note,) = (n for n in data.notes if n.endswith("left out: it only numbers the rows"))
    asked = read(source, features=[note.split("'")[1]])
    assert sorted(asked.bags.instances.ravel()) == [0, 1, 2, 3, 4, 6, 7]
    assert not any("left out" in note for note in asked.notes)


@pytest.mark.parametrize(
    "values", [(1.5, 2, 3), (1, 2, 2), (1, "", 2), ("2020-01-01", "2020-01-02", "2020-01-03")]
)
def test_a_column_without_a_name_may_say_something(write, values):
    data = read(write(",bag,x\n" + "".join(f"{v},{i},{7 - i}\n" for i, v in enumerate(values))))
    assert data.bags.feature_names == ["unnamed 1", "x"]


def test_quoted_fields_and_line_numbers(write):
    text = 'bag,label,x,comment\n"a, 1",1,2,"two\nlines"\nb,0,three,fine\n'
    with pytest.raises(DataFormatError, match=r"mixes number .* text") as caught:
        read(write(text))
    assert caught.value.line == 4
    data = read(write(text.replace("three", "3")))
    assert data.bags.ids.tolist() == ["a, 1", "b"]


def test_a_column_that_changes_its_mind_late(write):
    rows = "".join(f"{i},0,{i}.5,t\n" for i in range(1000 + 10))
    data = read(write("bag,label,x,t\n" + rows))
    assert len(data.bags) == 1000 + 10
    with pytest.raises(DataFormatError, match=r"mixes number .line 2 has '0.5'., text") as caught:
        read(write("bag,label,x,t\n" + rows + "z,0,oops,t\n"))
    assert caught.value.line == 1000 + 12
    with pytest.raises(DataFormatError, match=r"mixes text .line 2 has 't'., number"):
        read(write("bag,label,x,t\n" + rows + "z,0,1.5,8\n"))


@pytest.mark.parametrize(
    ("text", "options", "line", "reason"),
    [
        (CSV, {}, 1, "say which column holds the bag; the columns are 'molecule', 'active'"),
        (CSV, {"bag": "mol"}, 1, "no column is called 'mol'"),
        (CSV, {"bag": "molecule", "label": "x"}, 1, "no column is called 'x'"),
        (CSV, {"bag": "molecule", "label": "molecule"}, 1, "cannot be two of"),
        (CSV, {"bag": "molecule", "features": ["colour"]}, None, "'colour' cannot be a feature"),
        (CSV, {"bag": "molecule", "features": ["molecule"]}, 1, "as something else"),
        (CSV.replace("m-1,yes,2", "m-1,no,2"), {"bag": "molecule", "label": "active"}, 3,
         "bag 'm-1' has two labels: 'yes' (line 2) and 'no' (line 3)"),
        (CSV.replace("m-1,yes,2", ",yes,2"), {"bag": "molecule"}, 3, "no bag in column 'molecule'"),
        (CSV.replace("m-1,yes,2", "m-1,,2"), {"bag": "molecule", "label": "active"}, 3,
         "bag 'm-1' has the label 'yes' in another row and none in this"),
        (CSV.replace("red,7", "7"), {"bag": "molecule"}, 2, "6 values where 7"),
        (CSV.replace(",7\n", ",7,8\n"), {"bag": "molecule"}, 2, "8 values where 7"),
        (CSV.replace("0.5", "inf"), {"bag": "molecule"}, 2, "not finite"),
        (CSV.replace("0.5", "half"), {"bag": "molecule"}, 4, "mixes"),
        (CSV.replace("0.5", "1_0"), {"bag": "molecule"}, 4, "mixes"),
        (CSV.replace("red,7", '"red,7'), {"bag": "molecule"}, 2, "a quote is opened"),
        ("bag,x,x\n1,2,3\n", {}, 1, "two columns are called 'x'"),
        ("bag,label\n1,2\n", {}, 1, "no column is left"),
        ("bag,x\n1,red\n", {}, None, "no column of numbers"),
        ("bag,x\n1,\n", {}, None, "no row has a value"),
        ("bag,x\n", {}, None, "no rows below the header"),
        ("1,2\n1,2\n", {}, 1, "the first line holds numbers"),
        ("bag,w,x\n1,-1,2\n", {"weight": "w"}, 2, "weight '-1' is not"),
        ("bag,w,x\n1,2,2\n1,3,2\n", {"weight": "w"}, 3, "bag 1 has two weights"),
    ],
)  # fmt: skip
def test_malformed_tables_are_refused(write, text, options, line, reason):
    with pytest.raises(DataFormatError) as caught:
        read(write(text), **options)
    assert reason in caught.value.reason
    assert caught.value.line == line


def test_plain_tables(write):
    blank = '  1.0  ?  3\t"a b"\n 4.0  5  6\t"c"\n'
    table = read_rows(write(blank), "3", delimiter=" ", drop=("4",))
    np.testing.assert_array_equal(table.X, [[1, np.nan], [4, 5]])
    assert table.y.tolist() == [3, 6]
    assert table.complete().y.tolist() == [6]
    with pytest.raises(DataFormatError, match="line 1: no value of '2'"):
        read_rows(write(blank), "2", delimiter=" ", drop=("4",))
    with pytest.raises(DataFormatError, match="line 2: a quote"):
        read_rows(write(blank[:-2]), "3", delimiter=" ", drop=("4",))
    with pytest.raises(DataFormatError, match="no column is called 'y'"):
        read_rows(write("a,b\n1,2\n"), "y", header=True)


# Parquet and data frames --------------------------------------------------------------------------


@pytest.fixture
def frame():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    return pandas.DataFrame(
        {
            "bag": ["a", "b", "a"],
            "label": [1, 0, 1],
            "x": [1.0, None, 3.0],
            "n": np.array([1, 2, 5], dtype=np.int8),
            "flag": [True, False, True],
            "digits": ["1", "2", "4"],
            "text": pandas.Categorical(["u", "v", "u"]),
            "when": pandas.to_datetime(["2020-01-01"] * 3),
        }
    )


def test_parquet_equals_csv_equals_frame(tmp_path, frame):
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    from_parquet = read(tmp_path / "t.parquet")
    from_csv = read(tmp_path / "t.csv")
    names = ["x", "n", "flag", "digits", "when"]
    assert from_parquet.bags.feature_names == from_csv.bags.feature_names == names
    np.testing.assert_array_equal(from_parquet.bags.instances, from_csv.bags.instances)
    assert from_parquet.bags.ids.tolist() == from_csv.bags.ids.tolist() == ["a", "b"]
    assert from_parquet.y.tolist() == from_csv.y.tolist() == [1, 0]
    assert from_parquet.bags.instances[0, 4] == 18262
    assert "column 'when' holds dates: they are read as days since 1970-01-01" in from_csv.notes
    assert [n.replace("line 2", "row 0") for n in from_csv.notes] == list(from_parquet.notes)
    assert read(frame).notes == from_parquet.notes
    with pytest.warns(UserWarning, match="'when' holds dates"):
        direct = Bags.from_frame(frame, bag="bag")
    np.testing.assert_array_equal(from_parquet.bags.instances, direct.instances)


def test_malformed_parquet(tmp_path, frame):
    good = tmp_path / "t.parquet"
    frame.to_parquet(good)
    (tmp_path / "cut.parquet").write_bytes(good.read_bytes()[:-20])
    with pytest.raises(DataFormatError, match="not a readable Parquet"):
        read(tmp_path / "cut.parquet")
    with pytest.raises(DataFormatError, match="no column is called 'molecule'"):
        read(good, bag="molecule")
    for column, value, reason in (
        ("bag", None, "no bag in column 'bag' .row 1."),
        ("label", [1, 0, 0], "bag 'a' has two labels: 1 .row 0. and 0 .row 2."),
        ("x", [1.0, np.inf, 3.0], "column 'x': value inf is not finite .row 1."),
        ("bag", [[1], [2], [3]], "nested"),
    ):
        changed = frame.copy()
        changed[column] = ["a", None, "b"] if value is None else value
        changed.to_parquet(tmp_path / "bad.parquet")
        with pytest.raises(DataFormatError, match=reason):
            read(tmp_path / "bad.parquet")
    frame[:0].to_parquet(good)
    with pytest.raises(DataFormatError, match="without rows"):
        read(good)


@pytest.mark.parametrize(
    ("labels", "kind", "known"),
    [
        (("3", "", "9007199254740993"), "i", [3, 9007199254740993]),
        (("0.5", "", "1.5"), "f", [0.5, 1.5]),
        (("yes", "", "no"), "O", ["yes", "no"]),
        (("true", "", "false"), "b", [True, False]),
    ],
)
def test_bags_without_label_are_told_apart(tmp_path, labels, kind, known):
    rows = "".join(f"{bag},{label},{row}\n" for row in (1, 2) for bag, label in zip("abc", labels))
    (tmp_path / "t.csv").write_text(f"bag,label,x\n{rows}")
    data, others = read(tmp_path / "t.csv").by_label()
    assert data.y.tolist() == known
    assert data.y.dtype.kind == kind
    assert data.bags.ids.tolist() == ["a", "c"]
    assert others.bags.ids.tolist() == ["b"]
    assert others.y is None
    assert "1 bag has no label" in data.notes[-1]
