"""A column may be written with another decimal mark than the rest of its table."""

import numpy as np
import pandas as pd
import pytest

from mixedbag import Bags
from mixedbag.datasets import DataFormatError, read

POINTS = [f"{i / 8}" for i in range(40)]
BAGS = [f"m{i // 4}" for i in range(40)]
NOTE = "column 'y' is written with decimal commas"


def frame(values, **others):
    return pd.DataFrame({"bag": BAGS, "x": POINTS, "w": POINTS, "y": values, **others})


def sources(folder, table, delimiters=";\t|"):
    for number, delimiter in enumerate(delimiters):
        path = folder / f"{number}.csv"
        table.to_csv(path, index=False, sep=delimiter)
        yield path
    yield table


@pytest.mark.parametrize(
    "values",
    [
        [f"{i / 7:.4f}".replace(".", ",") for i in range(40)],
        [str(i) for i in range(39)] + ["-0,5"],
        ["", "NA", " 1,5 ", "+2,25e3"] * 10,
        ["1,234", "1234,5"] * 20,
        ["0,125"] * 39 + ["1,250"],
    ],
)
def test_a_column_of_decimal_commas_is_one_of_numbers(tmp_path, values):
    """By every way to write the table, and as Python reads numbers."""
    missing = {"": "nan", "NA": "nan"}
    expected = [float(missing.get(v, v.strip().replace(",", "."))) for v in values]
    for source in sources(tmp_path, frame(values)):
        data = read(source, "bag")
        assert data.bags.feature_names == ["x", "w", "y"]
        np.testing.assert_array_equal(data.bags.instances[:, 2], expected)
        assert data.notes.count(NOTE) == 1
        assert not any("numbers have a decimal comma" in note for note in data.notes)


def test_points_among_commas(tmp_path):
    commas = [v.replace(".", ",") for v in POINTS]
    table = pd.DataFrame({"bag": BAGS, "x": commas, "w": commas, "y": POINTS})
    for source in sources(tmp_path, table):
        data = read(source, "bag")
        np.testing.assert_array_equal(data.bags.instances[:, 2], np.arange(40) / 8)
        # Of a frame, nobody says which mark is the rest's: each column of commas is told of.
        told = [note for note in data.notes if "decimal" in note]
        file = ["numbers have a decimal comma", "column 'y' is written with decimal points"]
        columns = [f"column {name!r} is written with decimal commas" for name in "xw"]
        assert told == (columns if source is table else file)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (
            [f"{i + 1},{i:03d}" for i in range(40)],
            "its commas may part thousands (ROW has '1,000')",
        ),
        ([f"{i},5" for i in range(39)] + ["1,234,567"], None),
    ],
)
def test_what_may_be_something_else_stays_text(tmp_path, values, reason):
    for source in sources(tmp_path, frame(values)):
        data = read(source, "bag")
        assert data.bags.feature_names == ["x", "w"]
        (note,) = [note for note in data.notes if "'y' left out" in note]
        place = "row 0" if isinstance(source, pd.DataFrame) else "line 2"
        assert note.endswith(reason.replace("ROW", place) if reason else "')")


def test_a_column_of_both_marks_is_refused(tmp_path):
    for source in sources(tmp_path, frame([f"{i},5" for i in range(39)] + ["1.5"])):
        with pytest.raises(
            DataFormatError, match=r"column 'y' mixes text .*'0,5'.*, number .*'1.5'"
        ):
            read(source, "bag")


def test_commas_that_part_columns_are_no_decimal_ones(tmp_path):
    table = frame([f"{i},5" for i in range(40)])
    (path, _) = sources(tmp_path, table, ",")
    data = read(path, "bag")
    assert data.bags.feature_names == ["x", "w"]
    (note,) = [note for note in data.notes if "'y' left out" in note]
    assert note.endswith(
        "decimal commas are not understood where commas part the columns (line 2 has '0,5')"
    )
    asked = read(path, "bag", query="select bag, x, y from data")
    assert asked.bags.feature_names == ["x"]
    with pytest.raises(DataFormatError, match=r"'y' cannot be a feature: .* commas part the"):
        read(path, "bag", features=["x", "y"])


def test_labels_weights_and_times_may_have_their_own_mark(tmp_path):
    amount = [f"{i // 4},5" for i in range(40)]
    times = [f"{-i},25" for i in range(40)]
    table = pd.DataFrame({"bag": BAGS, "x": POINTS, "w": POINTS, "y": amount, "t": times})
    for source in sources(tmp_path, table):
        data = read(source, "bag", "y", time="t")
        assert data.y.tolist() == [i + 0.5 for i in range(10)]
        assert data.bags[0][:, 0].tolist() == [0.375, 0.25, 0.125, 0.0]
        assert read(source, "bag", weight="y").weight.tolist() == [i + 0.5 for i in range(10)]


def test_queries_see_numbers(tmp_path):
    table = frame([f"{i},5" for i in range(40)])
    for source in sources(tmp_path, table):
        data = read(source, "bag", query="select bag, sum(y) as y from data group by bag")
        assert data.bags.instances.sum() == sum(i + 0.5 for i in range(40))
        assert NOTE in data.notes


def test_a_frame_is_understood_as_its_file(tmp_path):
    table = frame([f"{i},5" for i in range(40)])
    (path, _) = sources(tmp_path, table, ";")
    bags = Bags.from_frame(table, "bag")
    np.testing.assert_array_equal(bags.instances, read(path, "bag").bags.instances)
