"""A problem of counts whose rows are known, the figures of an answer, and places among methods."""

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

from benchmarks._tables import Table, grouped
from benchmarks.counts._problems import KINDS, REPORTED, counts_of, in_bags, rows

SEEDS = 3
FIGURES = ("AUC", "% right", "log loss", "seconds")


def problems():
    """The reported problems: tables × kinds of bags × seeds."""
    return [
        {"data": name, "kind": kind, "seed": seed}
        for seed in range(SEEDS)
        for name in REPORTED
        for kind in KINDS
    ]


def problem(case):
    """Bags and their counts to learn from; new rows and what they are."""
    X, y = rows(case["data"], case["seed"])
    cut = int(0.7 * len(y))
    bags, label = in_bags(X[:cut], y[:cut], case["kind"], case["seed"])
    return bags, counts_of(bags, label), X[cut:], y[cut:]


def figures(method, truth, told, seconds, chances=True):
    """How good `told`, chances or mere scores, is of rows whose class is known."""
    found = dict.fromkeys(FIGURES)
    found["AUC"], found["seconds"] = roc_auc_score(truth, told), seconds
    found["% right"] = 100 * accuracy_score(truth, told > (0.5 if chances else 0.0))
    if chances:
        found["log loss"] = log_loss(truth, np.clip(told, 1e-6, 1 - 1e-6))
    return {f"{method}: {name}": value for name, value in found.items()}


def joined(*parts):
    """Rows of several benchmarks, one a problem; only problems that all of them have."""
    found = grouped([row for part in parts for row in part], "data", "kind", "seed")
    whole = [some for some in found.values() if len(some) == len(parts)]
    return [{key: value for row in some for key, value in row.items()} for some in whole]


def methods(rows):
    names = (key.removesuffix(": AUC") for row in rows for key in row if key.endswith(": AUC"))
    return list(dict.fromkeys(names))


def places(rows, names):
    """The place of each method by AUC in each problem; one without an answer is last."""
    auc = np.array([[row.get(f"{name}: AUC") or 0.0 for name in names] for row in rows])
    return rankdata(-auc, axis=1)


def leaderboard(rows, first="Methods by their place"):
    """Means over problems, best place first, and the places by kind of bags."""
    names = methods(rows)
    place = places(rows, names)
    error = place.std(axis=0, ddof=min(1, len(rows) - 1)) / np.sqrt(len(rows))
    lines = []
    for k in np.argsort(place.mean(axis=0)):
        line = {"method": names[k]}
        line["mean place by AUC"] = f"{place[:, k].mean():.2f} ± {error[k]:.2f}"
        for name in FIGURES:
            told = [row.get(f"{names[k]}: {name}") for row in rows]
            told = [value for value in told if value is not None]
            line[name] = float(np.mean(told)) if told else None
        for kind in KINDS:
            there = np.array([row["kind"] == kind for row in rows])
            line[kind] = float(place[there, k].mean()) if there.any() else None
        lines.append(line)
    return Table(
        first,
        lines,
        f"{len(rows)} problems. Places ± standard errors over problems; figures are of new rows, "
        "in the mean over problems; behind them, the mean place in each kind of bags.",
    )
