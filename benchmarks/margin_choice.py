"""What the choice of C and scaling or gamma costs: linear and RBF machines, every setting.

Nothing is chosen here. Beside the nested figures of ``margin_accuracy`` it tells whether a gap to
the thesis comes from the machine or from how its settings are found.
"""

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from benchmarks.common import Table
from benchmarks.margin_accuracy import COREL, LEARNERS, MUSK, printed_accuracy
from mixedbag.datasets import load
from mixedbag.wrappers import InstanceWise

SETS = {**COREL, "TST9": "trec9-9"}
COSTS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
GAMMAS = (0.0005, 0.002, 0.006, 0.02)
SCALED = InstanceWise(StandardScaler())
UNIT_LENGTH = InstanceWise(Normalizer())


def run(quick=False):
    if quick:
        return [table("Linear", set_rows("Elephant", COSTS[-1:]))]
    return [
        table("Linear", [row for set_name in SETS for row in set_rows(set_name)]),
        table("RBF", [row for set_name in MUSK for row in rbf_rows(set_name)]),
    ]


def set_rows(set_name, costs=COSTS):
    """A row a method and scaling."""
    data = load(SETS[set_name])
    is_text = set_name.startswith("TST")
    scaling = ("unit length", UNIT_LENGTH) if is_text else ("standardised", SCALED)
    rows = []
    for method, learner in LEARNERS.items():
        for features, step in (scaling, ("as they are", "passthrough")):
            row = {"set": set_name, "method": method, "features": features}
            row["thesis"] = printed_accuracy(set_name, method, "linear")
            rows.append(row | accuracies(data, step, learner, costs, kernel="linear"))
    return rows


def rbf_rows(set_name):
    """A row a method and gamma, features standardised."""
    data = load(MUSK[set_name])
    return [
        {"set": set_name, "method": method, "gamma": gamma}
        | {"thesis": printed_accuracy(set_name, method, "rbf")}
        | accuracies(data, SCALED, learner, (1.0, 10.0, 100.0), kernel="rbf", gamma=gamma)
        for method, learner in LEARNERS.items()
        for gamma in GAMMAS
    ]


def accuracies(data, step, learner, costs, **settings):
    """Mean accuracy for every C."""
    found = {}
    for C in costs:
        machine = learner(C, tol=1e-4, random_state=0, **settings)
        folds = StratifiedKFold(10, shuffle=True, random_state=0)
        model = Pipeline([("scale", step), ("svm", machine)])
        scores = cross_val_score(model, data.bags, data.y, cv=folds)
        found[f"C = {C:g}"] = round(100 * float(np.mean(scores)), 1)
    return found


def table(machines, rows):
    return Table(
        f"{machines} machines: accuracy (%) of every setting, 10-fold",
        rows,
        "The same folds as in margin_accuracy. The largest figure of a row has been picked on the "
        "folds it is reported for, so it is optimistic.",
    )
