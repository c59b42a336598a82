"""The mixed problems a third time: the mean of ten ARHMM-MIL models, by a bag's best stretch.

Number of models, levels and the length of a stretch were chosen on other problems (`development`),
before the first run on these.
"""

import numpy as np
from scipy.stats import wilcoxon
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benchmarks._store import Store, case_key
from benchmarks._tables import RESULTS, Table, grouped
from benchmarks.arhmm import mixed
from benchmarks.arhmm._fixed import ORDER, STATES
from benchmarks.arhmm.stretches import LENGTH
from mixedbag.sequence import ARHMMClassifier

MODELS = 10
NAME = f"ARHMM-MIL, level 1, mean of {MODELS}"
FIGURES = ("bags", "samples")
TINY = mixed.TINY


def cases():
    return mixed.cases()


def run(case):
    """Areas by bags and by samples; three folds."""
    bags, y, truth = mixed.joined(case)
    areas = []
    for train, test in StratifiedKFold(mixed.N_FOLDS, shuffle=True, random_state=0).split(y, y):
        model = ARHMMClassifier(
            STATES, order=ORDER, level=1.0, stretch=LENGTH, max_iter=6, n_init=1, n_models=MODELS,
            random_state=0,
        ).fit(bags[train], y[train])  # fmt: skip
        samples = np.concatenate([truth[i] for i in test])
        pairs = (
            (y[test], model.decision_function(bags[test])),
            (
                samples,
                model.decision_function_instances(bags[test]),
            ),
        )
        areas.append([roc_auc_score(*pair) for pair in pairs])
    return dict(zip(FIGURES, np.mean(areas, axis=0).tolist()))


def table(rows):
    rows = with_others(rows)
    names = list(rows[0]["areas"])
    overall = [
        {"method": name}
        | {figure: mean(rows, name, figure) for figure in FIGURES}
        | {f"{figure}: {NAME} better for": ahead(rows, name, figure) for figure in FIGURES}
        for name in names
    ]
    by_mixture = [
        {"own stretches": mixture, "activity": mixed.ACTIVITIES[activity], "people": len(mine)}
        | {f"{name}, {figure}": mean(mine, name, figure) for name in SHOWN for figure in FIGURES}
        for (mixture, activity), mine in grouped(rows, "mixture", "activity").items()
    ]
    return [
        Table("Area under the curve, all problems that were run", overall, NOTES),
        Table("By mixture", by_mixture),
    ]


def with_others(rows):
    """The problems that were run, with the areas of `stretches` and `mixed` on the same folds."""
    store = Store(RESULTS / "arhmm.jsonl")
    stretches, others = store.latest("stretches"), store.latest("mixed")
    found = []
    for row in rows:
        problem = {key: row[key] for key in ("person", "activity", "mixture")}
        key = case_key(problem)
        areas = {NAME: {figure: row[figure] for figure in FIGURES}}
        for name, result in stretches[key].result.items():
            judged = {"bags": result["bags, by stretches"], "samples": result["samples"]}
            areas[f"{name}, by stretches"] = judged
        by_bags, by_samples = (others[key].result[level] for level in mixed.LEVELS)
        areas |= {n: {"bags": by_bags[n], "samples": by_samples[n]} for n in by_bags}
        found.append(problem | {"areas": areas})
    return found


def mean(rows, name, figure):
    return float(np.mean([row["areas"][name][figure] for row in rows]))


def ahead(rows, name, figure):
    """For how many people, and the p of a signed-rank test over people."""
    if name == NAME:
        return ""
    gains = [
        mean(m, NAME, figure) - mean(m, name, figure) for m in grouped(rows, "person").values()
    ]
    p = f", p {wilcoxon(gains).pvalue:.2g}" if len(gains) > 1 and np.any(gains) else ""
    return f"{sum(g > 0 for g in gains)} of {len(gains)}{p}"


SHOWN = (NAME, "ARHMM-MIL, level 1, by stretches", "quantiles, extra trees", "quantiles, MI-Forest")
NOTES = (
    f"The problems and folds of `mixed`. `n_models={MODELS}`: models from {MODELS} starts, whose "
    f"probabilities are averaged; `stretch={LENGTH}`, `level=1`. The rows of the other methods are "
    "those of `stretches` and `mixed` on the same problems. p: Wilcoxon test over people, of whom "
    "there are six: 0.031 is the least it can be. **What it shows**, on bags with one stretch of "
    "four: the mean is better than one model for both activities, the first of all methods by "
    "samples, and second by bags, behind MI-Forest on quantiles, by less than six people can tell "
    "from nothing. Why one model is so much worse: `why`. The other two mixtures would take half "
    "an hour of a core."
)
