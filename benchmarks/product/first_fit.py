"""What compiling costs the first fit of every learner, on a machine that has kept no kernel.

A learner fits and predicts a toy problem in a process of its own, with an empty cache of kernels,
and once more in another process, with the cache that the first one filled: the difference is what
compiling took.
"""

import os
import subprocess
import sys
import tempfile

from benchmarks._tables import Table

AIM = 3.0  # CPU seconds

TINY = {"learner": "ExpRegBoost"}

ASKED = """
import sys, time, warnings
warnings.simplefilter("ignore")
from mixedbag.testing import example_learners, toy_problem
(learner,) = (some for some in example_learners() if type(some).__name__ == sys.argv[1])
bags, y = toy_problem(learner)
began = time.process_time()
learner.fit(bags, y).predict(bags)
print(time.process_time() - began)
"""


def cases():
    from mixedbag.testing import example_learners

    kinds = [type(learner) for learner in example_learners()]
    # Networks in torch have no kernels of ours, and torch need not be there.
    return [{"learner": k.__name__} for k in kinds if not k.__module__.startswith("mixedbag.deep")]


def run(case):
    with tempfile.TemporaryDirectory() as empty:
        cold, kept = (_seconds(case["learner"], empty) for _ in range(2))
    return {"first fit (s)": cold, "kernels kept (s)": kept, "compiling (s)": cold - kept}


def _seconds(learner, cache):
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    surroundings = os.environ | one_thread | {"NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", ASKED, learner]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=True)
    return float(done.stdout)


def table(rows):
    rows = sorted(rows, key=lambda row: -row["compiling (s)"])
    notes = (
        "CPU seconds of `fit` and `predict` on the toy problem of the learner's checks, imports "
    )
    notes += f"not included. Longer than {AIM:.0f} s: "
    notes += ", ".join(row["learner"] for row in rows if row["compiling (s)"] > AIM) or "none"
    return [Table("Compiling", rows, notes + ".")]
