"""Learning from a table that is larger than the memory it may use: time, and peak memory.

A table of floats is made by the engine; one process reads it into blocks on disk and fits a learner
on them. Data and model stay the same as in memory (tests compare the two); here is what it costs.
The process is ended as soon as it holds more memory than its limit, mapped blocks among it. (The
system's own limit, ``RLIMIT_DATA``, counts what is reserved and never used.)
"""

import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks._tables import Table
from benchmarks.product._process import measured

FEATURES, SIZE, LONG = 20, 10, 1000  # instances of a bag, and of one in time
LOGISTIC, MARGIN, BOOSTING, RADIAL, SEQUENCES = (
    "MILogisticRegression, mean, 20 steps",
    "BagMarginSVC, squared hinge, 3 rounds",
    "ExpRegBoost, 10 rounds",
    "AggregateRBFRegressor, 12 centers",
    "ARHMMClassifier, 3 states, order 1, 3 rounds",
)
LIMIT = 1_200_000_000  # bytes
TINY = {"million rows": 0.05, "learner": LOGISTIC}


def cases():
    learners = (LOGISTIC, MARGIN, BOOSTING, RADIAL, SEQUENCES)
    return [{"million rows": n, "learner": name} for name in learners for n in (1, 8, 64)]


def run(case):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        size = LONG if case["learner"] == SEQUENCES else SIZE
        write(path, int(case["million rows"] * 1e6), size)
        _, peak, out = measured("-m", learn.__module__, path, case["learner"])
    told = json.loads(out.splitlines()[-1])
    megabytes = case["million rows"] * FEATURES * 8
    return {"data, MB": megabytes, "limit, MB": LIMIT / 1e6, **told, "peak memory (MB)": peak}


def write(path, rows, size):
    import duckdb

    values = ", ".join(
        f"random() + 0.02 * {j} * (i // {size} % 2) as x{j}" for j in range(FEATURES)
    )
    bag = f"i // {size} as bag, i // {size} % 2 as label"
    with duckdb.connect(config={"memory_limit": "2GB"}) as con:
        con.execute("select setseed(0.5)")
        con.execute(
            f"copy (select {bag}, {values} from range({rows}) t(i)) to '{path}' "
            "(compression uncompressed)"
        )


def learn(path, name):
    """Spool a table and fit a learner on it; what it took, as JSON."""
    threading.Thread(target=watch, daemon=True).start()
    from mixedbag.aggregate import AggregateRBFRegressor
    from mixedbag.boosting import ExpRegBoost
    from mixedbag.classics import MILogisticRegression
    from mixedbag.engines import SpooledBags
    from mixedbag.margin import BagMarginSVC
    from mixedbag.sequence import ARHMMClassifier

    learner = {
        LOGISTIC: MILogisticRegression(pooling="mean", max_iter=20),
        MARGIN: BagMarginSVC(kernel="linear", loss="squared_hinge", max_iter=3),
        BOOSTING: ExpRegBoost(n_rounds=10),
        RADIAL: AggregateRBFRegressor(random_state=0),
        SEQUENCES: ARHMMClassifier(3, order=1, max_iter=3, n_init=1, n_jobs=-1, random_state=0),
    }[name]
    start = time.perf_counter()
    bags = SpooledBags.from_table(path, "bag", "label", n_jobs=-1)
    read = time.perf_counter()
    learner.fit(bags)
    end = time.perf_counter()
    n_iter = getattr(learner, "n_iter_", None)  # radial bases of fixed places need no rounds
    told = {"read, s": read - start, "fit, s": end - read, "n_iter_": n_iter and int(n_iter)}
    print(json.dumps(told))


def watch():
    """End this process as soon as it holds more than the limit."""
    while True:
        held = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        if held > LIMIT:
            print(f"{held / 1e6:.0f} MB are held", file=sys.stderr, flush=True)
            os._exit(1)
        time.sleep(0.01)


def table(rows):
    notes = (
        f"{FEATURES} features in float64, bags of {SIZE} ({LONG} in time); data is the size of the "
        "table in memory. A process that holds more than the limit, mapped files among it, is "
        "ended; rows without a limit are older."
    )
    return [Table("Learning from disk", rows, notes)]


if __name__ == "__main__":
    learn(*sys.argv[1:])
