"""What all learners with all their settings cost: the whole of `compare`, in seconds of one core.

Every unit of the sequence on the first of ten folds is done as `compare` does it, with the same
settings, inner folds, races and sharing, in this process and one thread. Seconds are those of the
processor, to which a busy machine adds a little, and begin after every learner has met a few bags:
what compiled kernels take to load is not in them. The whole is ten times that of the one fold.
"""

import time
import warnings
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._tables import Table
from mixedbag._once import Shelf
from mixedbag.comparison._candidates import find_candidates, too_dear
from mixedbag.comparison._protocol import make_protocol
from mixedbag.comparison._sequence import sequence
from mixedbag.comparison._trials import fit, settings
from mixedbag.comparison._workers import Failure, attempt
from mixedbag.datasets import load

TARGETS = {"musk1": 120, "elephant": 250, "musk2": 600}
FOLDS = 10
FEW = 6  # bags of each class
TINY = {"data": "eastwest", "folds": FOLDS}


def cases():
    return [{"data": name, "folds": FOLDS} for name in TARGETS]


def run(case):
    """Seconds of every learner on the first fold."""
    data = load(case["data"])
    _, protocol = make_protocol(data.bags, data.y, "any", folds=case["folds"])
    candidates, _ = find_candidates("any", protocol.bags, y=protocol.y)
    left_out = too_dear(candidates, protocol.bags)
    candidates = [candidate for candidate in candidates if candidate.name not in left_out]
    seconds, failed, shelf = {}, {}, Shelf()
    with threadpool_limits(1):
        for candidate in candidates:
            _meet_a_few(protocol, candidate)
        for unit in sequence(candidates, protocol):
            name = unit.candidate.name
            if unit.split.name == protocol.splits[0].name and name not in failed:
                start = time.process_time()
                outcome = attempt(protocol, unit, shelf)
                seconds[name] = seconds.get(name, 0.0) + time.process_time() - start
                if isinstance(outcome, Failure):
                    failed[name] = outcome.message
    return {
        "learners": {name: round(spent, 3) for name, spent in seconds.items()},
        "left out": sorted(left_out),
        "failed": failed,
    }


def _meet_a_few(protocol, candidate):
    codes = protocol.question.codes
    few = np.sort(np.concatenate([np.flatnonzero(codes == k)[:FEW] for k in np.unique(codes)]))
    candidate = replace(candidate, max_bags=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fit(protocol, candidate, settings(candidate)[0], few)
        protocol.question.evidence(model, protocol.bags[few])
        protocol.question.evidence_of_instances(model, protocol.bags[few])


def table(rows):
    whole = [
        {
            "data": row["data"],
            "learners": len(row["learners"]),
            "left out": ", ".join(row["left out"]) or "–",
            "failed": ", ".join(row["failed"]) or "–",
            "seconds": round(_whole(row)),
            "target": TARGETS.get(row["data"]),
        }
        for row in rows
    ]
    names = dict.fromkeys(name for row in rows for name in row["learners"])
    lines = [
        {"learner": name}
        | {row["data"]: round(row["folds"] * row["learners"].get(name, 0.0), 1) for row in rows}
        for name in names
    ]
    lines.sort(key=lambda line: -max(value for value in line.values() if value != line["learner"]))
    return [
        Table("all learners with all settings, in seconds of one core", whole, NOTES),
        Table("by learner", lines),
    ]


def _whole(row):
    return row["folds"] * sum(row["learners"].values())


NOTES = (
    "Ten times the first fold's seconds. Left out: learners that `compare` does not begin with "
    "unless they are named, as many others are as good in a small part of their time."
)
