"""Which criterion tells an RBF network when to stop early? Tables that no figure of the paper has.

Least squares with a price of large weights, or the paper's descent that is stopped early: both are
solved, and a criterion takes one by the training bags alone. Errors are those of single test rows.
"""

import numpy as np
from sklearn.datasets import (
    load_diabetes,
    make_friedman1,
    make_friedman2,
    make_friedman3,
    make_regression,
)
from sklearn.preprocessing import StandardScaler

from benchmarks._tables import Table, grouped
from benchmarks.aggregate._data import measure
from mixedbag.aggregate import AggregateRBFRegressor
from mixedbag.aggregate._early_stopping import descended
from mixedbag.aggregate.rbf import activations, corrected_aic
from mixedbag.datasets import aggregate
from mixedbag.pooling import bag_sum

ROWS = 400
TABLES = {
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "Friedman 1": lambda: make_friedman1(ROWS, noise=1.0, random_state=0),
    "Friedman 2": lambda: make_friedman2(ROWS, noise=100.0, random_state=1),
    "Friedman 3": lambda: make_friedman3(ROWS, noise=0.1, random_state=2),
    "linear": lambda: make_regression(ROWS, 8, noise=50.0, random_state=0),
}
SIZES, RANDOMNESS, SEEDS = (2, 5, 10, 20), (0, 50, 200, 2000), (0, 1)
SOLVERS = ("least_squares", "gradient")
TINY = {"table": "linear", "size": 10}


def cross_validation(squares, freedom, n_bags):
    """Generalised cross-validation."""
    return squares / max(n_bags - freedom, 1e-9) ** 2


CRITERIA = {"generalised cross-validation": cross_validation, "corrected AIC": corrected_aic}


def cases():
    return [{"table": table, "size": size} for table in TABLES for size in SIZES]


def run(case):
    """Mean squared error of each solver, of the better, and of those that the criteria take."""
    found = []
    for seed in SEEDS:
        X, y, X_test, y_test = split(*TABLES[case["table"]](), seed)
        for randomness in RANDOMNESS:
            data = aggregate(X, y, case["size"], randomness, random_state=seed)
            models = {
                solver: AggregateRBFRegressor(12, solver=solver, random_state=0).fit(
                    data.bags, data.y
                )
                for solver in SOLVERS
            }
            errors = {solver: measure(model, X_test, y_test) for solver, model in models.items()}
            fits = {solver: fit_of(model, data) for solver, model in models.items()}
            taken = {
                name: errors[min(SOLVERS, key=lambda s, by=by: (by(*fits[s]), fits[s][1]))]
                for name, by in CRITERIA.items()
            }
            found.append(errors | taken | {"the better": min(errors.values())})
    return {name: float(np.mean([one[name] for one in found])) for name in found[0]}


def split(X, y, seed):
    """Standardised training and test parts."""
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = np.split(order, [3 * len(y) // 4])
    scaler, center, spread = StandardScaler().fit(X[train]), y[train].mean(), y[train].std()
    y = (y - center) / spread
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def fit_of(model, data):
    """The squares that a model leaves of the training totals, its freedom, and how many bags."""
    table = activations(data.bags.instances, model.centers_, model.widths_)
    summed = bag_sum(table, data.bags.offsets)
    squares = ((data.y - summed @ model.coef_) ** 2).sum()
    if model.solver == "gradient":
        left = data.y - data.y.sum() / data.bags.n_instances * data.bags.sizes
        left /= np.sqrt((left**2).sum() / data.bags.n_instances)  # as the learner does
        freedom = descended(summed, left[:, None], model.learning_rate, model.tol)[1]
    else:
        gram, price = summed.T @ summed, model.alpha * np.eye(summed.shape[1])
        price[0, 0] = 0.0
        freedom = np.trace(np.linalg.pinv(gram + price) @ gram)
    return squares, freedom, len(data.bags)


def table(rows):
    names = [name for name in rows[0] if name not in ("table", "size")]
    parts = {value: mine for (value,), mine in grouped(rows, "table").items()}
    parts |= {f"bags of {size}": mine for (size,), mine in grouped(rows, "size").items()}
    lines = [
        {"part": part} | {name: float(np.mean([row[name] for row in mine])) for name in names}
        for part, mine in (parts | {"all": rows}).items()
    ]
    return [Table("Mean squared error of RBF networks on single rows", lines, NOTES)]


NOTES = (
    f"12 centres; bags of {', '.join(map(str, SIZES))} rows, {', '.join(map(str, RANDOMNESS))} "
    "swapped pairs, two splits. The default takes the one with the smaller corrected AIC."
)
