"""Sequences with bag labels: learners that use the order of the instances."""

from mixedbag.sequence.arhmm import ARHMMClassifier
from mixedbag.sequence.mixture import MARClassifier
from mixedbag.sequence.quantile_windows import QuantileWindows
from mixedbag.sequence.state_windows import StateWindows
from mixedbag.sequence.windows import SlidingWindows

__all__ = [
    "ARHMMClassifier",
    "MARClassifier",
    "QuantileWindows",
    "SlidingWindows",
    "StateWindows",
]


def __dir__():
    return __all__
