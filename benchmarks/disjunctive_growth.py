"""How the cost of the disjunctive program grows with bags, instances and features.

Normal instances; one instance of each positive bag is shifted in three features. Linear features,
a free bias except for the exact learner, C = 1. CPU seconds of one thread.
"""

import numpy as np

from benchmarks._disjunctive_runs import fit_on_cpu_time, kept
from benchmarks.common import RESULTS, Table
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
    "1-norm MI-SVM": lambda: SparseBagMarginSVC(time_limit=LIMIT, random_state=0),
    "LNPBoost, 5 rounds": lambda: LNPBoost(max_rounds=5, time_limit=LIMIT, random_state=0),
    "DPBoost": lambda: DPBoost(features="linear", time_limit=LIMIT, random_state=0),
    "exact, no bias": lambda: ExactBagMarginSVC(
        fit_intercept=False, time_limit=LIMIT, random_state=0
    ),
}


def make_bags(n_bags, size, n_features):
    rng = np.random.default_rng(0)
    y = np.arange(n_bags) % 2
    arrays = [rng.normal(size=(size, n_features)) for _ in y]
    for array, label in zip(arrays, y, strict=True):
        array[0, :3] += 2.0 * label
    return Bags.from_list(arrays), y


def measure(what, value):
    bags, y = make_bags(*(BASE | {what: value}).values())
    row = {"grows": what, "value": value}
    for name, make in LEARNERS.items():
        model = make()
        row[f"{name}, s"] = fit_on_cpu_time(model, bags, y)
        row[f"{name}, gap"] = model.gap_
    return row


def run(quick=False):
    runs = [(what, value) for what, values in STEPS.items() for value in values]
    runs = runs[:2] if quick else runs
    key = "quick-growth" if quick else "growth"
    rows = kept(key, len(runs), lambda done, n: (measure(*one) for one in runs[done:n]))
    if not quick:
        draw(rows)
    notes = f"The other two quantities stay at {BASE}; a fit stops after {LIMIT:.0f} s."
    return [Table("Cost of the learners over the disjunctive program", rows, notes)]


def draw(rows):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True)
    for axis, what in zip(axes, STEPS, strict=True):
        some = [row for row in rows if row["grows"] == what]
        for name in LEARNERS:
            axis.loglog(
                [r["value"] for r in some], [r[f"{name}, s"] for r in some], "o-", label=name
            )
        axis.set_xticks(STEPS[what], labels=[str(value) for value in STEPS[what]])
        axis.minorticks_off()
        axis.set_xlabel(what)
    axes[0].set_ylabel("CPU seconds")
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(RESULTS / "disjunctive_growth.png", dpi=80)
    plt.close(figure)
