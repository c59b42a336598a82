"""Many bags in a minute: when the first answer stands, when most of the quality, when all ends.

`compare` meets made problems of 10³ to 10⁵ bags of ten instances (up to 10⁶ instances), and one of
few, large bags, each with a budget of a minute that includes what comes after the trials. The
clock starts when Python is up and the bags are in memory. With many bags all are compared on a
sample, and the model learns from all: how good it is on bags that nobody had is asked at the end.
"""

import time

import numpy as np

from benchmarks._measure import picture
from benchmarks._tables import Table
from mixedbag.comparison import compare
from mixedbag.datasets import make_any

BUDGET = 60.0
SHAPES = [(1_000, 10), (10_000, 10), (100_000, 10), (1_000, 200)]  # bags, instances a bag
ENOUGH = 0.95  # of the way from the constant to the final figure
NEW = 5_000
TINY = {"bags": 40, "size": 3, "budget": 5.0}


def cases():
    return [{"bags": bags, "size": size, "budget": BUDGET} for bags, size in SHAPES]


def run(case):
    n_bags = case["bags"]
    made = make_any(n_bags + NEW, case["size"], n_features=10, separation=2.5, random_state=0)
    keep = np.arange(len(made.y)) < n_bags
    data, new = made.part(keep), made.part(~keep)
    start, steps = time.monotonic(), []

    def watch(known):
        through = len(known.finished())
        if through and (not steps or through != steps[-1][0]):
            steps.append((through, time.monotonic() - start, known.chosen().mean))

    result = compare(
        *(data.bags, data.y, "any"),
        time_budget=case["budget"],
        n_jobs=-1,
        watch=watch,
        reported=True,
        metric="accuracy",
    )
    end = time.monotonic() - start
    final, constant = result.chosen().mean, result.constant().mean
    goal = constant + ENOUGH * (final - constant)
    return {
        "first answer, s": round(steps[0][1], 1),
        "95 % of quality, s": round(next(s for _, s, mean in steps if mean >= goal), 1),
        "trials and models, s": round(end, 1),
        "first accuracy": round(steps[0][2], 3),
        "accuracy": round(final, 3),
        "on new bags": round(float((result.model.predict(new.bags) == new.y).mean()), 3),
        "compared on": len(result.bags),
        "learners through": len(result.finished()),
        "folds": len(result.splits),
        "learn from samples": sum("bags at a time" in note for note in result.notes),
        "work": str(result.work.n_units),
        "steps": [[round(seconds, 1), round(mean, 4)] for _, seconds, mean in steps],
    }


def publish(rows, folder):
    """Quality against time, a line a shape."""
    with picture(folder / "many_bags.png", figsize=(7.2, 3.8)) as (_, axes):
        for row in rows:
            seconds, accuracy = zip(*row["steps"])
            label = f"{row['bags']:,} bags of {row['size']}"
            seconds = [*seconds, row["trials and models, s"]]
            axes.step(seconds, [*accuracy, row["accuracy"]], where="post", marker=".", label=label)
        axes.set(
            xlabel="seconds since the start", ylabel="accuracy of what is chosen", xlim=(0, BUDGET)
        )
        axes.grid(alpha=0.3)
        axes.legend()


def table(rows):
    lines = [{key: value for key, value in row.items() if key != "steps"} for row in rows]
    return [Table("a minute with many bags", lines, NOTES)]


NOTES = (
    "Bags × size are the instances; ten features. Quality counts from that of always the same "
    "answer. On new bags: the accuracy of the model that comes out, on 5,000 bags that were in no "
    "fold. The rest of the budget is for checks and the report."
)
