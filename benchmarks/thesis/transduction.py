"""Table 7.5: digits {0, 1} against {2, 3} from 20 labelled examples of 400.

100 of each digit, 5 of each labelled; AUC on the 380 unlabelled ones, 20 repetitions. Pixels in
[0, 1]. Every method gets the best gamma and C of the same small grid, chosen on three draws from
one half of the images; the repetitions are drawn from the other half.
"""

import warnings
from itertools import product

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from benchmarks._measure import cpu_timed
from benchmarks._tables import Table, only, published
from mixedbag.datasets import load
from mixedbag.disjunctive import LNPBoost, SparseBagMarginSVC, TransductiveClassifier

GAMMAS = (1 / 16, 1 / 32, 1 / 64, 1 / 128)
COSTS = (0.1, 0.5, 2.0, 10.0)
CHOOSING = 3  # draws
REPEATS = 20
WIDTHS = (1 / 256, 1 / 64, 1 / 16, 1 / 4, 1.0, 4.0, 16.0)
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
        LNPBoost(features="rbf", gamma=gamma, C=C, n_rounds=1, random_state=0)
    ),
}
TINY = {"part": "width", "gamma": 1 / 64}


def cases():
    methods = [{"part": "method", "method": name} for name in METHODS]
    return methods + [{"part": "width", "gamma": gamma} for gamma in WIDTHS]


def run(case):
    choosing, testing = halves()
    samples = [draw(*testing, seed) for seed in range(REPEATS)]
    if case["part"] == "width":
        return svm_of_width(case["gamma"], samples)
    name = case["method"]
    draws = [draw(*choosing, seed) for seed in range(CHOOSING)]
    grid = list(product(GAMMAS, COSTS))
    tried = [
        np.mean([area(name, METHODS[name](gamma, C), *sample) for sample in draws])
        for gamma, C in grid
    ]
    gamma, C = grid[int(np.argmax(tried))]
    runs = [cpu_timed(lambda s=s: area(name, METHODS[name](gamma, C), *s)) for s in samples]
    areas, seconds = zip(*runs)
    return {"gamma": gamma, "C": C, "AUC": list(areas), "CPU s": float(np.mean(seconds))}


def halves():
    """Images and digits of the half to choose on and of the half to test on."""
    data = load("usps")
    X, digit = np.asarray(data.X, dtype=float), np.asarray(data.y)
    half = np.random.default_rng(0).permutation(len(X)) < len(X) // 2
    return (X[half], digit[half]), (X[~half], digit[~half])


def draw(X, digit, seed):
    """400 images, their classes, and which are labelled."""
    rng = np.random.default_rng(seed)
    rows = [rng.choice(np.flatnonzero(digit == d), 100, replace=False) for d in range(4)]
    return X[np.concatenate(rows)], np.repeat([1, 1, 0, 0], 100), np.arange(400) % 100 < 5


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


def svm_of_width(gamma, samples):
    """AUC and accuracy of the SVM on the labelled images alone, C = 1."""
    areas, hits = [], []
    for images, truth, known in samples:
        model = SVC(gamma=gamma).fit(images[known], truth[known])
        unseen, expected = images[~known], truth[~known]
        areas.append(roc_auc_score(expected, model.decision_function(unseen)))
        hits.append(np.mean(model.predict(unseen) == expected))
    return {"AUC": np.mean(areas), "std": np.std(areas), "accuracy": np.mean(hits)}


def table(rows):
    found = [
        {
            "method": row["method"],
            "AUC": float(np.mean(row["AUC"])),
            "std": float(np.std(row["AUC"])),
            "median": float(np.median(row["AUC"])),
            "gamma": f"1/{1 / row['gamma']:.0f}",
            "C": "-" if row["method"] == "LabelSpreading" else row["C"],
            "CPU s": row["CPU s"],
        }
        for row in only(rows, part="method")
    ]
    for row in published("thesis_accuracy"):
        if row["dataset"].startswith("USPS"):
            figure = {"AUC": float(row["accuracy"]), "std": float(row["std"])}
            found.append({"method": f"thesis: {row['method']}", **figure})
    widths = only(rows, part="width")
    for row in widths:
        gamma = row["gamma"]
        row["gamma"] = f"1/{1 / gamma:g}" if gamma < 1 else f"{gamma:g}"
    return [
        Table("Table 7.5: transduction on USPS digits", found, NOTES),
        Table("The inductive SVM against the width of its kernel", widths),
    ]


NOTES = (
    f"{REPEATS} repetitions. The thesis quotes its SVM and SDP TSVM from another paper. At no "
    "sensible kernel width is an inductive SVM as poor as 0.75 (next table): that figure matches a "
    "kernel so narrow that most images are far from all 20 labelled ones. Against an SVM of a fair "
    "width, the 380 unlabelled images are worth nothing on average here; in the median, the "
    "transductive 1-norm MI-SVM is level with it, but now and then it settles on another split of "
    "the digits (see the deviations). **`n_rounds=1`**: the transductive LNPBoost makes a single "
    "round of cuts, and a local search before and after it (see `tables_7`); its row is nearly "
    "that of the search, and not what many rounds of the thesis's algorithm would give."
)
