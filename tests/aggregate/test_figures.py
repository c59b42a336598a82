"""The paper's claims about Figures 1–8, checked on the stored results of the benchmark."""

import json
from pathlib import Path

import numpy as np
import pytest

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "aggregate_figures.json"
ORDERED, MIXED = (0, 25), (500, 2000)


@pytest.fixture(scope="module")
def figures():
    tables = json.loads(RESULTS.read_text())["tables"]
    return {t["rows"][0]["figure"]: t["rows"] for t in tables if t["title"] != "Time"}


def take(rows, column, dataset=None, sizes=None, randomness=None):
    return np.array(
        [
            row[column]
            for row in rows
            if (dataset is None or row["dataset"] == dataset)
            and (sizes is None or row["size"] in sizes)
            and (randomness is None or row["randomness"] in randomness)
        ]
    )


def datasets(rows):
    return list(dict.fromkeys(row["dataset"] for row in rows))


def test_every_cell_is_there(figures):
    assert sorted(figures) == list(range(1, 9))
    for rows in figures.values():
        cells = {(row["dataset"], row["size"], row["randomness"]) for row in rows}
        assert len(cells) == len(rows) == 3 * 4 * 7


@pytest.mark.parametrize("figure", [1, 2])
def test_neighbours_repeat_the_printed_numbers(figures, figure):
    ours, paper = (take(figures[figure], column) for column in ("aggregate", "paper"))
    assert np.abs(ours - paper).mean() < 0.05
    assert np.corrcoef(ours, paper)[0, 1] > 0.95


@pytest.mark.parametrize(("figure", "worse"), [(1, 1), (2, -1)])
def test_neighbours_suffer_from_size_and_randomness(figures, figure, worse):
    rows = figures[figure]
    for name in datasets(rows):
        ordered, mixed = (take(rows, "aggregate", name, randomness=r) for r in (ORDERED, MIXED))
        assert worse * (mixed.mean() - ordered.mean()) > 0.05
        by_size = [take(rows, "aggregate", name, [s], MIXED).mean() for s in (2, 5, 10, 20)]
        assert (worse * np.diff(by_size) > -0.01).all()


def test_rbf_networks_beat_their_control_where_bags_are_mixed(figures):
    rows = figures[3]
    assert np.mean(take(rows, "advantage") > 0) > 0.6
    assert np.mean(take(rows, "advantage", sizes=(2, 5, 10), randomness=(100, 200, 500)) > 0) > 0.9
    assert take(rows, "advantage", randomness=(0,)).mean() < 0  # "occasionally worse" when ordered


def test_neural_networks_win_most_clearly_on_dermatology(figures):
    rows = figures[4]
    assert np.mean(take(rows, "advantage", "dermatology") >= 0) > 0.95
    for name in datasets(rows):
        assert take(rows, "advantage", name, (10, 20), MIXED).min() > 0.05


def test_regression_machines_gain_with_randomness(figures):
    rows = figures[5]
    assert np.mean(take(rows, "advantage") > 0) > 0.7
    for name in datasets(rows):
        ordered, mixed = (take(rows, "advantage", name, randomness=r) for r in (ORDERED, MIXED))
        assert mixed.mean() > ordered.mean() + 0.1
    assert take(rows, "advantage", sizes=(2, 5, 10), randomness=(100, 200, *MIXED)).min() > 0.05


def test_regression_machines_gain_with_size_as_long_as_there_are_bags_enough(figures):
    """The paper sees the advantage grow with size. Ours does up to size 10, with C chosen.

    Bags of 20 leave a fold 12 to 21 bags. There it grows on for two of three data sets when bags
    are completely mixed, and not at all with a fixed C = 1.
    """
    rows = figures[5]
    by_size = [take(rows, "advantage", sizes=[s], randomness=MIXED).mean() for s in (2, 5, 10)]
    assert (np.diff(by_size) > 0).all()
    for name in datasets(rows):
        small, *larger = (take(rows, "advantage", name, [s], MIXED).mean() for s in (2, 5, 10, 20))
        assert min(larger) > small + 0.05
    largest = {
        name: np.diff([take(rows, "advantage", name, [s], [2000]).mean() for s in (10, 20)]).item()
        for name in datasets(rows)
    }
    assert min(largest["auto-mpg"], largest["housing"]) > 0 > largest["cpu-small"]
    fixed, chosen = (take(rows, kind, sizes=(20,)).mean() for kind in ("fixed", "aggregate"))
    assert chosen < 0.7 * fixed


def test_classification_machines_beat_their_control_almost_everywhere(figures):
    """As in the paper; the gain with size ends at 10 on ionosphere, at C = 0.1 for all data."""
    rows = figures[6]
    assert np.mean(take(rows, "advantage") > 0) > 0.95
    by_randomness = [take(rows, "advantage", randomness=[r]).mean() for r in (25, 100, 200, 500)]
    assert (np.diff(by_randomness) > 0).all()
    by_size = [take(rows, "advantage", sizes=[s], randomness=MIXED).mean() for s in (2, 5, 10, 20)]
    assert by_size[0] < by_size[1] < min(by_size[2:])
    for name in ("breast-cancer-wisconsin", "dermatology"):
        gains = [take(rows, "advantage", name, [s], MIXED).mean() for s in (2, 5, 10, 20)]
        assert (np.diff(gains) > 0).all()
        assert np.ptp(take(rows, "aggregate", name)) < 0.05  # "nearly constant"


def test_regression_trees_lose_only_when_bags_are_ordered(figures):
    rows = figures[7]
    assert take(rows, "advantage", sizes=(20,), randomness=ORDERED).max() < 0
    assert np.mean(take(rows, "advantage", randomness=MIXED) > 0) > 0.9
    for name in datasets(rows):
        ordered, mixed = (take(rows, "control", name, randomness=r) for r in (ORDERED, MIXED))
        assert mixed.mean() > ordered.mean() + 0.2


def test_classification_trees_equal_their_control_when_ordered_and_beat_it_when_mixed(figures):
    rows = figures[8]
    assert np.abs(take(rows, "advantage", randomness=(0,))).max() < 0.03
    for name in ("breast-cancer-wisconsin", "dermatology"):
        assert take(rows, "advantage", name, (5, 10, 20), MIXED).min() > 0.15
        assert np.ptp(take(rows, "aggregate", name)) < 0.12
    assert take(rows, "advantage", "ionosphere").mean() > 0
