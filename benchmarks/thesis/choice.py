"""What the choice of C and scaling or gamma costs: linear and RBF machines, every setting.

Nothing is chosen here. Beside the nested figures of ``tables_5`` it tells whether a gap to the
thesis comes from the machine or from how its settings are found.
"""

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from benchmarks._tables import Table, grouped
from benchmarks.thesis.tables_5 import COREL, LEARNERS, MUSK, SETS, printed_accuracy
from mixedbag.datasets import load
from mixedbag.wrappers import InstanceWise

COSTS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
GAMMAS = (0.0005, 0.002, 0.006, 0.02)
TINY = {"set": "MUSK1", "method": "MI-SVM", "gamma": 0.002, "C": 10.0}


def cases():
    linear = [
        {"set": name, "method": method, "features": features, "C": C}
        for name in (*COREL, "TST9")
        for method in LEARNERS
        for features in ("unit length" if name == "TST9" else "standardised", "as they are")
        for C in COSTS
    ]
    rbf = [
        {"set": name, "method": method, "gamma": gamma, "C": C}
        for name in MUSK
        for method in LEARNERS
        for gamma in GAMMAS
        for C in COSTS[3:]
    ]
    return linear + rbf


def run(case):
    """Mean accuracy of the folds of ``tables_5``."""
    data = load(SETS[case["set"]])
    scalings = {
        "standardised": InstanceWise(StandardScaler()),
        "unit length": InstanceWise(Normalizer()),
        "as they are": "passthrough",
    }
    step = scalings[case.get("features", "standardised")]
    kernel = {"kernel": "rbf", "gamma": case["gamma"]} if "gamma" in case else {"kernel": "linear"}
    machine = LEARNERS[case["method"]](C=case["C"], tol=1e-4, random_state=0, **kernel)
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    model = Pipeline([("scale", step), ("svm", machine)])
    scores = cross_val_score(model, data.bags, data.y, cv=folds)
    return {"accuracy": round(100 * float(np.mean(scores)), 1)}


def table(rows):
    return [
        Table(f"{kind} machines: accuracy (%) of every setting, 10-fold", wide(rows, *how), NOTES)
        for kind, *how in (("Linear", "features", "linear"), ("RBF", "gamma", "rbf"))
    ]


def wide(rows, setting, kernel):
    """A line a method and scaling or width, a column a C."""
    found = []
    some = [row for row in rows if setting in row]
    for (name, method, value), mine in grouped(some, "set", "method", setting).items():
        line = {"set": name, "method": method, setting: value}
        line["thesis"] = printed_accuracy(name, method, kernel)
        found.append(line | {f"C = {row['C']:g}": row["accuracy"] for row in mine})
    return found


NOTES = (
    "The same folds as in `tables_5`. The largest figure of a row has been picked on the folds it "
    "is reported for, so it is optimistic."
)
