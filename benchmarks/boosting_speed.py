"""How fast boosting is: Table II of the boosting paper, and how the time grows."""

import time

import numpy as np

from benchmarks.common import Table, published
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


def run(quick):
    warm_up()
    return [table_2(repeat=2 if quick else 10), growth(10_000 if quick else 100_000)]


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


def best_time(call, repeat, clock=time.process_time):
    """The shortest of several runs: what else the machine does only ever adds."""
    seconds = []
    for _ in range(repeat):
        start = clock()
        call()
        seconds.append(clock() - start)
    return min(seconds)


def table_2(repeat):
    rows = []
    for row in published("boosting_table2_seconds"):
        data = load(NAMES[row["dataset"]])
        entry = {
            "set": row["dataset"],
            "bags": len(data.bags),
            "instances": data.bags.n_instances,
            "features": data.bags.n_features,
        }
        for label, booster in BOOSTERS.items():
            seconds = best_time(lambda b=booster, d=data: b().fit(d.bags, d.y), repeat)
            paper = float(row[f"{label}_s"])
            entry[f"{label} (s)"] = round(seconds, 3)
            entry[f"{label} paper (s)"] = paper
            entry[f"{label} ratio"] = round(paper / seconds)
        rows.append(entry)
    return Table(
        "Training time, 100 rounds (Table II)",
        rows,
        f"Seconds of processor time on one thread, best of {repeat} after a warm-up, preparation "
        "included. The paper's machine was an Intel i7-2600.",
    )


def growth(n):
    rows = []
    for label, n_instances, n_features in (
        ("base", n, 25),
        ("2 × instances", 2 * n, 25),
        ("4 × instances", 4 * n, 25),
        ("2 × features", n, 50),
        ("4 × features", n, 100),
    ):
        bags, y = synthetic(n_instances // 10, 10, n_features)
        seconds = best_time(lambda b=bags, t=y: ExpRegBoost(n_rounds=10).fit(b, t), 2)
        rows.append(
            {
                "": label,
                "instances": n_instances,
                "features": n_features,
                "seconds": round(seconds, 3),
                "times base": round(seconds / rows[0]["seconds"], 2) if rows else 1.0,
            }
        )
    return Table("Growth: ExpReg, 10 rounds, bags of ten, preparation included", rows)
