"""Every format on small files: what is read, and what is refused, with the line."""

import gzip

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from mixedbag.datasets import DataFormatError, read
from tests.datasets.samples import ARFF, C45, COLONS, COMMAS, FLAT_ARFF, SPARSE, X, prtools


@pytest.fixture
def write(tmp_path):
    def write(content, name="file.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("content", "ids", "y"),
    [
        (C45, ["mol-a", "mol-b"], [1, 0]),
        (COLONS, [5, 9], [1, -1]),
        (SPARSE, ["b1", "b2"], [1, 0]),
        (COMMAS, ["b1", "b2"], [1, 0]),
        (ARFF, ["a", "b c"], [1, 0]),
    ],
    ids=["c45", "colons", "sparse", "commas", "arff"],
)
def test_reads_the_same_bags_from_every_format(write, content, ids, y):
    data = read(write(content))
    instances = data.bags.instances
    dense = instances.toarray() if sparse.issparse(instances) else instances
    np.testing.assert_array_equal(dense, X)
    np.testing.assert_array_equal(data.bags.offsets, [0, 2, 3])
    assert data.bags.ids.tolist() == ids
    assert data.y.tolist() == y
    assert data.y.dtype == np.int64


def test_formats_keep_what_else_they_know(write):
    assert read(write(C45)).instance_ids.tolist() == ["a1", "a2", "b1"]
    assert read(write(SPARSE)).bags.is_sparse
    assert not read(write(COLONS)).bags.is_sparse
    arff = read(write(ARFF))
    assert arff.weight.tolist() == [6, 1]
    assert arff.bags.feature_names == ["f1", "f 2"]
    assert read(write(ARFF.replace(",{6}", ""))).weight is None


def test_rows_of_a_bag_need_not_be_adjacent(write):
    data = read(write("i1,b1,1,1\ni2,b2,0,2\ni3,b1,1,3\n"))
    assert data.bags.instances.ravel().tolist() == [1, 3, 2]
    assert data.instance_ids.tolist() == ["i1", "i3", "i2"]
    assert any("brought together" in note for note in data.notes)


def test_wide_and_nearly_empty_files_stay_sparse(write):
    data = read(write("1 2000000000\n0:0:1 1:2 1999999999:3\n"))
    assert data.bags.is_sparse
    assert data.bags.n_features == 2_000_000_000


def test_flat_arff_is_a_table(write):
    data = read(write(FLAT_ARFF), bag="mol", label="class")
    np.testing.assert_array_equal(data.bags.instances, X)
    assert data.bags.ids.tolist() == ["b, 1", "z"]
    assert data.y.tolist() == [1, 0]


def test_nominal_attributes_inside_bags_are_coded(write):
    content = ARFF.replace('"f 2" real', "colour {red,blue}").replace("-2", "red")
    content = content.replace("0,4", "0,blue").replace("7,8", "7,?")
    data = read(write(content))
    assert data.bags.feature_names == ["f1", "colour=red", "colour=blue"]
    np.testing.assert_array_equal(data.bags.instances, [[1.5, 1, 0], [0, 0, 1], [7, 0, 0]])
    assert any("'colour' is nominal" in note for note in data.notes)
    asked = read(write(content), features=["colour=blue", "f1"])
    np.testing.assert_array_equal(asked.bags.instances, data.bags.instances[:, [2, 0]])
    assert read(write(content), drop=["colour"]).bags.feature_names == ["f1"]
    with pytest.raises(DataFormatError, match="'green' is not a declared value of 'colour'"):
        read(write(content.replace("0,blue", "0,green")))


def test_other_attributes_inside_bags_are_left_out(write):
    content = ARFF.replace('"f 2" real', "when date").replace("-2", "1999")
    data = read(write(content))
    assert data.bags.feature_names == ["f1"]
    assert any("'when' of the instances left out: it is date" in note for note in data.notes)


def test_missing_values_are_nan(write):
    for content, old in ((ARFF, "7,8"), (COMMAS, "7,8"), (C45, "7,8")):
        data = read(write(content.replace(old, "?,8")))
        assert np.isnan(data.bags.instances[2, 0])
        assert np.isfinite(data.bags.instances).sum() == 5


def test_gzip_and_byte_order_mark(write):
    data = read(write(gzip.compress(b"\xef\xbb\xbf" + b"bag,label,x\na,1,2\n"), "t.csv.gz"))
    assert data.bags.ids.tolist() == ["a"]


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        # UCI C4.5
        (C45.replace("0.\n", "\n"), 4, "line 2 reads as format 'c45', line 4 as 'commas'"),
        (C45.replace("8,0.\n", "x\n"), 4, "full stop"),
        (C45.replace("7,8,0.", "8,0."), 4, "1 values where 2"),
        (C45.replace("7,8", "7,x"), 4, "'x' is not a number"),
        (C45.replace("7,8", "7,inf"), 4, "not finite"),
        (C45.replace("0,4,1.", "0,4,0."), 3, "bag 'mol-a' has two labels: 1 and 0"),
        (C45.replace("mol-b", ""), 4, "no name"),
        (C45.replace("mol-b,b1,7,8,0.", "mol-b."), 4, "expected a bag"),
        # instance:bag:label index:value
        (COLONS.replace("3 2", "4 2"), None, "declares 4 instances, there are 3"),
        (COLONS.replace("3 2", "3 1"), 2, "index 2, but the first line declares 1"),
        (COLONS.replace("2:8", "1:8"), 4, "appears twice"),
        (COLONS.replace("2:8", "0:8"), 4, "below 1"),
        (COLONS.replace("2:8", "8"), 4, "not a pair"),
        (COLONS.replace("2:8", "2:"), 4, "not a pair"),
        (COLONS.replace("2:8", "2:1e"), 4, "'1e' is not a number"),
        (COLONS.replace("2:8", "2:nan"), 4, "finite"),
        (COLONS.replace("2:8", "2:1_0"), 4, "finite number"),
        (COLONS.replace("2:9:-1", "2:9"), 4, "an instance, a bag and a label"),
        (COLONS.replace("1:5:1", "1:5:-1"), 3, "bag 5 has two labels: 1 and -1"),
        # sparse commas
        (SPARSE.replace("2:8", "2"), 3, "not a pair"),
        (SPARSE.replace("2:8", "1:8"), 3, "appears twice"),
        (SPARSE.replace("i3,b2,0,1:7,2:8", "i3,b2"), 3, "an instance, a bag and a label"),
        # commas
        (COMMAS.replace("7,8", "7"), 3, "1 values where 2"),
        (COMMAS.replace("7,8", "7,8,"), 3, "3 values where 2"),
        (COMMAS.replace("7,8", "7,eight"), 3, "'eight' is not a number"),
        (COMMAS.replace(",7,8", ""), 3, "expected an instance"),
        # ARFF
        (ARFF.replace("7,8'", "7,8"), 12, "a quote is not closed"),
        (ARFF.replace("7,8'", "7'"), 12, "1 values where 2"),
        (ARFF.replace("'7,8'", "''"), 12, "the bag is empty"),
        (ARFF.replace(",0\n", ",2\n"), 12, "'2' is not a declared value of 'class'"),
        (ARFF.replace(",0\n", ",?\n"), 12, "no value of 'class'"),
        (ARFF.replace(",0\n", "\n"), 12, "2 values for 3 attributes"),
        (ARFF.replace("'b c','7", "a,'7"), 12, "bag 'a' was given before, in line 11"),
        (ARFF.replace("{6}", "{x}"), 11, "weight 'x' is not a number"),
        (ARFF.replace("{6}", "{-1}"), 11, "from 0 upwards"),
        (ARFF.replace("@end bag", ""), 10, "'bag' is not ended"),
        (ARFF.split("@DATA")[0], None, "no @data line"),
        (ARFF.replace("real", "complex"), 7, "unknown type 'complex'"),
        (ARFF.replace('"f 2"', "f1"), 7, "declared twice"),
        (ARFF.replace("@attribute class", "@attrib class"), 9, "expected @attribute"),
        (ARFF.split('a,"')[0], None, "no instances"),
        # anything
        ("", None, "empty"),
        ("\n \n", None, "empty"),
        (gzip.compress(C45.encode(), mtime=0)[:-9], None, "gzip"),
        (b"\x1f\x8bnonsense", None, "gzip"),
        (b"\x00\x01\x02", 1, "NUL"),
    ],
)
def test_malformed_files_are_refused_with_the_line(write, content, line, reason):
    path = write(content)
    with pytest.raises(DataFormatError) as caught:
        read(path)
    assert caught.value.line == line
    assert reason in caught.value.reason
    assert str(caught.value).startswith(str(path))


def test_column_options_of_a_relational_arff(write):
    path = write(ARFF)
    assert read(path, bag="mol", label="class").y.tolist() == [1, 0]
    with pytest.raises(DataFormatError, match="no attribute of the bags is called 'molecule'"):
        read(path, bag="molecule")


def test_no_such_file_and_no_such_format(write):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read("nowhere.csv")
    with pytest.raises(ValueError, match="unknown format 'excel'"):
        read(write(C45), format="excel")


# MATLAB -------------------------------------------------------------------------------------------


def test_prtools_data_set(tmp_path):
    path = tmp_path / "set.mat"
    savemat(path, prtools())
    data = read(path)
    np.testing.assert_array_equal(data.bags.instances, X)
    assert data.bags.ids.tolist() == [4, 6]
    assert data.y.tolist() == ["positive", "negative"]


def test_matrices_in_one_file_or_a_folder(tmp_path):
    matrices = {"X": X, "bag": np.array([[2], [2], [1]]), "labels": np.array([[0], [1]])}
    savemat(tmp_path / "all.mat", matrices)
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, value in matrices.items():
        savemat(folder / f"{name}.mat", {name: value})
    for path in (tmp_path / "all.mat", folder):
        data = read(path)
        assert data.bags.ids.tolist() == [2, 1]
        assert data.y.tolist() == [1, 0]  # labels come in the order of the bag numbers


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (prtools(nlab=np.array([[2], [2]])), "2 values of nlab for 3 rows"),
        (prtools(nlab=np.array([[2], [0], [1]])), "nlab goes from 0 to 2"),
        (prtools(nlab=np.array([[2], [1], [1]])), "bag 4 has two labels"),
        (prtools(ident={"other": 1}), "no ident.milbag"),
        (prtools(ident={"milbag": np.array([[1.5], [1], [2]])}), "whole numbers"),
        (prtools(data=X + np.inf), "infinite"),
        ({"X": X}, "numbers the bags"),
        ({"X": X, "Y": X, "bag": np.ones((3, 1))}, "one matrix"),
        ({"X": X, "bag": np.array([[1], [1], [2]])}, "vector of 2 bag labels"),
        ({"X": X, "a": np.ones((3, 1)), "b": np.ones((3, 1))}, "numbers the bags"),
    ],
)
def test_malformed_mat_files(tmp_path, content, reason):
    path = tmp_path / "set.mat"
    savemat(path, content)
    with pytest.raises(DataFormatError, match=reason):
        read(path)


def test_cut_mat_file(tmp_path):
    savemat(tmp_path / "set.mat", prtools())
    (tmp_path / "cut.mat").write_bytes((tmp_path / "set.mat").read_bytes()[:300])
    with pytest.raises(DataFormatError, match="not a readable MATLAB file"):
        read(tmp_path / "cut.mat")
    (tmp_path / "new.mat").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    with pytest.raises(DataFormatError, match="-v7"):
        read(tmp_path / "new.mat")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataFormatError, match=r"without .* or \.mat files"):
        read(tmp_path / "empty")
