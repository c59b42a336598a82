"""How the cost of the classics grows, what blocks save over a loop, and Weka's times."""

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler

from benchmarks._measure import cpu_timed, weka
from benchmarks._tables import Table, grouped, only
from mixedbag._pairs import nearest_squared
from mixedbag.classics import (
    MILES,
    AxisParallelRectangle,
    CitationKNN,
    MIGraphSVC,
    MILogisticRegression,
    SetKernelSVC,
)
from mixedbag.datasets import load, make_any
from mixedbag.datasets.catalogue import paths
from mixedbag.wrappers import InstanceWise

LEARNERS = {
    "CitationKNN": CitationKNN(),
    "SetKernelSVC": SetKernelSVC(),
    "MIGraphSVC": MIGraphSVC(),
    "MILES": MILES(max_concepts=2000, random_state=0),
    "AxisParallelRectangle": AxisParallelRectangle(),
    "MILogisticRegression": MILogisticRegression(),
}
# Weka's classes for the same methods.
RIVALS = {
    "MILogisticRegression": "weka.classifiers.mi.MILR -A 0",
    "SetKernelSVC": ("weka.classifiers.mi.MISMO -K weka.classifiers.mi.supportVector.MIRBFKernel"),
}
TIME_LIMIT = 150
TINY = {"part": "blocks", "bags": 30}


def cases():
    return [
        *({"part": "growth", "bags": n, "learner": m} for n in (125, 250, 500) for m in LEARNERS),
        *({"part": "blocks", "bags": n} for n in (100, 200, 1000)),
        *({"part": "weka", "learner": learner} for learner in RIVALS),
    ]


def run(case):
    return {"growth": growth, "blocks": blocks, "weka": against_weka}[case["part"]](case)


def growth(case):
    data = make_any(n_bags=case["bags"], n_features=50, random_state=0)
    learner = LEARNERS[case["learner"]]
    _, seconds = cpu_timed(lambda: learner.fit(data.bags, data.y))
    return {"instances": data.bags.n_instances, "CPU seconds": seconds}


def blocks(case):
    """All pairs of bags: blocks of matrix products against a loop over pairs."""
    bags = make_any(n_bags=case["bags"], n_features=50, random_state=0).bags
    result, blocked = cpu_timed(lambda: nearest_squared(bags, bags))
    if case["bags"] > 200:
        return {"blocks": blocked}

    def loop():
        return np.array([[euclidean_distances(a, b).min() for b in bags] for a in bags])

    expected, looped = cpu_timed(loop)
    np.testing.assert_allclose(np.sqrt(result), expected, atol=1e-6)
    return {"blocks": blocked, "loop over pairs": looped, "times less": looped / blocked}


def against_weka(case):
    data, learner = load("musk1"), LEARNERS[case["learner"]]
    bags = InstanceWise(StandardScaler()).fit_transform(data.bags)
    learner.fit(bags, data.y)  # the first call loads libraries
    _, ours = cpu_timed(lambda: learner.fit(bags, data.y))
    arff = paths("musk1")[0].parent / "musk1.arff"
    options = RIVALS[case["learner"]].split()
    found = weka([*options, "-t", arff, "-no-cv"], TIME_LIMIT)
    return {
        "CPU seconds": ours,
        "Weka's class": options[0].split(".")[-1],
        "Weka's CPU seconds": found[1] if found else f"over {TIME_LIMIT}, or no Weka",
    }


def table(rows):
    lines = []
    for (n_bags, n), mine in grouped(only(rows, part="growth"), "bags", "instances").items():
        line = {"bags": n_bags, "instances": n}
        lines.append(line | {row["learner"]: row["CPU seconds"] for row in mine})
    if len(lines) > 1:
        first, last = lines[-2:]
        exponent = {m: float(np.log2(last[m] / first[m])) for m in LEARNERS if m in last}
        lines.append({"bags": "growth exponent", "instances": ""} | exponent)
    return [
        Table(
            "CPU seconds of a fit as bags grow",
            lines,
            "CPU seconds of one fit, one thread, 50 features, about 10 instances a bag. Last row: "
            "the power of the number of bags with which the last doubling grew. MILES is capped at "
            "2,000 concepts here.",
        ),
        Table(
            "Minimal Hausdorff distances of all pairs of bags, CPU seconds",
            only(rows, part="blocks"),
        ),
        Table(
            "CPU seconds of a fit on MUSK1 beside Weka 3.6",
            only(rows, part="weka"),
            "Defaults on both sides, which are not the same settings: a comparison of waiting "
            "times, not of solvers. Weka's time is that of the whole process, starting Java and "
            "reading the file included (1 to 2 seconds, most of it here).",
        ),
    ]
