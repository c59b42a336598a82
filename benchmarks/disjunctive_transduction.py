"""Table 7.5 of the thesis: digits {0, 1} against {2, 3} from 20 labelled examples of 400.

100 of each digit, 5 of each labelled; AUC on the 380 unlabelled ones, 20 repetitions. Pixels in
[0, 1]. Every method gets the best gamma and C of the same small grid, chosen on three draws from
one half of the images; the repetitions are drawn from the other half.
"""

import time
import warnings
from itertools import product

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from benchmarks._disjunctive_runs import kept
from benchmarks.common import Table, published
from mixedbag.datasets import load
from mixedbag.disjunctive import LNPBoost, SparseBagMarginSVC, TransductiveClassifier

GAMMAS = (1 / 16, 1 / 32, 1 / 64, 1 / 128)
COSTS = (0.1, 0.5, 2.0, 10.0)
CHOOSING = 3  # draws
WIDTHS = (1 / 256, 1 / 64, 1 / 16, 1 / 4, 1.0, 4.0, 16.0)


def draw(X, digit, seed):
    """400 images, their classes, and which are labelled."""
    rng = np.random.default_rng(seed)
    rows = [rng.choice(np.flatnonzero(digit == d), 100, replace=False) for d in range(4)]
    return X[np.concatenate(rows)], np.repeat([1, 1, 0, 0], 100), np.arange(400) % 100 < 5


METHODS = {
    "SVM, labelled only": lambda gamma, C: SVC(gamma=gamma, C=C),
    "LabelSpreading": lambda gamma, C: LabelSpreading(gamma=gamma),
    "SelfTraining(SVM)": lambda gamma, C: SelfTrainingClassifier(
        SVC(gamma=gamma, C=C, probability=True, random_state=0)
    ),
    "transductive 1-norm MI-SVM": lambda gamma, C: TransductiveClassifier(
        SparseBagMarginSVC(features="rbf", gamma=gamma, C=C, random_state=0)
    ),
    "transductive LNPBoost": lambda gamma, C: TransductiveClassifier(
        LNPBoost(features="rbf", gamma=gamma, C=C, max_rounds=1, random_state=0)
    ),
}


def area(name, model, images, truth, known):
    """The AUC on the unlabelled images."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (ConvergenceWarning, FutureWarning))
        if name.startswith("SVM"):
            model.fit(images[known], truth[known])
        else:
            model.fit(images, np.where(known, truth, -1))
    if hasattr(model, "decision_function"):
        scores = model.decision_function(images[~known])
    else:
        scores = model.predict_proba(images[~known])[:, 1]
    return float(roc_auc_score(truth[~known], scores))


def choose(X, digit, methods):
    """For each method, (gamma, C) of the largest mean AUC over the choosing draws."""
    grid = list(product(GAMMAS, COSTS))
    draws = [draw(X, digit, seed) for seed in range(CHOOSING)]
    for name in methods:
        areas = [
            np.mean([area(name, METHODS[name](gamma, C), *sample) for sample in draws])
            for gamma, C in grid
        ]
        best = int(np.argmax(areas))
        yield {"method": name, "gamma": grid[best][0], "C": grid[best][1], "AUC": areas[best]}


def one_run(X, digit, seed, chosen):
    sample = draw(X, digit, seed)
    row = {}
    for name, make in METHODS.items():
        start = time.process_time()
        row[name] = area(name, make(*chosen[name]), *sample)
        row[f"{name} seconds"] = time.process_time() - start
    return row


def run(quick=False):
    data = load("usps")
    X, digit = np.asarray(data.X, dtype=float), np.asarray(data.y)
    half = np.random.default_rng(0).permutation(len(X)) < len(X) // 2
    repeats, prefix = (1, "quick-") if quick else (20, "")
    names = list(METHODS)

    def choosing(done, n):
        return choose(X[half], digit[half], names[done:n])

    if quick:
        chosen = dict.fromkeys(names, (1 / 64, 0.5))
    else:
        rows = kept("usps-choice", len(names), choosing)
        chosen = {row["method"]: (row["gamma"], row["C"]) for row in rows}

    def compute(done, n):
        return (one_run(X[~half], digit[~half], seed, chosen) for seed in range(done, n))

    rows = kept(f"{prefix}usps", repeats, compute)
    table = []
    for name in names:
        values = [r[name] for r in rows]
        gamma, C = chosen[name]
        table.append(
            {
                "method": name,
                "AUC": np.mean(values),
                "std": np.std(values),
                "median": np.median(values),
                "gamma": f"1/{1 / gamma:.0f}",
                "C": "-" if name == "LabelSpreading" else C,
                "CPU s": float(np.mean([r[f"{name} seconds"] for r in rows])),
            }
        )
    for row in published("thesis_accuracy"):
        if row["dataset"].startswith("USPS"):
            figure = {"AUC": float(row["accuracy"]), "std": float(row["std"])}
            table.append({"method": f"thesis: {row['method']}", **figure})
    notes = (
        f"{repeats} repetitions. The thesis quotes its SVM and SDP TSVM from another paper. At no "
        "sensible kernel width is an inductive SVM as poor as 0.75 (next table): that figure "
        "matches a kernel so narrow that most images are far from all 20 labelled ones. Against "
        "an SVM of a fair width, the 380 unlabelled images are worth nothing on average here; "
        "in the median, the transductive 1-norm MI-SVM is level with it, but now and then it "
        "settles on another split of the digits (see the deviations)."
    )
    samples = [draw(X[~half], digit[~half], seed) for seed in range(repeats)]
    return [
        Table("Table 7.5: transduction on USPS digits", table, notes),
        Table("The inductive SVM against the width of its kernel", svm_widths(samples)),
    ]


def svm_widths(samples):
    """AUC and accuracy of the SVM on the labelled images alone, C = 1, for each gamma."""
    rows = []
    for gamma in WIDTHS:
        areas, hits = [], []
        for images, truth, known in samples:
            model = SVC(gamma=gamma).fit(images[known], truth[known])
            unseen, expected = images[~known], truth[~known]
            areas.append(roc_auc_score(expected, model.decision_function(unseen)))
            hits.append(np.mean(model.predict(unseen) == expected))
        rows.append(
            {
                "gamma": f"1/{1 / gamma:g}" if gamma < 1 else f"{gamma:g}",
                "AUC": float(np.mean(areas)),
                "std": float(np.std(areas)),
                "accuracy": float(np.mean(hits)),
            }
        )
    return rows
