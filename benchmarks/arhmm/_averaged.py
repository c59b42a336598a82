"""Ten ARHMM-MIL models whose probabilities are averaged, on the mixed problems, beside the rest."""

from itertools import islice

import numpy as np
from scipy.stats import wilcoxon
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benchmarks._store import Store, case_key
from benchmarks._tables import RESULTS, grouped
from benchmarks.arhmm import mixed
from benchmarks.arhmm._fixed import ORDER, STATES
from benchmarks.arhmm._purity import of_joined
from benchmarks.arhmm.stretches import LENGTH
from mixedbag.sequence import ARHMMClassifier

MODELS = 10
MORE = f"ARHMM-MIL, level 1, mean of {MODELS}"
FIGURES = ("bags", "samples")
RIVALS = ("quantiles, extra trees", "quantiles, MI-Forest")


def mean_of_models(case, n_folds=mixed.N_FOLDS, **setting):
    """Areas by bags and by samples, means of three folds (or of the first of them)."""
    bags, y, truth = mixed.joined(case)
    folds = StratifiedKFold(mixed.N_FOLDS, shuffle=True, random_state=0).split(y, y)
    areas = []
    for train, test in islice(folds, n_folds):
        model = ARHMMClassifier(
            STATES, order=ORDER, level=1.0, stretch=LENGTH, max_iter=6, n_init=1, n_models=MODELS,
            random_state=0, **setting,
        ).fit(bags[train], y[train])  # fmt: skip
        samples = np.concatenate([truth[i] for i in test])
        by_bags = roc_auc_score(y[test], model.decision_function(bags[test]))
        by_samples = roc_auc_score(samples, model.decision_function_instances(bags[test]))
        areas.append((by_bags, by_samples))
    return dict(zip(FIGURES, np.mean(areas, axis=0).tolist()))


def beside_others(rows, name, also=()):
    """Lines of all methods over the problems that were run, and of a few by mixture.

    `also` are names and files of more benchmarks whose rows are those of one method.
    """
    store = Store(RESULTS / "arhmm.jsonl")
    known = {n: store.latest(file) for n, file in also}
    stretches, others = store.latest("stretches"), store.latest("mixed")
    rows = [with_others(row, name, known, stretches, others) for row in rows]
    names = [n for n in rows[0]["areas"] if all(n in row["areas"] for row in rows)]
    overall = [
        {"method": n}
        | {figure: mean(rows, n, figure) for figure in FIGURES}
        | {f"{figure}: {name} better for": ahead(rows, name, n, figure) for figure in FIGURES}
        for n in names
    ]
    shown = (name, *(n for n, _ in also if n in names), *RIVALS)
    by_mixture = [
        {"own stretches": mixture, "activity": mixed.ACTIVITIES[activity], "people": len(mine)}
        | {"purity": of_joined(mine)}
        | {f"{n}, {figure}": mean(mine, n, figure) for n in shown for figure in FIGURES}
        for (mixture, activity), mine in grouped(rows, "mixture", "activity").items()
    ]
    return overall, by_mixture


def with_others(row, name, known, stretches, others):
    """The problem with the areas of other methods on the same folds."""
    problem = {key: row[key] for key in ("person", "activity", "mixture")}
    key = case_key(problem)
    areas = {name: {figure: row[figure] for figure in FIGURES}}
    areas |= {other: found[key].result for other, found in known.items() if key in found}
    for one, result in stretches[key].result.items():
        judged = {"bags": result["bags, by stretches"], "samples": result["samples"]}
        areas[f"{one}, by stretches"] = judged
    by_bags, by_samples = (others[key].result[level] for level in mixed.LEVELS)
    areas |= {n: {"bags": by_bags[n], "samples": by_samples[n]} for n in by_bags}
    return problem | {"areas": areas}


def mean(rows, name, figure):
    return float(np.mean([row["areas"][name][figure] for row in rows]))


def ahead(rows, name, other, figure):
    """For how many people, and the p of a signed-rank test over people."""
    if name == other:
        return ""
    gains = [
        mean(mine, name, figure) - mean(mine, other, figure)
        for mine in grouped(rows, "person").values()
    ]
    p = f", p {wilcoxon(gains).pvalue:.2g}" if len(gains) > 1 and np.any(gains) else ""
    return f"{sum(g > 0 for g in gains)} of {len(gains)}{p}"
