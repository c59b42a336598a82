"""What `compare` chooses on the ten data sets of the boosting paper's Table I.

Every figure is nested: settings, members and weights of the stack are chosen inside the training
bags of each of ten folds. Each data set has the same time budget. Finished folds are kept in the
cache folder (``MIXEDBAG_BENCHMARKS``, by default below the user's cache), so the work can be done
in pieces: ``python -m benchmarks.compare_ten_sets musk1``. A set that is in the cache is not run
again.
"""

import os
import sys
from pathlib import Path

from benchmarks.common import Table, published
from mixedbag import compare
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


def cache():
    home = os.environ.get("MIXEDBAG_BENCHMARKS") or Path.home() / ".cache" / "mixedbag-benchmarks"
    return Path(home) / "compare"


def compare_set(name, budget=BUDGET, quick=False):
    """The comparison on one data set, going on from what the cache has."""
    data = load(name)
    if quick:
        return compare(data.bags, data.y, "any", learners=["bag statistics"], folds=3)
    return compare(data.bags, data.y, "any", time_budget=budget, n_jobs=-1, folder=cache() / name)


def run(quick=False):
    rows, learners = [], {}
    paper = published("boosting_table1")
    for name, column in SETS.items():
        result = compare_set(name, 0.001 if (cache() / name).exists() else BUDGET, quick)
        board = {row.name: row for row in result.leaderboard() if row.status == "done"}
        chosen = result.chosen()
        printed = {row["algorithms"]: row[column] for row in paper}
        values = [float(v) for n, v in printed.items() if "optimal" not in n and v != "-"]
        single = next((row for row in board.values() if row.kind == "choice"), None)
        rows.append(
            {
                "data": name,
                "chosen model": percent(chosen),
                "95 %": f"{100 * chosen.low:.1f}–{100 * chosen.high:.1f}",
                "best single": percent(single),
                "forest": percent(board.get("bag statistics + forest")),
                "paper's winner (ExpBin)": float(printed["ExpBin"]),
                "best printed": max(values),
                "learners": len(result.finished()),
                "seconds": round(sum(row.seconds for row in result.leaderboard())),
            }
        )
        for row in board.values():
            learners.setdefault(row.name, {})[name] = percent(row)
    rows.append(mean_row(rows))
    table = Table(
        "compare on ten data sets: nested accuracy (%)",
        rows,
        "Chosen model: the stack of the best few learners. Best single: one learner, chosen "
        "inside. Forest: bag statistics + an untuned random forest. All are calibrated inside the"
        " training bags. Best printed: the largest figure of the paper's table for that set. Ten "
        "folds. Learners: how many had met all folds when the time was up; seconds: what all "
        "trials took together, a core each, in one run or several that went on from each other. "
        "How the stack combines and calibrates was settled while looking at outer folds of these "
        "same sets: the chosen model's figures are mildly optimistic.",
    )
    each = Table(
        "every learner that met all folds (%)",
        [{"learner": n, **{s: v.get(s, "") for s in SETS}} for n, v in sorted(learners.items())],
    )
    return [table, each]


def percent(row):
    return "" if row is None else round(100 * row.mean, 1)


def mean_row(rows):
    columns = [c for c in rows[0] if c not in ("data", "95 %")]
    means = {}
    for column in columns:
        values = [row[column] for row in rows]
        whole = all(value != "" for value in values)
        means[column] = round(sum(values) / len(values), 1) if whole else ""
    return {"data": "mean", "chosen model": means["chosen model"], "95 %": "", **means}


if __name__ == "__main__":
    for set_name in sys.argv[1:]:
        print(set_name, compare_set(set_name), flush=True)
