"""The harness counts every fault, no known failure comes back, and a short run finds none."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

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
    import random

    whole = bytes(range(256)) * 4
    changed = [damaged(whole, random.Random(seed)) for seed in range(200)]
    assert changed == [damaged(whole, random.Random(seed)) for seed in range(200)]
    assert sum(content != whole for content in changed) > 180


@pytest.mark.parametrize("seed", SEEDS, ids=lambda path: path.name)
def test_what_once_failed_does_not_fail_again(seed):
    target = import_module(f"tests.fuzz.{seed.parent.name}")
    assert target.run(seed.read_bytes()).partition(":")[0] in GOOD


@pytest.mark.parametrize("target", targets())
def test_a_short_run(target):
    tally = fuzz({target: 1}, lambda: False, n_cases=400, first_seed=7)
    assert tally.cases >= 50
    assert not tally.failures, "\n".join(map(str, tally.failures))
