"""How groups answered, from the margins of precincts, where the truth is known.

Rows of real tables are people, neighbours in their first two features are precincts, the label is
the answer; the two groups lie above and below the median of the most telling other feature. What
is estimated is the share of yes in either group. Random precincts are drawn ten times, so that an
interval that misses can be told from one that is too narrow. PyEI's two-by-two model runs in an
environment of its own, whose Python the variable PYEI_PYTHON names (see `_pyei_worker.py`), on the
first draw, or is left out.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks._measure import cpu_timed, picture
from benchmarks._tables import Table, grouped
from benchmarks.counts import _pyei_worker
from benchmarks.counts._problems import counts_of, in_bags, rows
from mixedbag.ecological import (
    PrecinctBoundsDisplay,
    RateDisplay,
    Rates,
    RowByColumn,
    TomographyDisplay,
)

TABLES = ("german", "spambase", "batteryless", "cpu-small")
KINDS = ("random 32", "places 32")
DRAWS = 10
TINY = {"data": "german", "kind": "random 32"}


def cases():
    first = [{"data": name, "kind": kind} for name in TABLES for kind in KINDS]
    return first + [
        {"data": name, "kind": KINDS[0], "draw": draw}
        for name in TABLES
        for draw in range(1, DRAWS)
    ]


def precincts(case):
    """The margins, covariates of precincts (their place), and the true rates of both groups."""
    draw = case.get("draw", 0)
    X, label = rows(case["data"], draw)
    bags, label = in_bags(X, label, case["kind"], draw)
    others = bags.instances[:, 2:]
    telling = np.abs(others.T @ (label - label.mean())).argmax()
    group = (others[:, telling] > np.median(others[:, telling])).astype(int)
    if group.min() == group.max():  # more than half of them share the largest value
        group = (others[:, telling] >= np.median(others[:, telling])).astype(int)
    table = RowByColumn.from_bags(bags, group, counts_of(bags, label))
    place = np.add.reduceat(bags.instances[:, :2], bags.offsets[:-1]) / bags.sizes[:, None]
    truth = np.bincount(group, label) / np.bincount(group)
    return table, place, truth


def ways(table, place):
    """``{way: how to get Rates}``."""
    found = {
        "bounds": table.bounds,
        "Goodman": table.goodman,
        "model": lambda: table.model(n_draws=60),
        "model, covariates": lambda: table.model(place, n_draws=60),
    }
    if os.environ.get("PYEI_PYTHON"):
        found["PyEI"] = lambda: _pyei(table)
    return found


def _pyei(table):
    people = table.rows.sum(axis=1)
    told = {
        "group": (table.rows[:, 0] / people).tolist(),
        "answer": (table.columns[:, 1] / people).tolist(),
        "people": people.tolist(),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "precincts.json"
        path.write_text(json.dumps(told))
        command = [os.environ["PYEI_PYTHON"], _pyei_worker.__file__, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    yes = [np.array(found[name]) for name in ("estimate", "low", "high")]
    return Rates(*(np.column_stack([1.0 - share, share]) for share in yes)), found["seconds"]


def run(case):
    table, place, truth = precincts(case)
    result = {"truth": truth.tolist()}
    for way, ask in ways(table, place).items():
        if way == "PyEI" and "draw" in case:
            continue
        rates, seconds = cpu_timed(ask)
        if isinstance(rates, tuple):
            rates, seconds = rates
        ends = [getattr(rates, name)[:, 1].tolist() for name in ("district", "low", "high")]
        result[way] = {"estimate": ends[0], "low": ends[1], "high": ends[2], "seconds": seconds}
    return result


def table(rows):
    lines, summary = [], []
    for row in rows:
        told = {way: found for way, found in row.items() if isinstance(found, dict)}
        for g, truth in enumerate(row["truth"]):
            line = {name: row.get(name, 0) for name in ("data", "kind", "draw")}
            line |= {"group": g, "truth": f"{truth:.3f}"}
            for way, found in told.items():
                e, low, high = (found[name][g] for name in ("estimate", "low", "high"))
                inside = low - 1e-9 <= truth <= high + 1e-9
                line[way] = f"{e:.3f} ({low:.3f} to {high:.3f})" + ("" if inside else " misses")
                summary.append(
                    {
                        "way": way,
                        "kind": row["kind"],
                        "data": row["data"],
                        "error": abs(e - truth),
                        "inside": inside,
                        "width": high - low,
                        "seconds": found["seconds"],
                    }
                )
            if not line["draw"]:
                lines.append(line)
    means = [
        {
            "way": way,
            "kind": kind,
            "mean error": float(np.mean([s["error"] for s in some])),
            "intervals that hold the truth": f"{sum(s['inside'] for s in some)} of {len(some)}",
            "mean width": float(np.mean([s["width"] for s in some])),
            "seconds": float(np.mean([s["seconds"] for s in some])),
        }
        for (way, kind), some in grouped(summary, "way", "kind").items()
    ]
    note = (
        "The share of yes in each group, and limits: certain ones of bounds, 95 % of the others. "
        "In 'places' precincts differ in more than their groups, as they do in earnest."
    )
    held = [
        {"data": data, "kind": kind}
        | {
            way: f"{sum(s['inside'] for s in part)} of {len(part)}"
            for (way,), part in grouped(some, "way").items()
        }
        for (data, kind), some in grouped(summary, "data", "kind").items()
    ]
    return [
        Table("Ways to estimate", means),
        Table("Intervals that hold the truth", held, "Of all draws, and both groups."),
        Table("Group by group, first draw", lines, note),
    ]


def publish(rows, folder):
    """Bounds, tomography and intervals of one table of precincts."""
    table, place, truth = precincts({"data": "german", "kind": "places 32"})
    rates = {way: ask() for way, ask in ways(table, place).items() if way != "PyEI"}
    with picture(folder / "groups.png", 1, 3, figsize=(12, 4)) as (_, axes):
        PrecinctBoundsDisplay.from_table(table, row=1, column=1, ax=axes[0])
        TomographyDisplay.from_table(table, column=1, ax=axes[1])
        axes[1].plot(*truth, "o", color="C1", label="truth")
        axes[1].legend()
        RateDisplay(rates, column=1, names=["below", "above"]).plot(ax=axes[2])
        axes[2].plot(range(2), truth, "k_", markersize=30, label="truth")
        axes[2].legend(loc="upper center", ncols=2, frameon=False, fontsize="small")
