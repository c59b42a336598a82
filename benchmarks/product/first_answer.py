"""When the first answer stands after pressing return: `mixedbag compare` on tables of many shapes.

The command is started on a CSV file, or on a file of words and how often each passage has them, and
does the beginning of its sequence that is one learner on
all folds. The answer stands when the last of these trials is kept; imports, reading and the start
of workers are in it. Labels are those of a made problem, or drawn at random: then nothing can be
learned, and machines that go on until labels are told apart take longest.
"""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks._tables import Table
from benchmarks.product.effort import texts
from mixedbag.comparison import compare
from mixedbag.comparison._sequence import sequence
from mixedbag.datasets import make_any, make_count, make_majority, make_sum

SHAPES = [(20, 6, 5), (140, 6, 11), (200, 7, 230), (500, 10, 20), (100, 60, 50), (20, 200, 100)]
MANY = (2000, 10, 20)
TEXTS = [(200, 8, 5000), (500, 5, 20_000)]  # bags, passages a bag, words that there are
MADE = {"any": make_any, "majority": make_majority, "count": make_count, "sum": make_sum}
ALLOWED = 10.0
TINY = {"rule": "any", "bags": 20, "size": 3, "features": 3, "labels": "made"}


def cases():
    kinds = [("any", "made"), ("any", "at random")]
    kinds += [("majority", "made"), ("majority", "at random"), ("count", "made"), ("sum", "made")]
    tables = [
        {"rule": rule, "bags": bags, "size": size, "features": features, "labels": labels}
        for rule, labels in kinds
        for bags, size, features in [*(SHAPES if rule == "any" else SHAPES[1:4]), MANY]
    ]
    texts = [
        {"rule": "any", "bags": bags, "size": size, "features": words, "labels": labels}
        for labels in ("made", "at random")
        for bags, size, words in TEXTS
    ]
    return tables + [case | {"kind": "text"} for case in texts]


def run(case):
    data = _data(case)
    bags, y = data.bags, data.y
    plan = compare(bags, y, case["rule"], work=0)
    units = sequence(plan.candidates, plan.protocol)[: len(plan.splits)]
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "table.csv", Path(folder) / "out"
        options = ["--rule", case["rule"], *_written(data, table)]
        options += ["--work", str(len(units)), "--out", str(out)]
        before, start = os.times(), time.time()
        command = [sys.executable, "-m", "mixedbag", "compare", str(table), *options]
        subprocess.run(command, check=True, capture_output=True)
        after, end = os.times(), time.time()
        stands = max(file.stat().st_mtime for file in out.glob("folds/*/*.npz"))
    return {
        "begins": units[0].candidate.name,
        "expected": round(sum(unit.seconds for unit in units), 2),
        "answer": round(stands - start, 1),
        "all": round(end - start, 1),
        "processor": round(sum(after[2:4]) - sum(before[2:4]), 1),
    }


def _data(case):
    if "kind" in case:
        data = texts(case["bags"] // 2, case["size"], case["features"])
    else:
        data = MADE[case["rule"]](
            n_bags=case["bags"],
            size=(max(1, case["size"] // 2), case["size"] + case["size"] // 2),
            n_features=case["features"],
            random_state=0,
        )
    if case["labels"] == "at random":
        data = replace(data, y=np.random.default_rng(0).permutation(data.y))
    return data


def _written(data, table):
    """Write a table, and tell the options that say what its columns are."""
    bags, labels = data.bags, data.bags.spread(data.y)
    if bags.is_sparse:
        with open(table, "w") as file:
            for row, (bag, label) in enumerate(zip(bags.bag_of, labels)):
                words = bags.instances[[row]].tocoo()
                pairs = " ".join(f"{k + 1}:{v:g}" for k, v in zip(words.coords[1], words.data))
                file.write(f"{row}:{bag}:{label} {pairs}\n")
        return []
    names = ",".join(["bag", "label", *(f"x{k}" for k in range(bags.n_features))])
    rows = np.column_stack([bags.bag_of, labels, *bags.instances.T])
    np.savetxt(table, rows, fmt="%.6g", delimiter=",", header=names, comments="")
    return ["--bag", "bag", "--label", "label"]


def table(rows):
    lines = [
        {"rule": row["rule"], "table": row.get("kind", "numbers")}
        | {key: row[key] for key in ("labels", "bags", "size", "features", "begins")}
        | {
            "expected for all folds, s": row["expected"],
            "answer stands, s": row["answer"],
            "with checks and report, s": row["all"],
            "processor, s": row["processor"],
        }
        for row in rows
    ]
    late = sum(row["answer"] > ALLOWED for row in rows)
    told = f"Later than {ALLOWED:g} s: {late} of {len(rows)}."
    return [Table("from pressing return to an answer", lines, f"{NOTES} {told}")]


NOTES = (
    "Seconds of the clock since the command was started, imports and reading included; processor: "
    "of all its processes, checks and the report included. Expected: by the table of efforts, for "
    "the learner that begins."
)
