"""Counts and shares with a column a class, or beside the number that they are counts of."""

import numpy as np
import pytest

from mixedbag import tables
from mixedbag.datasets import read
from mixedbag.datasets.records import class_sizes

TABLE = """place,age,no,yes,voters,yes/no
a,1.0,2,1,30,x
a,2.0,2,1,30,x
b,4.0,0,2,10,y
a,3.0,2,1,30,x
b,5.0,0,2,10,y
c,6.0,,,20,y
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "places.csv"
    path.write_text(TABLE)
    return path


@pytest.mark.parametrize("label", ["no,yes", ["no", "yes"], "no, yes"])
def test_counts_have_a_column_a_class(path, label):
    data = read(path, "place", label)
    np.testing.assert_array_equal(data.y, [[2, 1], [0, 2], [np.nan, np.nan]])
    assert data.bags.ids.tolist() == ["a", "b", "c"]
    assert data.bags.feature_names == ["age", "voters", "yes/no=x", "yes/no=y"]
    assert any("0 (no), 1 (yes)" in note for note in data.notes)
    known, others = data.by_label()
    assert len(known.bags) == 2
    assert len(others.bags) == 1


def test_counts_of_a_population_are_shares_of_it(path):
    data = read(path, "place", "yes/voters")
    np.testing.assert_allclose(data.y, [1 / 30, 2 / 10, np.nan])
    assert "voters" not in data.bags.feature_names
    assert any("1 of 0.2, 1 of 0.03" in note for note in data.notes)


def test_counts_that_are_not_of_the_rows_are_shares(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("place,age,no,yes\na,1,300,100\na,2,300,100\nb,3,50,150\n")
    data = read(path, "place", "no,yes")
    np.testing.assert_allclose(data.y, [[0.75, 0.25], [0.25, 0.75]])
    assert any("taken as shares" in note for note in data.notes)


@pytest.mark.parametrize(
    ("of", "beside", "said"),
    [
        (1, [4, 0], "bag 3 (id 'p3') has labels that add up to 6, not to 2: taken as shares"),
        (0.5, [0.4, 0], "bag 3 (id 'p3') has labels that add up to 1.4, not to 1: taken as"),
        (50, [40, 0], "bag 3 (id 'p3') has labels that add up to 140, not to 100: taken as"),
        (1, [-1, -1], "labels that are all 0 are not known (1 of 12 bags)"),
    ],
)
def test_a_bag_whose_labels_do_not_add_up_as_those_of_all_others_do_is_named(
    tmp_path, of, beside, said
):
    counts = of * np.tile([1.0, 1.0], (12, 1))
    counts[3] += beside
    lines = [f"p{i},{k},{a:g},{b:g}" for i, (a, b) in enumerate(counts) for k in range(2)]
    (tmp_path / "t.csv").write_text("\n".join(["place,age,no,yes", *lines]) + "\n")
    data = read(tmp_path / "t.csv", "place", "no,yes")
    assert any(said in note for note in data.notes)
    assert not any("more than the rows" in note for note in data.notes)
    assert any("per cent" in note for note in data.notes) == (of == 50)
    whole = counts[3].sum()
    wanted = counts[3] / whole if whole else [np.nan, np.nan]
    np.testing.assert_allclose(data.y[3], wanted)
    np.testing.assert_allclose(data.y[0], [0.5, 0.5] if whole else [1, 1])


@pytest.mark.parametrize(
    ("columns", "line", "label", "said"),
    [
        ("yes,voters", "9,4", "yes/voters", "bag 1 (id 'b') has 9 of 4 in 'voters' (1 of 3 bags"),
        ("yes,no", "1,1", "yes", "counts of both answers are the label 'no,yes'"),
    ],
)
def test_columns_that_cannot_be_what_they_are_taken_for_are_noted(
    tmp_path, columns, line, label, said
):
    rows = [f"{bag},{k},{values}" for bag, values in zip("abc", ("2,0", line, "0,2")) for k in "12"]
    if label != "yes":
        rows = [row if row[0] == "b" else f"{row[:4]}1,2" for row in rows]
    (tmp_path / "t.csv").write_text("\n".join([f"place,age,{columns}", *rows]) + "\n")
    assert any(said in note for note in read(tmp_path / "t.csv", "place", label).notes)


def test_a_mark_among_counts_is_named(tmp_path):
    (tmp_path / "t.csv").write_text('place,age,yes,voters\na,1,"1,200",3000\nb,2,7,20\n')
    with pytest.raises(ValueError, match=r"column 'yes' holds '1,200', which is no number"):
        read(tmp_path / "t.csv", "place", "yes/voters")


def test_labels_of_which_a_class_is_missing_are_not_said_to_be_of_more_people(tmp_path):
    lines = [f"p{i},{k},{0.1 * (i % 3):g},0.3" for i in range(12) for k in range(2)]
    (tmp_path / "t.csv").write_text("\n".join(["place,age,no,yes", *lines]) + "\n")
    data = read(tmp_path / "t.csv", "place", "no,yes")
    note = "bag 0 (id 'p0') has labels that add up to 0.3, not to 2, and so have 11 more: taken as"
    assert any(note in said and "missing" in said for said in data.notes)


@pytest.mark.parametrize(
    ("written", "shares"),
    [
        (["12.5%", "40 %", ""], [0.125, 0.4, np.nan]),
        (["0%", "100%", "7%"], [0.0, 1.0, 0.07]),
        (["12.5%", "many", ""], None),
    ],
)
def test_per_cent_are_shares(tmp_path, written, shares):
    path = tmp_path / "t.csv"
    lines = [f"{bag},{k},{share}" for k, (bag, share) in enumerate(zip("abc", written))]
    path.write_text("\n".join(["place,age,share", *lines]) + "\n")
    data = read(path, "place", "share")
    if shares is None:
        assert data.y.tolist() == ["12.5%", "many", None]
    else:
        np.testing.assert_allclose(data.y, shares)


@pytest.mark.parametrize(
    ("name", "numbers", "shares"),
    [
        ("pct_yes", [33, 100, 0], [0.33, 1.0, 0.0]),  # the name says so
        ("% yes", [12.5, None, 80.25], [0.125, np.nan, 0.8025]),
        ("yes", [33.3, 66.7, 25.0], [0.333, 0.667, 0.25]),  # 1 of 3, 2 of 3 and 1 of 4
        ("yes", [33.3, 60.1, 25.0], None),  # 60.1 % of three rows cannot be
        ("percentile", [33.0, 60.0, 25.0], None),
        ("pct_yes", [33.0, 160.0, 25.0], None),
    ],
)
def test_numbers_in_per_cent_are_shares(tmp_path, name, numbers, shares):
    path = tmp_path / "t.csv"
    rows = [
        f"{place},{age},{'' if number is None else number}"
        for place, number, size in zip("abc", numbers, (3, 3, 4))
        for age in range(size)
    ]
    path.write_text("\n".join([f"place,age,{name}", *rows]) + "\n")
    data = read(path, "place", name)
    np.testing.assert_allclose(data.y.astype(float), numbers if shares is None else shares)
    assert any("per cent" in note for note in data.notes) == (shares is not None)
    assert not any("classes)" in note for note in data.notes)


def test_a_table_in_per_cent_is_one_of_shares(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("place,age,no,yes\na,1,70.1,29.9\na,2,70.1,29.9\nb,3,50,50\n")
    data = read(path, "place", "no,yes")
    np.testing.assert_allclose(data.y, [[0.701, 0.299], [0.5, 0.5]])
    assert any("per cent" in note for note in data.notes)


def test_a_column_of_that_name_comes_first(path):
    assert read(path, "place", "yes/no").y.tolist() == ["x", "y", "y"]


@pytest.mark.parametrize(
    ("label", "reason"),
    [
        ("no,maybe", "no column is called 'maybe'"),
        ("yes/people", "no column is called 'people'"),
        ("voters/no", "above zero"),
        ("age,yes", "bag"),
    ],
)
def test_what_cannot_be_is_refused(path, label, reason):
    with pytest.raises(ValueError, match=reason):
        read(path, "place", label)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("t.csv", b"age,no,yes\n1,2,1\n", "no column is called 'place'"),
        ("t.parquet", b"PAR1 and no table PAR1", "not a readable Parquet file"),
    ],
)
def test_what_is_wrong_with_the_table_is_said_at_once(tmp_path, monkeypatch, name, content, reason):
    path, asked, reading = tmp_path / name, [], tables.read
    path.write_bytes(content)
    monkeypatch.setattr(tables, "read", lambda *a: asked.append(a) or reading(*a))
    with pytest.raises(ValueError, match=reason):
        read(path, "place", "no,yes")
    assert len(asked) == 1


def test_shares_are_told_as_people_write_them():
    shares = np.array([0.33299999999999996, 0.333, 1 / 3, 1.0, np.nan])
    assert class_sizes(shares) == "1 of 1.0, 1 of 0.3333, 2 of 0.333, 1 without label"
    assert class_sizes(np.array([0.00001, 7.123456])) == "1 of 7.123456, 1 of 1e-05"
