"""Values of text that a model has never met are told of, whichever way a table comes."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from mixedbag import Bags, tables
from mixedbag._linear_scores import linear_answers
from mixedbag.cli._tables import read_bag
from mixedbag.datasets import read, read_blocks
from mixedbag.margin import BagMarginSVC
from mixedbag.tables._pooled import read_pooled
from tests.command import mixedbag

FEATURES = ["x", "kind=a", "kind=b"]
KINDS = ["a", "b", " a ", "NA", "", "new\x1b[31m", "c", "c", "A", "d", "b", "e"]
NOTE = (
    "column 'kind': 6 rows have values that no feature stands for ('new\\x1b[31m', 'c', 'A' and 2 "
    "more): all of its features are 0 there"
)


def frame(values=KINDS):
    bag = [f"m{i // 2}" for i in range(len(values))]
    return pd.DataFrame({"bag": bag, "x": np.arange(len(values)) / 4, "kind": values})


def written(folder, table):
    table.to_csv(folder / "table.csv", index=False)
    parquet.write_table(pa.Table.from_pandas(table, preserve_index=False), folder / "t.parquet")
    return [folder / "table.csv", folder / "t.parquet"]


def told(notes):
    return [note for note in notes if "no feature stands for" in note]


def test_a_table_of_any_origin_has_the_note_once(tmp_path):
    for source in [frame(), *written(tmp_path, frame())]:
        assert told(read(source, "bag", features=FEATURES).notes) == [NOTE]
        blocks = [*read_blocks(source, "bag", features=FEATURES, rows=2)]
        assert len(blocks) == 6
        assert [told(block.notes) for block in blocks] == [[NOTE], *[[]] * 5]
    with pytest.warns(UserWarning, match="column 'kind': 6 rows have values"):
        Bags.from_frame(frame(), "bag", features=FEATURES)


def test_values_that_are_known_or_missing_need_no_note(tmp_path):
    known = frame(["a", "b", " b", "NA", "?", ""])
    for source in [known, *written(tmp_path, known)]:
        assert not told(read(source, "bag", features=FEATURES).notes)
        assert not told(read(source, "bag").notes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Bags.from_frame(known, "bag", features=FEATURES)


def test_one_row_of_one_value():
    (note,) = told(read(frame(["a", "b", "c"]), "bag", features=["kind=a", "kind=b"]).notes)
    assert note.startswith("column 'kind': 1 row has a value that no feature stands for ('c'): ")


def test_pooled_bags_have_the_note_as_well(tmp_path):
    bags = Bags.from_list([np.eye(3), np.zeros((2, 3))], feature_names=FEATURES)
    model = BagMarginSVC(kernel="linear").fit(bags, [1, 0])
    roles = tables.Roles("bag", features=FEATURES)
    for source in written(tmp_path, frame()):
        blocks = [*read_pooled(source, roles, linear_answers(model).scores, None, 100)]
        assert [told(block.notes) for block in blocks] == [[NOTE]]


def test_predict_explain_and_evaluate_say_so(tmp_path):
    lines = ["bag,label,kind,x"]
    for i in range(40):
        lines += [f"m{i},{i % 2},{'ab'[i % 2]},{i / 9:.3f}", f"m{i},{i % 2},a,0"]
    (tmp_path / "train.csv").write_text("\n".join(lines))
    learner = "--learner", "BagMarginSVC", "--out", "m.skops"
    mixedbag("fit", "train.csv", *learner, folder=tmp_path)
    for path in written(tmp_path, frame()):
        for level in ((), ("--instances",)):
            said = mixedbag("predict", "m.skops", path.name, *level, folder=tmp_path)
            assert said.stderr.splitlines()[:-1] == [NOTE]
        for option in ((), ("--json",)):
            asked = "explain", "m.skops", path.name, str(frame()["bag"].iloc[-1]), *option
            assert mixedbag(*asked, folder=tmp_path).stderr.splitlines() == [NOTE]
    said = mixedbag("predict", "m.skops", "train.csv", folder=tmp_path)
    assert len(said.stderr.splitlines()) == 1
    (tmp_path / "more.csv").write_text("\n".join([*lines, "m40,1,c,3"]))
    said = mixedbag("evaluate", "m.skops", "more.csv", folder=tmp_path)
    assert "column 'kind': 1 row has a value that no feature stands for ('c')" in said.stderr


def test_a_bag_far_down_a_table_brings_the_note(tmp_path):
    rows = "".join(f"m{i // 10},1,a\n" for i in range(30_000))
    (tmp_path / "long.csv").write_text(f"bag,x,kind\n{rows}last,1,c\n")
    data = read_bag(str(tmp_path / "long.csv"), "last", "bag", FEATURES)
    assert "1 row has a value that no feature stands for ('c')" in told(data.notes)[0]


def test_text_where_the_model_learned_from_numbers_is_named(tmp_path):
    lines = [f"m{i // 2},{i // 2 % 2},{i / 9:.3f},{i % 5}" for i in range(80)]
    (tmp_path / "train.csv").write_text("\n".join(["bag,label,x,z", *lines]))
    learner = "--learner", "BagMarginSVC", "--out", "m.skops"
    mixedbag("fit", "train.csv", *learner, folder=tmp_path)
    (tmp_path / "new.csv").write_text("bag,x,z\n" + "a,red,1\nb,blue,2\n" * 4)
    said = mixedbag("predict", "m.skops", "new.csv", folder=tmp_path, code=2).stderr
    assert "3 features where the model learned from 2: 'x' there, 'x=blue', 'x=red' here" in said


def test_an_empty_column_that_is_needed_is_told(tmp_path):
    lines = ["bag,label,x,z"]
    for i in range(40):
        lines += [f"m{i},{i % 2},{i % 2 + i / 90:.3f},{i % 5}", f"m{i},{i % 2},,1"]
    (tmp_path / "train.csv").write_text("\n".join(lines))
    for learner in ("BagMarginSVC", "ExpRegBoost"):  # the former is asked by the engine
        mixedbag("fit", "train.csv", "--learner", learner, "--out", learner, folder=tmp_path)
    empty = pd.DataFrame({"bag": ["a", "b"], "x": [None, None], "z": [1.0, 2.0]})
    for path in written(tmp_path, empty):
        for asked in (["BagMarginSVC"], ["BagMarginSVC", "--instances"], ["ExpRegBoost"]):
            said = mixedbag("predict", asked[0], path.name, *asked[1:], folder=tmp_path).stderr
            assert said.splitlines()[0] == "column 'x' is empty: no row has a value"
    said = mixedbag("predict", "BagMarginSVC", "train.csv", folder=tmp_path).stderr
    assert len(said.splitlines()) == 1
