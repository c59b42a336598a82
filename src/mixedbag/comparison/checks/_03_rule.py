"""Whether labels look as the rule says: pooling any, mean and count, compared out of fold.

One linear model of instances is fitted three times to the bags' labels: with the largest score of a
bag (any), the mean score, and the number of positive instances. If another pooling answers unseen
bags better than that of the rule, the rule is in doubt. For amounts: the sum, the mean and the
largest values of features.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from mixedbag.comparison._intervals import paired_p_value
from mixedbag.comparison.checks._tools import filled
from mixedbag.pooling import bag_logsumexp, bag_max, bag_sum, spread

TITLE = "The labels look like another rule"
LEVEL = "warning"
_SURE = 0.025  # two rivals
_BAGS, _INSTANCES, _FEATURES, _FOLDS, _CLASSES = 400, 10_000, 30, 10, 4
_PENALTY = 0.02
_OWN = {"any": "any", "majority": "mean", "count": "sum", "sum": "sum"}
_OWN |= {"proportion": "mean", "mean": "mean"}
_SAYS = {
    "any": "one strong instance",
    "mean": "the average of its instances",
    "count": "the number of its positive instances",
    "sum": "the total of its instances",
}


def find(result):
    own = _OWN.get(result.rule)
    if own is None or result.bags.is_sparse or not (result.bags.sizes > 1).any():
        return None
    losses = compare_poolings(result)
    rivals = {name: values for name, values in losses.items() if name != own}
    best = min(rivals, key=lambda name: np.mean(rivals[name]))
    share = 1 / len(losses[own])
    theirs, ours = np.array([rivals[best], losses[own]])
    if result.question.kind != "classes":
        # Squared errors vary as much as they are large: compared by their ratios.
        theirs, ours = np.log(theirs + 1e-3), np.log(ours + 1e-3)
    p = paired_p_value(theirs, ours, share)
    if p is None or p >= _SURE or np.mean(rivals[best]) >= np.mean(losses[own]):
        return None
    return (
        f"On unseen bags, labels follow {_SAYS[best]} better than {_SAYS[own]} (loss "
        f"{np.mean(rivals[best]):.3f} against {np.mean(losses[own]):.3f}, p = {p:.3f}; linear "
        "models of instances).",
        _advice(result.question.kind, best),
    )


def _advice(kind, best):
    if kind == "classes" and best == "count":
        return (
            "If you know the numbers of positive instances, use them as labels with --rule count."
        )
    rule = {"any": "any", "sum": "sum", "mean": "majority" if kind == "classes" else "mean"}[best]
    if kind != "classes" and best == "any":
        return "Ask what makes a label: one instance may decide it, which no rule of amounts knows."
    return f"Try --rule {rule}, and compare the figures."


def compare_poolings(result):
    """Mean loss on each fold of every pooling."""
    bags, rows = _sample(result)
    X = _reduced(filled(bags.instances))
    place = np.full(len(result.bags), -1)
    place[rows] = np.arange(len(rows))
    folds = []
    for split in result.splits[:_FOLDS]:
        train, test = (part[part >= 0] for part in (place[split.train], place[split.test]))
        if len(test) and len(train):
            folds.append((train, test))
    if result.question.kind == "classes":
        return _class_losses(result, bags, X, rows, folds)
    return _amount_losses(result, bags, X, rows, folds)


def _sample(result):
    """A few hundred bags that hold a few thousand instances."""
    bags = result.bags
    order = np.random.default_rng(0).permutation(len(bags))
    fit = np.cumsum(bags.sizes[order]) <= _INSTANCES
    rows = np.sort(order[: max(int(fit.sum()), min(20, len(bags)))][:_BAGS])
    return bags[rows], rows


def _reduced(X):
    """Standardised features, or their strongest directions if there are many."""
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
    if X.shape[1] <= _FEATURES:
        return X
    _, vectors = np.linalg.eigh(X.T @ X) if X.shape[1] <= len(X) else (None, None)
    if vectors is None:
        vectors = np.linalg.svd(X, full_matrices=False)[2].T[:, ::-1]
    X = X @ vectors[:, -_FEATURES:]
    return X / np.maximum(X.std(axis=0), 1e-12)


# Classes ------------------------------------------------------------------------------------------


def _class_losses(result, bags, X, rows, folds):
    codes = result.question.codes[rows]
    classes = [1] if len(result.question.classes) == 2 else np.unique(codes)[:_CLASSES]
    losses = {name: np.zeros(len(folds)) for name in _POOLS}
    for f, (train, test) in enumerate(folds):
        parts = [_part(bags, X, part) for part in (train, test)]
        for k in classes:
            target = codes == k
            start = np.zeros(X.shape[1] + 2)
            for name in ("mean", "any", "count"):
                pool = _POOLS[name]
                w = _fitted(pool, parts[0], target[train], start)
                start = w if name == "mean" else start  # the others begin where the mean ended
                losses[name][f] += _loss(pool, parts[1], target[test], w)[0]
    return losses


def _part(bags, X, rows):
    return X[bags.rows_of(rows)], np.concatenate([[0], np.cumsum(bags.sizes[rows])])


def _fitted(pool, part, target, start):
    def objective(w):
        value, slope = _loss(pool, part, target, w)
        return value + _PENALTY * w[:-2] @ w[:-2] / 2, slope + _PENALTY * np.append(w[:-2], [0, 0])

    return minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 60}).x


def _loss(pool, part, target, w):
    """Mean logarithmic loss and its slope; the last two numbers are intercepts."""
    X, offsets = part
    score, slopes = pool(X @ w[:-2] + w[-2], offsets)
    z = score + w[-1]
    residual = (expit(z) - target) / len(target)
    of_instances = spread(residual, offsets) * slopes
    gradient = np.append(X.T @ of_instances, [of_instances.sum(), residual.sum()])
    return float(np.mean(np.logaddexp(0.0, z) - target * z)), gradient


def _pool_any(s, offsets):
    top = bag_logsumexp(s, offsets)
    return top, np.exp(s - spread(top, offsets))


def _pool_mean(s, offsets):
    sizes = np.diff(offsets)
    return bag_sum(s, offsets) / sizes, spread(1.0 / sizes, offsets)


def _pool_count(s, offsets):
    q = expit(s)
    return bag_sum(q, offsets), q * (1 - q)


_POOLS = {"any": _pool_any, "mean": _pool_mean, "count": _pool_count}


# Amounts ------------------------------------------------------------------------------------------


def _amount_losses(result, bags, X, rows, folds):
    """Squared errors of ridge regressions on what each pooling sees of the features."""
    target = result.question.cases.truth[rows]
    target = (target - target.mean(axis=0)) / np.maximum(target.std(axis=0), 1e-12)
    sizes = bags.sizes[:, None].astype(np.float64)
    total = bag_sum(X, bags.offsets)
    seen = {
        "sum": np.hstack([total, sizes]),
        "mean": total / sizes,
        "any": np.hstack([bag_max(X, bags.offsets), -bag_max(-X, bags.offsets)]),
    }
    losses = {}
    for name, table in seen.items():
        table = (table - table.mean(axis=0)) / np.maximum(table.std(axis=0), 1e-12)
        table = np.hstack([table, np.ones((len(table), 1))])
        penalty = np.eye(table.shape[1])
        losses[name] = [
            np.mean(
                (
                    target[test]
                    - table[test]
                    @ np.linalg.solve(
                        table[train].T @ table[train] + penalty, table[train].T @ target[train]
                    )
                )
                ** 2
            )
            for train, test in folds
        ]
    return losses
