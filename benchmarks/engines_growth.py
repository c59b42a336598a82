"""Boosting on a two-process cluster on this machine: time at 1, 2 and 4 times the data.

From the measured seconds a round the notes estimate what a large cluster would need.
"""

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.common import Table, timed
from mixedbag.boosting import ExpRegBoost

N_FEATURES = 20
BAG_SIZE = 10


def run(quick=False):
    from distributed import Client, LocalCluster

    from mixedbag.engines import DistributedBags

    base = 2_000 if quick else 20_000
    rounds = 5 if quick else 20
    rows = []
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
        tempfile.TemporaryDirectory() as folder,
    ):
        for factor in (1, 2, 4):
            part = Path(folder) / str(factor)
            part.mkdir()
            _write(part, factor * base)
            bags, reading = timed(
                lambda part=part: DistributedBags.from_parquet(part, "bag", "label", client=client)
            )
            if not rows:
                ExpRegBoost(n_rounds=1).fit(bags)  # compiles the kernels on the workers
            _, first = timed(lambda bags=bags: ExpRegBoost(n_rounds=1).fit(bags))
            _, seconds = timed(lambda bags=bags: ExpRegBoost(n_rounds=1 + rounds).fit(bags))
            rows.append(
                {
                    "instances": bags.n_instances,
                    "bags": bags.n_bags,
                    "features": N_FEATURES,
                    "read, s": reading,
                    "prepare + first round, s": first,
                    "a round, s": (seconds - first) / rounds,
                }
            )
    return [Table("Boosting on two workers", rows, _estimate(rows))]


def _write(folder, n_bags):
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


def _estimate(rows):
    """A straight line through seconds a round, extended to 10⁹ instances on 100 workers."""
    size = np.array([row["instances"] for row in rows], dtype=float)
    seconds = np.array([row["a round, s"] for row in rows])
    slope, latency = np.polyfit(size, seconds, 1)
    per_worker = max(slope, 0.0) * 2  # seconds an instance and round on one of two workers
    latency = max(latency, 0.0)
    big = latency + per_worker * 1e9 / 100
    return (
        f"Seconds a round grow as {latency:.3g} + {slope:.3g} × instances. At 10⁹ instances × "
        f"{N_FEATURES} features on 100 such workers that makes {big:.3g} s a round, or "
        f"{60 / big:.3g} rounds a minute; 100 rounds take {100 * big / 60:.3g} minutes and "
        f"{100 * big / 3600 * 100:.3g} worker-hours, if latency does not grow with the number of "
        "workers (sums are added in a tree, so it grows with its logarithm). Reading is extra."
    )
