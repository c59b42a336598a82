"""Out-of-bag answers of a forest instead of inner fits: what they save, and what they cost.

The forest on bag statistics is the one learner of `compare` that draws whole bags for its trees
(extra trees draw none, MI-Forest and spread labels draw instances). It meets the problems of the
development collection whose bags have one of two classes: once as shipped, its scores calibrated on
what five inner fits say of bags that they have not seen, and once on what those trees of the final
forest say that have not drawn the bag. None of the ten sets takes part.
"""

import time
import warnings

import numpy as np
from scipy.stats import wilcoxon

from benchmarks._tables import Table
from benchmarks.product._choices import losses
from benchmarks.product._collection import COLLECTION, is_drawn
from benchmarks.product._met import protocol_of, units_of
from benchmarks.product._second_part import SECOND
from mixedbag.comparison import _trials
from mixedbag.comparison._calibration import calibrator
from mixedbag.comparison._preparation import Preparation

LEARNER = "bag statistics + forest"
TINY = {"problem": "any: 20 bags", "draw": 0}


def cases():
    first = [
        {"problem": name, "draw": draw}
        for name, problem in COLLECTION.items()
        if problem.rule in ("any", "majority")
        for draw in ((0, 1) if is_drawn(name) else (0,))
    ]
    return first + [{"problem": name, "draw": 0} for name in SECOND]


def run(case):
    """Log loss and accuracy on the bags asked about, seconds, and the share of all work saved."""
    protocol = protocol_of(case["problem"], case["draw"])
    units = units_of(protocol, np.inf)
    candidate = next(u.candidate for u in units if u.candidate.name == LEARNER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        met = [_met(protocol, candidate, split) for split in protocol.splits]
    told = {key: np.concatenate([one[key] for one in met]) for key in ("inner fits", "out of bag")}
    truth = protocol.question.codes[np.concatenate([split.test for split in protocol.splits])]
    mine = sum(unit.seconds for unit in units if unit.candidate.name == LEARNER)
    spared = protocol.inner_folds / (protocol.inner_folds + 1)
    return {
        "bags": len(protocol.splits[0].train),
        "seconds": {key: sum(one["seconds"][key] for one in met) for key in told},
        "log loss": {key: float(losses(chance, truth).mean()) for key, chance in told.items()},
        "accuracy": {key: float(((chance > 0.5) == truth).mean()) for key, chance in told.items()},
        "share of all work": spared * mine / sum(unit.seconds for unit in units),
    }


def _met(protocol, candidate, split):
    """Chances of the bags asked about, by both ways, and the seconds of a core that each took."""
    question, asked = protocol.question, Preparation(protocol, candidate, split.train)
    began = time.process_time()
    forest = _trials.learned(protocol, candidate, {}, split.train)
    outer = question.evidence(forest, asked(split.test))
    grown = time.process_time()
    unseen = question.evidence(_Told(out_of_bag(forest, asked(split.train))), None)
    drawn = time.process_time()
    inner = _trials._best_setting(protocol, candidate, split.train, [{}]).inner
    fitted = time.process_time()
    known = {"inner fits": inner, "out of bag": unseen}
    told = {key: calibrator(question, one, split.train)(outer)[:, 1] for key, one in known.items()}
    seconds = {"inner fits": grown - began + fitted - drawn, "out of bag": drawn - began}
    return told | {"seconds": seconds}


class _Told:
    """A model that has been asked already."""

    def __init__(self, chances):
        self._chances = chances

    def predict_proba(self, bags):
        return self._chances


def out_of_bag(forest, bags):
    """What trees say of the bags that they have not drawn; even chances where all have drawn it."""
    (_, statistics), (_, model) = forest.steps
    rows = np.asarray(statistics.transform(bags), dtype=np.float32)
    n_bags, total, asked = len(rows), np.zeros((len(rows), 2)), np.zeros(len(rows))
    for tree in model.estimators_:
        drawn = np.random.RandomState(tree.random_state).randint(0, n_bags, n_bags)
        left = np.setdiff1d(np.arange(n_bags), drawn)
        total[left] += tree.predict_proba(rows[left])
        asked[left] += 1
    return np.where(asked[:, None] > 0, total / np.maximum(asked, 1)[:, None], 0.5)


def table(rows):
    lines = [{"problem": row["problem"], "draw": row["draw"], "bags": row["bags"]} for row in rows]
    for line, row in zip(lines, rows):
        for what in ("accuracy", "log loss", "seconds"):
            line |= {f"{what}, {way}": round(value, 3) for way, value in row[what].items()}
        line["share of all work, %"] = round(100 * row["share of all work"], 2)
    regret = {what: _apart(rows, what) for what in ("log loss", "accuracy")}
    spent = {way: sum(row["seconds"][way] for row in rows) for way in rows[0]["seconds"]}
    means = {
        "problems": len(rows),
        "log loss, out of bag less inner fits": round(float(regret["log loss"].mean()), 4),
        "p, log loss": _p(regret["log loss"]),
        "accuracy, inner fits less out of bag": round(float(-regret["accuracy"].mean()), 4),
        "p, accuracy": _p(regret["accuracy"]),
        "seconds, of inner fits": round(spent["out of bag"] / spent["inner fits"], 2),
        "of all work saved, %": round(
            100 * float(np.mean([r["share of all work"] for r in rows])), 2
        ),
    }
    return [
        Table("out-of-bag answers beside inner fits", [means], NOTES),
        Table("every problem", lines),
    ]


def _apart(rows, what):
    return np.array([row[what]["out of bag"] - row[what]["inner fits"] for row in rows])


def _p(apart):
    return round(float(wilcoxon(apart).pvalue), 3) if np.any(apart) and len(apart) > 1 else None


NOTES = (
    "Log loss and accuracy of calibrated answers about bags that were not learned from; the forest "
    "that answers is the same, only what its scores mean is learned otherwise. p: Wilcoxon's "
    "signed ranks over problems. Seconds: of one core, the final forest included. Of all work "
    "saved: the forest's inner fits beside the whole sequence of `compare`, by the table of "
    "efforts. `compare` keeps its inner fits: out-of-bag answers are a little worse in log loss, "
    "and what they save is hardly anything."
)
