"""Saving is all or nothing; loading refuses what it does not know."""

import json
import zipfile

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer

import mixedbag
from mixedbag import io
from mixedbag.testing import toy_problem
from mixedbag.wrappers import InstanceWise, SpreadLabels


@pytest.fixture
def model():
    problem = toy_problem(SpreadLabels(LogisticRegression()))
    return SpreadLabels(LogisticRegression()).fit(*problem)


def shout(x):
    return x


def test_round_trip(model, tmp_path):
    mixedbag.save(model, tmp_path / "m.skops")
    bags = toy_problem(model).bags
    np.testing.assert_array_equal(
        mixedbag.load(tmp_path / "m.skops").predict(bags), model.predict(bags)
    )
    assert io.read_stamp(tmp_path / "m.skops")["model"] == "SpreadLabels"
    assert [p.name for p in tmp_path.iterdir()] == ["m.skops"]


def test_a_failed_write_leaves_the_old_file(model, tmp_path, monkeypatch):
    path = tmp_path / "m.skops"
    io.save(model, path)
    before = path.read_bytes()

    def full_disk(*args):
        raise OSError("No space left on device")

    monkeypatch.setattr("os.replace", full_disk)
    with pytest.raises(OSError, match="No space"):
        io.save(model, path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.skops"]


def test_unknown_types_are_refused_by_name(tmp_path):
    problem = toy_problem(SpreadLabels(LogisticRegression()))
    model = InstanceWise(FunctionTransformer(shout)).fit(problem.bags)
    io.save(model, tmp_path / "m.skops")
    with pytest.raises(io.UntrustedModelError, match="shout"):
        io.load(tmp_path / "m.skops")
    name = f"{shout.__module__}.shout"
    assert isinstance(io.load(tmp_path / "m.skops", trusted=[name]), InstanceWise)


def test_a_model_from_the_future_is_refused(model, tmp_path):
    old, new = tmp_path / "m.skops", tmp_path / "n.skops"
    io.save(model, old)
    with zipfile.ZipFile(old) as source, zipfile.ZipFile(new, "w") as target:
        for item in source.namelist():
            content = source.read(item)
            if item == "mixedbag.json":
                content = json.dumps(json.loads(content) | {"mixedbag": "99.0.0"})
            target.writestr(item, content)
    with pytest.raises(ValueError, match=r"saved by mixedbag 99\.0\.0"):
        io.load(new)


@pytest.mark.parametrize("content", [b"", b"not a model", b"PK\x05\x06" + b"\0" * 18])
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "m.skops"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a model saved by mixedbag"):
        io.load(path)
