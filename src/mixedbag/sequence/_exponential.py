"""Positive sums of exponentials for 1/x: ``1/x ≈ Σ_k a_k exp(−s_k x)`` on [1, reach].

They turn the soft-max link between counts and bag labels into a few products over the steps of a
sequence. The shipped table holds best sums for several reaches.
"""

import json
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np


class ExponentialSum(NamedTuple):
    """Positive amplitudes and rates, and the largest relative error on [1, reach]."""

    amplitudes: np.ndarray
    rates: np.ndarray
    reach: float
    error: float

    @property
    def terms(self):
        """Amplitudes and rates."""
        return self.amplitudes, self.rates


@cache
def table():
    """All shipped sums."""
    text = files("mixedbag.sequence").joinpath("exponential_sums.json").read_text()
    return tuple(
        ExponentialSum(np.array(row["a"]), np.array(row["s"]), row["R"], row["relative_error"])
        for row in json.loads(text)
    )


@cache
def shortest_sum(omega, precision):
    """The sum with fewest terms for a link of steepness `omega`, or None if none is precise enough.

    D = (n − N) + N e^ω spans a factor e^|ω| whatever the length n, so the reach depends on `omega`
    alone.
    """
    reach = np.exp(abs(omega))
    usable = [s for s in table() if s.reach >= reach and s.error <= precision]
    return min(usable, key=lambda s: (len(s.rates), s.error), default=None)
