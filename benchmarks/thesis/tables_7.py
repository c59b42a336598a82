"""Tables 7.1-7.4: 1-norm MI-SVM and LNPBoost beside the printed figures; and which program it was.

C = 1, features standardised on the training folds, sigma = 9 (MUSK) or 8 (Corel); no setting is
chosen on the folds. LNPBoost makes `ROUNDS` rounds of cuts, within `LIMIT` seconds, and projects
after each; `as thesis` is its own algorithm with the constants of its Tables 7.15 and 7.18 (one
cut of ten, projection alone, features a few at a time), and 1-norm MI-SVM one witness at a time
from random witnesses. The thesis prints its program without a bias. The objectives in its tables of
raw results (7.8, 7.9, 7.16, 7.17 and 7.19, C = 1) tell whether its experiments had one: an
objective does not depend on how test bags happen to fall into folds.
"""

import numpy as np
from scipy.stats import ttest_ind_from_stats

from benchmarks._tables import Table, grouped, plus_minus, published
from benchmarks.thesis._disjunctive import fit_fold, fold_of, gamma_of, summary
from mixedbag.disjunctive import LNPBoost, SparseBagMarginSVC

ROUNDS = 5
LIMIT = 60.0  # CPU seconds of a fit
TREC = [f"trec9-{k}" for k in (1, 2, 3, 4, 7, 9, 10)]
SETS = {
    **dict.fromkeys(["musk1", "musk2", "elephant", "fox", "tiger"], ("linear", "rbf")),
    **dict.fromkeys(TREC, ("linear",)),
}
MODELS = ("sparse", "selected", "lnp")
# The thesis's own: its 1-norm MI-SVM without and with feature selection; the projection alone;
# that with its constants and feature selection.
OWN = ("asynchronous", "asynchronous selected", "pure", "as thesis")
SELECTION = {"feature_selection": True, "fs_init": 5, "fs_min_iter": 5, "fs_add_tol": -0.5}
ASYNCHRONOUS = {"update": "asynchronous", "init": "random", "n_init": 1}
CUTS = {"cuts_kept": 1, "patience": 1, "normalization": "coefficients", "n_rounds": 1000}
CUTS |= {"bags_per_round": 10, "depth_tol": 1e-5, "tol": 1e-4, "selection_tol": 1e-4}  # Table 7.15
TEXT_SELECTION_TOL = 0.01  # Tables 7.13 and 7.18
TEXT = {"bags_per_round": 1, "depth_tol": 1e-4, "tol": 0.01, "selection_tol": TEXT_SELECTION_TOL}
# max_cosine (Tables 7.16, 7.17 and 7.19) of the figures that Tables 7.1-7.4 show, 0.74 elsewhere
# (that of Tiger, rbf, cannot be read in our copy: the step after the last that can).
COSINES = {("musk1", "linear"): 0.82, ("musk1", "rbf"): 0.86, ("musk2", "linear"): 0.6}
COSINES |= {("musk2", "rbf"): 0.82, ("tiger", "rbf"): 0.82}
CUT_WITHOUT_BIAS = [("musk1", "rbf"), ("elephant", "linear"), ("tiger", "rbf")]
CUT_WITHOUT_BIAS += [("trec9-3", "linear")]
TINY = {"set": "musk1", "features": "linear", "model": "sparse", "bias": "free", "fold": 0}


def cases():
    pairs = [(name, features) for name, kinds in SETS.items() for features in kinds]
    found = [(*pair, model, "free") for pair in pairs for model in MODELS]
    found += [(*pair, model, "free") for pair in pairs for model in OWN]
    found += [(*pair, "sparse", "none") for pair in pairs if pair[0] != "musk2"]
    found += [(*pair, "lnp", "none") for pair in CUT_WITHOUT_BIAS]
    keys = ("set", "features", "model", "bias")
    return [dict(zip(keys, one)) | {"fold": k} for one in found for k in range(10)]


def run(case):
    fold = fold_of(case["set"], case["fold"])
    shared = {"features": case["features"], "gamma": gamma_of(case["set"]), "random_state": 0}
    shared["fit_intercept"] = case["bias"] == "free"
    model = learner(case["model"], shared, case["set"])
    row = fit_fold(model, fold)
    return row if case["bias"] == "free" else row | shifted(model, fold)


def constants(name, features):
    """What the thesis prints for this line of its tables."""
    cosine = 0.9 if name in TREC else COSINES.get((name, features), 0.74)
    return CUTS | (TEXT if name in TREC else {}) | {"max_cosine": cosine}


def learner(name, shared, of):
    if name == "lnp":
        return LNPBoost(n_rounds=ROUNDS, time_limit=LIMIT, **shared)
    if name == "pure":
        return LNPBoost(n_rounds=ROUNDS, time_limit=LIMIT, local_search=False, **shared)
    if name == "as thesis":
        own = constants(of, shared["features"])
        return LNPBoost(time_limit=LIMIT, local_search=False, **own, **SELECTION, **shared)
    options = {"feature_selection": True} if name == "selected" else {}
    if name.startswith("asynchronous"):
        options = ASYNCHRONOUS | (SELECTION if name.endswith("selected") else {})
        options |= {"selection_tol": TEXT_SELECTION_TOL} if of in TREC else {}
    return SparseBagMarginSVC(time_limit=LIMIT, **options, **shared)


def shifted(model, fold):
    """The accuracy with a threshold that suits the training bags best."""
    train, y, test, truth = fold
    known = model.decision_function(train)
    scores = np.sort(known)
    thresholds = np.concatenate([[0.0], (scores[1:] + scores[:-1]) / 2])
    best = np.argmax([np.mean((known > t) == (y == 1)) for t in thresholds])
    unseen = model.decision_function(test) > thresholds[best]
    return {"shifted accuracy": 100.0 * float(np.mean(unseen == (truth == 1)))}


def table(rows):
    found = grouped(rows, "set", "features", "model", "bias")
    pairs = dict.fromkeys(key[:2] for key in found)
    tables = [line(found, *pair) for pair in pairs]
    search = [
        beside(found, "sparse", *pair) for pair in pairs if (*pair, "sparse", "none") in found
    ]
    cuts = [beside(found, "lnp", *pair) for pair in pairs if (*pair, "lnp", "none") in found]
    own = [line_of_own(found, *pair) for pair in pairs if (*pair, "pure", "free") in found]
    return [
        Table("Tables 7.1-7.4: accuracy, ours and the thesis's", tables, NOTES),
        Table("The thesis's own algorithms", own, OWN_NOTES),
        Table("The bias: 1-norm MI-SVM, all features, C = 1", search, SHIFTED),
        Table("The bias: LNPBoost", cuts, BIAS),
    ]


def printed(name, method, features, of="thesis_accuracy"):
    """The row of the printed table, or nothing."""
    label = name.replace("trec9-", "TST") if name in TREC else name.replace("musk", "MUSK")
    label = label if name in TREC or name.startswith("musk") else name.capitalize()
    for row in published(of):
        if (row["dataset"], row["method"], row["features"]) == (label, method, features):
            return row
    return None


def spread(row):
    return float(row["accuracy"]), float(row["std"] or "nan")


def line(found, name, features):
    row = {"set": name, "features": features}
    results = {model: found.get((name, features, model, "free")) for model in MODELS}
    titles = {
        "sparse": ("1-norm MI-SVM, all features", None),
        "selected": ("1-norm MI-SVM, selected", "1-norm MI-SVM, feature selection"),
        "lnp": ("LNPBoost", "LNPBoost (PRDP)"),
    }
    for label, (title, thesis) in titles.items():
        mine = results[label]
        row[title] = plus_minus(*summary(mine, "accuracy")) if mine else ""
        if thesis:
            figure = printed(name, thesis, features)
            row[f"{title}, thesis"] = plus_minus(*spread(figure)) if figure else "-"
    for best in ("EM-DD", "MI-SVM", "mi-SVM"):
        figure = printed(name, best, "-" if best == "EM-DD" else features)
        row[f"{best}, thesis"] = float(figure["accuracy"]) if figure else "-"
    if results["lnp"]:
        ours = summary(results["lnp"], "accuracy")
        if results["selected"]:
            row["p, selected"] = welch(ours, summary(results["selected"], "accuracy"))
        row["p, thesis"] = welch(ours, spread(printed(name, "LNPBoost (PRDP)", features)))
    fields = (("score", "score 1-norm"), ("features kept", "kept features"))
    for model, wanted in (
        ("sparse", (*fields, ("cpu_seconds", "s 1-norm"))),
        ("lnp", (("score", "score LNP"), ("gap", "gap LNP"), ("cpu_seconds", "s LNP"))),
    ):
        for field, title in wanted if results[model] else ():
            row[title] = summary(results[model], field)[0]
    return row


def line_of_own(found, name, features):
    """What the thesis's algorithms reach, beside ours and its printed figures."""
    row = {"set": name, "features": features}
    for model in ("sparse", "selected", "lnp", *OWN):
        mine = found.get((name, features, model, "free"))
        row[model] = plus_minus(*summary(mine, "accuracy")) if mine else ""
        row[f"score, {model}"] = summary(mine, "score")[0] if mine else ""
    for method in ("1-norm MI-SVM, feature selection", "LNPBoost (PRDP)"):
        figure = printed(name, method, features)
        row[f"{method}, thesis"] = plus_minus(*spread(figure)) if figure else "-"
    mine = found.get((name, features, "as thesis", "free"), [])
    row["folds as thesis"] = len(mine)
    row["s as thesis"] = summary(mine, "cpu_seconds")[0] if mine else ""
    return row


def welch(ours, other, n=10):
    """p of equal means, from (mean, standard deviation) over n folds each."""
    return round(float(ttest_ind_from_stats(*ours, n, *other, n, equal_var=False).pvalue), 2)


def beside(found, model, name, features):
    """One row: the thesis, ours without a bias, ours with a free one."""
    method = "1-norm MI-SVM" if model == "sparse" and name not in TREC else "LNPBoost (PRDP)"
    thesis = printed(name, method, features, of="thesis_scores")
    free = found.get((name, features, model, "free"))
    none = found[name, features, model, "none"]
    return {
        "set": name,
        "features": features,
        "score, thesis": float(thesis["score"]),
        "score, no bias": summary(none, "score")[0],
        "score, free bias": summary(free, "score")[0] if free else "",
        "accuracy, thesis": float(thesis["accuracy"]),
        "accuracy, no bias": plus_minus(*summary(none, "accuracy")),
        "no bias, shifted": plus_minus(*summary(none, "shifted accuracy")),
        "accuracy, free bias": plus_minus(*summary(free, "accuracy")) if free else "",
    }


def check(rows):
    """All ten folds everywhere; with all features 1-norm MI-SVM is never worse than with a few."""
    scores = {}
    for row in rows:
        if row["bias"] == "free":
            scores[row["model"], row["set"], row["features"], row["fold"]] = row["score"]
    worse = [
        key
        for key, score in scores.items()
        if key[0] == "sparse" and score > scores["selected", *key[1:]] * (1.0 + 1e-4)
    ]  # of LPs
    assert not worse, f"worse with all features: {worse}"
    assert len(rows) == len(cases()), f"{len(cases()) - len(rows)} folds are missing"


NOTES = (
    "Accuracies in %, mean ± standard deviation over ten folds, a free bias. score: objective "
    "reached; gap: proven relative distance from the optimum; CPU seconds a fold, one thread. p: "
    "Welch tests of LNPBoost against our own selected 1-norm MI-SVM, and against the thesis's "
    "LNPBoost. **What LNPBoost contains here**: more than the thesis's algorithm. It searches "
    "locally (alternating witnesses, as 1-norm MI-SVM does) before the first cut and again after "
    "each projection, and keeps the best classifier met; the thesis projects the relaxed solution "
    "(PRDP) and no more. A figure of this column is that of cuts and search together, so it says "
    "little about the cuts alone. The thesis's EM-DD and 2-norm figures stand in "
    "`published/thesis_accuracy.csv`. The thesis's algorithms alone are in the next table. 1-norm "
    "MI-SVM with all features also searches from the selected solution. DPBoost is measured in "
    "`synthetic` and `growth` alone."
)
OWN_NOTES = (
    "Accuracy (%) and objective reached, free bias. asynchronous: 1-norm MI-SVM that changes one "
    "witness at a time, from one choice of random witnesses (section 7.5.1), without and with the "
    f"feature selection of Table 7.10 and, on TREC9, 7.13 (selection_tol={TEXT_SELECTION_TOL}). "
    "pure: LNPBoost without any local search, the projection (PRDP) of "
    f"{ROUNDS} rounds of cuts. as thesis: that with the constants of Table 7.15 and, on "
    f"TREC9, 7.18 ({', '.join(f'{k}={v}' for k, v in (CUTS | SELECTION).items())}; TREC9 "
    f"{', '.join(f'{k}={v}' for k, v in TEXT.items())}) and the max_cosine whose figure its Tables "
    f"7.1-7.4 show, at most {LIMIT:.0f} CPU seconds a fold: the best classifier met so far is "
    "judged. The thesis gave a fold 30 minutes to 3 hours of its machines, nine tenths of them to "
    "the programs that make cuts, as here: where the last column says that the limit was reached, "
    "its features are still few and its objective is far from that of `pure`. Unlike Algorithm "
    "7.1, the relaxation has the margins of unambiguous instances from the start, and cuts stay "
    "when features enter. 'folds as thesis' are those of ten that were run. The other columns are "
    "those of the first table; the last lines of the page say which figures are of an older code."
)
SHIFTED = (
    "score: the objective reached. shifted: without a bias while learning, then a threshold that "
    "is best on the training bags. On TREC9 the thesis's figures are those of LNPBoost: without "
    "feature selection its 1-norm MI-SVM ran out of memory."
)
BIAS = (
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
    "`figures_7`). By the Welch tests above, no figure of ours that lies below the thesis's does "
    "so at the 5 % level. We keep the free bias: it is what a user expects, and no setting is "
    "chosen on test folds."
)
