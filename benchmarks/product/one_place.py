"""What the algorithm for blocks of bags costs where all bags are in one place.

Most learners have one algorithm for bags here, on disk and on a cluster. Linear margin machines and
`AggregateSVC` have two: on blocks, machines are made of sums over rows; in one place they start
from the machine before and look at few rows. Here both learn from the same bags in this process,
those of the blocks lying in one block.
"""

import time
import warnings

import numpy as np

from benchmarks._tables import Table

SIZES = ("200 × 7 × 230", "2000 × 10 × 20")
LEARNERS = (
    "MI-SVM, hinge",
    "MI-SVM, squared hinge",
    "mi-SVM, hinge",
    "mi-SVM, squared hinge",
    "AggregateSVC",
)

TINY = {"learner": "MI-SVM, hinge", "bags × size × features": "20 × 3 × 4"}


def cases():
    return [
        {"learner": name, "bags × size × features": size} for name in LEARNERS for size in SIZES
    ]


def run(case):
    from mixedbag.datasets import make_any, make_count
    from mixedbag.engines import Labelled, LocalBlocks

    n_bags, size, d = map(int, case["bags × size × features"].split(" × "))
    counts = case["learner"] == "AggregateSVC"
    make = make_count if counts else make_any
    data = make(n_bags=n_bags, size=size, n_features=d, random_state=0)
    if counts:
        target = np.column_stack([data.bags.sizes - data.y, data.y])
    else:
        target = 2.0 * data.y - 1.0
    blocks = LocalBlocks([Labelled(data.bags, target, np.ones(n_bags))])
    found = {}
    for place in ("one place", "blocks"):
        model = _learner(case["learner"]).fit(data.bags[:20], data.y[:20])  # compiles
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(data.bags, data.y) if place == "one place" else model._fit_blocks(blocks)
        found[f"{place}, CPU s"] = time.process_time() - began
        found[f"{place}, objective"] = float(model.objective_[-1])
    return found


def _learner(name):
    from benchmarks.counts.machines import RidgeStart
    from mixedbag.margin import BagMarginSVC, InstanceMarginSVC

    if name == "AggregateSVC":  # from the one start that blocks have
        return RidgeStart(n_init=1)
    kind, _, loss = name.partition(", ")
    kinds = {"MI-SVM": BagMarginSVC, "mi-SVM": InstanceMarginSVC}
    return kinds[kind](kernel="linear", loss=loss.replace(" ", "_"))


def table(rows):
    notes = "CPU seconds of a fit, and the objective it ends with; C = 1, bags by `make_any`, "
    notes += "for AggregateSVC `make_count`."
    for row in rows:
        row["blocks ÷ one place"] = row["blocks, CPU s"] / row["one place, CPU s"]
    return [Table("One algorithm or two", rows, notes)]
