"""llp-learn 1.6 on problems of counts whose rows are known.

Needs an environment with llp-learn, NumPy, SciPy, scikit-learn, pandas, Pillow, tqdm and a CPU
build of torch; the variable LLP_LEARN_PYTHON names its Python. What is stubbed, and settings, are
in `_llp_learn_worker.py`. Seconds are CPU seconds of one thread, of the fit alone.
"""

import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.counts import _llp_learn_worker
from benchmarks.counts._contest import figures, leaderboard, problem, problems

cases = problems
TINY = {"data": "ionosphere", "kind": "random 32", "seed": 0}
SCORES = ("alter-SVM",)  # no chances


def run(case):
    bags, counts, new, truth = problem(case)
    answers = answered(bags, counts, new, case["seed"])
    result = {}
    for name in answers:
        if not name.endswith(" seconds"):
            seconds = float(answers[f"{name} seconds"])
            result |= figures(name, truth, answers[name], seconds, name not in SCORES)
    return result


def answered(bags, counts, new, seed, *wanted):
    """What methods say of new rows, by name, and their seconds; all methods, or some."""
    python = os.environ.get("LLP_LEARN_PYTHON")
    if not python:
        raise SystemExit("LLP_LEARN_PYTHON has to name the Python of an environment with llp-learn")
    with tempfile.TemporaryDirectory() as folder:
        told, found = Path(folder) / "told.npz", Path(folder) / "found.npz"
        share = counts / bags.sizes
        np.savez(told, X=bags.instances, bag=bags.bag_of, share=share, new=new)
        command = [python, _llp_learn_worker.__file__, told, found, str(seed), *wanted]
        subprocess.run(command, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
        return dict(np.load(found))


def table(rows):
    return [leaderboard(rows, "llp-learn's methods among themselves")]
