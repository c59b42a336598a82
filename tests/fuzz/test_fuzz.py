"""The harness counts every fault, no known failure comes back, and a short run finds none."""

import random
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from mixedbag import Bags
from mixedbag.datasets import BagData, read
from tests.fuzz import readers
from tests.fuzz.damage import damaged
from tests.fuzz.harness import GOOD, fuzz
from tests.fuzz.targets import targets

SEEDS = sorted(p for p in (Path(__file__).parent / "seeds").glob("*/*") if p.is_file())
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits memory by POSIX means")


def test_every_fault_is_counted_and_kept(tmp_path):
    tally = fuzz({"tests.fuzz.faulty": 1}, lambda: False, n_cases=1, keep=tmp_path, patience=2)
    kinds = {failure.case: failure.kind for failure in tally.failures}
    assert kinds == {"2": "crash", "3": "exception", "5": "exception", "6": "hang", "7": "lost"}
    assert "MemoryError" in next(f.detail for f in tally.failures if f.case == "3")
    assert len(list(tmp_path.iterdir())) == 5
    assert "lost" in str(tally)


def test_damage_is_damage_and_the_same_for_a_seed():
    whole = bytes(range(256)) * 4
    changed = [damaged(whole, random.Random(seed)) for seed in range(200)]
    assert changed == [damaged(whole, random.Random(seed)) for seed in range(200)]
    assert sum(content != whole for content in changed) > 180


def test_the_oracle_sees_lost_merged_and_misread_rows(tmp_path):
    content = readers.whole("c45")
    (tmp_path / "file").write_bytes(content)
    data = read(tmp_path / "file")
    rows, of, ids = data.bags.instances, data.bags.bag_of, data.bags.ids
    assert readers.judge("c45", content, data) is None
    kept = Bags.from_groups(rows[1:], ids[of][1:])
    merged = Bags.from_groups(rows, ids[np.where(of == 2, 0, of)])
    for bags, reason in ((kept, "instances where"), (merged, "is 'b0'")):
        wrong = BagData(bags, data.y[: len(bags)])
        assert reason in readers.judge("c45", content, wrong)
    misread = read(tmp_path / "file", format="commas")
    assert "is not there" in readers.judge("c45", content, misread)


@pytest.mark.parametrize("seed", SEEDS, ids=lambda path: path.name)
def test_what_once_failed_does_not_fail_again(seed):
    target = import_module(f"tests.fuzz.{seed.parent.name}")
    assert target.run(seed.read_bytes()).partition(":")[0] in GOOD


def test_a_short_run():
    """A turn of every target, all in one process as long as nothing ends it."""
    names = list(targets())
    turns = iter(names)
    tally = fuzz(dict.fromkeys(names, 1), lambda: next(turns, None) is None, None, 7, batch=60)
    for name in names:
        assert sum(n for (target, _), n in tally.outcomes.items() if target == name) >= 50
    assert not tally.failures, "\n".join(map(str, tally.failures))
