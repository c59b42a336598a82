"""Files that were once read wrongly, or ended the process: one seed each, found by attack."""

import gzip
import io
import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from scipy.io import savemat

from mixedbag.datasets import DataFormatError, paths, read
from mixedbag.datasets._formats import unpack
from mixedbag.datasets._formats.hdf5 import read_hdf5
from mixedbag.datasets._formats.source import Source
from tests.datasets.samples import C45, COLONS, COMMAS, FLAT_ARFF, X, prtools


def refused(path, content, reason, line=None, **options):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataFormatError, match=reason) as caught:
        read(path, **options)
    assert str(path) in str(caught.value)
    if line is not None:
        assert caught.value.line == line


# Recognition --------------------------------------------------------------------------------------


@pytest.mark.data
def test_musk_without_its_first_full_stop(tmp_path):
    first, rest = paths("musk1")[0].read_text().strip().split("\n", 1)
    assert first.endswith(".")
    reason = "line 1 reads as format 'commas', line 2 as 'c45'"
    refused(tmp_path / "clean1.data", first[:-1] + "\n" + rest, reason, 2)
    without = "\n".join(line.removesuffix(".") for line in [first, *rest.split("\n")])
    refused(tmp_path / "clean1.data", without, "the first column repeats and the second does not")


@pytest.mark.parametrize("line", range(3))
def test_one_line_of_another_format(tmp_path, line):
    lines = C45.strip().split("\n")
    lines[line] = lines[line][:-1]
    refused(tmp_path / "file", "\n".join(lines), "reads as format")
    lines = COMMAS.strip().split("\n")
    lines[line] += "."
    refused(tmp_path / "file", "\n".join(lines), "reads as format")
    (tmp_path / "file").write_text("\n".join(lines))
    np.testing.assert_array_equal(read(tmp_path / "file", format="commas").bags.instances, X)


@pytest.mark.parametrize(
    "header", ["mol,conf,active,1,2", "mol,conf,active,0,1", "mol,conf,active,7,8"]
)
def test_a_header_is_no_instance(tmp_path, header):
    refused(tmp_path / "file", f"{header}\n{COMMAS}", "first line may name the columns", 1)


def test_a_header_with_blanks_and_capitals_is_a_header(tmp_path):
    for header in ("id,Bag,Label,1,2", "id, bag ,label,1,2", 'id,"BAG",label,1,2'):
        path = tmp_path / "file"
        path.write_text(f"{header}\n{COMMAS}")
        try:
            n_instances = read(path).bags.n_instances
        except DataFormatError:
            continue
        assert n_instances == 3


def test_a_long_line_is_judged_in_no_time(tmp_path):
    refused(tmp_path / "file", "a" * 300_000 + "\n" + C45, "line 1")
    blanks = FLAT_ARFF.replace("z,7", "z" + " " * 50_000 + "'x',7")
    refused(tmp_path / "file", blanks, "cannot read", 9, bag="mol")


# What unpacks -------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["c45", "colons", "commas", "sparse-commas", "arff", None])
def test_a_small_file_does_not_unpack_to_a_huge_one(tmp_path, monkeypatch, form):
    monkeypatch.setattr(unpack, "SMALL", 2**20)
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress((b" " * 9999 + b"\n") * 3000))
    tracemalloc.start()
    with pytest.raises(DataFormatError, match="unpacks to more than"):
        read(path, format=form)
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()


def test_a_small_mat_file_does_not_unpack_to_a_huge_one(tmp_path, monkeypatch):
    monkeypatch.setattr(unpack, "SMALL", 2**22)
    buffer = io.BytesIO()
    savemat(buffer, {"x": np.zeros(2**24)}, do_compression=True)
    tracemalloc.start()
    refused(tmp_path / "file.mat", buffer.getvalue(), "unpacks to more than")
    assert tracemalloc.get_traced_memory()[1] < 2**26
    tracemalloc.stop()


def test_compression_is_whole():
    packed = zlib.compress(b"numbers" * 100)
    assert unpack.inflate(packed, 700) == b"numbers" * 100
    for data, allowed, reason in (
        (packed, 699, "unpacks to more"),
        (packed[:-4], 700, "ends early"),
        (packed + b"x", 700, "left over"),
        (b"x" + packed, 700, "damaged compression"),
    ):
        with pytest.raises(ValueError, match=reason):
            unpack.inflate(data, allowed)


# MATLAB -------------------------------------------------------------------------------------------


def element(kind, data):
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)


def variable(flags=6, shape=b"\1\0\0\0\2\0\0\0", kind=5, more=b""):
    parts = element(6, struct.pack("<II", flags, 0)) + element(kind, shape) + element(1, b"x")
    matrix = element(14, parts + element(9, struct.pack("<dd", 1.5, -2.0)) + more)
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + matrix


def test_complex_numbers_are_refused(tmp_path):
    content = prtools(data=X + 1j)
    savemat(tmp_path / "file.mat", content)
    with pytest.raises(DataFormatError, match="complex"):
        read(tmp_path / "file.mat")
    # ... also when the flag that says so is lost: the imaginary part is left over.
    path = tmp_path / "file.mat"
    refused(path, variable(more=element(9, struct.pack("<dd", 1, 1))), "24 bytes are left over")


def test_sizes_are_whole_numbers(tmp_path):
    for size in (np.inf, np.nan, 2.0):
        shape = struct.pack("<dd", 1, size)
        refused(tmp_path / "file.mat", variable(shape=shape, kind=9), "not a whole number")


def test_two_variables_of_one_name_are_refused(tmp_path):
    refused(tmp_path / "file.mat", variable() + variable()[128:], "two variables are called 'x'")


def test_large_labels_and_ids_stay_apart(tmp_path):
    path = tmp_path / "file.mat"
    large = np.array([[2**53], [2**53 + 1]])
    savemat(path, {"X": X, "bag": np.array([[1], [1], [2]]), "y": large})
    assert read(path).y.tolist() == [2**53, 2**53 + 1]
    savemat(path, {"X": X, "bag": large[[0, 0, 1]], "y": np.array([[0], [1]])})
    assert read(path).bags.ids.tolist() == [2**53, 2**53 + 1]
    savemat(path, {"X": X, "bag": large[[0, 1, 1]].astype(float), "y": np.array([[0], [1]])})
    with pytest.raises(DataFormatError, match="whole numbers"):
        read(path)


# HDF5 ---------------------------------------------------------------------------------------------


@pytest.fixture
def hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "file.h5"

    def write(change=lambda file: None):
        with h5py.File(path, "w") as file:
            file["train/data"], file["train/target"] = np.arange(6.0).reshape(3, 2), np.arange(3)
            change(file)
        return path

    return write


def test_hdf5_damage_never_ends_the_process(hdf5):
    path = hdf5()
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(6):
        damaged = bytearray(whole)
        for at in rng.integers(0, len(whole), 40):
            damaged[at] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            assert read_hdf5(Source(path)).X.shape == (3, 2)
        except DataFormatError as error:
            assert str(path) in str(error)  # noqa: PT017


def test_hdf5_of_nothing_that_claims_much(hdf5):
    def claim(file):
        file.create_dataset("test/data", (2**40, 2), chunks=(1000, 2), dtype="f8")
        file["test/target"] = np.arange(3)

    with pytest.raises(DataFormatError, match="more numbers than is plausible"):
        read_hdf5(Source(hdf5(claim)))


def test_hdf5_reads_no_other_file(hdf5, tmp_path):
    import h5py

    (tmp_path / "secret").write_bytes(bytes(48))
    outside = [(str(tmp_path / "secret"), 0, 48)]

    def external(file):
        file.create_dataset("test/data", (3, 2), dtype="f8", external=outside)
        file["test/target"] = np.arange(3)

    def linked(file):
        file["test"] = h5py.ExternalLink("other.h5", "/train")

    def soft(file):
        file["test"] = h5py.SoftLink("/train")

    for change, reason in ((external, "another file"), (linked, "a link"), (soft, "a link")):
        with pytest.raises(DataFormatError, match=reason):
            read_hdf5(Source(hdf5(change)))


# Text ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["c45", "colons", "commas"])
def test_a_nul_byte_anywhere_is_refused(tmp_path, form):
    sample = {"c45": C45.strip(), "colons": COLONS.strip(), "commas": COMMAS.strip()}[form]
    lines = [*sample.split("\n")[1:]] * 400
    refused(tmp_path / "file", "\n".join(lines) + "\0", "NUL byte", len(lines))
    refused(tmp_path / "file", "\n".join(lines) + "\0", "NUL byte", len(lines), format=form)


def test_large_labels_of_text_stay_apart(tmp_path):
    path = tmp_path / "file"
    path.write_text("i1,b1,9007199254740992,1\ni2,b2,9007199254740993,2\n")
    assert read(path).y.tolist() == [2**53, 2**53 + 1]
    path.write_text("i1,b1,9007199254740992.5,1\ni2,b2,9007199254740992,2\n")
    assert len(set(read(path).y.tolist())) == 2
    path.write_text(f"i1,b1,{'9' * 400},1\ni2,b2,1,2\n")
    assert read(path).y.tolist() == ["9" * 400, "1"]
    refused(path, "i1,b1,9007199254740992,1\ni2,b1,9007199254740993,2\n", "two labels", 2)


def test_values_of_flat_arff_are_those_declared(tmp_path):
    path = tmp_path / "file"
    refused(path, FLAT_ARFF.replace("4,1", "4,2"), "'2' is not a declared value", 8, bag="mol")
    refused(path, FLAT_ARFF.replace("7,8", "x,8"), "'x' is not a number", 9, bag="mol")
    refused(path, FLAT_ARFF.replace("8,0", "8,0,{3}"), "no weights of instances", 9, bag="mol")


def test_an_empty_instance_inside_a_bag(tmp_path):
    text = "@relation r\n@attribute b relational\n@attribute x numeric\n@end b\n@data\n"
    refused(tmp_path / "file", text + r"'1\n\n2'", "an instance of the bag is empty", 6)
