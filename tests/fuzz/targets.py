"""Every target with its share of turns. One whose package is not installed is left out."""

import importlib.util

TARGETS = {
    "tests.fuzz.readers": 8,
    "tests.fuzz.arrays": 2,
    "tests.fuzz.models": 1,
    "tests.fuzz.trials": 1,
}


def targets():
    return {name: n for name, n in TARGETS.items() if importlib.util.find_spec(name) is not None}
