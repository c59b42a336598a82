"""Which criterion chooses well without instance labels: its correlation with instance quality.

On the development tables, every candidate is scored by criteria that see only counts of bags, and
by the AUC of new rows, which none of them sees. What is printed is, over the candidates of each
problem, the mean rank correlation of criterion and AUC, and what is lost by choosing with it.

- likelihood: of the counts of held-out bags, given mean probabilities
- counted right: the share of held-out instances that are counted right
- split bags: the likelihood where held-out bags are thrown together two by two
- stability: agreement of instance scores between models of two halves of the bags
"""

import warnings

import numpy as np
from scipy.special import xlogy
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from benchmarks._tables import Table
from benchmarks.counts._problems import DEVELOPMENT, counts_of, in_bags, rows
from mixedbag.aggregate import (
    AggregateForestClassifier,
    AggregateGradientBoostingClassifier,
    AggregateKNeighborsClassifier,
    AggregateLogisticRegression,
    AggregateMeanMapClassifier,
    AggregateMLPClassifier,
)
from mixedbag.model_selection import BagStratifiedKFold

KINDS = ("random 8", "random 32", "uneven 16", "places 16")
CRITERIA = ("likelihood", "counted right", "split bags", "stability")
CANDIDATES = {
    **{f"logistic, C={C}": AggregateLogisticRegression(C) for C in (0.01, 1.0, 100.0)},
    **{
        f"network, alpha={a}": AggregateMLPClassifier(alpha=a, n_networks=1, random_state=0)
        for a in (0.03, 0.3, 3.0)
    },
    **{f"boosting, {n}": AggregateGradientBoostingClassifier(n, max_depth=2) for n in (10, 60)},
    "forest": AggregateForestClassifier(30, random_state=0),
    "neighbours": AggregateKNeighborsClassifier(15),
    "MeanMap": AggregateMeanMapClassifier(),
}
TINY = {"data": "wine", "kind": "random 8", "seed": 0}


def cases():
    return [
        {"data": name, "kind": kind, "seed": seed}
        for name in DEVELOPMENT
        for kind in KINDS
        for seed in range(2)
    ]


def run(case):
    X, y = rows(case["data"], case["seed"])
    cut = int(0.7 * len(y))
    bags, label = in_bags(X[:cut], y[:cut], case["kind"], case["seed"])
    counts = counts_of(bags, label)
    told = {name: [] for name in (*CRITERIA, "AUC")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for learner in CANDIDATES.values():
            for name, value in _criteria(learner, bags, counts).items():
                told[name].append(value)
            chance = clone(learner).fit(bags, counts).predict_proba_instances(X[cut:])[:, 1]
            told["AUC"].append(roc_auc_score(y[cut:], chance))
    auc = np.array(told["AUC"])
    result = {}
    for name in CRITERIA:
        value = np.array(told[name])
        result[f"{name}: correlation"] = float(np.nan_to_num(spearmanr(value, auc)[0]))
        result[f"{name}: AUC lost"] = float(auc.max() - auc[value.argmax()])
    return result


def _criteria(learner, bags, counts):
    """Higher is better, all of them."""
    folds = list(BagStratifiedKFold(min(5, len(bags)), random_state=0).split(bags, counts))
    likelihood, right, split = 0.0, 0.0, 0.0
    for train, test in folds:
        model = clone(learner).fit(bags[train], counts[train])
        p = model.predict_proba_instances(bags[test])[:, 1]
        expected = np.add.reduceat(p, bags[test].offsets[:-1])
        sizes = bags.sizes[test]
        likelihood += _likelihood(expected, sizes, counts[test])
        right -= np.abs(expected - counts[test]).sum()
        pairs = np.arange(len(test)) // 2
        together = [np.bincount(pairs, part) for part in (expected, sizes, counts[test])]
        split += _likelihood(*together)
    half = np.arange(len(bags)) % 2 == 0
    scores = [
        clone(learner).fit(bags[part], counts[part]).predict_proba_instances(bags)[:, 1]
        for part in (half, ~half)
    ]
    stability = np.nan_to_num(spearmanr(*scores)[0])
    return dict(zip(CRITERIA, (likelihood, right, split, stability)))


def _likelihood(expected, sizes, counts):
    share = np.clip(expected / sizes, 1e-6, 1 - 1e-6)
    return float((xlogy(counts, share) + xlogy(sizes - counts, 1 - share)).sum())


def table(rows):
    summary = [
        {
            "criterion": name,
            "mean rank correlation with AUC": np.mean([r[f"{name}: correlation"] for r in rows]),
            "mean AUC lost": np.mean([r[f"{name}: AUC lost"] for r in rows]),
        }
        for name in CRITERIA
    ]
    return [
        Table("Criteria that see counts only", summary, f"{len(rows)} development problems."),
        Table("Problem by problem", rows, ""),
    ]
