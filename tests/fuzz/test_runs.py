"""Short runs of what `make fuzz` does at length: damaged trial files, and kills."""

from pathlib import Path

import pytest

from tests.fuzz import kills, trials
from tests.started import Started


@pytest.mark.parametrize("seed", [0, 1])
def test_damaged_trials_are_done_again_and_named(seed):
    outcomes = {name: trials.run(content) for name, content in trials.cases(seed)}
    assert outcomes.pop("twice") == "kept"  # an archive with bytes before it is the same archive
    in_bytes = [outcomes.pop(name) for name in list(outcomes) if name.startswith("bytes")]
    assert set(outcomes.values()) == {"done again"}
    assert set(in_bytes) <= {"done again", "kept"}


def test_a_sound_trial_is_kept():
    assert trials.run(trials.valid()) == "kept"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds workers in /proc")
def test_a_killed_run_loses_nothing(tmp_path):
    done = kills.kills(2, seed=0, folder=tmp_path, start=Started)
    assert [fault for kill in done for fault in kill.faults] == []
