"""The mixed problems over the paper's grid: orders, states and windows, every one of them.

`mixed` fixes one setting of each method beforehand. Here each is run at all, on the same bags and
folds, so that the best place on the grid may be read in hindsight; nothing is chosen by it.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benchmarks._tables import Table
from benchmarks.arhmm import mixed
from benchmarks.arhmm._averaged import FIGURES
from benchmarks.arhmm._fixed import on_states
from benchmarks.arhmm._methods import OnWindows, annealed_trees, rbf_margin
from benchmarks.arhmm._purity import of_joined
from mixedbag.sequence import QuantileWindows

STATES, ORDERS = (5, 10, 15), (3, 5, 7)
SIZES = (3, 5, 7, 25, 50, 100)  # of windows; 25 is not in the paper
LONG = SIZES[3:]  # what quantiles can be taken of
TINY = mixed.TINY


def cases():
    return mixed.cases()


def settings():
    """Names, learners, and what they are fitted with."""
    for n in STATES:
        for order in ORDERS:
            states = {"n_states": n, "order": order}
            yield f"ARHMM-MIL, {n} states, order {order}", on_states(), states
    for size in SIZES:
        rbf = {"size": size, "C": 1.0, "gamma": "scale"}
        yield f"mi-SVM, windows of {size}", OnWindows(rbf_margin, []), rbf
    for size in LONG:
        forest = OnWindows(annealed_trees, [], make_windows=QuantileWindows)
        yield f"quantiles, MI-Forest, windows of {size}", forest, {"size": size}


def run(case):
    """Areas by bags and by samples, means of three folds."""
    bags, y, truth = mixed.joined(case)
    folds = list(StratifiedKFold(mixed.N_FOLDS, shuffle=True, random_state=0).split(y, y))
    found = {}
    for name, method, setting in settings():
        areas = []
        for train, test in folds:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                method.fit(bags[train], y[train], setting)
            wanted = y[test], np.concatenate([truth[i] for i in test])
            pairs = zip(wanted, method.scores(bags[test]), strict=True)
            areas.append([roc_auc_score(*pair) for pair in pairs])
        found[name] = np.mean(areas, axis=0).tolist()
    return {"areas": found}


def table(rows):
    lines = [
        {"method and setting": name, "problems": len(rows)}
        | dict(zip(FIGURES, np.mean([row["areas"][name] for row in rows], axis=0).tolist()))
        | {
            f"{figure}: the best of its method for": best_for(rows, name, k)
            for k, figure in enumerate(FIGURES)
        }
        for name in rows[0]["areas"]
    ]
    return [Table(f"Mean areas under the curve, purity {of_joined(rows)}", lines, NOTES)]


def best_for(rows, name, k):
    """In how many problems no other setting of the method is better."""
    method = name.split(",")[0]
    alike = [other for other in rows[0]["areas"] if other.startswith(method)]
    areas = [{other: row["areas"][other][k] for other in alike} for row in rows]
    return sum(area[name] == max(area.values()) for area in areas)


NOTES = (
    "The problems and folds of `mixed`, as many as the column says. ARHMM-MIL as "
    "published, one model, six iterations: the paper's orders and states, all nine. mi-SVM (rbf) "
    "has the paper's windows, and one more; C is 1 and the width that of its data: the paper "
    "found that C hardly matters."
)
