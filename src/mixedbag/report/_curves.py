"""What the charts show: plain lists of numbers."""

import numpy as np
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

_POINTS = 200


def ranking_curves(name, positive, score, weight):
    """ROC and precision-recall curves of a score, with the areas under them."""
    false, true, _ = roc_curve(positive, score, sample_weight=weight)
    precision, recall, _ = precision_recall_curve(positive, score, sample_weight=weight)
    auc = roc_auc_score(positive, score, sample_weight=weight)
    average_precision = average_precision_score(positive, score, sample_weight=weight)
    return {
        "name": name,
        "roc": _thinned(false, true),
        "auc": round(float(auc), 4),
        "pr": _thinned(recall[::-1], precision[::-1]),
        "ap": round(float(average_precision), 4),
    }


def calibration(positive, probability, weight):
    """Mean forecast, observed share and size of bins with about equally many bags."""
    order = np.argsort(probability, kind="stable")
    parts = [p for p in np.array_split(order, min(8, len(order))) if len(p)]
    return [
        [
            round(float(np.average(probability[p], weights=weight[p])), 4),
            round(float(np.average(positive[p], weights=weight[p])), 4),
            len(p),
        ]
        for p in parts
    ]


def histogram(values, edges):
    """Shares of values between the edges."""
    counts, _ = np.histogram(values, edges)
    return (counts / max(1, counts.sum())).round(4).tolist()


def distributions(groups):
    """Histograms of several groups of values over the same edges."""
    pooled = np.concatenate([values for _, values in groups])
    low, high = np.quantile(pooled, [0.005, 0.995])
    if not high > low:
        low, high = low - 0.5, low + 0.5
    edges = np.linspace(low, high, 25)
    decimals = max(0, 4 - int(np.floor(np.log10(high - low))))  # totals may be in billionths
    return {
        "edges": edges.round(decimals).tolist(),
        "groups": [
            {"name": name, "share": histogram(np.clip(values, low, high), edges)}
            for name, values in groups
        ],
    }


def sizes(bags):
    """How many bags have how many instances; whole numbers sit in the middle of their bins."""
    low, high = int(bags.sizes.min()), int(bags.sizes.max())
    if low == high:
        return {"same": low}
    if high - low < 4:  # a lone bar says nothing
        low, high = max(1, low - 2), high + 2
    width = -(-(high - low + 1) // 20)
    edges = np.arange(low - 0.5, high + 0.5 + width, width)
    counts, _ = np.histogram(bags.sizes, edges)
    return {"edges": edges.tolist(), "counts": counts.tolist()}


def _thinned(x, y):
    """The corners of a curve, thinned out evenly when there are too many to see."""
    if len(x) > _POINTS:
        keep = np.unique(np.linspace(0, len(x) - 1, _POINTS).astype(int))
        x, y = x[keep], y[keep]
    return [[round(float(a), 4), round(float(b), 4)] for a, b in zip(x, y)]
