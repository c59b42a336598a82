"""Table I of the boosting paper, last rows: λ chosen, here inside the training folds."""

import numpy as np

from benchmarks._boosting_runs import BOOSTERS, LAMBDAS, SETS, curves, nested
from benchmarks.boosting_table1 import with_averages
from benchmarks.common import Table, published


def run(quick):
    sets = {"east": SETS["east"]} if quick else SETS
    paper = {row["algorithms"]: row for row in published("boosting_table1")}
    return [nested_table(paper, sets)]


def nested_table(paper, sets):
    rows, chosen = [], []
    for label in ("ExpBin", "ExpReg"):
        found = {column: nested(name, BOOSTERS[label], 0) for column, name in sets.items()}
        ours = {column: 100 * float(np.mean(accuracy)) for column, (accuracy, _) in found.items()}
        rows.append({"booster": label, "λ": "inside folds", "whose": "ours"} | with_averages(ours))
        fixed = {
            column: 100 * float(curves(name, BOOSTERS[label], 0)["test"][:, -1].mean())
            for column, name in sets.items()
        }
        rows.append({"booster": label, "λ": "0.1", "whose": "ours"} | with_averages(fixed))
        best = paper[f"{label}(optimal λ)"]
        theirs = {column: float(best[column]) for column in sets}
        rows.append({"booster": label, "λ": "best", "whose": "paper"} | with_averages(theirs))
        chosen.append(
            {"booster": label} | {c: float(np.median(lams)) for c, (_, lams) in found.items()}
        )
    grid = ", ".join(map(str, LAMBDAS))
    return Table(
        "Accuracy (%) with λ chosen",
        rows,
        f"Ours: chosen among {grid} by three folds inside each training part, the same ten folds "
        "for all our rows. The paper's row is the best λ of each set on the reported folds "
        "themselves. Median λ chosen: "
        + "; ".join(
            f"{row['booster']}: " + ", ".join(f"{c} {row[c]:g}" for c in sets) for row in chosen
        ),
    )
