"""How long sequence inference takes, and how it grows: against the quadratic recursion, and against
plain autoregressive HMMs of other libraries.

The rivals run in an interpreter of their own, named by SEQUENCE_RIVALS_PYTHON (with dynamax and
ssm); without it their rows are left out.
"""

import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.common import Table
from mixedbag.bags import Bags
from mixedbag.datasets import load
from mixedbag.engines import LocalBlocks
from mixedbag.sequence import ARHMMClassifier
from mixedbag.sequence._model import (
    block_statistics,
    maximise,
    maximise_dynamics,
    unlabelled_statistics,
)
from mixedbag.sequence._start import begin


def clock(call, repeat):
    """Fastest of some runs in seconds by the clock, and by the processor (all threads together).

    On a machine with other work the clock is unfair; half the processor's time is what two free
    threads would need.
    """
    call()
    runs = []
    for _ in range(repeat):
        clock_start, processor_start = time.perf_counter(), time.process_time()
        call()
        runs.append((time.perf_counter() - clock_start, time.process_time() - processor_start))
    return [min(column) for column in zip(*runs, strict=True)]


def chest_bags(n_bags, length=200, seed=0):
    """Random stretches of the chest recordings, the question being "walking or not"."""
    recordings = load("chest")
    data = recordings.bags_of(length)
    pick = np.random.default_rng(seed).integers(len(data.bags), size=n_bags)
    return data.bags[pick], np.where(data.y[pick] == 4, 1.0, -1.0)


def fitted(bags, target, n_states, order, n_jobs=2):
    """A model after the usual start, and the bags in blocks as `fit` cuts them."""
    learner = ARHMMClassifier(n_states, order=order, n_init=1, n_jobs=n_jobs)
    blocks = learner._cut(bags, target, np.ones(len(bags)))
    return begin(blocks, learner._dynamics, learner, None), blocks


def iteration(blocks, model):
    return maximise(blocks.sum(block_statistics, model), model)


def joint_iterations(repeat):
    rows = []
    for n_states, order, n_bags in ((10, 3, 50), (30, 5, 100)):
        bags, target = chest_bags(n_bags)
        model, blocks = fitted(bags, target, n_states, order)
        seconds, processor = clock(lambda b=blocks, m=model: iteration(b, m), repeat)
        row = {"states": n_states, "order": order, "bags": n_bags, "samples a bag": 200}
        rows.append(row | {"seconds": seconds, "processor seconds": processor})
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
        seconds, processor = clock(lambda b=block: b.sum(block_statistics, model), repeat)
        row = {"samples": length, "milliseconds a bag": 1e3 * seconds}
        row["processor milliseconds"] = 1e3 * processor
        if length <= 1600:
            rows_of, starts = model.read(block.blocks[0].bags)
            smoothed = model.smooth(rows_of, starts)
            label, weight = np.ones(1, dtype=bool), np.ones(1)
            args = (smoothed, model.theta, model.omega, label, weight)
            _, exact = clock(lambda a=args: model.dynamics.condition_by_counts(*a, 0.0), 1)
            row["exact recursion, processor ms"] = 1e3 * exact
        rows.append(row)
    ratio = rows[-1]["processor milliseconds"] / rows[-4]["processor milliseconds"]
    megabytes = _peak_megabytes(model, long)
    several = LocalBlocks.cut(Bags.from_list([long] * 8), np.ones(8), np.ones(8), 2, n_blocks=8)
    together, _ = clock(lambda: several.sum(block_statistics, model), repeat)
    return Table(
        "E-step of one long bag, 20 states, one thread",
        rows,
        f"{rows[-1]['samples']} samples cost {ratio:.1f} times what {rows[-4]['samples']} cost "
        f"(target 9). Eight of the longest on two threads: {1e3 * together / 8:.1f} ms a bag "
        "(target 40 for 12,800 samples). Peak memory of the E-step at the longest: "
        f"{megabytes:.0f} MB (target 200).",
    )


MEMORY = """
import pickle, sys
import numpy as np
from mixedbag.bags import Bags
from mixedbag.engines import Labelled
from mixedbag.sequence._model import block_statistics
with open(sys.argv[1], "rb") as file:
    model, long = pickle.load(file)
def block(x):
    return Labelled(Bags.from_list([x]), np.ones(1), np.ones(1))
block_statistics(block(long[:50]), model)
def kilobytes(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name))
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # forget the peak that compiling made
before = kilobytes("VmRSS")
block_statistics(block(long), model)
print((kilobytes("VmHWM") - before) / 1024)
"""


def _peak_megabytes(model, long):
    """Growth of a fresh process (on Linux) during one E-step, everything being compiled before."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pickle"
        path.write_bytes(pickle.dumps((model, long)))
        answer = subprocess.run(
            [sys.executable, "-c", MEMORY, str(path)], capture_output=True, text=True, check=True
        )
    return float(answer.stdout)


def a_day(n_bags):
    bags, target = chest_bags(n_bags)
    sample, sample_target = chest_bags(200)
    model, _ = fitted(sample, sample_target, 10, 3)
    learner = ARHMMClassifier(n_jobs=2)
    blocks = learner._cut(bags, target, np.ones(n_bags))
    seconds, processor = clock(lambda: iteration(blocks, model), 1)
    return Table(
        "One EM iteration on a day of 52 Hz data, two threads",
        [
            {
                "bags": n_bags,
                "samples a bag": 200,
                "states": 10,
                "order": 3,
                "seconds": seconds,
                "processor seconds": processor,
            }
        ],
        "Target for 22,000 bags: 15 s.",
    )


# The rivals ---------------------------------------------------------------------------------------

RIVALS = Path(__file__).with_name("_sequence_rivals.py")


def against_rivals(repeat):
    python = os.environ.get("SEQUENCE_RIVALS_PYTHON")
    bags, target = chest_bags(50)
    model, blocks = fitted(bags, target, 10, 3)
    ours = clock(lambda: iteration(blocks, model), repeat)
    plain = clock(
        lambda: maximise_dynamics(blocks.sum(unlabelled_statistics, model), model), repeat
    )
    found = {"mixedbag, with labels": ours, "mixedbag, plain model": plain}
    if python:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "series.npy"
            x = (bags.instances - model.center) / model.scale
            np.save(path, x.reshape(50, 200, -1))
            run = subprocess.run(
                [python, str(RIVALS), str(path)], capture_output=True, text=True, check=True
            )
        found |= json.loads(run.stdout.splitlines()[-1])
    rows = [
        {
            "library": name,
            "seconds": seconds,
            "processor seconds": processor,
            "processor time against ours": processor / ours[1],
        }
        for name, (seconds, processor) in found.items()
    ]
    return Table(
        "One EM iteration of an autoregressive HMM: 10 states, order 3, 50 bags of 200",
        rows,
        "The rivals fit the plain model, without bag labels; compilation is not counted. Targets: "
        "with labels no slower than dynamax, and ten times as fast as ssm.",
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
