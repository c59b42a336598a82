"""The behaviour of Figures 7.10 and 7.11: what the minimum angle between cuts does to LNPBoost."""

import numpy as np

from benchmarks._disjunctive_runs import fit_fold, folds, gamma_of, kept
from benchmarks.common import RESULTS, Table
from mixedbag.disjunctive import LNPBoost
from mixedbag.disjunctive._features import make_features

COSINES = (0.6, 0.7, 0.8, 0.9, 1.0)
SETS = {"musk1": 5, "elephant": 3, "fox": 3, "tiger": 3, "musk2": 2}  # folds of ten
ROUNDS = 8


def run(quick=False):
    table = []
    for name, n_folds in {"musk1": 1}.items() if quick else SETS.items():
        for cosine in COSINES[::2] if quick else COSINES:

            def compute(done, n, name=name, cosine=cosine):
                for i, fold in enumerate(folds(name)):
                    if done <= i < n:
                        yield relaxed_and_projected(_model(name, cosine), fold)

            key = f"{'quick-' if quick else ''}angle-{name}-{cosine}"
            rows = kept(key, n_folds, compute)
            mean = {field: float(np.mean([r[field] for r in rows])) for field in rows[0]}
            table.append(
                {
                    "set": name,
                    "max cosine": cosine,
                    "cuts": mean["cuts"],
                    "features": mean["features"],
                    "CPU s": mean["cpu_seconds"],
                    "RDP score": mean["relaxed"],
                    "PRDP score": mean["score"],
                    "RDP accuracy": mean["relaxed accuracy"],
                    "PRDP accuracy": mean["accuracy"],
                }
            )
    if not quick:
        draw(table)
    notes = (
        f"RBF features, C = 1, free bias, {ROUNDS} rounds of cuts; folds of ten run: {SETS}. RDP "
        "is the relaxed solution, PRDP the projected one. As in the thesis, a smaller angle lets "
        "more cuts in, costs time, and raises the relaxed score."
    )
    return [Table("Figures 7.10-7.11: behaviour against the angle tolerance", table, notes)]


class Watched(LNPBoost):
    """LNPBoost that remembers the relaxed classifier."""

    def _convexify(self, cutting, projected, incumbent):
        super()._convexify(cutting, projected, incumbent)
        self.relaxed_classifier_ = cutting.master.w, cutting.master.b


def relaxed_and_projected(model, fold):
    """`fit_fold`, and the accuracy of the relaxed solution (RDP) as a classifier of bags."""
    row = fit_fold(model, fold)
    train, _, test, truth = fold
    w, b = model.relaxed_classifier_
    values = make_features("rbf", train.instances, None, model.gamma).transform(test.instances)
    best = np.maximum.reduceat(values @ w + b, test.offsets[:-1])
    row["relaxed accuracy"] = 100.0 * float(np.mean((best > 0) == (truth == 1)))
    return row


def _model(name, cosine):
    return Watched(
        features="rbf",
        gamma=gamma_of(name),
        max_cosine=cosine,
        max_rounds=ROUNDS,
        tol=0.0,
        n_init=1,
        random_state=0,
    )


def draw(table):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fields = ("features", "CPU s", "RDP score", "PRDP score", "RDP accuracy", "PRDP accuracy")
    figure, axes = plt.subplots(2, 3, figsize=(10, 5.5), sharex=True)
    for axis, field in zip(axes.flat, fields, strict=True):
        for name in SETS:
            rows = [row for row in table if row["set"] == name]
            axis.plot([r["max cosine"] for r in rows], [r[field] for r in rows], "o-", label=name)
        axis.set_title(field)
    axes[0, 0].legend()
    for axis in axes[1]:
        axis.set_xlabel("maximum cosine between cuts")
    figure.tight_layout()
    figure.savefig(RESULTS / "disjunctive_behaviour.png", dpi=80)
    plt.close(figure)
