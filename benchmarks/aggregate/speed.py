"""How long the aggregate learners take, beside scikit-learn's closest relatives in one run."""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.linear_model import Ridge
from sklearn.neural_network import MLPRegressor
from sklearn.tree import DecisionTreeRegressor

from benchmarks._measure import timed
from benchmarks._tables import Table, only
from benchmarks.aggregate._data import folds, measure
from mixedbag import Bags
from mixedbag.aggregate import (
    AggregateMLPRegressor,
    AggregateRBFRegressor,
    AggregateSVC,
    AggregateTreeClassifier,
    AggregateTreeRegressor,
)
from mixedbag.datasets import aggregate

SHAPES = ((20_000, 20), (40_000, 20), (20_000, 40), (80_000, 20))
PASSES = {"lbfgs": 20, "adam": 3}
TINY = {"part": "trees", "rows": 2_000, "features": 5}


def cases():
    networks = (*(f"AggregateMLPRegressor, {solver}" for solver in PASSES), "AggregateRBFRegressor")
    return [
        *({"part": "trees", "rows": n, "features": m} for n, m in SHAPES),
        *({"part": "machines", "data": "ionosphere", "size": size} for size in (5, 20)),
        *({"part": "machines", "data": "synthetic", "rows": n} for n in (25_000, 50_000, 100_000)),
        *({"part": "networks", "learner": name, "rows": 100_000} for name in networks),
    ]


def run(case):
    """One timing; the first, discarded fits compile the kernels."""
    bags, positives, total = synthetic(200, 5, 10)
    AggregateTreeClassifier().fit(bags, positives)
    AggregateTreeRegressor().fit(bags, total)
    AggregateSVC().fit(bags, positives)
    return {"trees": trees, "machines": machines, "networks": networks}[case["part"]](case)


def synthetic(n_rows, n_features, size):
    """Bags of random rows, the label of a row and its value; totals of both."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    value = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n_rows)
    bags = Bags(X, np.arange(0, n_rows + 1, size))
    positives = np.add.reduceat((value > 0).astype(float), bags.offsets[:-1])
    return bags, positives, np.add.reduceat(value, bags.offsets[:-1])


def trees(case):
    bags, positives, total = synthetic(case["rows"], case["features"], 10)
    X, mean = bags.instances, bags.spread(total / bags.sizes)
    _, rival = timed(lambda: DecisionTreeRegressor(max_depth=5).fit(X, mean), 3)
    _, labels = timed(lambda: AggregateTreeClassifier(5).fit(bags, positives), 3)
    _, values = timed(lambda: AggregateTreeRegressor(5).fit(bags, total), 3)
    return {
        "DecisionTreeRegressor, s": rival,
        "AggregateTreeClassifier, s": labels,
        "ratio": labels / rival,
        "AggregateTreeRegressor, s": values,
        "ratio (values)": values / rival,
    }


def machines(case):
    if case["data"] == "synthetic":
        bags, positives, _ = synthetic(case["rows"], 20, 20)
        return {"seconds": timed(lambda: AggregateSVC().fit(bags, positives))[1]}
    X, y, X_test, y_test = next(folds(case["data"]))
    data = aggregate(X, y, case["size"], 100, random_state=0)
    model, seconds = timed(lambda: AggregateSVC(C=0.1).fit(data.bags, data.y), 5)
    return {"seconds": seconds, "accuracy on rows": measure(model, X_test, y_test)}


def networks(case):
    bags, _, total = synthetic(case["rows"], 20, 20)
    X, mean = bags.instances, bags.spread(total / bags.sizes)
    solver = case["learner"].partition(", ")[2]
    if solver:
        shared = {"solver": solver, "max_iter": PASSES[solver], "tol": 0.0, "random_state": 0}
        network = MLPRegressor(
            hidden_layer_sizes=(12,), activation="logistic", n_iter_no_change=100, **shared
        )
        model, seconds = timed(lambda: AggregateMLPRegressor(12, **shared).fit(bags, total))
        rival, theirs = timed(lambda: network.fit(X, mean))
    else:

        def clusters_and_ridge():
            clusters = KMeans(12, n_init=1, tol=0.0, max_iter=30, random_state=0).fit(X)
            Ridge(0.1).fit(np.exp(-(clusters.transform(X) ** 2) / 2), mean)
            return clusters

        learner = AggregateRBFRegressor(12, max_iter=30, random_state=0)
        model, seconds = timed(lambda: learner.fit(bags, total), 3)
        rival, theirs = timed(clusters_and_ridge, 3)
    return {
        "rival": "MLPRegressor" if solver else "KMeans + Ridge",
        "passes": f"{model.n_iter_} / {rival.n_iter_}",
        "seconds": seconds,
        "rival, s": theirs,
        "ratio": seconds / theirs,
    }


def table(rows):
    return [
        Table(
            "Trees against scikit-learn's regression tree on the same rows",
            only(rows, part="trees"),
            "Depth 5, bags of 10, median of three. Targets: at most 2 (labels) and 10 (values).",
        ),
        Table(
            "AggregateSVC, alternating",
            only(rows, part="machines"),
            "ionosphere: one training fold, bags of this size. synthetic: 20 features, bags of 20. "
            "Targets: 0.2 s on ionosphere-sized data; 10 s for 100,000 rows.",
        ),
        Table(
            "Networks against scikit-learn's for the same number of passes",
            only(rows, part="networks"),
            "20 features, bags of 20, the rivals on rows with their bag's mean. Target: 3.",
        ),
    ]
