"""How long the aggregate learners take, as ratios to scikit-learn's closest relatives in one run.

python -m benchmarks aggregate_speed
"""

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.linear_model import Ridge
from sklearn.neural_network import MLPRegressor
from sklearn.tree import DecisionTreeRegressor

from benchmarks.aggregate_figures import folds, measure, read
from benchmarks.common import Table, timed
from mixedbag import Bags
from mixedbag.aggregate import (
    AggregateMLPRegressor,
    AggregateRBFRegressor,
    AggregateSVC,
    AggregateTreeClassifier,
    AggregateTreeRegressor,
)
from mixedbag.datasets import aggregate


def synthetic(n_rows, n_features, size):
    """Bags of random rows, the label of a row and its value; totals of both."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    value = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n_rows)
    bags = Bags(X, np.arange(0, n_rows + 1, size))
    positives = np.add.reduceat((value > 0).astype(float), bags.offsets[:-1])
    return bags, positives, np.add.reduceat(value, bags.offsets[:-1])


def trees(quick):
    rows = []
    shapes = [(20_000, 20)] if quick else [(20_000, 20), (40_000, 20), (20_000, 40), (80_000, 20)]
    for n_rows, n_features in shapes:
        bags, positives, total = synthetic(n_rows, n_features, 10)
        X, mean = bags.instances, bags.spread(total / bags.sizes)
        _, rival = timed(lambda: DecisionTreeRegressor(max_depth=5).fit(X, mean), 3)  # noqa: B023
        _, labels = timed(lambda: AggregateTreeClassifier(5).fit(bags, positives), 3)  # noqa: B023
        _, values = timed(lambda: AggregateTreeRegressor(5).fit(bags, total), 3)  # noqa: B023
        rows.append(
            {
                "rows": n_rows,
                "features": n_features,
                "DecisionTreeRegressor, s": round(rival, 3),
                "AggregateTreeClassifier, s": round(labels, 3),
                "ratio": round(labels / rival, 2),
                "AggregateTreeRegressor, s": round(values, 3),
                "ratio (values)": round(values / rival, 2),
            }
        )
    notes = "Depth 5, bags of 10, median of three. Targets: at most 2 (labels) and 10 (values)."
    return Table("Trees against scikit-learn's regression tree on the same rows", rows, notes)


def machines(quick):
    rows = []
    X, y = read("ionosphere")
    X_train, y_train, X_test, y_test = next(folds(X, y, "classification"))
    for size in (5, 20):
        data = aggregate(X_train, y_train, size, 100, random_state=0)
        model, seconds = timed(lambda: AggregateSVC(C=0.1).fit(data.bags, data.y), 5)  # noqa: B023
        rows.append(
            {
                "data": f"ionosphere, {len(y_train)} rows, bags of {size}",
                "seconds": round(seconds, 3),
                "accuracy on rows": round(measure(model, X_test, y_test), 3),
            }
        )
    for n_rows in (25_000,) if quick else (25_000, 50_000, 100_000):
        bags, positives, _ = synthetic(n_rows, 20, 20)
        model, seconds = timed(lambda: AggregateSVC().fit(bags, positives))  # noqa: B023
        rows.append(
            {
                "data": f"synthetic, {n_rows} rows × 20, bags of 20",
                "seconds": round(seconds, 3),
            }
        )
    notes = "Targets: 0.2 s on ionosphere-sized data; 10 s for 100,000 rows."
    return Table("AggregateSVC, alternating", rows, notes)


def networks(quick):
    n_rows = 20_000 if quick else 100_000
    bags, _, total = synthetic(n_rows, 20, 20)
    X, mean = bags.instances, bags.spread(total / bags.sizes)
    rows = []
    for solver, passes in (("lbfgs", 20), ("adam", 3)):
        settings = {"solver": solver, "max_iter": passes, "tol": 0.0, "random_state": 0}
        rival = MLPRegressor(
            hidden_layer_sizes=(12,), activation="logistic", n_iter_no_change=100, **settings
        )
        model, seconds = timed(lambda: AggregateMLPRegressor(12, **settings).fit(bags, total))  # noqa: B023
        rival, rival_seconds = timed(lambda: rival.fit(X, mean))  # noqa: B023
        rows.append(
            {
                "learner": f"AggregateMLPRegressor, {solver}",
                "rival": "MLPRegressor",
                "passes": f"{model.n_iter_} / {rival.n_iter_}",
                "seconds": round(seconds, 2),
                "rival, s": round(rival_seconds, 2),
                "ratio": round(seconds / rival_seconds, 2),
            }
        )

    def clusters_and_ridge():
        clusters = KMeans(12, n_init=1, tol=0.0, max_iter=30, random_state=0).fit(X)
        return clusters, Ridge(0.1).fit(np.exp(-(clusters.transform(X) ** 2) / 2), mean)

    model, seconds = timed(
        lambda: AggregateRBFRegressor(12, max_iter=30, random_state=0).fit(bags, total), 3
    )
    (clusters, _), rival_seconds = timed(clusters_and_ridge, 3)
    rows.append(
        {
            "learner": "AggregateRBFRegressor",
            "rival": "KMeans + Ridge",
            "passes": f"{model.n_iter_} / {clusters.n_iter_}",
            "seconds": round(seconds, 2),
            "rival, s": round(rival_seconds, 2),
            "ratio": round(seconds / rival_seconds, 2),
        }
    )
    notes = (
        f"{n_rows} rows × 20 in bags of 20, the rivals on rows with their bag's mean. Target: 3."
    )
    return Table("Networks against scikit-learn's for the same number of passes", rows, notes)


def run(quick):
    """All timings; the first, discarded fits compile the kernels."""
    warnings.simplefilter("ignore")
    bags, positives, total = synthetic(200, 5, 10)
    AggregateTreeClassifier().fit(bags, positives)
    AggregateTreeRegressor().fit(bags, total)
    AggregateSVC().fit(bags, positives)
    return [trees(quick), machines(quick), networks(quick)]
