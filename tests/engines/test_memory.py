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
    bags = DistributedBags.from_parquet(sys.argv[2], "mol", "active", client=client)
    ExpRegBoost(n_rounds=2).fit(bags)
    BagMarginSVC(kernel="linear", loss="squared_hinge", max_iter=2).fit(bags)
print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux' process status")
def test_the_client_needs_no_more_memory_for_more_instances(client, write, tmp_path):
    rng = np.random.default_rng(0)
    peaks, sizes = [], []
    for n_bags in (4_000, 24_000):
        folder = tmp_path / str(n_bags)
        folder.mkdir()
        labels = np.repeat(np.arange(n_bags) % 2, 10)
        rows = rng.normal(size=(10 * n_bags, 20)) + 0.1 * labels[:, None]
        write(folder, rows, np.repeat(np.arange(n_bags), 10), labels, [len(rows) // 2])
        sizes.append(rows.nbytes / 1e6)
        address = client.scheduler.address
        command = [sys.executable, "-c", CLIENT, address, str(folder)]
        peak = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        peaks.append(int(peak.split()[-1]) * 1024 / 1e6)
    assert peaks[1] - peaks[0] < 0.2 * (sizes[1] - sizes[0])
