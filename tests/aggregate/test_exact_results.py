"""Alternating against the proven optimum, checked on the stored results of the benchmark."""

import json
from pathlib import Path

import pytest

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "aggregate_exact.json"


@pytest.fixture(scope="module")
def pairs():
    """Rows of the alternating and the exact method on the same problems."""
    (table,) = json.loads(RESULTS.read_text())["tables"]
    by_case = {}
    for row in table["rows"]:
        case = row["dataset"], row["rows"], row["size"], row["C"]
        by_case.setdefault(case, {})[row["method"]] = row
    return [(case["alternating"], case["exact"]) for case in by_case.values()]


def test_alternating_is_close_to_the_optimum(pairs):
    for quick, exact in pairs:
        assert quick["above exact, %: median"] <= 2.0
        if quick["rows"] in (15, 30):
            assert exact["proven"] == "20/20"
            assert quick["worst"] <= 10.0


def test_alternating_is_as_accurate_as_exact_within_the_fold_spread(pairs):
    for quick, exact in pairs:
        assert abs(quick["accuracy"] - exact["accuracy"]) <= max(exact["fold sd"], 0.01)


def test_a_time_limit_leaves_an_honest_gap(pairs):
    for _, exact in pairs:
        assert 0.0 <= exact["gap left, %"] <= 100.0
