"""Which criterion chooses well without instance labels: its correlation with instance quality.

On development tables, every candidate is scored by criteria that see only counts (or totals) of
bags, and by what it says of new rows, the AUC (or R²), which none of them sees. What is printed is,
over the candidates of each problem, the mean rank correlation of criterion and quality, and the
quality that is lost by choosing with it.

- counted right: the share of instances in held-out bags that are counted right
- squared, absolute: error of the counts or totals of held-out bags
- squared by size: over the size of the bag, with which its variance grows
- likelihood: of the counts of held-out bags, as draws with their mean probability
- exact likelihood: the same, each instance being drawn once with its own probability
- pairs of bags: the likelihood where held-out bags are thrown together two by two
- stability: agreement of instance scores between models of two halves of the bags
"""

import warnings

import numpy as np
from scipy.special import logit, xlogy
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.preprocessing import StandardScaler

from benchmarks._tables import Table
from benchmarks.counts._problems import DEVELOPMENT, counts_of, in_bags, rows
from mixedbag.aggregate import (
    AggregateForestClassifier,
    AggregateForestRegressor,
    AggregateGradientBoostingClassifier,
    AggregateGradientBoostingRegressor,
    AggregateKNeighborsClassifier,
    AggregateLogisticRegression,
    AggregateMeanMapClassifier,
    AggregateMLPClassifier,
    AggregateMLPRegressor,
    AggregateRidgeRegressor,
    AggregateSVR,
)
from mixedbag.aggregate._poisson_binomial import log_likelihood
from mixedbag.comparison._measures import INSTANCE_CORRELATION
from mixedbag.model_selection import BagStratifiedKFold
from mixedbag.pooling import bag_sum

KINDS = ("random 8", "random 32", "uneven 16", "places 16")
TOTALS = ("diabetes", "friedman 1", "friedman 2")
COUNTERS = {
    **{f"logistic, C={C}": AggregateLogisticRegression(C) for C in (0.01, 1.0, 100.0)},
    **{
        f"network, alpha={a}": AggregateMLPClassifier(alpha=a, n_networks=1, random_state=0)
        for a in (0.03, 0.3, 3.0)
    },
    **{
        f"boosting, {n}": AggregateGradientBoostingClassifier(n, max_depth=2, early_stopping=False)
        for n in (10, 60)
    },
    "forest": AggregateForestClassifier(20, random_state=0),
    "neighbours": AggregateKNeighborsClassifier(15),
    "MeanMap": AggregateMeanMapClassifier(),
}
SUMMERS = {
    **{f"ridge, {a}": AggregateRidgeRegressor(a) for a in (0.01, 1.0, 100.0)},
    **{f"SVR, C={C}": AggregateSVR(C, kernel="rbf") for C in (0.1, 1.0, 10.0)},
    **{
        f"network, alpha={a}": AggregateMLPRegressor(alpha=a, n_networks=1, random_state=0)
        for a in (0.03, 0.3, 3.0)
    },
    **{
        f"boosting, {n}": AggregateGradientBoostingRegressor(n, max_depth=2, early_stopping=False)
        for n in (10, 60)
    },
    "forest": AggregateForestRegressor(20, random_state=0),
}
TINY = {"data": "wine", "kind": "random 8", "seed": 0}


def cases():
    return [
        {"data": name, "kind": kind, "seed": seed}
        for seed in range(2)
        for name in (*DEVELOPMENT, *(TOTALS if seed == 0 else ()))
        for kind in KINDS
    ]


def run(case):
    sums = case["data"] in TOTALS
    X, y = _values(case["data"], case["seed"]) if sums else rows(case["data"], case["seed"])
    cut = int(0.7 * len(y))
    bags, label = in_bags(X[:cut], y[:cut], case["kind"], case["seed"])
    target = counts_of(bags, label)
    told, quality = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for learner in (SUMMERS if sums else COUNTERS).values():
            told.append(_criteria(learner, bags, target, sums))
            value = _told(clone(learner).fit(bags, target), X[cut:], sums)
            quality.append((r2_score if sums else roc_auc_score)(y[cut:], value))
    quality = np.array(quality)
    result = {}
    for name in told[0]:
        value = np.array([some[name] for some in told])
        result[f"{name}: correlation"] = float(np.nan_to_num(spearmanr(value, quality)[0]))
        result[f"{name}: lost"] = float(quality.max() - quality[value.argmax()])
    return result


def _values(name, seed, n=600):
    make = {
        "diabetes": lambda: load_diabetes(return_X_y=True),
        "friedman 1": lambda: make_friedman1(n, noise=1.0, random_state=seed),
        "friedman 2": lambda: make_friedman2(n, noise=50.0, random_state=seed),
    }
    X, y = make[name]()
    order = np.random.default_rng(seed).permutation(len(y))
    return StandardScaler().fit_transform(X[order]), y[order]


def _told(model, X, sums):
    """The value, or the probability, of each instance."""
    return model.predict_instances(X) if sums else model.predict_proba_instances(X)[:, 1]


def _criteria(learner, bags, target, sums):
    """``{criterion: value}``; higher is better, all of them."""
    value = np.empty(bags.n_instances)
    for train, test in BagStratifiedKFold(min(5, len(bags)), random_state=0).split(bags, target):
        model = clone(learner).fit(bags[train], target[train])
        value[bags.rows_of(test)] = _told(model, bags[test], sums)
    expected = bag_sum(value, bags.offsets)
    error = expected - target
    found = {
        "squared": -np.sum(error**2),
        "squared by size": -np.sum(error**2 / bags.sizes),
        "absolute": -np.sum(np.abs(error)),
        "stability": _stability(learner, bags, target, sums),
    }
    if sums:
        return found
    odds = logit(np.clip(value, 1e-6, 1 - 1e-6))
    pairs = np.arange(len(bags)) // 2
    together = [np.bincount(pairs, part) for part in (expected, bags.sizes, target)]
    return found | {
        "counted right": -np.mean(np.abs(error) / bags.sizes),
        "likelihood": _likelihood(expected, bags.sizes, target),
        "exact likelihood": log_likelihood(odds, bags.offsets, target.astype(np.int64))[0].sum(),
        "pairs of bags": _likelihood(*together),
    }


def _stability(learner, bags, target, sums):
    half = np.arange(len(bags)) % 2 == 0
    scores = [
        _told(clone(learner).fit(bags[part], target[part]), bags, sums) for part in (half, ~half)
    ]
    return float(np.nan_to_num(spearmanr(*scores)[0]))


def _likelihood(expected, sizes, counts):
    share = np.clip(expected / sizes, 1e-6, 1 - 1e-6)
    return float((xlogy(counts, share) + xlogy(sizes - counts, 1 - share)).sum())


def table(rows):
    tables = []
    for title, some in (
        ("Counts: criteria and the AUC of rows", [r for r in rows if r["data"] not in TOTALS]),
        ("Totals: criteria and the R² of rows", [r for r in rows if r["data"] in TOTALS]),
    ):
        if some:
            tables.append(Table(title, _summary(some), f"{len(some)} development problems."))
    return [*tables, Table("Problem by problem", rows)]


def check(rows):
    """What `compare` says of what decides on counts and totals was found here."""
    for criterion, are_totals in (("counted right", False), ("squared", True)):
        some = [row for row in rows if (row["data"] in TOTALS) == are_totals]
        found = np.mean([row[f"{criterion}: correlation"] for row in some])
        told = INSTANCE_CORRELATION[criterion]
        assert round(found, 2) == told, f"{criterion}: {found:.3f} found, {told} told"


def _summary(rows):
    names = [key.removesuffix(": lost") for key in rows[0] if key.endswith(": lost")]
    lines = []
    for name in names:
        correlation = np.array([row[f"{name}: correlation"] for row in rows])
        error = correlation.std(ddof=min(1, len(rows) - 1)) / np.sqrt(len(rows))
        lines.append(
            {
                "criterion": name,
                "mean rank correlation": f"{correlation.mean():.3f} ± {error:.3f}",
                "mean quality lost": float(np.mean([row[f"{name}: lost"] for row in rows])),
                "median quality lost": float(np.median([row[f"{name}: lost"] for row in rows])),
            }
        )
    return lines
