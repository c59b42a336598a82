"""Files of one data set on a cluster: matched by name, refused by name where they differ."""

import contextlib

import numpy as np
import pytest

from mixedbag import Bags
from mixedbag.bags import bag_labels
from mixedbag.classics import MILogisticRegression

DistributedBags = pytest.importorskip("mixedbag.engines.dask").DistributedBags
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def columns(first, n_bags=20, size=4):
    """Rows of the bags from `first` on, as columns; feature `a` alone tells the label."""
    rng = np.random.default_rng(first)
    ids = np.repeat(np.arange(first, first + n_bags), size)
    label = ids % 2
    a, b, c = rng.normal(size=(3, len(ids)))
    return {"mol": ids, "active": label, "a": a + 3 * label, "b": 9 * b, "c": c}


def write(folder, *tables):
    for k, table in enumerate(tables):
        pq.write_table(pa.table(table), folder / f"part-{k}.parquet")
    return folder


def read(folder, client, **options):
    return DistributedBags.from_parquet(folder, "mol", "active", client=client, **options)


def instances(block):
    return [(block.bags.ids.tolist(), np.array(block.bags.instances))]


def test_columns_are_matched_by_name(client, tmp_path):
    one, two = columns(0), columns(18)  # bags 18 and 19 lie in both files
    write(tmp_path, one, {name: two[name] for name in ("b", "mol", "a", "active", "c")})
    found = read(tmp_path, client)
    whole = {name: np.concatenate([one[name], two[name]]) for name in one}
    expected = Bags.from_groups(np.column_stack([whole[n] for n in "abc"]), whole["mol"])
    parts = found.blocks.sum(instances)
    assert [i for ids, _ in parts for i in ids] == expected.ids.tolist()
    np.testing.assert_array_equal(np.concatenate([x for _, x in parts]), expected.instances)
    y = bag_labels(whole["active"], whole["mol"])
    learner = MILogisticRegression().fit(expected, y)
    assert learner.score(expected, y) > 0.9


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t: {n: v for n, v in t.items() if n != "b"}, r"part-1\.parquet lacks column 'b'"),
        (lambda t: t | {"d": t["a"]}, r"part-1\.parquet has a column 'd'"),
        (lambda t: {n.upper() if n == "b" else n: v for n, v in t.items()}, "lacks column 'b'"),
        (
            lambda t: t | {"mol": t["mol"].astype(float)},
            r"'mol' holds double in .*part-1\.parquet but whole numbers in .*part-0\.parquet",
        ),
        (lambda t: t | {"mol": [str(i) for i in t["mol"]]}, r"'mol' holds text in .*part-1"),
        (lambda t: t | {"active": t["active"].astype(float)}, r"'active' holds double in .*part-1"),
        (lambda t: t | {"active": t["active"] == 1}, r"'active' holds bool in .*part-1"),
        (lambda t: t | {"a": [str(v) for v in t["a"]]}, r"'a' of .*part-1.* is not numeric"),
        (lambda t: t | {"a": t["mol"].astype("M8[s]")}, r"'a' of .*part-1.* is not numeric"),
        (
            lambda t: t | {"mol": pa.array([None, *t["mol"][1:].tolist()])},
            r"part-1\.parquet has no value of 'mol' in row 0",
        ),
    ],
)  # fmt: skip
def test_files_that_differ_are_refused_by_name(client, tmp_path, change, reason):
    write(tmp_path, columns(0), change(columns(20)))
    with pytest.raises(ValueError, match=reason):
        read(tmp_path, client)


def test_one_kind_of_id_in_several_widths_is_one_bag(client, tmp_path):
    one, two = columns(0), columns(19)  # bag 19 lies in both
    two |= {"mol": two["mol"].astype(np.int32), "active": two["active"].astype(np.uint8)}
    write(tmp_path, one, two)
    assert read(tmp_path, client).n_bags == 39
    text = {"mol": pa.array([str(i) for i in one["mol"]]).dictionary_encode()}
    write(tmp_path, one | text, two | {"mol": [str(i) for i in two["mol"]]})
    assert read(tmp_path, client).n_bags == 39


def test_asked_for_features_need_no_agreement_on_the_others(client, tmp_path):
    write(tmp_path, columns(0), columns(20) | {"note": ["x"] * 80})
    assert read(tmp_path, client, features=["c", "a"]).feature_names == ["c", "a"]
    with pytest.raises(ValueError, match=r"part-0\.parquet has no column 'note'"):
        read(tmp_path, client, features=["a", "note"])


def test_rows_promised_are_rows_read(client, tmp_path):
    write(tmp_path, columns(0))
    path = tmp_path / "part-0.parquet"
    whole = bytearray(path.read_bytes())
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    counts = [at for at in range(footer, len(whole) - 8) if whole[at : at + 2] == b"\xa0\x01"]
    assert counts  # 80 as the varint that Parquet's footer writes
    for at in counts:
        damaged = bytearray(whole)
        damaged[at] ^= 0x60  # 32 rows
        path.write_bytes(damaged)
        with contextlib.suppress(ValueError):
            assert read(tmp_path, client).n_instances == 80
