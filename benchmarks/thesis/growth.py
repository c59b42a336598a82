"""How the cost of the disjunctive program grows with bags, instances and features.

Normal instances; one instance of each positive bag is shifted in three features. Linear features,
a free bias except for the exact learner, C = 1. CPU seconds of one thread.
"""

import numpy as np

from benchmarks._measure import picture
from benchmarks._tables import Table
from benchmarks.thesis._disjunctive import fit_on_cpu_time
from mixedbag import Bags
from mixedbag.disjunctive import DPBoost, ExactBagMarginSVC, LNPBoost, SparseBagMarginSVC

BASE = {"bags": 40, "instances a bag": 4, "features": 20}
STEPS = {
    "bags": (20, 40, 80, 160, 320),
    "instances a bag": (2, 4, 8, 16, 32),
    "features": (5, 20, 80, 320, 1280),
}
LIMIT = 4.0  # seconds of a fit
LEARNERS = {
    "1-norm MI-SVM": SparseBagMarginSVC(time_limit=LIMIT, random_state=0),
    "LNPBoost, 5 rounds": LNPBoost(n_rounds=5, time_limit=LIMIT, random_state=0),
    "DPBoost": DPBoost(features="linear", time_limit=LIMIT, random_state=0),
    "exact, no bias": ExactBagMarginSVC(fit_intercept=False, time_limit=LIMIT, random_state=0),
}


def cases():
    return [{"grows": what, "value": value} for what, values in STEPS.items() for value in values]


def run(case):
    bags, y = make_bags(*(BASE | {case["grows"]: case["value"]}).values())
    row = {}
    for name, model in LEARNERS.items():
        row[f"{name}, s"] = fit_on_cpu_time(model, bags, y)
        row[f"{name}, gap"] = model.gap_
    return row


def make_bags(n_bags, size, n_features):
    rng = np.random.default_rng(0)
    y = np.arange(n_bags) % 2
    arrays = [rng.normal(size=(size, n_features)) for _ in y]
    for array, label in zip(arrays, y, strict=True):
        array[0, :3] += 2.0 * label
    return Bags.from_list(arrays), y


def table(rows):
    notes = f"The other two quantities stay at {BASE}; a fit stops after {LIMIT:.0f} s."
    return [Table("Cost of the learners over the disjunctive program", rows, notes)]


def publish(rows, folder):
    with picture(folder / "growth.png", 1, 3, figsize=(11, 3.6), sharey=True) as (_, axes):
        for axis, what in zip(axes, STEPS):
            some = [row for row in rows if row["grows"] == what]
            for name in LEARNERS:
                seconds = [row[f"{name}, s"] for row in some]
                axis.loglog([row["value"] for row in some], seconds, "o-", label=name)
            axis.set_xticks(STEPS[what], labels=[str(value) for value in STEPS[what]])
            axis.minorticks_off()
            axis.set_xlabel(what)
        axes[0].set_ylabel("CPU seconds")
        axes[0].legend(fontsize=8)
