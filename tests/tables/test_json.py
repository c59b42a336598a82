"""JSON is read as it is written: what the engine takes for something else stays text."""

import gzip
import json

import pytest

from mixedbag.datasets import DataFormatError, read


@pytest.fixture
def write(tmp_path):
    def write(rows, name="t.jsonl", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes("\n".join(map(json.dumps, rows)).encode(encoding))
        return path

    return write


@pytest.mark.parametrize(
    "ids",
    [
        [12345678901234567890123, 12345678901234567890124],
        ["123E4567-E89B-12D3-A456-426614174000", "123E4567-E89B-12D3-A456-426614174001"],
        ["2020-01-01T10:00:00Z", "2020-01-01T12:00:00+02:00"],
        ["10:00", "10:00:00"],
    ],
)
@pytest.mark.parametrize("also", [{}, {"x_1": 1.5}])  # as the engine would call a second x
def test_ids_are_as_written(write, ids, also):
    data = read(write([{"bag": bag, "x": j + 0.5, **also} for j, bag in enumerate(ids)]))
    assert data.bags.ids.tolist() == list(map(str, ids))


def test_texts_are_judged_as_those_of_a_file_with_lines(write, tmp_path):
    when = ["2020-01-01T10:00:00Z", "2020-01-01T11:00:00Z", None]
    rows = [
        {"bag": j, "x": 1.5**j, "when": w, "loose": f"2020-1-{j + 1}"} for j, w in enumerate(when)
    ]
    lines = [f"{r['bag']},{r['x']},{r['when'] or ''},{r['loose']}" for r in rows]
    (tmp_path / "t.csv").write_text("\n".join(["bag,x,when,loose", *lines]))
    expected, found = read(tmp_path / "t.csv"), read(write(rows))
    assert found.bags.feature_names == expected.bags.feature_names == ["x", "when"]
    assert str(found.bags.instances.tolist()) == str(expected.bags.instances.tolist())
    told = [note.replace("line 2", "row 0") for note in expected.notes]
    assert list(found.notes) == told


def test_large_numbers_remain_numbers(write):
    rows = [{"bag": 1, "x": 1e20}, {"bag": 1, "x": 0.5}, {"bag": 2, "x": None}]
    assert str(read(write(rows)).bags.instances.ravel().tolist()) == "[1e+20, 0.5, nan]"


def test_keys_that_differ_in_capitals_are_two_columns(write):
    data = read(write([{"bag": 1, "x": 2, "X": 3}]))
    assert data.bags.instances.tolist() == [[2, 3]]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "cp1252", "utf-8-sig"])
@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
def test_encodings(tmp_path, encoding, name):
    content = json.dumps([{"bag": "é", "x": 1}, {"bag": "b", "x": 4}], ensure_ascii=False)
    packed = gzip.compress if name.endswith("gz") else bytes
    (tmp_path / name).write_bytes(packed(content.encode(encoding)))
    data = read(tmp_path / name)
    assert data.bags.ids.tolist() == ["é", "b"]
    assert any(note.startswith("read as ") and note.endswith(" text") for note in data.notes) == (
        encoding != "utf-8-sig"
    )


def test_where_json_in_a_wide_encoding_ends_is_named(tmp_path):
    (tmp_path / "t.json").write_bytes('{"bag": 1}\n{"bag": '.encode("utf-16"))
    with pytest.raises(DataFormatError, match="not JSON") as caught:
        read(tmp_path / "t.json")
    assert caught.value.line == 2
