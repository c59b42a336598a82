"""What `predict` reads: tables of any length, in blocks of whole bags."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mixedbag._overlap import side_by_side
from mixedbag.cli import _tables as tables
from mixedbag.cli._answers import bag_answers, instance_answers
from mixedbag.cli._later import later
from mixedbag.comparison import _from_disk, fit_best_setting, fit_from_disk
from mixedbag.datasets import DataFormatError, make_any, read
from mixedbag.engines import SpooledBags, spooled
from mixedbag.exceptions import InputError
from mixedbag.io import save
from mixedbag.margin import BagMarginSVC


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


def test_labels_are_not_looked_at_where_features_are_known(tmp_path):
    """A model may have learned from a column "label", and bags with two labels have answers."""
    lines = ["bag,label,x", *(f"b{i // 3},{i},{-i}" for i in range(30))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    (block,) = tables.stream_bags(tmp_path / "t.csv", features=["x"])
    assert block.y is read(tmp_path / "t.csv", label=()).y is None
    assert block.bags.instances.ravel().tolist() == [-i for i in range(30)]
    (bags,) = stream_bags(tmp_path / "t.csv", features=["label", "x"])
    assert bags.instances[:, 0].tolist() == list(range(30))
    with pytest.raises(DataFormatError, match="two labels"):
        stream_bags(tmp_path / "t.csv", features=["x"], label="label")
    with pytest.raises(DataFormatError, match="two labels"):
        stream_bags(tmp_path / "t.csv")
    names = "".join(f"@attribute {name} numeric\n" for name in ("bag", "label", "x"))
    (tmp_path / "t.arff").write_text(f"@relation t\n{names}@data\n0,1,2\n0,1,3\n1,0,5\n")
    (bags,) = stream_bags(tmp_path / "t.arff", features=["x"])
    assert bags.instances.ravel().tolist() == [2, 3, 5]


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


def test_predict_starts_without_libraries_that_it_does_not_use(tmp_path):
    data = make_any(n_bags=20, random_state=0)
    save(BagMarginSVC(kernel="linear").fit(data.bags, data.y), tmp_path / "model.skops")
    names = [f"x{j}" for j in range(data.bags.n_features)]
    rows = [f"b{i // 5},{','.join(map(str, x))}" for i, x in enumerate(data.bags.instances)]
    (tmp_path / "table.csv").write_text("\n".join([",".join(["bag", *names]), *rows]))
    code = (
        "import atexit, sys\nfrom mixedbag.cli import main\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "sys.argv = ['mixedbag', 'predict', 'model.skops', 'table.csv']\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    loaded = set(done.stderr.split())
    assert "duckdb" in loaded
    assert loaded.isdisjoint({"pandas.core", "scipy.stats.distributions", "sklearn.metrics"})


def test_a_module_is_imported_once_whoever_asks(tmp_path, monkeypatch):
    (tmp_path / "slow_module.py").write_text(
        "import time\ntime.sleep(0.2)\ncount = globals().get('count', 0) + 1"
    )
    monkeypatch.syspath_prepend(tmp_path)
    later("slow_module", "no_such_module")
    import slow_module

    with ThreadPoolExecutor(4) as threads:
        assert [*threads.map(lambda _: slow_module.count, range(4))] == [1] * 4
    assert sys.modules.pop("slow_module") is not slow_module
    assert "no_such_module" not in sys.modules


@pytest.mark.parametrize("learner", ["MILogisticRegression", "spread labels + logistic"])
def test_answers_are_those_of_the_model(learner):
    data = make_any(n_bags=30, size=4, random_state=0)
    model = fit_best_setting(data.bags, data.y, "any", learner).model
    for asked in (model, model.members[0]):
        if not hasattr(asked, "predict_proba"):
            continue
        answers = bag_answers(asked, data.bags)
        assert answers.pop("predicted").tolist() == asked.predict(data.bags).tolist()
        np.testing.assert_array_equal(
            np.column_stack([*answers.values()]), asked.predict_proba(data.bags)
        )
    of_instances = instance_answers(model, data.bags)
    assert of_instances.pop("predicted").tolist() == model.predict_instances(data.bags).tolist()
    np.testing.assert_array_equal(
        np.column_stack([*of_instances.values()]), model.predict_proba_instances(data.bags)
    )


def test_answers_come_in_order_and_few_at_a_time():
    asked = []

    def items():
        for i in range(20):
            asked.append(i)
            yield i

    def slow(i):
        time.sleep(0.002 * (i % 3 == 0))
        if i == 15:
            raise ValueError("no 15")
        return -i

    found = side_by_side(slow, items(), 3)
    assert [next(found) for _ in range(5)] == [0, -1, -2, -3, -4]
    assert len(asked) <= 5 + 3
    with pytest.raises(ValueError, match="no 15"):
        list(found)


def test_a_table_is_learned_from_on_disk(tmp_path, monkeypatch):
    """The setting is chosen on some bags; model and ranges come from all."""
    rng = np.random.default_rng(0)
    lines = ["bag,label,x,y"]
    for i in rng.permutation(np.repeat(np.arange(120), 4)).tolist():
        x, y = rng.normal(size=2).round(3)
        lines.append(f"b{i},{['good', 'bad'][i % 2]},{x + i % 2},{y}")
    lines.append("b0,good,50,0")
    (tmp_path / "t.csv").write_text("\n".join(lines))
    monkeypatch.setattr(spooled, "_BLOCK_CELLS", 100)
    source = tables.spool_bags(str(tmp_path / "t.csv"))
    assert source.notes[0].startswith("120 bags, 481 instances of 2 features, in ")
    whole = tables.read_data(str(tmp_path / "t.csv"))
    there = fit_from_disk(source, "any", "MILogisticRegression", positive="bad")
    here = fit_best_setting(whole.bags, whole.y, "any", "MILogisticRegression", positive="bad")
    assert there.setting == here.setting
    np.testing.assert_allclose(
        there.model.predict_proba(whole.bags), here.model.predict_proba(whole.bags), atol=1e-6
    )
    monkeypatch.setattr(_from_disk, "_SAMPLE", 500)
    part = fit_from_disk(source, "any", "BagMarginSVC", positive="bad").model
    assert part.origin.high.tolist() == [50.0, whole.bags.instances[:, 1].max()]
    assert (part.origin.n_bags, part.classes_.tolist()) == (120, ["good", "bad"])
    assert any("from 63 of its bags" in note for note in part.notes)
    with pytest.raises(ValueError, match="needs all bags in memory; from disk learn"):
        fit_from_disk(source, "any", "CitationKNN")


def test_bags_larger_than_the_sample_are_learned_from_on_disk(monkeypatch):
    """A setting is chosen on some of them, unless these are too large as well."""
    data = make_any(n_bags=60, size=120, random_state=0)
    large = SpooledBags([data])
    monkeypatch.setattr(_from_disk, "_SAMPLE", 500)
    model = fit_from_disk(large, "any", "MILogisticRegression").model
    assert any("from 20 of its bags" in note for note in model.notes)
    few = SpooledBags([make_any(n_bags=8, size=120, random_state=0)])
    model = fit_from_disk(few, "any", "MILogisticRegression").model
    assert any("from 8 of its bags" in note for note in model.notes)
    monkeypatch.setattr(_from_disk, "_MOST", 20_000)
    with pytest.raises(InputError, match="120 instances × 10 features are too large to be learned"):
        fit_from_disk(large, "any", "MILogisticRegression")
