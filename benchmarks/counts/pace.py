"""Seconds of a fit, ours and MixBag's, on a machine that does nothing else.

Needs what `rivals.py` needs.
"""

from benchmarks._measure import timed
from benchmarks._tables import Table
from benchmarks.counts._contest import problem
from benchmarks.counts.rivals import answered
from mixedbag.aggregate import (
    AggregateForestClassifier,
    AggregateLogisticRegression,
    AggregateMLPClassifier,
)

OURS = {
    "logistic": AggregateLogisticRegression(),
    "network": AggregateMLPClassifier(random_state=0),
    "forest": AggregateForestClassifier(random_state=0),
}
RIVAL = "MixBag"
TINY = {"data": "german", "kind": "uneven 64", "seed": 0}


def cases():
    return [
        {"data": "german", "kind": kind, "seed": 0}
        for kind in ("random 8", "random 32", "uneven 16", "uneven 64")
    ]


def run(case):
    bags, counts, new, _ = problem(case)
    result = {}
    for name, learner in OURS.items():
        learner.fit(bags[:20], counts[:20])  # compiles
        result[name] = timed(lambda learner=learner: learner.fit(bags, counts), 3)[1]
    told = answered(bags, counts, new, case["seed"], RIVAL)
    return result | {RIVAL: float(told[f"{RIVAL} seconds"])}


def table(rows):
    for row in rows:
        row |= {f"{RIVAL} over {name}": row[RIVAL] / row[name] for name in OURS}
    return [Table("Seconds of a fit", rows, "One thread. Target: ours within a third of MixBag's.")]
