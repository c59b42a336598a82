"""Saving is all or nothing; loading refuses what it does not know."""

import io as stdlib_io
import json
import os
import re
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import mixedbag
from mixedbag import _saved, io
from mixedbag.testing import toy_problem
from mixedbag.wrappers import BagFeatures, InstanceWise, SpreadLabels
from tests.command import mixedbag as mixedbag_command
from tests.fuzz import models as attacks
from tests.models.test_old_models import HERE


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


@pytest.mark.parametrize(
    "estimator",
    [
        GradientBoostingClassifier(n_estimators=3),
        HistGradientBoostingClassifier(max_iter=3),
        SGDClassifier(),
        VotingClassifier([("a", GaussianNB()), ("b", LogisticRegression())]),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_the_names_that_a_refusal_lists_may_be_trusted(tmp_path, estimator):
    bags, y = toy_problem(SpreadLabels(LogisticRegression()))
    model = make_pipeline(BagFeatures(), estimator).fit(bags, y)
    io.save(model, tmp_path / "m.skops")
    with pytest.raises(io.UntrustedModelError) as refusal:
        io.load(tmp_path / "m.skops")
    names = re.search(r"not trusted: (.*)\. If", str(refusal.value))[1].split(", ")
    copy = io.load(tmp_path / "m.skops", trusted=names)
    np.testing.assert_array_equal(copy.predict(bags), model.predict(bags))


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


def test_files_hold_names_that_outlive_a_move():
    """Saved anew, every old model names public classes and helpers of the register alone."""
    with zipfile.ZipFile(HERE / "0.1.0" / "models.zip") as archive:
        for name in archive.namelist():
            old = json.loads(attacks.unpack(archive.read(name))["schema.json"])
            for node in attacks.nodes(old):
                full = f"{node['__module__']}.{node['__class__']}"
                if node["__loader__"] == "ObjectNode" and "_dist_metrics" not in full:
                    assert _saved.is_registered(_saved.public_name(full)), (name, full)


def test_a_saved_file_names_no_home(tmp_path, model):
    io.save(model, tmp_path / "m.skops")
    schema = json.loads(attacks.unpack((tmp_path / "m.skops").read_bytes())["schema.json"])
    named = {f"{n['__module__']}.{n['__class__']}" for n in attacks.nodes(schema)}
    assert {"mixedbag.wrappers.SpreadLabels", "mixedbag._saved.SpreadAny"} <= named
    assert "sklearn.linear_model.LogisticRegression" in named
    assert not any("._logistic." in name or "._spread." in name for name in named)


def test_skops_reads_our_files(tmp_path, model):
    import skops.io

    io.save(model, tmp_path / "m.skops")
    unknown = skops.io.get_untrusted_types(file=tmp_path / "m.skops")
    copy = skops.io.load(tmp_path / "m.skops", trusted=unknown)
    bags = toy_problem(model).bags
    np.testing.assert_array_equal(copy.predict(bags), model.predict(bags))


@pytest.mark.parametrize("name", _saved.HELPERS)
def test_helpers_are_at_home(name):
    """The register names the module that defines a helper, or saving would not recognise it."""
    helper = getattr(_saved, name)
    assert f"{helper.__module__}.{helper.__qualname__}" == _saved.HELPERS[name]


def in_a_process(code, folder, **limits):
    """Run code in a process of its own, where a crash is seen and memory is bounded."""
    lines = [
        f"import resource; resource.setrlimit(resource.{k}, ({v}, {v}))" for k, v in limits.items()
    ]
    root = Path(__file__).parents[1]
    path = os.pathsep.join([str(root), str(root / "src"), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-c", "\n".join([*lines, code])],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    """What becomes of hostile and of damaged models, a line each, and what they left behind."""
    folder = tmp_path_factory.mktemp("attacked")
    code = (
        "import itertools, random\n"
        "from tests.fuzz.models import damaged, hostile, run\n"
        "cases = list(hostile())\n"
        "wrong = [(name, end) for name, c in cases if (end := run(c)) != 'refused']\n"
        "print(wrong, len(cases))\n"
        "ends = [run(c) for _, c in itertools.islice(damaged(random.Random(0)), 300)]\n"
        "print(set(ends) - {'refused', 'answered'}, ends.count('refused'))"
    )
    done = in_a_process(code, folder)
    assert done.returncode == 0, done.stderr
    return [line.rsplit(maxsplit=1) for line in done.stdout.splitlines()], list(folder.iterdir())


def test_hostile_models_are_refused_and_run_nothing(attacked):
    ((wrong, n_cases), _), left = attacked
    assert wrong == "[]"
    assert int(n_cases) >= 100
    assert left == []


def test_damaged_models_are_refused_or_answer(attacked):
    (_, (strange, n_refused)), left = attacked
    assert strange == "set()"
    assert int(n_refused) > 150
    assert left == []


def with_bomb(content, member):
    """The file with a member of zeros: three megabytes that unpack to four gigabytes."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    zeros = bytes(2**24)
    blocks = [squeeze.compress(zeros) + squeeze.flush(zlib.Z_FULL_FLUSH) for _ in range(2)]
    squeezed = blocks[0] + blocks[1] * 237 + squeeze.flush()
    packed = bytearray(attacks.pack({**attacks.unpack(content), member: squeezed}))
    # Both headers of the member say that it is compressed, and how long it really is.
    local = packed.index(b"PK\x03\x04", packed.index(member.encode()) - 31)
    central = packed.rindex(member.encode()) - 46
    for place, method, size in ((local, 8, 22), (central, 10, 24)):
        packed[place + method : place + method + 2] = struct.pack("<H", zipfile.ZIP_DEFLATED)
        packed[place + size : place + size + 4] = struct.pack("<I", 238 * 2**24)
    return bytes(packed)


def test_a_bomb_is_refused_within_memory(model, tmp_path):
    io.save(model, tmp_path / "m.skops")
    for member in ("zeros.npy", "schema.json"):
        bomb = with_bomb((tmp_path / "m.skops").read_bytes(), member)
        assert len(bomb) < 5e6
        with zipfile.ZipFile(stdlib_io.BytesIO(bomb)) as archive:
            assert archive.getinfo(member).file_size > 3.9e9
            with archive.open(member) as file:
                assert file.read(2**20) == bytes(2**20)
        (tmp_path / member).write_bytes(bomb)
    code = (
        "import mixedbag.io, time\n"
        "for member in ('zeros.npy', 'schema.json'):\n"
        "    start = time.monotonic()\n"
        "    try: mixedbag.io.load(member)\n"
        "    except ValueError: print(time.monotonic() - start)"
    )
    done = in_a_process(code, tmp_path, RLIMIT_AS=str(2 * 2**30))
    assert done.returncode == 0, done.stderr
    first, second = map(float, done.stdout.split())
    assert max(first, second) < 5


def test_the_command_line_says_one_line_of_a_bad_model(model, tmp_path):
    (tmp_path / "table.csv").write_text("bag,a,b,c\n1,1,2,3\n1,2,3,4\n2,0,0,1\n")
    io.save(model, tmp_path / "m.skops")
    content = (tmp_path / "m.skops").read_bytes()
    call = attacks.node("ConstructorFromReduceNode", "builtins.open", content=attacks.several())
    lost = attacks.with_schema(content, lambda s: s["content"]["content"].pop("learner_") and s)
    files = {
        "hostile": attacks.with_schema(content, lambda s: {**s, **call}),
        "half": content[: len(content) // 2],
        "lost": lost,
    }
    for name, bad in files.items():
        (tmp_path / name).write_bytes(bad)
        commands = [["predict", name, "table.csv"], ["explain", name, "table.csv", "1"]]
        for command in commands[: 2 if name == "lost" else 1]:
            done = mixedbag_command(*command, folder=tmp_path, code=2)
            assert done.stderr.count("\n") == 1
            assert name in done.stderr
