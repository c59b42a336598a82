"""Damaged and random files: consistent bags or `DataFormatError`, never anything else."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import savemat

from mixedbag.datasets import DataFormatError, read
from mixedbag.datasets._formats.delimited import read_table
from mixedbag.datasets._formats.hdf5 import read_hdf5
from mixedbag.datasets._formats.source import Source
from mixedbag.datasets.readers import FORMATS
from tests.datasets.samples import ARFF, C45, COLONS, COMMAS, CSV, FLAT_ARFF, SPARSE, prtools

TEXTS = {
    "c45": C45,
    "colons": COLONS,
    "sparse-commas": SPARSE,
    "commas": COMMAS,
    "arff": ARFF,
    "table": CSV.replace("molecule", "bag").replace("active", "label"),
}
FUZZ = settings(max_examples=150, deadline=None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


@st.composite
def damaged(draw, content):
    """The content after a few cuts, insertions, repetitions and overwritten bytes."""
    content = bytearray(content)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(content)))
        stop = min(len(content), start + draw(st.integers(0, 12)))
        change = draw(st.sampled_from(["delete", "insert", "repeat", "truncate"]))
        if change == "delete":
            del content[start:stop]
        elif change == "insert":
            piece = st.binary(max_size=5) | st.sampled_from(
                [
                    b",",
                    b"\n",
                    b":",
                    b"'",
                    b'"',
                    b"{",
                    b"}",
                    b"?",
                    b"-",
                    b".",
                    b"1e999",
                    b"nan",
                    b"\\",
                ]
            )
            content[start:start] = draw(piece)
        elif change == "repeat":
            content[start:start] = content[start:stop]
        else:
            del content[start:]
    return bytes(content)


def instances_of(name, content):
    """How many instances a text must hold if it can be read at all (None: not counted here)."""
    if name not in TEXTS:
        return None
    text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if name == "colons":
        return len(lines) - (":" not in lines[0])
    if name in ("c45", "sparse-commas", "commas"):
        return len(lines)
    if name == "table" and "\t" not in lines[0] and ";" not in lines[0]:
        rows = csv.reader(io.StringIO(text, newline=""))
        return sum(1 for row in rows if any(field.strip() for field in row) or len(row) > 1) - 1
    return None


def check(path, name, content):
    path.write_bytes(content)
    try:
        data = read(path, format=name)
    except DataFormatError:
        return
    assert len(data.bags) == len(data.bags.ids) > 0
    assert data.y is None or len(data.y) == len(data.bags)
    data.bags.check_finite(allow_nan=True)
    expected = instances_of(name, content)
    assert expected is None or data.bags.n_instances == expected


@pytest.mark.parametrize("name", TEXTS)
@FUZZ
@given(data=st.data())
def test_damaged_text_files(folder, name, data):
    check(folder / "file", name, data.draw(damaged(TEXTS[name].encode())))


@FUZZ
@given(data=st.data())
def test_damaged_flat_arff(folder, data):
    path = folder / "file"
    path.write_bytes(data.draw(damaged(FLAT_ARFF.encode())))
    try:
        result = read(path, bag="mol", label="class", format="arff")
    except DataFormatError:
        return
    below = path.read_bytes().decode("utf-8-sig").lower().split("@data", 1)[1]
    lines = [line for line in below.replace("\r", "\n").split("\n")[1:] if line.strip()]
    assert result.bags.n_instances == sum(not line.strip().startswith("%") for line in lines)


@pytest.mark.parametrize("name", [*(f.name for f in FORMATS), None])
@FUZZ
@given(content=st.binary(max_size=200) | st.text("01.,:;\n\t'\"{}@?ab e-", max_size=200))
def test_random_content(folder, name, content):
    check(folder / "file", name, content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize("compressed", [False, True])
@FUZZ
@given(data=st.data())
def test_damaged_mat_files(folder, compressed, data):
    buffer = io.BytesIO()
    savemat(buffer, prtools(), do_compression=compressed)
    check(folder / "file.mat", "mat", data.draw(damaged(buffer.getvalue())))


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_damaged_gzip_files(folder, data):
    import gzip

    path = folder / "file.csv.gz"
    path.write_bytes(data.draw(damaged(gzip.compress(TEXTS["table"].encode(), mtime=0))))
    try:
        result = read(path)
    except DataFormatError:
        return
    assert result.bags.n_instances >= 1


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_cut_and_random_hdf5_files(folder, data):
    h5py = pytest.importorskip("h5py")
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file["train/data"], file["train/target"] = np.ones((3, 2)), np.arange(3)
    whole = buffer.getvalue()
    cut = data.draw(st.integers(1, len(whole) - 1))
    path = folder / "file.h5"
    path.write_bytes(data.draw(st.binary(max_size=100)) or whole[:cut])
    with pytest.raises(DataFormatError):
        read_hdf5(Source(path))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_damaged_parquet_files(folder, data):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    buffer = io.BytesIO()
    frame = pa.table({"bag": ["a", "a", "b"], "label": [1, 1, 0], "x": [1.0, 2.0, 3.0]})
    parquet.write_table(frame, buffer, write_page_checksum=True)
    whole = buffer.getvalue()
    check(folder / "file.parquet", "parquet", data.draw(damaged(whole)))
    path = folder / "cut.parquet"
    path.write_bytes(whole[: data.draw(st.integers(1, len(whole) - 1))])
    with pytest.raises(DataFormatError):
        read(path, format="parquet")


@FUZZ
@given(data=st.data())
def test_damaged_plain_tables(folder, data):
    path = folder / "file"
    path.write_bytes(data.draw(damaged(b'1.0  ?  3\t"a b"\n 4.0  5  6\t"c"\n7 8 9 "d"\n')))
    try:
        table = read_table(Source(path), "3", delimiter=" ", drop=("4",))
    except DataFormatError:
        return
    lines = path.read_bytes().decode("utf-8-sig").replace("\r", "\n").split("\n")
    assert len(table.X) == len(table.y) == sum(bool(line.strip()) for line in lines)
