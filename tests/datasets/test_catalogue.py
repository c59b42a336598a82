"""The catalogue: every set as it is published, and clear words when files are not there."""

import subprocess
import sys

import numpy as np
import pytest

from mixedbag.datasets import info, list_names, load, paths, read
from mixedbag.datasets._home import cache_folder, checksums, data_homes


def same_bags(a, b, y_of=None):
    """Whether two data sets hold the same bags, in any order, with rows in any order."""

    def canonical(data, labels):
        bags = []
        for i, label in enumerate(labels):
            rows = data.bags[i]
            bags.append((label, rows[np.lexsort(rows.T[::-1])].tobytes()))
        return sorted(bags)

    y = [y_of[label] for label in b.y] if y_of else b.y.tolist()
    return canonical(a, a.y.tolist()) == canonical(b, y)


@pytest.mark.data
@pytest.mark.parametrize("name", list_names())
def test_every_set_is_as_described(name):
    entry = info(name)
    data = load(name)
    if entry.kind == "bags":
        n_bags, n_positive, n_instances, n_features = entry.size
        assert data.bags.shape == (n_bags, n_features)
        assert data.bags.n_instances == n_instances
        values, counts = np.unique(data.y, return_counts=True)
        assert len(values) == 2
        assert counts.tolist() == [n_bags - n_positive, n_positive]
        assert values[1] == 1
        data.bags.check_finite()
    elif entry.kind == "table":
        assert data.X.shape == entry.size
        assert len(data.y) == len(data.X)
    else:
        n_recordings, n_samples, n_features = entry.size
        assert data.bags.shape == (n_recordings, n_features)
        assert len(data.instance_labels) == data.bags.n_instances == n_samples
        data.bags.check_finite()


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "rows", "features"),
    [
        ("trec9-1", 3224, None),
        ("trec9-10", 3453, None),
        ("mutagenesis-chains", 5349, 24),
        ("eastwest", 213, 24),
        ("spambase", 4601, 57),
        ("cmc", 1473, 9),
        ("german", 1000, 24),
        ("auto-mpg", 398, 7),
        ("housing", 506, 13),
        ("cpu-small", 8192, 12),
        ("breast-cancer-wisconsin", 699, 9),
        ("dermatology", 366, 34),
        ("ionosphere", 351, 34),
    ],
)
def test_counts_of_the_published_descriptions(name, rows, features):
    data = load(name)
    table = data.X if info(name).kind == "table" else data.bags.instances
    assert table.shape[0] == rows
    assert features is None or table.shape[1] == features


@pytest.mark.data
def test_formats_of_one_set_agree():
    def other(name, file):
        return read(paths(name)[0].parent / file)

    assert same_bags(load("musk1"), other("musk1", "musk1.arff"))
    assert same_bags(load("musk2"), other("musk2", "milpy-mat"))
    elephant = load("elephant")
    assert same_bags(elephant, other("elephant", "elephant.arff"), {0: -1, 1: 1})
    labels = {"negative": -1, "positive": 1}
    assert same_bags(elephant, other("elephant", "elephant.mat"), labels)


@pytest.mark.data
def test_trec9_is_sparse_and_within_the_words_in_use():
    instances = load("trec9-1").bags.instances
    in_use = np.unique(instances.indices).size
    assert 6_000 < in_use < 7_100
    assert instances.nnz < 0.001 * instances.shape[0] * instances.shape[1]


@pytest.mark.data
def test_classes_and_missing_values_of_tables():
    def classes(name):
        return dict(zip(*map(np.ndarray.tolist, np.unique(load(name).y, return_counts=True))))

    assert classes("breast-cancer-wisconsin") == {2: 458, 4: 241}
    assert classes("cmc") == {1: 629, 2: 333, 3: 511}
    assert classes("german") == {1: 700, 2: 300}
    assert classes("ionosphere") == {"b": 126, "g": 225}
    assert classes("spambase") == {0: 2788, 1: 1813}
    assert classes("dermatology") == {1: 112, 2: 61, 3: 72, 4: 49, 5: 52, 6: 20}
    for name, missing in (("auto-mpg", 6), ("breast-cancer-wisconsin", 16), ("dermatology", 8)):
        table = load(name)
        assert np.isnan(table.X).sum() == missing
        assert len(table.complete().X) == len(table.X) - missing
    for name in ("auto-mpg", "housing", "cpu-small"):
        assert load(name).y.dtype == np.float64
    usps = load("usps")
    assert [np.count_nonzero(usps.split == part) for part in ("train", "test")] == [7291, 2007]


@pytest.mark.data
def test_recordings_cut_into_bags():
    chest = load("chest")
    data = chest.bags_of(200)
    assert set(data.bags.sizes) == {200}
    assert set(data.y) == set(data.instance_labels) == set(chest.activities)
    assert set(data.groups) == set(range(1, 7))
    trials = load("batteryless")
    data = trials.bags_of(200, min_size=1)
    assert data.bags.n_instances == 75128
    assert len(np.unique(data.groups)) == 87


# Without the data ---------------------------------------------------------------------------------


def test_a_missing_file_is_named_with_its_place_and_source(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        load("musk1", data_home=tmp_path)
    message = str(caught.value)
    assert "musk/clean1.data" in message
    assert str(tmp_path) in message
    assert "https://archive.ics.uci.edu/dataset/74" in message


def test_another_file_is_refused_unless_asked_for(tmp_path):
    (tmp_path / "musk").mkdir()
    (tmp_path / "musk" / "clean1.data").write_text("m,c,1,2,1.\nn,c,3,4,0.\n")
    with pytest.raises(ValueError, match="not the file that was published"):
        load("musk1", data_home=tmp_path)
    assert len(load("musk1", data_home=tmp_path, verify_files=False).bags) == 2


def test_unknown_names_are_answered_with_the_known():
    with pytest.raises(ValueError, match="no data set is called 'must1'; there are musk1, musk2"):
        load("must1")


def test_every_file_has_a_checksum_and_every_entry_its_facts():
    for name in list_names():
        entry = info(name)
        assert set(entry.files) <= checksums().keys()
        assert entry.summary
        assert entry.url.startswith("http")


def test_where_data_is_looked_for(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("MIXEDBAG_DATA", raising=False)
    assert data_homes() == [cache_folder()] == [tmp_path / "mixedbag"]
    monkeypatch.setenv("MIXEDBAG_DATA", "somewhere")
    assert [str(home) for home in data_homes()] == ["somewhere", str(tmp_path / "mixedbag")]
    monkeypatch.setattr("sys.platform", "darwin")
    assert cache_folder().parts[-3:] == ("Library", "Caches", "mixedbag")
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert cache_folder() == tmp_path / "local" / "mixedbag"


def test_importing_and_reading_text_stays_light(tmp_path):
    (tmp_path / "t.csv").write_text("bag,label,x\na,1,2\n")
    code = (
        "import sys, mixedbag.datasets as d; before = set(sys.modules); d.read(sys.argv[1]);"
        "heavy = {'sklearn', 'pandas', 'polars', 'h5py', 'scipy.io', 'numba'};"
        "print(sorted(heavy & before), sorted(heavy & set(sys.modules)))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "t.csv")], capture_output=True, check=True
    )
    assert out.stdout.split() == [b"[]", b"[]"]
