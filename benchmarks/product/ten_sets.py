"""What `compare` chooses on the ten data sets of the boosting paper's Table I.

Every figure is nested: settings, members and weights of the stack are chosen inside the training
bags of each of ten folds. Each data set has the same time budget. `compare` keeps its finished
trials in a folder (``MIXEDBAG_BENCHMARKS``, by default below the user's cache), so an interrupted
set goes on where it was. The folder is named after the code: no old trial is taken for a new one.
"""

import os
from pathlib import Path

import numpy as np

from benchmarks._code import fingerprint
from benchmarks._tables import Table, published
from mixedbag.comparison import compare
from mixedbag.datasets import load

# Our names, and the paper's columns.
SETS = {
    "mutagenesis-atoms": "atom",
    "mutagenesis-bonds": "bond",
    "mutagenesis-chains": "chain",
    "eastwest": "east",
    "westeast": "west",
    "musk1": "musk1",
    "musk2": "musk2",
    "elephant": "eleph.",
    "tiger": "tiger",
    "fox": "fox",
}
BUDGET = 300.0
TINY = {"data": "eastwest", "budget": 60.0}


def cases():
    return [{"data": name, "budget": BUDGET} for name in SETS]


def trials(name):
    """The folder of a comparison's trials, for the library as it is now."""
    home = os.environ.get("MIXEDBAG_BENCHMARKS") or Path.home() / ".cache" / "mixedbag-benchmarks"
    return Path(home) / fingerprint(__name__, "compare") / name.replace(" ", "-")


def compared(name, budget):
    """The comparison on one data set, going on from what its folder has."""
    data = load(name)
    folder = trials(f"{name}-{budget:g}")
    settings = {"metric": "accuracy", "time_budget": budget, "n_jobs": -1, "folder": folder}
    return compare(data.bags, data.y, "any", **settings)


def run(case):
    result = compared(case["data"], case["budget"])
    board = {row.name: row for row in result.leaderboard() if row.status == "done"}
    chosen = result.chosen()
    single = next((row for row in board.values() if row.kind == "choice"), None)
    return {
        "chosen model": percent(chosen),
        "95 %": chosen and f"{100 * chosen.low:.1f}–{100 * chosen.high:.1f}",
        "best single": percent(single),
        "forest": percent(board.get("bag statistics + forest")),
        "learners": len(result.finished()),
        "seconds": round(sum(row.seconds for row in result.leaderboard())),
        "board": {name: percent(row) for name, row in board.items()},
    }


def percent(row):
    return None if row is None else round(100 * row.mean, 1)


def table(rows):
    paper = published("boosting_table1")
    lines, learners = [], {}
    for row in rows:
        printed = {line["algorithms"]: line[SETS[row["data"]]] for line in paper}
        values = [float(v) for n, v in printed.items() if "optimal" not in n and v != "-"]
        line = {key: row[key] for key in ("data", "chosen model", "95 %", "best single", "forest")}
        line |= {"paper's winner (ExpBin)": float(printed["ExpBin"]), "best printed": max(values)}
        lines.append(line | {"learners": row["learners"], "seconds": row["seconds"]})
        for name, value in row["board"].items():
            learners.setdefault(name, {"learner": name})[row["data"]] = value
    if len(lines) > 1:
        means = {"data": "mean"}
        for column in lines[0]:
            values = [line[column] for line in lines]
            if column not in ("data", "95 %") and None not in values:
                means[column] = round(float(np.mean(values)), 1)
        lines.append(means)
    return [
        Table("compare on ten data sets: nested accuracy (%)", lines, NOTES),
        Table("every learner that met all folds (%)", [learners[n] for n in sorted(learners)]),
    ]


NOTES = (
    "Chosen model: the stack of the best few learners. Best single: one learner, chosen inside. "
    "Forest: bag statistics + an untuned random forest. All are calibrated inside the training "
    "bags. Best printed: the largest figure of the paper's table for that set. Ten folds. "
    "Learners: how many had met all folds when the time was up; seconds: what all trials took "
    "together, a core each. A learner that is absent from a column of the second table had not met "
    "all folds when the time was up. How the stack combines and calibrates was settled while "
    "looking at outer folds of these same sets: the chosen model's figures are mildly optimistic."
)
