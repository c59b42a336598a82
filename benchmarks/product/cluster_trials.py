"""The trials of a comparison on a Dask cluster of 1, 2 and 4 workers on this machine.

Every row does the same units of the same sequence; what they find is compared bit for bit with
what one process finds. In the last row a worker is killed in the middle.
"""

import os
import signal
import threading
import time
from functools import cache

import numpy as np

from benchmarks._tables import Table
from mixedbag.comparison import compare
from mixedbag.datasets import make_any

TINY = {"workers": 1, "bags": 24, "units": 20, "killed": 0}


def cases():
    same = {"bags": 200, "units": 100}
    alive = [same | {"workers": n, "killed": 0} for n in (1, 2, 4)]
    return [*alive, same | {"workers": 2, "killed": 1}]


def run(case):
    from distributed import Client, LocalCluster

    data, here, alone = _alone(case["bags"], case["units"])
    with (
        LocalCluster(
            n_workers=case["workers"],
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        _timed(data, 10, client)  # imports and compiles on the workers
        for pid in list(client.run(os.getpid).values())[: case["killed"]]:
            threading.Timer(alone / 4, os.kill, (pid, signal.SIGKILL)).start()
        there, seconds = _timed(data, case["units"], client)
    same = np.array_equal(here.out_of_fold().bags, there.out_of_fold().bags)
    return {
        "in this process, s": round(alone, 1),
        "on the cluster, s": round(seconds, 1),
        "same answers": bool(same),
    }


@cache
def _alone(n_bags, units):
    """The problem, and what this process finds in it in how many seconds."""
    data = make_any(n_bags, n_features=20, random_state=0)
    _timed(data, 10, client=None)  # compiles
    return data, *_timed(data, units, client=None)


def _timed(data, units, client):
    start = time.monotonic()
    result = compare(data.bags, data.y, "any", work=units, client=client)
    return result, time.monotonic() - start


def table(rows):
    return [Table("trials on a cluster of this machine", rows)]
