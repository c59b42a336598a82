"""The MATLAB reader beside SciPy's."""

import io
import struct

import numpy as np
import pytest
from scipy import sparse
from scipy.io import loadmat, savemat

from mixedbag.datasets import paths
from mixedbag.datasets._formats.matfile import read_variables

VALUES = {
    "small": np.array([[1, 2]], dtype=np.uint8),
    "floats": np.arange(6.0).reshape(2, 3),
    "single": np.array([[1.5]], dtype=np.float32),
    "long": np.array([[-(2**40)], [7]]),
    "cube": np.arange(24.0).reshape(2, 3, 4),
    "flags": np.array([[True, False]]),
    "empty": np.zeros((0, 3)),
}


@pytest.mark.parametrize("compressed", [False, True])
def test_arrays_as_scipy_writes_them(compressed):
    buffer = io.BytesIO()
    savemat(buffer, VALUES, do_compression=compressed)
    found = read_variables(buffer.getvalue())
    assert found.keys() == VALUES.keys()
    for name, value in VALUES.items():
        np.testing.assert_array_equal(found[name], value)


def test_text_cells_structs_and_the_rest():
    cell = np.empty((1, 2), dtype=object)
    cell[:] = [[np.array([[3.0]]), "grün"]]
    buffer = io.BytesIO()
    savemat(
        buffer,
        {
            "rows": np.array(["ab", "cde"]),
            "cell": cell,
            "one": {"a": 1.0, "b": {"c": "deep"}},
            "many": np.array([(1, 2), (3, 4)], dtype=[("x", "f8"), ("y", "f8")]),
            "other": sparse.csc_array(np.eye(2)),
        },
    )
    found = read_variables(buffer.getvalue())
    assert found["rows"] == ["ab ", "cde"]
    assert found["cell"][0].item() == 3
    assert found["cell"][1] == ["grün"]
    assert found["one"]["a"].item() == 1
    assert found["one"]["b"]["c"] == ["deep"]
    assert [s["y"].item() for s in found["many"]] == [2, 4]
    assert found["other"] is None


def test_big_endian():
    def element(kind, data):
        return struct.pack(">II", kind, len(data)) + data + bytes(-len(data) % 8)

    matrix = (
        element(6, struct.pack(">II", 6, 0))
        + element(5, struct.pack(">ii", 1, 2))
        + element(1, b"x")
        + element(9, struct.pack(">dd", 1.5, -2.0))
    )
    content = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x01\x00MI" + element(14, matrix)
    np.testing.assert_array_equal(read_variables(content)["x"], [[1.5, -2.0]])


@pytest.mark.parametrize("cut", [20, 127, 130, 150, 170, 190])
def test_cut_files(cut):
    buffer = io.BytesIO()
    savemat(buffer, {"x": VALUES["floats"]})
    with pytest.raises(ValueError, match=r"cut|MATLAB 5|numbers"):
        read_variables(buffer.getvalue()[:cut])


@pytest.mark.data
def test_published_files_read_as_by_scipy():
    files = [*(paths("musk2")[0].parent / "milpy-mat").glob("*.mat")]
    assert len(files) == 3
    for path in files:
        expected = {k: v for k, v in loadmat(path).items() if not k.startswith("__")}
        found = read_variables(path.read_bytes())
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            np.testing.assert_array_equal(found[name], value)
    path = paths("elephant")[0].parent / "elephant.mat"
    expected, found = loadmat(path)["x"], read_variables(path.read_bytes())["x"]
    for name in ("data", "nlab", "prior"):
        np.testing.assert_array_equal(found[name], expected[name][0, 0])
