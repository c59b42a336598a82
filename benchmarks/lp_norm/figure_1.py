"""Figure 1: what λ does to the weights of instances, on a toy."""

import numpy as np

from benchmarks._measure import picture
from benchmarks._tables import Table
from mixedbag import Bags
from mixedbag.boosting import ExpBinBoost
from mixedbag.pooling import LogMeanExp

LAMBDAS = (0.003, 0.03, 0.1, 0.3, 1.0)
SHOWN = (0.3, 0.003)  # as in the paper's figure
ROUNDS = 20


def cases():
    return [{"lambda": lam} for lam in LAMBDAS]


def toy(seed=0):
    """Bags of six in the plane; two instances of a positive bag lie apart. Their truth as well."""
    rng = np.random.default_rng(seed)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 6, 2))
    X[y == 1, :2] += 2.5
    witness = np.zeros((40, 6), dtype=bool)
    witness[y == 1, :2] = True
    return Bags(X.reshape(-1, 2), np.arange(0, 241, 6)), y, witness.ravel()


def run(case):
    """The instances' weights after some rounds, and how they are shared inside positive bags."""
    bags, y, witness = toy()
    model = ExpBinBoost(case["lambda"], n_rounds=ROUNDS).fit(bags, y)
    scores = model.decision_function_instances(bags)
    share = LogMeanExp(case["lambda"]).weights(scores, bags.offsets)
    sign = np.where(y == 1, 1.0, -1.0)
    weight = share * bags.spread(np.exp(-sign * model.decision_function(bags)))
    positive = share.reshape(40, 6)[y == 1]
    return {
        "largest share in a positive bag": float(positive.max(axis=1).mean()),
        "share of witnesses": float(positive[witness.reshape(40, 6)[y == 1]].sum() / len(positive)),
        "training accuracy": 100 * float(model.score(bags, y)),
        "weights": (weight / weight.max()).round(4).tolist(),
    }


def table(rows):
    lines = [{key: value for key, value in row.items() if key != "weights"} for row in rows]
    notes = (
        "40 bags of six instances, of which two are witnesses in positive bags: equal weights "
        f"would give them a third. ExpBin, {ROUNDS} rounds. The paper's figure has λ = 0.3 and "
        "0.003."
    )
    return [Table("Figure 1: λ and the weights of instances", lines, notes)]


def publish(rows, folder):
    bags, y, _ = toy()
    positive = bags.spread(y == 1)
    shown = [row for row in rows if row["lambda"] in SHOWN]
    with picture(folder / "figure_1.png", 1, len(SHOWN), figsize=(9, 4), squeeze=False) as (
        _,
        axes,
    ):
        for axis, row in zip(axes[0], sorted(shown, key=lambda row: -row["lambda"])):
            size = 5 + 120 * np.array(row["weights"])
            for kind, color in ((positive, "C3"), (~positive, "C0")):
                axis.scatter(
                    *bags.instances[kind].T, s=size[kind], c=color, alpha=0.6, linewidths=0
                )
            axis.set_title(f"λ = {row['lambda']}")
