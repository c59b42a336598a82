"""A client of a cluster, in a process of its own so that its memory can be measured.

``python -m benchmarks.product._client ADDRESS FOLDER ROUNDS`` prints what it measured as JSON.
"""

import json
import sys
from pathlib import Path

from benchmarks._measure import timed


def main(address, folder, rounds):
    from distributed import Client

    from mixedbag.aggregate import AggregateSVR
    from mixedbag.boosting import ExpRegBoost
    from mixedbag.engines import DistributedBags
    from mixedbag.margin import BagMarginSVC

    with Client(address) as client:
        bags, reading = timed(
            lambda: DistributedBags.from_parquet(folder, "bag", "label", client=client)
        )
        ExpRegBoost(n_rounds=1).fit(bags)  # compiles the kernels on the workers
        _, first = timed(lambda: ExpRegBoost(n_rounds=1).fit(bags))
        _, seconds = timed(lambda: ExpRegBoost(n_rounds=1 + rounds).fit(bags))
        peak = peak_megabytes()
        linear = []
        for name, machine in (
            ("BagMarginSVC, squared hinge", BagMarginSVC(kernel="linear", loss="squared_hinge")),
            ("AggregateSVR", AggregateSVR()),
        ):
            _, whole = timed(lambda machine=machine: machine.fit(bags))
            row = {"learner": name, "instances": bags.n_instances, "fit, s": whole}
            linear.append(row | {"n_iter_": machine.n_iter_, "client's peak, MB": peak_megabytes()})
    boosting = {
        "instances": bags.n_instances,
        "bags": bags.n_bags,
        "features": bags.n_features,
        "data, MB": bags.n_instances * bags.n_features * 8 / 1e6,
        "client's peak, MB": peak,
        "read, s": reading,
        "prepare + first round, s": first,
        "a round, s": (seconds - first) / rounds,
    }
    print(json.dumps({"boosting": boosting, "linear": linear}))


def peak_megabytes():
    """The most memory that this process ever had resident.

    From the kernel's status: `getrusage` would count the process that started this one.
    """
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
