"""The client's memory, measured: it does not depend on the number of instances."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("distributed")

CLIENT = """
import sys
from pathlib import Path

from distributed import Client

from mixedbag.boosting import ExpRegBoost
from mixedbag.engines import DistributedBags, _sampling
from mixedbag.margin import BagMarginSVC

_sampling.LIMIT = 2000  # rows that fix the grid of thresholds; the data are small here
with Client(sys.argv[1]) as client:
    for folder in sys.argv[2:]:
        bags = DistributedBags.from_parquet(folder, "mol", "active", client=client)
        ExpRegBoost(n_rounds=2).fit(bags)
        BagMarginSVC(kernel="linear", loss="squared_hinge", max_iter=2).fit(bags)
        print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux' process status")
def test_the_client_needs_no_more_memory_for_more_instances(client, write, tmp_path):
    """The peak of one process: after few instances, and after six times as many."""
    rng = np.random.default_rng(0)
    folders, sizes = [], []
    for n_bags in (4_000, 24_000):
        folder = tmp_path / str(n_bags)
        folder.mkdir()
        labels = np.repeat(np.arange(n_bags) % 2, 10)
        rows = rng.normal(size=(10 * n_bags, 20)) + 0.1 * labels[:, None]
        write(folder, rows, np.repeat(np.arange(n_bags), 10), labels, [len(rows) // 2])
        sizes.append(rows.nbytes / 1e6)
        folders.append(str(folder))
    command = [sys.executable, "-c", CLIENT, client.scheduler.address, *folders]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    peaks = [int(peak) * 1024 / 1e6 for peak in told.split()]
    assert peaks[1] - peaks[0] < 0.2 * (sizes[1] - sizes[0])
