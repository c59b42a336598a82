"""Wide tables in single precision, as embeddings come: peak memory and time of learners.

Every fit, with a prediction of the same bags, is a process of its own; its peak is that beyond what
Python, the libraries and a tiny fit take, over the size of the data, which are a part of it. Some
learners learn from a file ten times as large, mapped into memory. Set kernels compare every pair of
instances: they are shown on fewer bags as well, where they end.
"""

import json
import subprocess
import sys
import tempfile

from benchmarks._tables import Table
from benchmarks.product import _wide_process
from benchmarks.product._wide_process import LEARNERS

SHAPE = {"bags": 300, "size": 1_000, "features": 512}
WIDER = {"bags": 300, "size": 200, "features": 1_024}
MAPPED = {"bags": 3_000, "size": 1_000, "features": 512}
TINY = {"learner": "BagFeatures", "bags": 20, "size": 50, "features": 16, "mapped": True}
FEWER = (15, 30)  # bags
MACHINES = ["BagMarginSVC, linear", "InstanceMarginSVC, linear"]
FROM_DISK = ["MILogisticRegression, 10 steps", *MACHINES, "ExpRegBoost, 10 rounds"]
LIMIT = 200  # seconds: what takes longer has the memory that it had by then
LONGER = {"SetKernelSVC": 2_000}  # every pair of instances: 4.6e13 operations, 370 s of BLAS


def cases():
    wide = [{"learner": learner, **SHAPE, "mapped": False} for learner in LEARNERS]
    fewer = [{"learner": "SetKernelSVC", **SHAPE, "bags": n, "mapped": False} for n in FEWER]
    wider = [{"learner": name, **WIDER, "mapped": False} for name in MACHINES]
    mapped = [{"learner": name, **MAPPED, "mapped": True} for name in FROM_DISK]
    return [*wide, *fewer, *wider, *mapped]


def run(case):
    asked = {key: value for key, value in case.items() if key != "mapped"}
    asked["limit"] = LONGER.get(case["learner"], LIMIT)
    with tempfile.NamedTemporaryFile() as file:
        if case["mapped"]:
            asked["path"] = file.name
        command = [sys.executable, "-m", _wide_process.__name__, json.dumps(asked)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout.splitlines()[-1])
    passes, evaluations = told.get("passes"), told.get("evaluations")
    return {
        "data (MB)": told["MB"],
        "peak memory / data": told["peak"],
        "CPU s": told["seconds"],
        "one pass (CPU s)": told["pass"],
        "passes": passes,
        "CPU s / (passes × one pass)": passes and told["seconds"] / passes / told["pass"],
        "evaluations": evaluations,
        "CPU s / (evaluations × one pass)": evaluations
        and told["seconds"] / evaluations / told["pass"],
        "ended": not told.get("cut", False),
    }


def table(rows):
    notes = (
        "A pass is one product of the table with a vector and one with its transpose, in single "
        "precision, by BLAS. Passes are evaluations of the objective and its gradient (logistic "
        "regression), or pairs of a product and a sum over rows (linear machines; rows that are "
        "not asked count in proportion, and tables of Newton steps not at all). An evaluation is "
        "one such pair of however many rows: where a machine looks at few, less than a pass. What "
        "had not ended "
        f"after {LIMIT} CPU seconds was stopped, and its peak is that until then; set kernels had "
        f"{LONGER['SetKernelSVC']} s: they compare all pairs of instances, 4.6e13 operations for a "
        "fit and as many for a prediction of the same bags, here in one thread of BLAS. A pass is "
        "all memory, a Newton step all arithmetic: on a machine of quicker memory (one pass in "
        "0.03 s rather than 0.09) the same work is more passes. Of a mapped file, pages that the "
        "system keeps in memory count as the process's."
    )
    return [Table("Wide tables in single precision", rows, notes)]
