"""What `predict` reads: tables of any length, in blocks of whole bags."""

import numpy as np
import pytest

from mixedbag.cli import tables
from mixedbag.datasets import DataFormatError


def stream_bags(*arguments, **options):
    return [block.bags for block in tables.stream_bags(*arguments, **options)]


def test_streams_are_whole_bags_in_small_blocks(tmp_path):
    lines = [f"b{i // 7},{i},{-i},x{i}" for i in range(700)]
    (tmp_path / "long.csv").write_text("\n".join(["bag,a,b,note", *lines]))
    blocks = stream_bags(tmp_path / "long.csv", features=["b", "a"], rows=50)
    assert len(blocks) > 10
    assert max(block.n_instances for block in blocks) < 2 * 50
    assert [i for block in blocks for i in block.ids] == [f"b{i}" for i in range(100)]
    assert all((block.sizes == 7).all() for block in blocks)
    rows = np.concatenate([block.instances for block in blocks])
    assert np.array_equal(rows, np.column_stack([-np.arange(700.0), np.arange(700.0)]))


def test_streams_of_every_table_are_the_same(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    import gzip

    import pyarrow.parquet as parquet

    ids, a = [f"b{i // 3}" for i in range(30)], [float(29 - i) for i in range(30)]
    text = "\n".join(["bag,t,a", *(f"{b},{t},{2 * t}" for b, t in zip(ids, a))])
    (tmp_path / "t.csv").write_text(text)
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(text.replace(",", "\t").encode()))
    table = pyarrow.table({"bag": ids, "t": a, "a": [2 * t for t in a]})
    parquet.write_table(table, tmp_path / "t.parquet")
    for name in ("t.csv", "t.tsv.gz", "t.parquet"):
        blocks = stream_bags(tmp_path / name, features=["a"], time="t")
        assert [i for block in blocks for i in block.ids] == [f"b{i}" for i in range(10)]
        assert blocks[0][0].ravel().tolist() == [54.0, 56.0, 58.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bag,x\na,1\na,red\n", "line 3: column 'x' mixes number .*, text .*'red'"),
        ("bag,x\na,1\na\n", "line 3: 1 values where 2 are expected"),
        ("mol,x\na,1\n", "say which column holds the bag"),
        ("bag,y\na,1\n", "no column is called 'x'"),
        ("bag,x\n", "no rows below the header"),
        ("", "the file is empty"),
    ],
)
def test_bad_streams_are_explained(tmp_path, text, message):
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(DataFormatError, match=message):
        stream_bags(tmp_path / "bad.csv", features=["x"], rows=2)
