"""The sequence of work: which learner meets which fold with which settings, in a fixed order.

It follows from the shape of the data and the measured table of efforts, never from a clock: the
clock may only cut it, and what counts is the part that is finished from its beginning.
"""

import math
import re
from typing import Any, NamedTuple

from mixedbag.comparison._candidates import for_bags, seconds_of_fit
from mixedbag.comparison._trials import blocks
from mixedbag.exceptions import InputError

_YARDSTICK = "bag statistics + extra trees"  # what one would try without bags: on every board
_STARTING = 3.0  # seconds from pressing return to the first fit: imports, reading
_QUICK = 3.0  # expected seconds of the first learner: the table may be too low by a factor of two
# Who may begin takes at most so many times as long where labels cannot be learned, as measured.
# Machines that alternate and networks that stop early take many times what the table says there.
_STEADY = 1.5
_REFINING = 0.3  # what further settings promise, beside the learner's first
_SHORT_LIST = 5  # learners that a budget should have room for, on all folds
_ENOUGH = 2000  # bags: fewer would tell too little of who is best


class Unit(NamedTuple):
    """One learner on one fold with one block of settings, and the seconds that it should take."""

    candidate: Any
    split: Any
    block: int
    seconds: float

    @property
    def key(self):
        return self.candidate.name, self.split.name, self.block


def sequence(candidates, protocol):
    """All units: a quick strong learner, the yardstick, what promises the stack most for its cost.

    A learner meets all folds with a block of settings before anything else is begun, so that its
    figures are whole. What a learner promises is its merit in the table, squared: merits close to
    the best count for more than those far below, as the stack is made of few.
    """
    steps = []
    for place, candidate in enumerate(candidates):
        priority = math.inf
        for block, seconds in enumerate(_costs(candidate, protocol)):
            gain = candidate.effort.merit**2 * (_REFINING if block else 1.0)
            # Never before the block ahead of it. What costs four times as much must promise twice
            # as much: cheap steps that promise nothing should not come first.
            priority = min(priority, _rounded(gain / math.sqrt(seconds)))
            steps.append((-priority, -candidate.effort.merit, place, block, seconds))
    steps.sort()
    first = _first(steps, [candidate.effort.longer <= _STEADY for candidate in candidates])

    def later(step):
        _, _, place, block, _ = step
        return step is not first, (candidates[place].name, block) != (_YARDSTICK, 0)

    steps.sort(key=later)
    return [
        Unit(candidates[place], split, block, seconds / len(protocol.splits))
        for _, _, place, block, seconds in steps
        for split in protocol.splits
    ]


def affordable_folds(candidates, protocol, budget):
    """As many folds as leave room for a short list of learners in half of the budget."""
    a_fold = _short_list(candidates, protocol)
    choices = [n for n in (protocol.folds, 5, 3) if n <= protocol.folds]
    return next((n for n in choices if n * a_fold <= budget / 2), min(choices))


def on_affordable_bags(candidates, protocol, budget):
    """The protocol on as many bags as leave that room: all, or the largest of halves of halves."""
    n_bags = len(protocol.bags)
    while n_bags >= 2 * _ENOUGH:
        some = [for_bags(candidate, protocol.bags) for candidate in candidates]
        if protocol.folds * _short_list(some, protocol) <= budget / 2:
            break
        n_bags //= 2
        protocol = protocol.on_sample(n_bags)
    return protocol


def _short_list(candidates, protocol):
    """Expected seconds of the first few learners of the sequence on one fold, all repeats."""
    listed: dict = {}
    for unit in sequence(candidates, protocol):
        if unit.block == 0:
            listed.setdefault(unit.candidate.name, unit.seconds)
    return sum(list(listed.values())[:_SHORT_LIST]) * protocol.repeats


def _costs(candidate, protocol):
    """Expected seconds of each block of settings, on all folds."""
    a_fit = seconds_of_fit(candidate, protocol.bags)
    n_fits = [len(some) * protocol.inner_folds + 1 for some in blocks(candidate)]
    return [n * a_fit * len(protocol.splits) for n in n_fits]


def _first(steps, is_steady):
    """Of the quick and steady steps the one most worth waiting for; else the quickest."""
    begin = [step for step in steps if step[3] == 0]
    begin = [step for step in begin if is_steady[step[2]]] or begin
    quick = [step for step in begin if step[4] <= _QUICK]
    if not quick:
        return min(begin, key=lambda step: step[4])
    return max(quick, key=lambda step: _rounded(step[1] ** 2 / (_STARTING + step[4])))


def _rounded(value):
    """Six digits: the order must not hang on the last bit of a logarithm."""
    return float(f"{value:.6g}")


class Work(NamedTuple):
    """How much of the sequence counts: so many units from its beginning.

    `without` names learners that the clock or a crash took out, each with the first block of
    settings that does not count.
    """

    n_units: int
    without: tuple = ()

    def __str__(self):
        left = [name if block == 0 else f"{name}/{block}" for name, block in self.without]
        return f"{self.n_units}" + (f" without {', '.join(left)}" if left else "")


def read_work(work, candidates, n_units):
    """The work that a number or the words of an earlier run ask for."""
    found = re.fullmatch(r"(\d+)(?: without (.+))?", str(work).strip())
    if found is None or isinstance(work, bool):
        raise InputError(
            f"work must be a number of units, or as an earlier run printed it; got {work!r}"
        )
    names = {candidate.name for candidate in candidates}
    without = []
    for left in (found[2] or "").split(",") if found[2] else []:
        name, _, block = left.strip().partition("/")
        if name not in names or not (block or "0").isdigit():
            raise InputError(f"work is without {left.strip()!r}, which does not take part")
        without.append((name, int(block or 0)))
    return Work(min(int(found[1]), n_units), tuple(without))
