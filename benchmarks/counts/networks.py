"""What keeps networks of counts from learning bags by heart, on the development tables.

Adversarial smoothing, of several strengths, beside what is tried in `_network_ways.py`. What wins
is the default of `AggregateMLPClassifier`.
"""

import numpy as np

from benchmarks._measure import cpu_timed
from benchmarks._tables import Table
from benchmarks.counts._contest import FIGURES, figures, methods, problem
from benchmarks.counts._network_ways import HeldOut, Mixing
from benchmarks.counts._problems import DEVELOPMENT, KINDS
from mixedbag.aggregate import AggregateMLPClassifier

PLAIN = "nothing"
WAYS = {
    PLAIN: (AggregateMLPClassifier, 0.0),
    "smoothing=0.03": (AggregateMLPClassifier, 0.03),
    "smoothing=0.05": (AggregateMLPClassifier, 0.05),
    "smoothing=0.1": (AggregateMLPClassifier, 0.1),
    "held-out bags": (HeldOut, 0.0),
    "smoothing=0.05 and held-out bags": (HeldOut, 0.05),
    "mixing of bags": (Mixing, 0.0),
}
TINY = {"data": "wine", "kind": "random 8", "seed": 0}


def cases():
    return [
        {"data": name, "kind": kind, "seed": seed}
        for seed in range(2)
        for name in DEVELOPMENT
        for kind in KINDS
    ]


def run(case, ways=WAYS):
    bags, counts, new, truth = problem(case)
    result = {}
    for name, (learner, smoothing) in ways.items():
        one = learner(smoothing=smoothing, random_state=case["seed"])
        model, seconds = cpu_timed(lambda one=one: one.fit(bags, counts))
        result |= figures(name, truth, model.predict_proba_instances(new)[:, 1], seconds)
    return result


def table(rows):
    names = methods(rows)

    def gained(name, figure, some):
        return np.array([row[f"{name}: {figure}"] - row[f"{PLAIN}: {figure}"] for row in some])

    def told(gain):
        error = gain.std(ddof=min(1, len(gain) - 1)) / np.sqrt(len(gain))
        return f"{gain.mean():+.4f} ± {error:.4f}"

    lines = [
        {"against learning by heart": name}
        | {figure: float(np.mean([row[f"{name}: {figure}"] for row in rows])) for figure in FIGURES}
        | {f"{figure}, gained": told(gained(name, figure, rows)) for figure in ("AUC", "log loss")}
        for name in names
    ]
    by_data = [
        {"data": data}
        | {
            name: float(np.mean([row[f"{name}: AUC"] for row in rows if row["data"] == data]))
            for name in names
        }
        for data in dict.fromkeys(row["data"] for row in rows)
    ]
    note = f"{len(rows)} development problems; gained, with standard errors, on those of {PLAIN!r}."
    return [Table("Ways", lines, note), Table("AUC by table", by_data)]
