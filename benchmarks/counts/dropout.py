"""Dropout in networks of counts beside what they have, on the problems of `networks`.

Not taken: see the figures. "Steps alone" is Adam without dropout, so that the two are told apart.
"""

from benchmarks.counts import networks
from benchmarks.counts._network_ways import Dropout, HalfDropout, Steps
from mixedbag.aggregate import AggregateMLPClassifier

WAYS = {
    networks.PLAIN: (AggregateMLPClassifier, 0.0),
    "smoothing=0.05": (AggregateMLPClassifier, 0.05),
    "steps alone": (Steps, 0.0),
    "dropout of 0.2": (Dropout, 0.0),
    "dropout of 0.5": (HalfDropout, 0.0),
}
cases, table, TINY = networks.cases, networks.table, networks.TINY


def run(case):
    return networks.run(case, WAYS)
