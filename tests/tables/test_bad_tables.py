"""Forty kinds of bad tables: each refused in one clear line, or read with nothing lost."""

import bz2
import gzip
import lzma

import numpy as np
import pytest

from mixedbag.datasets import DataFormatError, read
from mixedbag.tables import read_rows


@pytest.fixture
def write(tmp_path):
    def write(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


ROWS = [["a", 1, 1.5], ["b", 0, -2], ["a", 1, 3]]
TEXT = "bag,label,x\n" + "".join(f"{b},{y},{x}\n" for b, y, x in ROWS)
LATER = "".join(f"b{i},{i % 2},{i}\n" for i in range(3000))
REFUSED = {
    "empty": ("", {}, None, "the file is empty"),
    "blank": ("\n \n\n", {}, None, "the file is empty"),
    "only a header": ("bag,x\n", {}, None, "no rows below the header"),
    "no header": ("1,2\n3,4\n", {}, 1, "the first line holds numbers"),
    "no column of bags": ("mol,x\na,1\n", {}, 1, "say which column holds the bag"),
    "two names alike": ("bag,x,x\na,1,2\n", {}, 1, "two columns are called 'x'"),
    "two names alike after blanks": ("bag,x, x\na,1,2\n", {}, 1, "two columns are called 'x'"),
    "short row": ("bag,x,y\na,1,2\nb,3\n", {}, 3, "2 values where 3 are expected"),
    "long row": ("bag,x\na,1\nb,2,3\n", {}, 3, "3 values where 2 are expected"),
    "a line of blanks": ("bag,label,x\na,1,1\n  \nb,0,2\n", {}, 3, "1 values where 3 are expected"),
    "short row far below": ("bag,label,x\n" + LATER + "z,1\n", {}, 3002, "2 values where 3"),
    "open quote": ('bag,x\na,1\n"b,2\n', {}, 3, "a quote is opened and not closed"),
    "text after a quote": ('bag,x\na,1\n"b"c,2\n', {}, 3, "',' expected after '\"'"),
    "no bag": ("bag,x\na,1\n,2\n", {}, 3, "no bag in column 'bag'"),
    "NA for a bag": ("bag,x\na,1\nNA,2\n", {}, 3, "no bag in column 'bag'"),
    "no label": ("bag,label,x\na,1,1\na,,2\n", {}, 3, "has the label 1 in another row and none"),
    "two labels": (
        "bag,label,x\na,1,1\nb,0,1\na,0,2\n", {}, 4,
        "bag 'a' has two labels: 1 (line 2) and 0 (line 4)",
    ),
    "two labels of 2^53": (
        "bag,label,x\na,9007199254740992,1\na,9007199254740993,2\n", {}, 3,
        "two labels: 9007199254740992 (line 2) and 9007199254740993",
    ),
    "label without end": ("bag,label,x\na,1,1\nb,inf,2\n", {}, 3, "label 'inf' is not finite"),
    "thousands or decimals in a label": (
        "bag\tlabel\tx\na\t1,234\t1\nb\t987\t2\n", {}, 2,
        "label '1,234' is no number: its commas may part thousands",
    ),
    "thousands or decimals": (
        "bag\tx\na\t1,234\nb\t987\n", {}, 3, "; its commas may part thousands (line 2 has '1,234')"
    ),
    "a row of too many lines": (
        'bag,x\na,1\nb,"' + "1\n" * 1_100_000 + '"\n', {}, 3, "several lines in quotes is too long"
    ),
    "two groups": ("bag,p,x\na,u,1\na,v,2\n", {"group": "p"}, 3, "bag 'a' has two groups"),
    "two weights": ("bag,w,x\na,1,1\na,2,2\n", {"weight": "w"}, 3, "bag 'a' has two weights"),
    "negative weight": ("bag,w,x\na,-1,1\n", {"weight": "w"}, 2, "weight '-1' is not a number"),
    "weight in words": ("bag,w,x\na,big,1\n", {"weight": "w"}, 2, "weight 'big' is not a number"),
    "number, then text": (
        "bag,label,x\n" + LATER + "z,1,high\n", {}, 3002,
        "column 'x' mixes number (line 2 has '0'), text (line 3002 has 'high')",
    ),
    "joined digits": ("bag,x\na,1\nb,1_000\n", {}, 3, "column 'x' mixes number"),
    "thousands": ("bag;x\na;1,5\nb;1.234,5\n", {}, 3, "column 'x' mixes number (line 2 has '1,5')"),
    "one more value, empty": ("bag,x,y\na,1,2\nb,1,2,\n", {}, 3, "4 values where 3 are expected"),
    "one more value, at the end": ("bag,x\na,1\nb,2,", {}, 3, "3 values where 2 are expected"),
    "one more value, far below": (
        "bag,x\n" + "a,1\n" * 5000 + '"a,b",2,\n', {}, 5002, "3 values where 2 are expected"
    ),
    "both decimal marks below a told separator": ("sep=;\nbag;x\na;1,5\nb;1.5\n", {}, 4, "mixes"),
    "short row below a told separator": ("sep=;\nbag;x\na;1\nb\n", {}, 4, "1 values where 2 are"),
    "nothing but a separator": ("sep=;\n", {}, None, "the file is empty"),
    "a formula that failed": ("bag,x\na,1\nb,#DIV/0!\n", {}, 3, "text (line 3 has '#DIV/0!')"),
    "Excel's NA for a bag": ("bag,x\na,1\n#N/A,2\n", {}, 3, "no bag in column 'bag'"),
    "Excel's NA for a weight": ("bag,w,x\na,#N/A,1\n", {"weight": "w"}, 2, "no weight in column"),
    "Excel's NA for a group": ("bag,p,x\na,#N/A,1\n", {"group": "p"}, 2, "no group in column"),
    "Excel's NA for a time": ("bag,t,x\na,1,1\na,#N/A,2\n", {"time": "t"}, 3, "no time in column"),
    "both decimal marks": ("bag;x\na;1,5\nb;1.5\n", {}, 3, "column 'x' mixes"),
    "date, then number": ("bag,x\na,2020-01-01\nb,7\n", {}, 3, "mixes date (line 2"),
    "times with and without zone": (
        "bag,t,x\na,2020-01-01T00:00Z,1\na,2020-01-01T00:00,2\n", {"time": "t"}, 3,
        "which came first?",
    ),
    "no such day": ("bag,t,x\na,2020-02-30,1\n", {"time": "t"}, 2, "'2020-02-30' is no time"),
    "no time": ("bag,t,x\na,1,1\na,,2\n", {"time": "t"}, 3, "no time in column 't'"),
    "infinity": ("bag,x\na,1\nb,inf\n", {}, 3, "'inf' is not finite"),
    "overflow": ("bag,x\na,1\nb,1e999\n", {}, 3, "not finite"),
    "nothing but text": ("bag,x\na,red\nb,blue\n", {}, None, "no column of numbers is left"),
    "nothing but blanks": ("bag,x\na,\nb,NA\n", {}, None, "no row has a value"),
    "NUL": (b"bag,x\na,1\nb,\x002\n", {}, 3, "a NUL character"),
    "damaged UTF-8": ("bag,x,ü\nä,1,2\n".encode() + b"\xff,2,3\n", {}, 3, "damaged UTF-8"),
    "damaged UTF-16": ("bag,x\na,1\n".encode("utf-16") + b"\xd8", {}, None, "not the UTF-16 text"),
    "damaged gzip": (gzip.compress(b"bag,x\na,1\n" * 50)[:-9], {}, None, "a damaged gzip file"),
    "cut JSON": ('[{"bag": "a", "x": 1}, {"bag": "b"', {}, 1, "not JSON"),
    "JSON that ends to be": ('{"bag": "a", "x": 1}\n{"bag": \n', {}, 2, "not JSON"),
    "JSON without names": ('[\n["bag", "x"], ["a", 1]]', {}, None, "an array of objects, or one"),
    "JSON of nothing": ("[{}, {}]", {}, None, "an array of objects, or one object a line"),
    "no such column": ("bag,x\na,1\n", {"drop": ["z"]}, 1, "no column is called 'z'"),
    "one column, two parts": ("bag,x\na,1\n", {"label": "bag"}, 1, "cannot be two of"),
    "database in name only": (b"SQLite format 3\0" + b"x" * 200, {}, None, "SQLite: "),
    "Parquet in name only": (b"PAR1" + b"x" * 200, {}, None, "not a readable Parquet file"),
    "Arrow in name only": (b"ARROW1\0\0" + b"x" * 200, {}, None, "not a readable Arrow file"),
    "workbook": (b"PK\x03\x04" + bytes(99), {}, None, "this is a workbook or another zip archive"),
    "old workbook": (b"\xd0\xcf\x11\xe0" + bytes(99), {}, None, "this is an old workbook"),
    "PDF": (b"%PDF-1.7\n1 0 obj\n", {}, None, "this is a PDF document, no table"),
    "bzip2": (bz2.compress(TEXT.encode()), {}, None, "this is a bzip2 archive, no table"),
    "xz": (lzma.compress(TEXT.encode()), {}, None, "this is an xz archive, no table"),
    "pickle": (b"\x80\x04\x95\x10" + bytes(9), {}, None, "this is a pickle, no table"),
    "web page": ("<!DOCTYPE html><table></table>", {}, None, "this is a web page, no table"),
    "DuckDB in name only": (b"x" * 8 + b"DUCK" + b"x" * 200, {}, None, "not a readable DuckDB"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_refused_in_one_clear_line(write, kind):
    content, options, line, reason = REFUSED[kind]
    with pytest.raises(DataFormatError) as caught:
        read(write(content), **options)
    assert reason in caught.value.reason
    assert caught.value.line == line
    assert "\n" not in str(caught.value)


READ = {
    "plain": TEXT,
    "byte order mark": b"\xef\xbb\xbf" + TEXT.encode(),
    "UTF-16": TEXT.encode("utf-16"),
    "UTF-16 without a mark": TEXT.encode("utf-16-le"),
    "Windows line ends": TEXT.replace("\n", "\r\n"),
    "old Mac line ends": TEXT.replace("\n", "\r"),
    "mixed line ends": TEXT.replace("\n", "\r\n", 2),
    "no line end": TEXT[:-1],
    "blank lines": "\n\n" + TEXT.replace("\n", "\n\n"),
    "tabs": TEXT.replace(",", "\t"),
    "bars": TEXT.replace(",", "|"),
    "blanks": TEXT.replace(",", "   "),
    "decimal commas": TEXT.replace(",", ";").replace(".", ","),
    "a separator told": "sep=;\n" + TEXT.replace(",", ";"),
    "a separator told in quotes": '"sep=,"\r\n' + TEXT.replace("\n", "\r\n"),
    "a tab told after a mark": b"\xef\xbb\xbfSEP=\t\n" + TEXT.replace(",", "\t").encode(),
    "a blank told": "sep= \n" + TEXT.replace(",", " "),
    "an odd separator told": ("sep=:\n\n" + TEXT.replace(",", ":")).encode("utf-16"),
    "quotes": "".join(",".join(f'"{v}"' for v in r.split(",")) + "\n" for r in TEXT.split()),
    "blanks around": TEXT.replace(",", " , "),
    "capitals": TEXT.replace("bag,label", "Bag, LABEL"),
    "gzip": gzip.compress(TEXT.encode()),
    "JSON": str([dict(zip(("bag", "label", "x"), row)) for row in ROWS]).replace("'", '"'),
    "lines of JSON": "".join(
        f'{{"bag": "{b}", "label": {y}, "x": {x}}}\n' for b, y, x in ROWS
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", READ)
def test_read_all_the_same(write, kind):
    data = read(write(READ[kind]))
    assert data.bags.ids.tolist() == ["a", "b"]
    assert data.bags.feature_names == ["x"]
    assert data.bags.instances.ravel().tolist() == [1.5, 3, -2]
    assert data.y.tolist() == [1, 0]


def test_marks_are_those_of_the_whole_file(write):
    late = "bag;x;note\n" + "a;1;c, d\n" * 3000 + "b;2,5;c, d\n"
    data = read(write(late))
    assert data.bags.instances[-1].tolist() == [2.5]
    assert "numbers have a decimal comma" in data.notes
    pairs = "bag;x;y;pair\n" + "a;1.5;0.5;1,2\nb;2.5;0.5;1,3\n" * 20
    assert read(write(pairs)).bags.feature_names[:2] == ["x", "y"]
    # The header alone would be cut by commas.
    semicolons = "bag;x, in m;y, in s;z\n" + 'a;1;2;3\n"b;c";4;5;6\n'
    assert read(write(semicolons)).bags.feature_names == ["x, in m", "y, in s", "z"]
    # A quoted value may end in separators, and the last one may be missing.
    ends = 'bag,x,note\na,1,"u,,"\na,2,\nb,3,"u,,"\n'
    assert read(write(ends)).bags.instances[:, 0].tolist() == [1, 2, 3]


def test_what_has_no_value_in_excel_is_missing_in_files_and_frames(write):
    pd = pytest.importorskip("pandas")
    path = write("bag,label,x,kind\na,1,1.5,u\na,1,#N/A,u\nb,#N/A, #N/A ,v\nb,#N/A,2,#n/a\n")
    frame = pd.read_csv(path, keep_default_na=False, dtype=str)
    for data in (read(path), read(frame)):
        assert data.bags.feature_names == ["x", "kind=u", "kind=v"]
        np.testing.assert_array_equal(data.bags.instances[:, 0], [1.5, np.nan, np.nan, 2])
        assert data.y[0] == 1
        assert data.y[1] is None or np.isnan(data.y[1])
        assert "column 'x': 2 missing values read as NaN" in data.notes
        assert "column 'kind': 1 missing values read as none of these" in data.notes


def test_rows_without_names_may_have_a_separator_told(write):
    table = read_rows(write("sep=;\n1;u\n2;v\n"), "2")
    assert table.X.ravel().tolist() == [1, 2]


def test_a_header_of_capitals_and_numbers_is_a_header(write):
    data = read(write("id,Bag,Label,1,2,3\nu,a,1,0,2,3\nv,b,0,5,6,7\n"))
    assert data.bags.ids.tolist() == ["a", "b"]
    assert data.bags.feature_names == ["1", "2", "3"]


def test_windows_letters_are_read_and_told(write):
    data = read(write("bag,x\nMüller,1\nGroß,2\n".encode("cp1252")))
    assert data.bags.ids.tolist() == ["Müller", "Groß"]
    assert "read as Windows-1252 text" in data.notes


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["7", "3"], [7, 3]),
        (["7", "007"], ["7", "007"]),
        (["169e8134", "12"], ["169e8134", "12"]),
        (["9223372036854775807", "-1"], [2**63 - 1, -1]),
        (["9223372036854775808", "1"], ["9223372036854775808", "1"]),
        (["18446744073709551617", "18446744073709551616"], [str(2**64 + 1), str(2**64)]),
        ([" a ", "b"], ["a", "b"]),
        (["1.0", "1"], ["1.0", "1"]),
    ],
)
def test_ids_are_text_unless_all_are_whole(write, tmp_path, ids, expected):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    data = read(write("bag,x\n" + "".join(f"{i},{j}.5\n" for j, i in enumerate(ids))))
    assert data.bags.ids.tolist() == expected
    parquet.write_table(pa.table({"bag": ids, "x": [0.5, 1.5]}), tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet").bags.ids.tolist() == expected


def test_big_ids_of_a_parquet_file_are_exact(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    ids = pa.array([2**63, 2**63 + 1], pa.uint64())
    parquet.write_table(pa.table({"bag": ids, "x": [0.5, 1.5]}), tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet").bags.ids.tolist() == [str(2**63), str(2**63 + 1)]


def test_ten_thousand_columns(write):
    names = ",".join(f"f{j}" for j in range(10_000))
    rows = "".join(
        f"b{i}," + ",".join(str(i * j % 7) for j in range(10_000)) + "\n" for i in (1, 2)
    )
    data = read(write(f"bag,{names}\n{rows}"))
    assert data.bags.instances.shape == (2, 10_000)
    np.testing.assert_array_equal(data.bags.instances[1], np.arange(10_000) * 2 % 7)


def test_empty_columns_and_long_text_are_left_out_and_told(write):
    text = "bag,x,empty,essay\n" + "".join(f"b{i},{i % 3},,{'word ' * 400}{i}\n" for i in range(9))
    data = read(write(text))
    assert data.bags.feature_names == ["x"]
    assert any("'empty' left out: no row has a value" in note for note in data.notes)
    assert any("'essay' left out: it is text of 9 values" in note for note in data.notes)


def test_text_of_any_length_is_left_out(write):
    for letters in (201, 3_000_000):
        rows = "".join(
            f"b{i},{i},{'uv'[i % 2] * letters}\n" for i in range(5000 if letters < 999 else 4)
        )
        data = read(write("bag,x,essay\n" + "a,7,w\n" * 200 + rows))
        assert data.bags.feature_names == ["x"]
        reason = f"column 'essay' left out: it is text of up to {letters} letters (line 2 has 'w')"
        assert reason in data.notes


def test_times_of_several_zones_are_put_in_order(write):
    times = ("12:00+02:00,2", "09:00Z,1", "06:00-05:00,3")
    rows = "".join(f"a,2020-01-01T{time}\n" for time in times)
    data = read(write(f"bag,when,x\n{rows}"), time="when")
    assert data.bags.instances.ravel().tolist() == [1, 2, 3]


def test_a_bomb_is_not_unpacked(write):
    bomb = gzip.compress(b"bag,x\n" + b"a,1\n" * 60_000_000, 1)
    assert len(bomb) < 2_000_000
    with pytest.raises(DataFormatError, match="unpacks to more than"):
        read(write(bomb))


def test_a_changed_byte_of_a_parquet_footer_loses_no_row(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "t.parquet"
    table = pa.table({"bag": [f"b{i // 4}" for i in range(120)], "x": np.arange(120.0)})
    # Short, so that every other byte can be tried, but for the name of the writer: nobody reads it.
    short = {"store_schema": False, "write_statistics": False, "use_dictionary": False}
    parquet.write_table(table, path, row_group_size=64, **short)
    whole = bytearray(path.read_bytes())
    length = int.from_bytes(whole[-8:-4], "little")
    writer = parquet.read_metadata(path).created_by.encode()
    name = range(whole.rindex(writer), whole.rindex(writer) + len(writer))
    survivors = 0
    for place in range(len(whole) - 8 - length, len(whole) - 4, 2):
        if place in name[1:]:
            continue
        changed = whole.copy()
        changed[place] ^= 1 << (place % 8)
        path.write_bytes(changed)
        try:
            data = read(path, bag="bag")
        except DataFormatError:
            continue
        assert data.bags.n_instances == 120
        survivors += 1
    assert survivors
