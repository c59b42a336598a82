"""Learners of totals, by the R² of the values of new rows that no total told.

Ridge on means, a line of NumPy, is what every other one has to be worth its time against.
"""

import numpy as np
from sklearn.metrics import r2_score

from benchmarks._measure import cpu_timed
from benchmarks._tables import Table, grouped
from benchmarks.counts._problems import KINDS, TOTALS, counts_of, in_bags, rows
from mixedbag.aggregate import (
    AggregateForestRegressor,
    AggregateGradientBoostingRegressor,
    AggregateKNeighborsRegressor,
    AggregateMLPRegressor,
    AggregateRBFRegressor,
    AggregateRidgeRegressor,
    AggregateSVR,
)

SEEDS = 6  # six to ten large bags tell one draw from the next by more than learners differ
BASE = "ridge on means"
TINY = {"data": "auto-mpg", "kind": "random 32", "seed": 0}


def cases():
    return [
        {"data": name, "kind": kind, "seed": seed}
        for name in TOTALS
        for kind in KINDS
        for seed in range(SEEDS)
    ]


def learners(seed):
    return {
        BASE: AggregateRidgeRegressor(),
        "network": AggregateMLPRegressor(random_state=seed),
        "boosting": AggregateGradientBoostingRegressor(),
        "forest": AggregateForestRegressor(random_state=seed),
        "radial bases": AggregateRBFRegressor(random_state=seed),
        "SVR": AggregateSVR(),
        "SVR, radial": AggregateSVR(kernel="rbf"),
        "neighbours": AggregateKNeighborsRegressor(),
    }


def run(case):
    X, y = rows(case["data"], case["seed"], values=True)
    cut = int(0.7 * len(y))
    bags, value = in_bags(X[:cut], y[:cut], case["kind"], case["seed"])
    total, result = counts_of(bags, value), {}
    for name, learner in learners(case["seed"]).items():
        model, seconds = cpu_timed(lambda learner=learner: learner.fit(bags, total))
        result[f"{name}: R²"] = r2_score(y[cut:], model.predict_instances(X[cut:]))
        result[f"{name}: seconds"] = seconds
    return result


def table(rows):
    names = [key.removesuffix(": R²") for key in rows[0] if key.endswith(": R²")]
    groups = grouped(rows, "data", "kind")

    def mean(some, name, figure="R²"):
        return float(np.mean([row[f"{name}: {figure}"] for row in some]))

    def ahead(some, name="network"):
        """By how much it leads the base, and the standard error of that over draws."""
        lead = [row[f"{name}: R²"] - row[f"{BASE}: R²"] for row in some]
        error = np.std(lead, ddof=min(1, len(lead) - 1)) / len(lead) ** 0.5
        return f"{np.mean(lead):.3f} ± {error:.3f}"

    lines = [
        {
            "learner": name,
            "mean R²": mean(rows, name),
            "mean of R², none below 0": float(np.mean([max(0, r[f"{name}: R²"]) for r in rows])),
            "seconds": mean(rows, name, "seconds"),
            f"as good as {BASE}": sum(
                mean(some, name) >= mean(some, BASE) - 0.005 for some in groups.values()
            ),
        }
        for name in names
    ]
    by_problem = [
        {"data": data, "kind": kind}
        | {name: mean(some, name) for name in names}
        | {"network ahead": ahead(some)}
        for (data, kind), some in groups.items()
    ]
    note = f"{len(rows)} problems; as good: on how many of {len(groups)} tables and kinds of bags."
    return [
        Table("Totals", lines, note),
        Table(
            "R² by table and kind of bags",
            by_problem,
            f"network ahead: of {BASE}, with the standard error over draws.",
        ),
    ]
