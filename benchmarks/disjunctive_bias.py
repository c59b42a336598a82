"""Which program did the thesis run? Objectives and accuracies with and without a bias.

The thesis prints its program without a bias. The objectives in its tables of raw results (7.8, 7.9,
7.16, 7.17 and 7.19, C = 1) tell whether its experiments had one: an objective does not depend on
how test bags happen to fall into folds. Settings are those of `disjunctive_tables`, whose kept
folds provide the columns with a free bias.
"""

import numpy as np

from benchmarks._disjunctive_runs import cross_validate, fit_fold, gamma_of, summary
from benchmarks.common import Table, published
from benchmarks.disjunctive_tables import LIMIT, PRINTED, ROUNDS, SETS, TREC
from mixedbag.disjunctive import LNPBoost, SparseBagMarginSVC

CUTTING = [("musk1", "rbf"), ("elephant", "linear"), ("tiger", "rbf"), ("trec9-3", "linear")]


def fit_and_shift(model, fold):
    """`fit_fold`, and the accuracy with a threshold that suits the training bags best."""
    row = fit_fold(model, fold)
    train, y, test, truth = fold
    scores = np.sort(model.decision_function(train))
    thresholds = np.concatenate([[0.0], (scores[1:] + scores[:-1]) / 2])
    known = model.decision_function(train)
    best = np.argmax([np.mean((known > t) == (y == 1)) for t in thresholds])
    unseen = model.decision_function(test) > thresholds[best]
    row["shifted accuracy"] = 100.0 * float(np.mean(unseen == (truth == 1)))
    return row


def compare(name, features, method, label, make, n_folds, prefix):
    """One row: the thesis, ours without a bias, ours with a free one."""
    dataset = PRINTED.get(name, name.replace("trec9-", "TST"))
    thesis = next(
        row
        for row in published("thesis_scores")
        if (row["dataset"], row["method"], row["features"]) == (dataset, method, features)
    )
    key = f"{name}-{features}-{label}"
    shared = {"features": features, "gamma": gamma_of(name), "random_state": 0}
    free = cross_validate(f"{prefix}{key}", name, lambda: make(**shared), n_folds)
    none = cross_validate(
        f"{prefix}{key}-no-bias",
        name,
        lambda: make(fit_intercept=False, **shared),
        n_folds,
        fit_and_shift,
    )
    return {
        "set": name,
        "features": features,
        "score, thesis": float(thesis["score"]),
        "score, no bias": summary(none, "score")[0],
        "score, free bias": summary(free, "score")[0],
        "accuracy, thesis": float(thesis["accuracy"]),
        "accuracy, no bias": "{:.1f} ± {:.1f}".format(*summary(none, "accuracy")),
        "no bias, shifted": "{:.1f} ± {:.1f}".format(*summary(none, "shifted accuracy")),
        "accuracy, free bias": "{:.1f} ± {:.1f}".format(*summary(free, "accuracy")),
    }


def run(quick=False):
    n_folds, prefix = (1, "quick-") if quick else (10, "")
    pairs = [(name, features) for name in SETS for features in SETS[name] if name != "musk2"]
    search = [
        compare(
            name,
            features,
            "LNPBoost (PRDP)" if name in TREC else "1-norm MI-SVM",
            "sparse",
            SparseBagMarginSVC,
            n_folds,
            prefix,
        )
        for name, features in (pairs[:1] if quick else pairs)
    ]

    def lnp(**settings):
        return LNPBoost(max_rounds=ROUNDS, time_limit=LIMIT, **settings)

    cuts = [
        compare(name, features, "LNPBoost (PRDP)", "lnp", lnp, n_folds, prefix)
        for name, features in (CUTTING[:1] if quick else CUTTING)
    ]
    return [
        Table("1-norm MI-SVM, all features, C = 1", search, SHIFTED),
        Table("LNPBoost", cuts, NOTES),
    ]


SHIFTED = (
    "score: the objective reached. shifted: without a bias while learning, then a threshold that "
    "is best on the training bags. On TREC9 the thesis's figures are those of LNPBoost: without "
    "feature selection its 1-norm MI-SVM ran out of memory."
)
NOTES = (
    "What the objectives say. On MUSK1 and TREC9 the thesis's are those of the program without a "
    "bias (ours lie 2 to 17 % lower: better minima, and on MUSK1 its slack mass differs by a "
    "tenth), not those of one with a bias. On the Corel sets they are 1.5 to 2.7 times ours "
    "without a bias, and more with one: its inputs, or its loss, must differ from what its text "
    "says; inputs of a smaller scale would make the same C a milder fit. "
    "What that explains. Tiger, radial features: without a bias we reach the thesis's accuracy. "
    "TREC9-3: a quarter of the difference, with a threshold from the training bags. MUSK1, radial "
    "features: the printed accuracy is not that of the printed program, which at threshold 0 "
    "gives 60 %, but that of one with a bias; it is the best of six angle tolerances (78.9 to "
    "84.4). Elephant, linear: the bias explains nothing; the scale of the inputs may. "
    "Classifiers of nearly equal objective differ by several points in accuracy (MUSK1 in "
    "`disjunctive_behaviour`). By the Welch tests of `disjunctive_tables`, no figure of ours that "
    "lies below the thesis's does so at the 5 % level. We keep the free bias: it is what "
    "a user expects, and no setting is chosen on test folds."
)
