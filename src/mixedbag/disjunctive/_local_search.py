"""Alternate between the LP of chosen witnesses and the witnesses of its solution."""

from copy import deepcopy

import numpy as np

from mixedbag._solvers.highs import SolverStopped

_MAX_ITER = 100
_GRID = 12  # widths and levels of a feature that are tried, each


def project(master, incumbent, witness):
    """The LP of these witnesses and no more (PRDP, thesis eq. 7.38); returns them."""
    chosen = witness[master.program.ambiguous]
    master.require(chosen)
    try:
        master.settle()
        incumbent.offer(master.w, master.b)
    finally:
        master.release(chosen)
    return witness


def local_search(master, incumbent, witness, one_at_a_time=False):
    """Descend from a choice of witnesses, one row per positive bag; returns the final choice.

    All *active* bags (whose margin constraint has a positive dual) change their witness at once. A
    bag that is not active would not change the LP, so the objective never rises. One at a time, the
    bag whose best instance is furthest above its witness changes, active or not, as in the thesis
    (section 7.5.1); the search ends when that does not lower the objective.
    """
    program = master.program
    witness = witness.copy()
    ambiguous = program.ambiguous
    chosen = witness[ambiguous]
    master.require(chosen)
    value = np.inf
    try:
        for _ in range(_MAX_ITER):
            master.settle()
            incumbent.offer(master.w, master.b)
            best = program.best_instances(master.scores)[ambiguous]
            gain = master.scores[best] - master.scores[chosen]
            if one_at_a_time:
                moves = (gain > 1e-9) & (np.arange(len(gain)) == np.argsort(-gain)[:1])
            else:
                moves = (gain > 1e-9) & (master.instance_duals()[chosen] > 1e-9)
            if not moves.any() or master.value > value - 1e-9 * max(1.0, abs(value)):
                break
            value = master.value
            master.release(chosen[moves])
            chosen = np.where(moves, best, chosen)
            master.require(chosen[moves])
    except SolverStopped:
        if master.w is not None:  # an LP on the way is a classifier too
            incumbent.offer(master.w, master.b)
        raise
    finally:
        master.release(chosen)
    witness[ambiguous] = chosen
    return witness


class Starts:
    """Where to begin: choices of one witness for every positive bag.

    `first` and `kick` follow directions in the space of the *inputs*, so that they do not depend on
    the order in which bags and instances happen to be stored; `random` and `features` are draws.
    """

    def __init__(self, inputs, program, random_state):
        self._inputs = inputs
        self._program = program
        self._random = random_state

    def again(self):
        """The same once more, from the next draw on."""
        return Starts(self._inputs, self._program, deepcopy(self._random))

    def first(self):
        """The instances that lie furthest from the negatives, towards the mean positive bag."""
        program = self._program
        weight = np.zeros(program.values.shape[0])
        for cost, rows in zip(program.slack_cost, program.bags, strict=False):
            weight[rows] = cost / len(rows)
        weight /= weight.sum()
        negative = program.slack_cost[len(program.bags) :]
        weight[program.negatives] = -negative / negative.sum()
        return program.best_instances(self._inputs @ (self._inputs.T @ weight))

    def random(self):
        """Any instance of every positive bag, as the thesis starts 1-norm MI-SVM."""
        return np.array([self._random.choice(rows) for rows in self._program.bags], dtype=np.int64)

    def features(self, n):
        """Some of the features, at random, each with both signs."""
        m = self._program.n_features
        some = self._random.choice(m, min(n, m), replace=False)
        return np.concatenate([some, m + some])

    def kick(self, incumbent, strength=0.5):
        """The witnesses of the incumbent, disturbed: scores plus a random linear function."""
        noise = self._inputs @ self._random.standard_normal(self._inputs.shape[1])
        scores = self._program.scores(incumbent.w, incumbent.b)
        size = strength * np.ptp(scores) / (np.ptp(noise) or 1.0)
        return self._program.best_instances(scores + size * noise)


def offer_one_feature(program, incumbent, starts):
    """The best simple classifier over one feature, for when no LP could be solved at all.

    The feature is the one that LPBoost would take first; scale and threshold are tried on a grid.
    """
    rows = np.concatenate([starts.first(), program.negatives])
    prices = program.correlate(rows, program.slack_cost)
    if program.intercept:  # a free bias prices the mean at nothing
        total = program.slack_cost @ program.sign[rows]
        prices = prices - total * np.asarray(program.values[rows].mean(axis=0)).ravel()
    best = int(np.argmax(np.abs(prices)))
    w = np.zeros(program.n_features)
    w[best] = np.sign(prices[best])
    values = program.scores(w, 0.0)[rows]
    low, high = values.min(), values.max()
    if low == high:
        return
    for scale in np.geomspace(0.5, 32.0, _GRID) / (high - low):
        for level in np.linspace(low, high, _GRID) if program.intercept else (0.0,):
            incumbent.offer(scale * w, -scale * level)


def kicked_searches(master, incumbent, starts, n):
    """Descents from kicked copies of the incumbent."""
    for _ in range(n):
        local_search(master, incumbent, starts.kick(incumbent))


def iterated_search(master, incumbent, starts, n_init):
    """A first descent, then `n_init` - 1 kicked ones."""
    local_search(master, incumbent, starts.first())
    kicked_searches(master, incumbent, starts, n_init - 1)
