"""Trials of `compare` on problems of the collection, kept, so that choices can be tried on them.

A problem is drawn with further bags, which nobody learns from; where that is impossible its bags
are cut into outer folds. Learners meet it in the order of `compare`, up to a fixed amount of work.
"""

import os
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from benchmarks.product._collection import COLLECTION, drawn
from benchmarks.product._second_part import SECOND
from mixedbag._once import Shelf, sharing
from mixedbag.comparison import _trials
from mixedbag.comparison._candidates import find_candidates, too_dear
from mixedbag.comparison._protocol import Protocol, Split, make_protocol
from mixedbag.comparison._sequence import sequence
from mixedbag.comparison._store import Folder

NEW, FOLDS = 300, 4
RIVAL = "bag statistics + extra trees"


@dataclass(frozen=True)
class Asked(Protocol):
    """A protocol of one split: the first bags are learned from, the others asked about."""

    n_learned: int = field(default=0)

    @cached_property
    def splits(self):
        rows = np.arange(len(self.bags))
        return [Split("new", rows[: self.n_learned], rows[self.n_learned :])]


def protocol_of(name, draw):
    if name in SECOND:
        data, rule = SECOND[name].make(), SECOND[name].rule
        n_bags = len(data.y)
    else:
        (data, n_bags), rule = drawn(name, NEW, draw), COLLECTION[name].rule
    _, protocol = make_protocol(data.bags, data.y, rule, folds=FOLDS, metric="accuracy")
    if len(data.y) == n_bags:
        return replace(protocol, random_state=draw)
    told = {key: getattr(protocol, key) for key in protocol.__dataclass_fields__}
    return Asked(**told | {"random_state": draw}, n_learned=n_bags)


def units_of(protocol, seconds):
    """The beginning of the sequence of work, of so many expected seconds a split."""
    rule = protocol.question.rule
    candidates, _ = find_candidates(rule, protocol.bags, None, protocol.random_state)
    # What an answer costs must not hang on how many bags are asked about.
    learned = protocol.bags[protocol.splits[0].train]
    dear = too_dear(candidates, learned)
    candidates = [replace(c, max_bags=None) for c in candidates if c.name not in dear]
    narrow = replace(protocol, bags=learned) if isinstance(protocol, Asked) else protocol
    splits = {split.name: split for split in protocol.splits}
    units = [u._replace(split=splits[u.split.name]) for u in sequence(candidates, narrow)]
    expected = np.cumsum([unit.seconds for unit in units]) / len(splits)
    begun = [unit for unit, so_far in zip(units, expected) if so_far <= seconds]
    through = Counter((unit.candidate.name, unit.block) for unit in begun)
    through[RIVAL, 0] = len(splits)  # to compare with
    return [u for u in units if through[u.candidate.name, u.block] == len(splits)]


def met(name, draw, seconds, home=None):
    """The protocol, and the trials by learner, split and block; those that are kept are read."""
    protocol = protocol_of(name, draw)
    units = units_of(protocol, seconds)
    home = home or os.environ.get("MIXEDBAG_BENCHMARKS") or Path.home() / ".cache" / "choice"
    store = Folder(Path(home) / "choice", protocol)
    store.recall(list({unit.candidate.name: unit.candidate for unit in units}.values()))
    found = {}
    with warnings.catch_warnings(), sharing(Shelf()):
        warnings.simplefilter("ignore")
        for unit in units:
            trial = store.get(unit.candidate, unit.split, unit.block)
            if trial is None:
                trial = _trial(protocol, unit)
                store.put(unit.candidate, unit.split, trial, unit.block)
            found[unit.key] = trial
    return protocol, units, found


def _trial(protocol, unit):
    """As `compare` does it, without asking about instances."""
    candidate, split = unit.candidate, unit.split
    tried = _trials.blocks(candidate)[unit.block]
    start = _trials.time.process_time()
    best = _trials._best_setting(protocol, candidate, split.train, tried)
    model = _trials.fit(protocol, candidate, best.setting, split.train)
    outer = protocol.question.evidence(model, protocol.bags[split.test])
    seconds = _trials.time.process_time() - start
    width, sizes = outer.shape[1], protocol.bags.sizes
    inside = np.zeros((sizes[split.train].sum(), width), dtype=np.float32)
    outside = np.zeros((sizes[split.test].sum(), width), dtype=np.float32)
    facts = best.loss, len(tried), seconds
    return _trials.Trial(best.setting, best.inner, inside, outer, outside, *facts)
