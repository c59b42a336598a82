"""Folders of bags: the same from every kind of file, and one clear line for each that is bad."""

import json
import os
import pickle
import zipfile

import numpy as np
import pyarrow as pa
import pytest

from mixedbag import _on_disk
from mixedbag.datasets import BagData, read, read_blocks
from mixedbag.datasets._folders import is_folder, read_bag
from mixedbag.exceptions import InputError

h5py = pytest.importorskip("h5py")
WORDS = {"f2": "F16", "f4": "F32", "f8": "F64", "i8": "I64", "u2": "BF16"}


def safetensors(path, change=None, **arrays):
    header, content = {}, b""
    for name, array in arrays.items():
        ends = [len(content), len(content) + array.nbytes]
        facts = {"dtype": WORDS[array.dtype.str[1:]], "shape": array.shape, "data_offsets": ends}
        header[name] = facts
        content += array.tobytes()
    if change is not None:
        change(header)
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content)


def hdf5(path, **arrays):
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file.create_dataset(name, data=array, compression="gzip")


WRITERS = {
    ".npy": lambda path, features, coords: np.save(path, features),
    ".npz": lambda path, **arrays: np.savez_compressed(path, **arrays),
    ".safetensors": safetensors,
    ".h5": hdf5,
}


def write(folder, kind="mixed", n_bags=8, dtype=np.float32):
    """Files of bags, and what is in them."""
    rng = np.random.default_rng(0)
    suffixes = list(WRITERS) if kind == "mixed" else [kind]
    features, coords = [], []
    for i in range(n_bags):
        n_rows = 2 + i % 3
        features.append(rng.normal(size=(n_rows, 3)).astype(dtype))
        coords.append(rng.integers(0, 9999, (n_rows, 2)))
        suffix = suffixes[i % len(suffixes)]
        arrays = {"features": features[-1], "coords": coords[-1]}
        WRITERS[suffix](folder / f"slide.{i}{suffix}", **arrays)
    return features, coords


@pytest.mark.parametrize("kind", ["mixed", *WRITERS])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_every_kind_of_file_holds_the_same_bags(tmp_path, kind, dtype):
    features, coords = write(tmp_path, kind, dtype=dtype)
    data = read(tmp_path)
    expected = np.float64 if dtype == np.float64 else np.float32
    assert data.bags.instances.dtype == expected
    assert data.bags.ids.tolist() == [f"slide.{i}" for i in range(8)]
    for bag, rows in zip(data.bags, features):
        assert np.array_equal(bag, rows.astype(expected))
    if kind == ".npy":
        assert data.coords is None
    else:
        placed = ~np.isnan(data.coords).any(axis=1)
        known = np.concatenate([c for i, c in enumerate(coords) if kind != "mixed" or i % 4])
        assert np.array_equal(data.coords[placed], known)
    blocks = list(read_blocks(tmp_path, rows=5))
    assert len(blocks) > 3
    assert np.array_equal(
        np.concatenate([block.bags.instances for block in blocks]), data.bags.instances
    )
    assert [i for block in blocks for i in block.bags.ids] == data.bags.ids.tolist()
    one = read_bag(tmp_path, "slide.5")
    assert np.array_equal(one.bags.instances, data.bags[5])
    assert len(one.bags) == 1


def test_bfloat16_and_the_axis_in_front_and_other_names(tmp_path):
    X = np.arange(6, dtype=np.float32).reshape(2, 3) / 4  # exact with eight bits
    half = (X.view(np.uint32) >> 16).astype(np.uint16)
    safetensors(tmp_path / "a.safetensors", feats=half)
    hdf5(tmp_path / "b.h5", features=X[None], coords=np.zeros((1, 2, 2)))
    np.save(tmp_path / "c.npy", np.asfortranarray(X))
    np.savez(tmp_path / "d.npz", anything=X, coords=np.zeros((2, 3)))
    for bag in read(tmp_path).bags:
        assert np.array_equal(bag, X)


def test_labels_are_matched_by_the_names_of_files(tmp_path):
    write(tmp_path, ".npz")
    table = tmp_path / "labels.csv"
    table.write_text(
        "patient,slide,diagnosis,weight\n"
        "p1,slide.3.svs,tumour,2\np0,slide.0,normal,1\np1,slide.5.npz,tumour,1\np9,slide.77,normal,1\n"
    )
    data = read(tmp_path, labels=table, label="diagnosis", group="patient", weight="weight")
    assert data.bags.ids.tolist() == ["slide.0", "slide.3", "slide.5"]
    assert data.y.tolist() == ["normal", "tumour", "tumour"]
    assert data.groups.tolist() == ["p0", "p1", "p1"]
    assert data.weight.tolist() == [1, 2, 1]
    notes = "\n".join(data.notes)
    assert "column 'slide' names the bags" in notes
    assert "5 files without a label left out: slide.1, slide.2, slide.4 and 2 more" in notes
    assert "1 labels without a file: slide.77" in notes
    query = "select * from data where patient = 'p1'"
    assert len(read(tmp_path, labels=table, label="diagnosis", query=query).bags) == 2
    (block,) = read_blocks(tmp_path, labels=table, label="diagnosis")
    assert block.y.tolist() == data.y.tolist()


def test_names_of_digits_keep_their_zeros(tmp_path):
    for name in ("01", "1"):
        np.save(tmp_path / f"{name}.npy", np.full((1, 2), float(name)))
    (tmp_path / "y.csv").write_text("bag,label\n1,7\n01,8\n")
    data = read(tmp_path, labels=tmp_path / "y.csv")
    assert dict(zip(data.bags.ids.tolist(), data.y.tolist())) == {"01": 8, "1": 7}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("bag,label\nother,1\n", "names none of the 8 files"),
        ("slide,label\nother,1\n", "none has the names"),
        ("a,b,label\nslide.0,slide.0,1\n", "several have the names"),
        ("bag,y\nslide.0,1\n", "say which column holds the label"),
        ("bag,label\nslide.0,1\nslide.0.svs,0\n", "both name the file"),
        ("bag,label\nslide.0,1\nslide.0,0\n", "has two labels"),
    ],
)
def test_bad_labels_are_explained(tmp_path, table, message):
    write(tmp_path, ".npy")
    (tmp_path / "y.csv").write_text(table)
    with pytest.raises(InputError, match=message):
        read(tmp_path, labels=tmp_path / "y.csv")


def test_what_does_not_fit_stays_on_disk(tmp_path, monkeypatch):
    features, _ = write(tmp_path, ".npy")
    monkeypatch.setattr(_on_disk, "free_memory", lambda: 0)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    data = read(tmp_path)
    mapped = _on_disk.mapping_of(data.bags[2:5].instances)
    assert os.path.exists(mapped.filename)
    assert np.array_equal(data.bags.instances, np.concatenate(features))
    assert any("stay on disk" in note for note in data.notes)
    path = mapped.filename
    sent = _on_disk.dumps(data.bags[2:5])
    assert path.encode() in bytes(sent)
    assert np.array_equal(pickle.loads(sent).instances, data.bags[2:5].instances)
    del data, mapped
    assert not os.path.exists(path)
    assert _on_disk.mapping_of(np.ones(3)) is None


def test_a_table_larger_than_the_disk_is_refused():
    with pytest.raises(OSError, match="fit neither into memory nor there"):
        _on_disk.empty_table((2**60, 4), np.float32)


def zeros_of(shape):
    def change(header):
        header["features"]["shape"] = shape

    return lambda path: safetensors(path, change, features=np.zeros((2, 3), np.float32))


def linked(path):
    with h5py.File(path, "w") as file:
        file["elsewhere"] = h5py.ExternalLink("other.h5", "/features")


def swollen(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("features", (2**40, 4), "f4", chunks=(1024, 4))


def bomb(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("features.npy", b"\0" * (300 * 2**20))


def shortened(kind):
    def make(path):
        write(path.parent, kind, 1)
        content = (path.parent / f"slide.0{kind}").read_bytes()
        (path.parent / f"slide.0{kind}").unlink()
        path.write_bytes(content[: len(content) // 2])

    return make


BAD = {
    "empty.npy": (lambda p: p.write_bytes(b""), "the file is empty"),
    "text.npy": (lambda p: p.write_text("hello"), "no array of NumPy"),
    "objects.npy": (lambda p: np.save(p, np.array([[{}]])), "a pickle"),
    "words.npy": (lambda p: np.save(p, np.array([["a"]])), "numbers are expected"),
    "flat.npy": (lambda p: np.save(p, np.zeros(3)), "no array 'features'"),
    "none.npy": (lambda p: np.save(p, np.zeros((0, 3))), "a row an instance is expected"),
    "inf.npy": (lambda p: np.save(p, np.array([[1, np.inf]])), "feature 1 in row 0 is not finite"),
    "short.npy": (shortened(".npy"), "bytes"),
    "short.npz": (shortened(".npz"), "damaged archive"),
    "short.h5": (shortened(".h5"), "not a readable HDF5 file"),
    "short.safetensors": (shortened(".safetensors"), "bytes"),
    "bomb.npz": (bomb, "more numbers than is plausible"),
    "many.npz": (
        lambda p: np.savez(p, a=np.zeros((2, 2)), b=np.zeros((2, 2))),
        "the arrays are 'a' of shape",
    ),
    "coords.npz": (
        lambda p: np.savez(p, features=np.zeros((2, 2)), coords=np.zeros((3, 2))),
        "coords of shape",
    ),
    "large.safetensors": (zeros_of([2**60, 3]), "in 24 bytes"),
    "negative.safetensors": (zeros_of([-2, -3]), "does not describe the array 'features'"),
    "true.safetensors": (zeros_of([True, 6]), "does not describe the array 'features'"),
    "length.safetensors": (lambda p: p.write_bytes(b"\xff" * 16), "no safetensors file"),
    "json.safetensors": (lambda p: p.write_bytes(b"\2" + b"\0" * 7 + b"{]"), "not JSON"),
    "link.h5": (linked, "no array 'features'"),
    "swollen.h5": (swollen, "implausible for the file's size"),
    "link.npy": (
        lambda p: p.symlink_to(p.parent / "gone.npy"),
        "a link to a file that is not there",
    ),
    "pickle.pt": (lambda p: p.write_bytes(b"\x80\x04N."), "pickles"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_named_in_one_line(tmp_path, name):
    make, message = BAD[name]
    make(tmp_path / name)
    assert is_folder(tmp_path)
    for source in (tmp_path, tmp_path / name):
        with pytest.raises(InputError, match=message) as caught:
            read(source)
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)


def test_files_that_are_no_one_folder_of_bags(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((2, 3)))
    np.save(tmp_path / "b.npy", np.zeros((2, 4)))
    with pytest.raises(InputError, match=r"b\.npy: 4 features, a\.npy has 3"):
        read(tmp_path)
    np.savez(tmp_path / "a.npz", np.zeros((2, 3)))
    with pytest.raises(InputError, match="which one is the bag"):
        read(tmp_path)
    with pytest.raises(InputError, match="name that folder"):
        read(tmp_path.parent)
    with pytest.raises(InputError, match="no columns"):
        read(tmp_path, time="t")
    with pytest.raises(InputError, match="no bag 'z' among its"):
        read_bag(tmp_path / "?.npy", "z")
    table = tmp_path / "t.csv"
    table.write_text("bag,label,x\na,1,2\n")
    with pytest.raises(InputError, match="no folder of bags"):
        read(table, labels=table)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no folder of bags, in \.npy, "):
        read(tmp_path / "empty", labels=table)
    with pytest.raises(FileNotFoundError, match="no file"):
        read(tmp_path / "misspelt", labels=table)


def test_blocks_keep_the_places_of_instances(tmp_path):
    write(tmp_path, ".h5")
    whole = read(tmp_path)
    blocks = list(read_blocks(tmp_path, rows=4))
    assert np.array_equal(np.concatenate([block.coords for block in blocks]), whole.coords)
    with pytest.raises(ValueError, match="coords"):
        BagData(whole.bags, coords=whole.coords[1:])


def test_every_block_has_places_where_one_has(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((4, 3)))
    hdf5(tmp_path / "b.h5", features=np.zeros((4, 3)), coords=np.ones((4, 2)))
    np.save(tmp_path / "c.npy", np.zeros((4, 3)))
    blocks = list(read_blocks(tmp_path, rows=4))
    assert [np.isnan(block.coords).all() for block in blocks] == [True, False, True]
    labels = pa.table({"bag": ["a", "c"], "label": [0, 1]})
    assert read(tmp_path, labels=labels).coords is None
    assert all(block.coords is None for block in read_blocks(tmp_path, labels=labels, rows=4))


def test_what_is_beside_the_files_is_told(tmp_path):
    (tmp_path / "more").mkdir()
    for name in ("a.npy", "b.npy", "more/c.npy"):
        np.save(tmp_path / name, np.zeros((4, 3)))
    (tmp_path / "d.pt").write_bytes(b"\x80\x04N.")
    told = {
        "1 pickles (.pt) not read",
        f"files of bags in folders inside ({tmp_path / 'more'}) not read",
    }
    assert told <= set(read(tmp_path).notes)
    first, second = read_blocks(tmp_path, rows=4)
    assert told == set(first.notes)
    assert not second.notes
