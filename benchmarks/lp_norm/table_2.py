"""How fast boosting is: Table II, and how the time grows."""

import numpy as np

from benchmarks._measure import cpu_timed
from benchmarks._tables import Table, only, published
from mixedbag import Bags
from mixedbag.boosting import ExpBinBoost, ExpRegBoost
from mixedbag.datasets import load

NAMES = {
    "chains": "mutagenesis-chains",
    "eastWest": "eastwest",
    "musk1": "musk1",
    "elephant": "elephant",
}
BOOSTERS = {"ExpReg": ExpRegBoost, "ExpBin": ExpBinBoost}
REPEAT = 10
BASE = 100_000  # instances
TINY = {"part": "table 2", "set": "eastWest"}


def cases():
    growth = [
        {"part": "growth", "instances": m * BASE, "features": 25 * k}
        for m, k in ((1, 1), (2, 1), (4, 1), (1, 2), (1, 4))
    ]
    return [*({"part": "table 2", "set": name} for name in NAMES), *growth]


def run(case):
    warm_up()
    if case["part"] == "growth":
        bags, y = synthetic(case["instances"] // 10, 10, case["features"])
        return {"seconds": cpu_timed(lambda: ExpRegBoost(n_rounds=10).fit(bags, y), 2)[1]}
    data = load(NAMES[case["set"]])
    row = {"bags": len(data.bags), "instances": data.bags.n_instances}
    row["features"] = data.bags.n_features
    for label, booster in BOOSTERS.items():
        _, row[f"{label} (s)"] = cpu_timed(lambda b=booster: b().fit(data.bags, data.y), REPEAT)
    return row


def warm_up():
    """Compile the kernels (or load them from the cache)."""
    bags, y = synthetic(50, 4, 3)
    for booster in BOOSTERS.values():
        booster(n_rounds=3).fit(bags, y)


def synthetic(n_bags, size, n_features, seed=0):
    """Bags of `size` instances; the first instance of a positive bag is higher in one feature."""
    X = np.random.default_rng(seed).normal(size=(n_bags, size, n_features))
    y = np.arange(n_bags) % 2
    X[y == 1, 0, 0] += 2
    return Bags(X.reshape(-1, n_features), np.arange(n_bags + 1) * size), y


def table(rows):
    printed = {row["dataset"]: row for row in published("boosting_table2_seconds")}
    times, growth = only(rows, part="table 2"), only(rows, part="growth")
    for row in times:
        for label in BOOSTERS:
            paper = float(printed[row["set"]][f"{label}_s"])
            row[f"{label} paper (s)"] = paper
            row[f"{label} ratio"] = round(paper / row[f"{label} (s)"])
    for row in growth:
        row["times base"] = row["seconds"] / growth[0]["seconds"]
    return [
        Table(
            "Training time, 100 rounds (Table II)",
            times,
            f"Seconds of processor time on one thread, best of {REPEAT} after a warm-up, "
            "preparation included. The paper's machine was an Intel i7-2600.",
        ),
        Table("Growth: ExpReg, 10 rounds, bags of ten, preparation included", growth),
    ]
