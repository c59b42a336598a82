"""How long sequence inference takes, and how it grows: against the quadratic recursion, and against
plain autoregressive HMMs of other libraries.

The rivals run in an interpreter of their own, named by SEQUENCE_RIVALS_PYTHON (with dynamax, and
ssm where it installs); without it their rows are left out.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.common import Table, timed
from mixedbag.bags import Bags
from mixedbag.datasets import load
from mixedbag.engines import LocalBlocks
from mixedbag.sequence import ARHMMClassifier
from mixedbag.sequence.model import block_statistics, maximise
from mixedbag.sequence.start import begin


def chest_bags(n_bags, length=200, seed=0):
    """Random stretches of the chest recordings, the question being "walking or not"."""
    recordings = load("chest")
    data = recordings.bags_of(length)
    pick = np.random.default_rng(seed).integers(len(data.bags), size=n_bags)
    return data.bags[pick], np.where(data.y[pick] == 4, 1.0, -1.0)


def fitted(bags, target, n_states, order, n_jobs=2):
    """A model after the usual start, and the bags in blocks as `fit` cuts them."""
    learner = ARHMMClassifier(n_states, order, n_init=1, n_jobs=n_jobs)
    blocks = learner._cut(bags, target, np.ones(len(bags)))
    return begin(blocks, learner._dynamics, learner, None), blocks


def iteration(blocks, model):
    return maximise(blocks.sum(block_statistics, model), model)


def joint_iterations(repeat):
    rows = []
    for n_states, order, n_bags in ((10, 3, 50), (30, 5, 100)):
        bags, target = chest_bags(n_bags)
        model, blocks = fitted(bags, target, n_states, order)
        _, seconds = timed(lambda b=blocks, m=model: iteration(b, m), repeat)
        row = {"states": n_states, "order": order, "bags": n_bags, "samples a bag": 200}
        rows.append(row | {"seconds": seconds})
    return Table(
        "One joint EM iteration on chest data, two threads",
        rows,
        "Target for 30 states: 0.15 s.",
    )


def growth_in_length(repeat, lengths):
    bags, target = chest_bags(100)
    model, _ = fitted(bags, target, 20, 3)
    rows = []
    for length in lengths:
        long = np.concatenate([bags.instances] * -(-length // bags.n_instances))[:length]
        block = LocalBlocks.cut(Bags.from_list([long]), np.ones(1), np.ones(1))
        _, seconds = timed(lambda b=block: b.sum(block_statistics, model), repeat)
        row = {"samples": length, "milliseconds a bag": 1e3 * seconds}
        if length <= 3200:
            rows_of, starts = model.read(block.blocks[0].bags)
            smoothed = model.smooth(rows_of, starts)
            label, weight = np.ones(1, dtype=bool), np.ones(1)
            args = (smoothed, model.theta, model.omega, label, weight)
            _, exact = timed(lambda a=args: model.dynamics.condition_by_counts(*a, 0.0))
            row["exact recursion, ms"] = 1e3 * exact
        rows.append(row)
    ratio = rows[-1]["milliseconds a bag"] / rows[-4]["milliseconds a bag"]
    return Table(
        "E-step of one long bag, 20 states, one thread",
        rows,
        f"{rows[-1]['samples']} samples cost {ratio:.1f} times what {rows[-4]['samples']} cost "
        f"(target 9). Peak memory of the E-step at the longest: {_peak_megabytes():.0f} MB "
        "(target 200), the growth of the process.",
    )


MEMORY = """
import resource, numpy as np
from benchmarks.sequence_speed import chest_bags, fitted
from mixedbag.bags import Bags
from mixedbag.engines import LocalBlocks
from mixedbag.sequence.model import block_statistics
bags, target = chest_bags(100)
model, _ = fitted(bags, target, 20, 3)
small = LocalBlocks.cut(bags[:2], target[:2], np.ones(2))
small.sum(block_statistics, model)
long = Bags.from_list([bags.instances[:12800]])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
LocalBlocks.cut(long, np.ones(1), np.ones(1)).sum(block_statistics, model)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def _peak_megabytes():
    answer = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True
    )
    return float(answer.stdout)


def a_day(n_bags):
    bags, target = chest_bags(n_bags)
    sample, sample_target = chest_bags(200)
    model, _ = fitted(sample, sample_target, 10, 3)
    learner = ARHMMClassifier(n_jobs=2)
    blocks = learner._cut(bags, target, np.ones(n_bags))
    iteration(blocks, model)
    _, seconds = timed(lambda: iteration(blocks, model))
    return Table(
        "One EM iteration on a day of 52 Hz data, two threads",
        [{"bags": n_bags, "samples a bag": 200, "states": 10, "order": 3, "seconds": seconds}],
        "Target for 22,000 bags: 15 s.",
    )


# The rivals ---------------------------------------------------------------------------------------

RIVALS = Path(__file__).with_name("_sequence_rivals.py")


def against_rivals(repeat):
    python = os.environ.get("SEQUENCE_RIVALS_PYTHON")
    bags, target = chest_bags(50)
    model, blocks = fitted(bags, target, 10, 3)
    _, ours = timed(lambda: iteration(blocks, model), repeat)
    rows = [{"library": "mixedbag, with labels", "seconds": ours, "ours is faster by": 1.0}]
    if python:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "series.npy"
            x = (bags.instances - model.center) / model.scale
            np.save(path, x.reshape(50, 200, -1))
            run = subprocess.run(
                [python, str(RIVALS), str(path)], capture_output=True, text=True, check=True
            )
        for name, seconds in json.loads(run.stdout.splitlines()[-1]).items():
            rows.append({"library": name, "seconds": seconds, "ours is faster by": seconds / ours})
    return Table(
        "One EM iteration of an autoregressive HMM: 10 states, order 3, 50 bags of 200",
        rows,
        "The rivals fit the plain model, without bag labels; compilation is not counted.",
    )


def run(quick=False):
    repeat = 2 if quick else 7
    lengths = [400, 800, 1600, 3200] if quick else [400, 800, 1600, 3200, 6400, 12800]
    return [
        joint_iterations(repeat),
        growth_in_length(repeat, lengths),
        a_day(500 if quick else 22_000),
        against_rivals(repeat),
    ]
