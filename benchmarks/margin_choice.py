"""What the choice of C and scaling costs: linear machines, every setting.

Nothing is chosen here. Beside the nested figures of ``margin_accuracy`` it tells whether a gap to
the thesis comes from the machine or from how its settings are found.
"""

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from benchmarks.common import Table
from benchmarks.margin_accuracy import COREL, LEARNERS, printed_accuracy
from mixedbag.datasets import load
from mixedbag.wrappers import InstanceWise

SETS = {**COREL, "TST9": "trec9-9"}
COSTS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
SCALED = InstanceWise(StandardScaler())
UNIT_LENGTH = InstanceWise(Normalizer())


def run(quick=False):
    if quick:
        return [table(set_rows("Elephant", COSTS[-1:]))]
    return [table([row for set_name in SETS for row in set_rows(set_name)])]


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
            for C in costs:
                machine = learner(C, kernel="linear", tol=1e-4, random_state=0)
                model = Pipeline([("scale", step), ("svm", machine)])
                folds = StratifiedKFold(10, shuffle=True, random_state=0)
                scores = cross_val_score(model, data.bags, data.y, cv=folds)
                row[f"C = {C:g}"] = round(100 * float(np.mean(scores)), 1)
            rows.append(row)
    return rows


def table(rows):
    return Table(
        "Linear machines: accuracy (%) of every setting, 10-fold",
        rows,
        "The same folds as in margin_accuracy. The largest figure of a row has been picked on the "
        "folds it is reported for, so it is optimistic.",
    )
