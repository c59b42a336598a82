"""How the cost of the classics grows, what blocks save over a loop, and Weka's times."""

import resource
import subprocess
import tempfile
import time

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler

from benchmarks.common import Table
from benchmarks.emdd import WEKA
from mixedbag.classics import (
    MILES,
    AxisParallelRectangle,
    CitationKNN,
    MIGraphSVC,
    MILogisticRegression,
    SetKernelSVC,
)
from mixedbag.classics._pairs import nearest_squared
from mixedbag.datasets import load, make_any
from mixedbag.datasets.catalogue import paths
from mixedbag.wrappers import InstanceWise

# Weka's classes for the same methods.
RIVALS = {
    "weka.classifiers.mi.MILR -A 0": MILogisticRegression(),
    "weka.classifiers.mi.MISMO -K weka.classifiers.mi.supportVector.MIRBFKernel": SetKernelSVC(),
}
TIME_LIMIT = 150


def run(quick):
    return [growth(quick), blocks(quick), against_weka(quick)]


def growth(quick):
    learners = {
        "CitationKNN": CitationKNN(),
        "SetKernelSVC": SetKernelSVC(),
        "MIGraphSVC": MIGraphSVC(),
        "MILES": MILES(max_concepts=2000, random_state=0),
        "AxisParallelRectangle": AxisParallelRectangle(),
        "MILogisticRegression": MILogisticRegression(),
    }
    rows = []
    for n_bags in (100, 200) if quick else (125, 250, 500):
        data = make_any(n_bags=n_bags, n_features=50, random_state=0)
        row = {"bags": n_bags, "instances": data.bags.n_instances}
        for label, learner in learners.items():
            _, row[label] = cpu_timed(lambda m=learner, d=data: m.fit(d.bags, d.y))
        rows.append(row)
    exponent = {"bags": "growth exponent", "instances": ""}
    for label in learners:
        first, last = rows[-2], rows[-1]
        exponent[label] = float(np.log2(last[label] / first[label]))
    notes = (
        "CPU seconds of one fit, one thread, 50 features, about 10 instances a bag. Last row: "
        "the power of the number of bags with which the last doubling grew. MILES is capped at "
        "2,000 concepts here."
    )
    return Table("CPU seconds of a fit as bags grow", [*rows, exponent], notes)


def blocks(quick):
    """All pairs of bags: blocks of matrix products against a loop over pairs."""

    def loop(bags):
        return np.array([[euclidean_distances(a, b).min() for b in bags] for a in bags])

    rows = []
    for n_bags in (50,) if quick else (100, 200, 1000):
        bags = make_any(n_bags=n_bags, n_features=50, random_state=0).bags
        result, blocked = cpu_timed(lambda b=bags: nearest_squared(b, b))
        row = {"bags": n_bags, "blocks": blocked}
        if n_bags <= 200:
            expected, row["loop over pairs"] = cpu_timed(lambda b=bags: loop(b))
            row["times less"] = row["loop over pairs"] / blocked
            np.testing.assert_allclose(np.sqrt(result), expected, atol=1e-6)
        rows.append(row)
    return Table("Minimal Hausdorff distances of all pairs of bags, CPU seconds", rows)


def cpu_timed(call):
    """The result of `call()` and its CPU seconds, which other work on the machine hardly moves."""
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def against_weka(quick):
    data = load("musk1")
    bags = InstanceWise(StandardScaler()).fit_transform(data.bags)
    arff = paths("musk1")[0].parent / "musk1.arff"
    rows = []
    for options, learner in list(RIVALS.items())[: 1 if quick else None]:
        learner.fit(bags, data.y)  # the first call loads libraries
        _, ours = cpu_timed(lambda m=learner: m.fit(bags, data.y))
        weka = weka_seconds(options, arff)
        row = {"learner": type(learner).__name__, "CPU seconds": ours}
        row["Weka's class"] = options.split()[0].split(".")[-1]
        row["Weka's CPU seconds"] = weka or f"over {TIME_LIMIT}, or no Weka"
        rows.append(row)
    notes = (
        "Defaults on both sides, which are not the same settings: a comparison of waiting times, "
        "not of solvers. Weka's time is that of the whole process, starting Java and reading the "
        "file included (1 to 2 seconds, most of it here)."
    )
    return Table("CPU seconds of a fit on MUSK1 beside Weka 3.6", rows, notes)


def weka_seconds(options, arff):
    """CPU seconds of a Weka process that builds a model; None without Weka or over the limit."""
    if not WEKA.exists():
        return None
    command = ["java", "-cp", WEKA, *options.split(), "-t", arff, "-no-cv"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        try:
            subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=TIME_LIMIT)
        except subprocess.TimeoutExpired:
            return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
