"""How long sequence inference takes, and how it grows: against the quadratic recursion, and against
plain autoregressive HMMs of other libraries.

The rivals run in an interpreter of their own, named by SEQUENCE_RIVALS_PYTHON (with dynamax and
ssm); without it their rows are empty.
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

from benchmarks._tables import Table, only
from benchmarks.arhmm import _rivals
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

REPEAT = 7
LENGTHS = (400, 800, 1600, 3200, 6400, 12800)
OURS = ("mixedbag, with labels", "mixedbag, plain model")
TINY = {"part": "joint", "states": 3, "order": 1, "bags": 10}


def cases():
    return [
        {"part": "joint", "states": 10, "order": 3, "bags": 50},
        {"part": "joint", "states": 30, "order": 5, "bags": 100},
        *({"part": "length", "samples": length} for length in LENGTHS),
        {"part": "day", "bags": 22_000, "states": 10, "order": 3},
        *({"part": "library", "library": name} for name in (*OURS, "dynamax", "ssm")),
    ]


def run(case):
    return {"joint": joint, "length": one_long_bag, "day": a_day, "library": library}[case["part"]](
        case
    )


def clock(call, repeat=REPEAT):
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


def both(clocks):
    return dict(zip(("seconds", "processor seconds"), clocks))


def chest_bags(n_bags, length=200, seed=0):
    """Random stretches of the chest recordings, the question being "walking or not"."""
    data = load("chest").bags_of(length)
    pick = np.random.default_rng(seed).integers(len(data.bags), size=n_bags)
    return data.bags[pick], np.where(data.y[pick] == 4, 1.0, -1.0)


def fitted(bags, target, n_states, order):
    """A model after the usual start, and the bags in blocks as `fit` cuts them."""
    learner = ARHMMClassifier(n_states=n_states, order=order, n_init=1, n_jobs=2)
    blocks = learner._cut(bags, target, np.ones(len(bags)))
    return begin(blocks, learner._dynamics, learner, None), blocks


def iteration(blocks, model):
    return maximise(blocks.sum(block_statistics, model), model)


def joint(case):
    model, blocks = fitted(*chest_bags(case["bags"]), case["states"], case["order"])
    return both(clock(lambda: iteration(blocks, model)))


def one_long_bag(case):
    bags, target = chest_bags(100)
    model, _ = fitted(bags, target, 20, 3)
    length = case["samples"]
    long = np.concatenate([bags.instances] * -(-length // bags.n_instances))[:length]
    block = LocalBlocks.cut(Bags.from_list([long]), np.ones(1), np.ones(1))
    seconds, processor = clock(lambda: block.sum(block_statistics, model))
    row = {"milliseconds a bag": 1e3 * seconds, "processor milliseconds": 1e3 * processor}
    if length <= 1600:
        rows_of, starts = model.read(block.blocks[0].bags)
        smoothed = model.smooth(rows_of, starts)
        label, weight = np.ones(1, dtype=bool), np.ones(1)
        args = (smoothed, model.theta, model.omega, label, weight)
        _, exact = clock(lambda: model.dynamics.condition_by_counts(*args, 0.0), 1)
        row["exact recursion, processor ms"] = 1e3 * exact
    if length == max(LENGTHS):
        several = LocalBlocks.cut(Bags.from_list([long] * 8), np.ones(8), np.ones(8), 2, n_blocks=8)
        together, _ = clock(lambda: several.sum(block_statistics, model))
        row["eight on two threads, ms a bag"] = 1e3 * together / 8
        row["peak memory, MB"] = peak_megabytes(model, long)
    return row


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


def peak_megabytes(model, long):
    """Growth of a fresh process (on Linux) during one E-step, everything being compiled before."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pickle"
        path.write_bytes(pickle.dumps((model, long)))
        command = [sys.executable, "-c", MEMORY, str(path)]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(answer.stdout)


def a_day(case):
    bags, target = chest_bags(case["bags"])
    model, _ = fitted(*chest_bags(200), case["states"], case["order"])
    blocks = ARHMMClassifier(n_jobs=2)._cut(bags, target, np.ones(len(bags)))
    return both(clock(lambda: iteration(blocks, model), 1))


def library(case):
    bags, target = chest_bags(50)
    model, blocks = fitted(bags, target, 10, 3)
    name, python = case["library"], os.environ.get("SEQUENCE_RIVALS_PYTHON")
    if name == OURS[0]:
        return both(clock(lambda: iteration(blocks, model)))
    if name == OURS[1]:
        return both(
            clock(lambda: maximise_dynamics(blocks.sum(unlabelled_statistics, model), model))
        )
    if not python:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "series.npy"
        np.save(path, ((bags.instances - model.center) / model.scale).reshape(50, 200, -1))
        command = [python, _rivals.__file__, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return both(found[name]) if name in found else {}


def table(rows):
    libraries = only(rows, part="library")
    ours = next((row for row in libraries if row["library"] == OURS[0]), {})
    for row in libraries:
        if "processor seconds" in row and ours:
            row["times ours"] = row["processor seconds"] / ours["processor seconds"]
    return [
        Table(
            "One joint EM iteration on chest data, two threads, 200 samples a bag",
            only(rows, part="joint"),
            "Target for 30 states: 0.15 s.",
        ),
        Table(
            "E-step of one long bag, 20 states, one thread",
            only(rows, part="length"),
            "Targets: eight times the samples cost at most 9 times as much; 40 ms a bag for eight "
            "of the longest on two threads; 200 MB.",
        ),
        Table(
            "One EM iteration on a day of 52 Hz data, two threads, 200 samples a bag",
            only(rows, part="day"),
            "Target for 22,000 bags: 15 s.",
        ),
        Table(
            "One EM iteration of an autoregressive HMM: 10 states, order 3, 50 bags of 200",
            libraries,
            "The rivals fit the plain model, without bag labels; compilation is not counted. "
            "Targets: with labels no slower than dynamax, and ten times as fast as ssm. 'times "
            "ours' is by processor seconds.",
        ),
    ]
