"""Recordings: cutting time series into bags, and reading the samples."""

import numpy as np
import pytest

from mixedbag.bags import Bags
from mixedbag.datasets import BagData, DataFormatError, Recordings
from mixedbag.datasets.activity import read_batteryless, read_chest


def recordings(labels_of):
    """Recordings whose only feature is the number of the sample."""
    labels = np.concatenate(labels_of)
    offsets = np.cumsum([0, *map(len, labels_of)])
    ids = np.array([f"r{i}" for i in range(len(labels_of))], dtype=object)
    X = np.arange(len(labels), dtype=float)[:, None]
    return Recordings(Bags(X, offsets, ids), labels, {1: "sit", 2: "walk"}, ids)


def test_bags_follow_time_and_never_cross_a_gap_or_a_recording():
    data = recordings([[1, 1, 2, 2, 2], [1, 2, 2, 0, 1, 1, 1, 2, 1]]).bags_of(2)
    assert [bag.ravel().tolist() for bag in data.bags] == [
        [0, 1], [2, 3], [5, 6], [9, 10], [11, 12],
    ]  # fmt: skip
    assert data.y.tolist() == [1, 2, 1, 1, 1]  # ties go to the smaller number
    assert data.instance_labels.tolist() == [1, 1, 2, 2, 1, 2, 1, 1, 1, 2]
    assert data.groups.tolist() == ["r0", "r0", "r1", "r1", "r1"]
    assert data.bags.ids.tolist() == ["r0-0", "r0-1", "r1-0", "r1-1", "r1-2"]
    assert "4 of 14 samples are in no bag: 1 unlabelled, 3 in ends" in data.notes[-1]


def test_shorter_ends_are_kept_on_request():
    data = recordings([[1, 1, 2, 2, 2], [0, 0, 1]]).bags_of(3, min_size=1)
    assert data.bags.sizes.tolist() == [3, 2, 1]
    assert data.y.tolist() == [1, 2, 1]


def test_a_whole_recording_has_a_majority_too():
    assert recordings([[1, 1, 2, 2, 2], [1, 2], [0, 0, 1]]).y.tolist() == [2, 1, 0]


def test_bad_sizes_and_nothing_to_cut():
    some = recordings([[1, 1, 0]])
    for size, min_size in ((0, None), (2, 3), (2, 0)):
        with pytest.raises(ValueError, match="must be"):
            some.bags_of(size, min_size)
    with pytest.raises(ValueError, match="no recording has 3 labelled samples in a row"):
        some.bags_of(3)


def test_reads_chest_files(tmp_path):
    (tmp_path / "1.csv").write_text("0,1502,2215,2153,1\n1,1667,2072,2047,0\n")
    (tmp_path / "2.csv").write_text("1.625e+05,1,2,3,7\n")
    data = read_chest([tmp_path / "1.csv", tmp_path / "2.csv"])
    assert data.bags.sizes.tolist() == [2, 1]
    assert data.instance_labels.tolist() == [1, 0, 7]
    assert data.bags.instances[0].tolist() == [1502, 2215, 2153]


def test_reads_batteryless_files(tmp_path):
    (tmp_path / "d1p01M").write_text("0,0.27,1.0,-0.08,1,-63.5,2.4,924.25,1\n")
    data = read_batteryless([tmp_path / "d1p01M"])
    assert data.groups.tolist() == ["d1p01M"]
    assert data.time.tolist() == [0]
    assert data.other.tolist() == [[1, -63.5, 2.4, 924.25]]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("0,1,2,3,1\n1,1,2,3\n", 2, "4 values where 5"),
        ("0,1,2,3,1\n1,1,x,3,1\n", 2, "'x' is not a number"),
        ("0,1,2,3,1\n1,1,?,3,1\n", 2, "missing"),
        ("0,1,2,3,8\n", 1, "activity 8 is not in 0 to 7"),
        ("0,1,2,3,1\n\n1,1,2,3,1\n", 2, "1 values where 5"),
    ],
)
def test_malformed_recordings(tmp_path, text, line, reason):
    path = tmp_path / "1.csv"
    path.write_text(text)
    with pytest.raises(DataFormatError, match=reason) as caught:
        read_chest([path])
    assert caught.value.line == line


def test_records_check_their_lengths_and_show_themselves():
    bags = Bags.from_list([np.ones((2, 1)), np.ones((1, 1))])
    with pytest.raises(ValueError, match="3 values of y where 2 are needed"):
        BagData(bags, np.zeros(3))
    with pytest.raises(ValueError, match="2 values of instance_labels where 3 are needed"):
        BagData(bags, instance_labels=np.zeros(2))
    data = BagData(bags, np.array([1, 0]))
    assert "1 of 1, 1 of 0" in repr(data)
    again, y = data
    assert again is bags
    assert y.tolist() == [1, 0]
    with pytest.raises(AttributeError, match="not images"):
        _ = data.images
    assert "no labels" in repr(BagData(bags))
