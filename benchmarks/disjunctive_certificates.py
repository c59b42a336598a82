"""What is proven about the optimum, against time: branch and bound on MUSK1 and the Corel sets.

The first training fold of ten, C = 1, inputs standardised. With a free bias the classifier
b = -1, w = 0 costs nothing on the negatives, so that only the positive bags can raise a bound.
"""

import numpy as np

from benchmarks._disjunctive_runs import fit_on_cpu_time, folds, gamma_of, kept
from benchmarks.common import RESULTS, Table
from mixedbag.disjunctive import ExactBagMarginSVC

BIAS = {
    "free": {},
    "costs 1": {"intercept_scaling": 1.0},
    "none": {"fit_intercept": False},
}
COREL = ("elephant", "fox", "tiger")
RUNS = [  # set, features, bias, C, CPU seconds
    ("musk1", "linear", "free", 1.0, 60),
    ("musk1", "rbf", "free", 1.0, 20),
    *((name, "rbf", "free", 1.0, 15) for name in COREL),
    *((name, "rbf", "free", 0.5, 10) for name in COREL),
    *((name, "linear", "free", 1.0, 10) for name in COREL),
    *((name, "linear", "none", 1.0, 10) for name in COREL),
    ("musk1", "linear", "costs 1", 1.0, 20),
]
MOMENTS = (1, 3, 10, 15, 20, 60)


def certify(name, features, bias, C, seconds):
    train, y, _, _ = next(folds(name))
    model = ExactBagMarginSVC(
        C=C,
        features=features,
        gamma=gamma_of(name),
        time_limit=seconds,
        random_state=0,
        **BIAS[bias],
    )
    fit_on_cpu_time(model, train, y)
    times, lower, upper = model.history_.T
    moments = np.unique(np.append(np.geomspace(0.3, seconds, 40), times[-1]))
    at = np.searchsorted(times, moments, side="right") - 1
    return {
        "nodes": model.n_nodes_,
        "seconds": moments[at >= 0].tolist(),
        "lower": lower[at[at >= 0]].tolist(),
        "upper": upper[at[at >= 0]].tolist(),
    }


def run(quick=False):
    runs = [("musk1", "linear", "none", 1.0, 3)] if quick else RUNS
    key = "quick-certificates" if quick else "certificates"
    curves = kept(key, len(runs), lambda done, n: (certify(*one) for one in runs[done:n]))
    table = []
    for (name, features, bias, C, limit), curve in zip(runs, curves, strict=True):
        row = {"set": name, "features": features, "bias": bias, "C": C, "nodes": curve["nodes"]}
        lower, upper = np.array(curve["lower"]), np.array(curve["upper"])
        for moment in MOMENTS:
            at = np.searchsorted(curve["seconds"], moment + 1e-9) - 1
            known = at >= 0 and moment <= limit
            row[f"gap at {moment} s"] = float(1 - lower[at] / upper[at]) if known else ""
        row["lower"], row["upper"] = lower[-1], upper[-1]
        table.append(row)
    if not quick:
        draw(runs, curves)
    notes = "gap = 1 - lower / upper, both proven; CPU seconds, one thread."
    return [Table("Certificates against time", table, notes)]


def draw(runs, curves):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    sets = list(dict.fromkeys(name for name, *_ in runs))
    figure, axes = plt.subplots(1, len(sets), figsize=(4 * len(sets), 3.6), sharey=True)
    for (name, features, bias, C, _), curve in zip(runs, curves, strict=True):
        axis = axes[sets.index(name)]
        gap = 1 - np.array(curve["lower"]) / np.array(curve["upper"])
        axis.plot(curve["seconds"], gap, label=f"{features}, bias {bias}, C = {C:g}")
    for name, axis in zip(sets, axes, strict=True):
        axis.axhline(0.05, color="grey", lw=0.8, ls=":")
        axis.set(title=name, xscale="log", xlabel="CPU seconds", ylim=(0, 1))
        axis.legend(fontsize=7)
    axes[0].set_ylabel("gap")
    figure.tight_layout()
    figure.savefig(RESULTS / "disjunctive_certificates.png", dpi=80)
    plt.close(figure)
