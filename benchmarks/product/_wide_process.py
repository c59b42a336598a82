"""One fit on a wide table in single precision: ``python -m benchmarks.product._wide_process CASE``.

Prints its peak memory, its seconds of the processor, and those of one pass over the data.
"""

import json
import signal
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks._measure import cpu_timed
from mixedbag import Bags
from mixedbag._solvers.numbered_rows import NumberedRows
from mixedbag._wide import times
from mixedbag.aggregate import AggregateLogisticRegression, AggregateRidgeRegressor
from mixedbag.boosting import ExpRegBoost, NoisyOrBoost
from mixedbag.classics import (
    EMDD,
    DiverseDensity,
    MILogisticRegression,
    SetKernelSVC,
    TwoLevelClassifier,
)
from mixedbag.margin import BagMarginSVC, InstanceMarginSVC, _alternating, _linear
from mixedbag.wrappers import BagFeatures

ASKED: list[int] = []  # rows
LEARNERS = {
    "MILogisticRegression": MILogisticRegression(max_iter=100),
    "MILogisticRegression, 10 steps": MILogisticRegression(max_iter=10),
    "BagMarginSVC, linear": BagMarginSVC(kernel="linear", max_iter=5),
    "InstanceMarginSVC, linear": InstanceMarginSVC(kernel="linear", max_iter=5),
    "AggregateLogisticRegression": AggregateLogisticRegression(max_iter=50),
    "AggregateRidgeRegressor": AggregateRidgeRegressor(),
    "ExpRegBoost, 10 rounds": ExpRegBoost(n_rounds=10),
    "NoisyOrBoost, 10 rounds": NoisyOrBoost(n_rounds=10),
    "SetKernelSVC": SetKernelSVC(),
    "SetKernelSVC, statistics": SetKernelSVC(method="statistics"),
    "TwoLevelClassifier": TwoLevelClassifier(random_state=0),
    "EMDD": EMDD(max_iter=20, random_state=0),
    "DiverseDensity": DiverseDensity(max_iter=20, random_state=0),
    "BagFeatures": BagFeatures(),
}


def main(learner, bags, size, features, path=None, limit=None):
    model = LEARNERS[learner]
    model.fit(*problem(6, 5, 8))  # what is compiled, is compiled
    before = status("VmRSS")
    data, y = problem(bags, size, features, path)
    X = data.instances
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    told = {"MB": X.nbytes / 1e6}
    ASKED.clear()
    start = time.process_time()
    try:
        if limit is not None:
            signal.setitimer(signal.ITIMER_PROF, limit)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(data, y)
        signal.setitimer(signal.ITIMER_PROF, 0)
        told["passes"], told["evaluations"] = passes_of(model, data), evaluations_of(model)
        (model.predict if hasattr(model, "predict") else model.transform)(data)
    except TimeoutError:
        told["cut"] = True
    told["seconds"] = time.process_time() - start
    told["peak"] = (status("VmHWM") - before) * 1024 / X.nbytes
    told["pass"] = cpu_timed(lambda: one_pass(X), 3)[1]
    print(json.dumps(told))


def passes_of(model, data):
    """How often a fit went over the data, there and back."""
    if isinstance(model, (MILogisticRegression, AggregateLogisticRegression)):
        return int(model.n_iter_)
    return sum(ASKED) / 2 / data.n_instances or None


def evaluations_of(model):
    """How often a fit asked for the objective and its gradient, of however many rows."""
    if isinstance(model, (MILogisticRegression, AggregateLogisticRegression)):
        return int(model.n_iter_)
    return len(ASKED) / 2 or None


class CountedRows(NumberedRows):
    """Notes how many rows linear machines multiply and add up."""

    def scores(self, rows, w):
        ASKED.append(len(rows))
        return super().scores(rows, w)

    def total(self, rows, coef):
        ASKED.append(np.count_nonzero(coef))
        return super().total(rows, coef)


def counted_times(X, weights):
    """As `times`, by which linear machines score all instances."""
    ASKED.append(len(X))
    return times(X, weights)


def problem(n_bags, size, n_features, path=None):
    """Bags of noise; one in ten instances of every second bag is shifted."""
    shape = n_bags * size, n_features
    X = np.empty(shape, np.float32) if path is None else np.memmap(path, "f4", "w+", shape=shape)
    y = np.arange(n_bags) % 2
    rng = np.random.default_rng(0)
    for i in range(n_bags):
        rows = X[i * size : (i + 1) * size]
        rng.standard_normal(out=rows, dtype=np.float32)
        rows[: size // 10, :3] += y[i]
    return Bags(X, size * np.arange(n_bags + 1)), y


def one_pass(X):
    """Value and gradient of a linear model need this much, in single precision."""
    w = np.ones(X.shape[1], np.float32)
    return (X @ w) @ X


def status(name):
    """A figure of this process in kilobytes, as Linux tells it."""
    return int(Path("/proc/self/status").read_text().split(f"{name}:")[1].split()[0])


def stop(*_):
    raise TimeoutError


if __name__ == "__main__":
    signal.signal(signal.SIGPROF, stop)
    _alternating.NumberedRows, _linear.times = CountedRows, counted_times
    main(**json.loads(sys.argv[1]))
