"""Learning on a two-process cluster on this machine: time and memory at 1, 2 and 4 times the data.

The client of every row is a process of its own. From the measured seconds a round the notes
estimate what a large cluster would need.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks._tables import Table
from benchmarks.product import _client

N_FEATURES = 20
BAG_SIZE = 10
TINY = {"bags": 400, "rounds": 3}


def cases():
    return [{"bags": factor * 20_000, "rounds": 20} for factor in (1, 2, 4)]


def run(case):
    from distributed import LocalCluster

    settings = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1"}
    with (
        LocalCluster(dashboard_address=None, **settings) as cluster,
        tempfile.TemporaryDirectory() as folder,
    ):
        write(Path(folder), case["bags"])
        arguments = [cluster.scheduler_address, folder, str(case["rounds"])]
        command = [sys.executable, "-m", _client.__name__, *arguments]
        answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(answer.splitlines()[-1])


def write(folder, n_bags):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    for k in range(4):
        n = n_bags // 4
        labels = np.arange(n) % 2
        X = rng.normal(size=(n * BAG_SIZE, N_FEATURES))
        X[::BAG_SIZE, 0] += 2.0 * labels
        columns = {f"f{j}": X[:, j] for j in range(N_FEATURES)}
        columns["bag"] = np.repeat(np.arange(k * n, (k + 1) * n), BAG_SIZE)
        columns["label"] = np.repeat(labels, BAG_SIZE)
        pq.write_table(pa.table(columns), folder / f"{k}.parquet")


def table(rows):
    boosting = [row["boosting"] for row in rows]
    linear = [line for row in rows for line in row["linear"]]
    linear.sort(key=lambda line: (line["learner"], line["instances"]))
    notes = estimate(boosting) if len(rows) > 1 else ""
    return [
        Table("Boosting on two workers", boosting, notes),
        Table(
            "Linear machines on two workers",
            linear,
            "n_iter_ counts machines for BagMarginSVC and Newton steps for AggregateSVR.",
        ),
    ]


def estimate(rows):
    """A straight line through seconds a round, extended to 10⁹ instances on 100 workers."""
    size = np.array([row["instances"] for row in rows], dtype=float)
    seconds = np.array([row["a round, s"] for row in rows])
    slope, latency = np.polyfit(size, seconds, 1)
    per_worker = max(slope, 0.0) * 2  # seconds an instance and round on one of two workers
    latency = max(latency, 0.0)
    big = latency + per_worker * 1e9 / 100
    grown = rows[-1]["client's peak, MB"] - rows[0]["client's peak, MB"]
    more = rows[-1]["data, MB"] - rows[0]["data, MB"]
    return (
        f"With {more:.0f} MB more of data the client's peak changes by {grown:.0f} MB. "
        f"Seconds a round grow as {latency:.3g} + {slope:.3g} × instances. At 10⁹ instances × "
        f"{N_FEATURES} features on 100 such workers that makes {big:.3g} s a round, or "
        f"{60 / big:.3g} rounds a minute; 100 rounds take {100 * big / 60:.3g} minutes and "
        f"{100 * big / 3600 * 100:.3g} worker-hours, if latency does not grow with the number of "
        "workers (sums are added in a tree, so it grows with its logarithm). Reading is extra."
    )
