"""Where MI-SVM with a radial kernel puts its threshold, and what that depends on.

On the development collection, none of which is reported elsewhere: the slacks of negative
instances as the thesis has them, one slack a bag as other libraries have them, and ways to move
the threshold of the first towards that of the second.
"""

from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import StandardScaler

from benchmarks._tables import Table, grouped
from benchmarks.product._collection import COLLECTION, of_rule
from benchmarks.thesis._shared_slack import SharedSlackSVC
from mixedbag.margin import BagMarginSVC
from mixedbag.wrappers import InstanceWise

COSTS = (1.0, 10.0, 100.0)
FIELDS = ("accuracy", "AUC", "called positive")
TINY = {"problem": "iris", "C": 1.0}


def cases():
    return [{"problem": name, "C": C} for C in COSTS for name in of_rule("any")]


def run(case):
    data = COLLECTION[case["problem"]].make()
    y = (data.y == np.unique(data.y)[-1]).astype(int)
    found = {}
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for train, test in folds.split(y, y):
        scale = InstanceWise(StandardScaler()).fit(data.bags[train])
        bags, unseen = (scale.transform(data.bags[part]) for part in (train, test))
        for name, score in scores(bags, y[train], unseen, case["C"]).items():
            called = score > 0
            figures = (
                accuracy_score(y[test], called),
                roc_auc_score(y[test], score),
                called.mean(),
            )
            found.setdefault(name, []).append(figures)
    return {name: dict(zip(FIELDS, np.mean(rows, axis=0))) for name, rows in found.items()}


def scores(bags, y, unseen, C):
    """Scores of unseen bags by every variant."""
    gamma = 1.0 / (bags.n_features * bags.instances.var())
    machine = BagMarginSVC(C=C, gamma=gamma, tol=1e-4)
    shipped = machine.fit(bags, y)
    known, new = shipped.decision_function(bags), shipped.decision_function(unseen)
    inner = StratifiedKFold(3, shuffle=True, random_state=0)
    apart = cross_val_predict(clone(machine), bags, y, cv=inner, method="decision_function")
    balanced = BagMarginSVC(C=C, gamma=gamma, tol=1e-4, class_weight="balanced").fit(bags, y)
    divided = BagMarginSVC(C=C, gamma=gamma, tol=1e-4)
    divided.fit(bags, y, sample_weight=np.where(y == 1, 1.0, 1.0 / bags.sizes))
    shared = SharedSlackSVC(C, partial(rbf_kernel, gamma=gamma)).fit(bags, y)
    return {
        "a slack an instance (shipped)": new,
        "… threshold by bags' hinge": new + hinge_shift(known, y),
        "… threshold by inner folds": new - best_threshold(apart, y),
        "… class_weight='balanced'": balanced.decision_function(unseen),
        "… price shared in a bag": divided.decision_function(unseen),
        "a slack a bag": shared.decision_function(unseen),
    }


def hinge_shift(score, y):
    """The shift of the threshold that makes the hinge loss of the training bags least."""
    sign = np.where(y == 1, 1.0, -1.0)
    kinks = sign - score
    losses = np.maximum(0.0, 1.0 - sign * (score + kinks[:, None])).sum(axis=1)
    return kinks[losses <= losses.min() + 1e-9].mean()


def best_threshold(score, y):
    """The middle of the thresholds that get most bags right."""
    ordered = np.sort(score)
    between = (ordered[1:] + ordered[:-1]) / 2
    right = ((score > between[:, None]) == (y == 1)).mean(axis=1)
    return between[right == right.max()].mean()


def table(rows):
    lines = []
    for (C,), mine in grouped(rows, "C").items():
        variants = [key for key in mine[0] if key not in ("C", "problem")]
        for name in variants:
            line = {"C": C, "variant": name}
            for field in FIELDS:
                line[field] = float(np.mean([row[name][field] for row in mine]))
            gains = [row[name]["accuracy"] - row[variants[0]]["accuracy"] for row in mine]
            line["better / worse than shipped"] = (
                f"{sum(g > 1e-9 for g in gains)} / {sum(g < -1e-9 for g in gains)}"
            )
            lines.append(line)
    return [Table("MI-SVM, radial kernel, on the development collection", lines, NOTES)]


NOTES = (
    "Means over the problems of the rule 'any' in the development collection, five folds each, "
    "standardised features, gamma = 1 / (features × variance). Half of the bags are positive. "
    "**Why its ranking is good and its threshold is not.** The order of the bags is at least as "
    "good with a slack an instance as with one a bag, and the intercept is the optimum of its "
    "problem; but every instance of a negative bag has a price, and a positive bag one, so that at "
    "a small C few bags are called positive, where one slack a "
    "bag calls about half. That is the thesis's formula, not its solution. Training bags do not "
    "tell: their maxima are on the margin already, and shifting the threshold by their hinge loss "
    "changes little. Balancing the sides' prices overshoots and costs order as well. A larger C "
    "takes the caution away, and here costs more than it. What mends it at C = 1 is a threshold "
    "from bags left out, as scikit-learn's `TunedThresholdClassifierCV` finds it; at 100 there is "
    "nothing to mend, and the choice costs a little."
)
