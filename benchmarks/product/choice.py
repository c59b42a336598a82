"""How the answers of many learners become one: many ways, on the development collection.

Learners meet the problems of the collection whose bags have one of two classes, in the order of
`compare` and up to a fixed amount of work; generators draw further bags to ask about, of tables the
bags are cut into outer folds. Each way to calibrate and to weigh is then tried on the same kept
evidence (``MIXEDBAG_BENCHMARKS``), without further fits. None of the ten sets takes part.
"""

import numpy as np
from scipy.stats import wilcoxon

from benchmarks._tables import Table, grouped
from benchmarks.product._choices import BEFORE, CHOICES, SHIPPED, SINGLE, Choice, losses
from benchmarks.product._collection import COLLECTION, is_drawn
from benchmarks.product._met import RIVAL, met
from benchmarks.product._second_part import SECOND
from mixedbag.comparison._trials import best_of

WORK, DRAWS = 10.0, (0, 1)
BINS = 10
TINY = {"problem": "any: 20 bags", "draw": 0, "work": 0.3}


def cases():
    first = [
        {"problem": name, "draw": draw, "work": WORK if is_drawn(name) else 0.7 * WORK}
        for name, problem in COLLECTION.items()
        if problem.rule in ("any", "majority")
        for draw in (DRAWS if is_drawn(name) else DRAWS[:1])
    ]
    return first + [{"problem": name, "draw": 0, "work": 0.7 * WORK} for name in SECOND]


def run(case):
    """Accuracy and log loss of every way on the bags asked about, and how calibrated they are."""
    protocol, units, trials = met(case["problem"], case["draw"], case["work"])
    merits = {unit.candidate.name: unit.candidate.effort.merit for unit in units}
    asked = np.concatenate([split.test for split in protocol.splits])
    truth = protocol.question.codes[asked]
    told = {}
    for name, choice in {**CHOICES, RIVAL: Choice()}.items():
        parts = [
            _answer(choice, protocol, split, trials, merits, RIVAL if name == RIVAL else None)
            for split in protocol.splits
        ]
        told[name] = _figures(np.concatenate(parts), truth)
    alone = []
    for learner in sorted({learner for learner, _, _ in trials}):
        parts = [_answer(Choice(), protocol, s, trials, merits, learner) for s in protocol.splits]
        alone.append(_figures(np.concatenate(parts), truth)["accuracy"])
    n_bags = len(protocol.splits[0].train)
    shape = {"bags": n_bags, "asked": len(truth), "learners": len(alone)}
    return shape | {"figures": told, "best afterwards": max(alone)}


def _answer(choice, protocol, split, trials, merits, only=None):
    blocks = grouped([(key[0], key[1], trial) for key, trial in trials.items()], 0, 1)
    best = {
        learner: best_of([trial for _, _, trial in some])
        for (learner, fold), some in blocks.items()
        if fold == split.name and only in (None, learner)
    }
    inner, outer = (
        np.array([_scores(getattr(trial, part)) for trial in best.values()])
        for part in ("inner", "outer")
    )
    folds = np.empty(len(split.train), dtype=int)
    for k, (_, left_out) in enumerate(protocol.inner_splits(split.train)):
        folds[left_out] = k
    usual = np.array([merits[learner] for learner in best])
    return choice.answer(inner, outer, protocol.question.codes[split.train], folds, usual)


def _scores(evidence):
    return evidence[:, 0] if evidence.shape[1] == 1 else evidence[:, 1] - evidence[:, 0]


def _figures(chance, truth):
    place = np.minimum((BINS * chance).astype(int), BINS - 1)
    off = np.bincount(place, chance - truth, BINS)  # how many more were expected than there are
    return {
        "accuracy": float(np.mean((chance > 0.5) == truth)),
        "log loss": float(losses(chance, truth).mean()),
        "off": np.round(off, 3).tolist(),
    }


def table(rows):
    """The two parts of the collection, each by itself, and every problem."""
    second = [row for row in rows if row["problem"] in SECOND]
    first = [row for row in rows if row["problem"] not in SECOND]
    parts = {"the first part": first, "the second part": second}
    tables = [
        Table(f"ways to choose and to combine: {name}", _ways(some), NOTES)
        for name, some in parts.items()
        if some
    ]
    return [*tables, Table("every problem", _each(rows))]


def _ways(rows):
    """Means over problems, those of draws first, and paired tests over problems."""
    names = list(rows[0]["figures"])
    accuracy = {name: _by_problem(rows, name, "accuracy") for name in names}
    loss = {name: _by_problem(rows, name, "log loss") for name in names}
    accuracy[ELSEWHERE], loss[ELSEWHERE] = _chosen_elsewhere(accuracy, loss)
    lines = []
    for name in sorted(accuracy, key=lambda name: loss[name].mean()):
        line = {"way": name, "accuracy": accuracy[name].mean(), "log loss": loss[name].mean()}
        for rival in (SHIPPED, BEFORE, SINGLE, RIVAL):
            better = accuracy[name] - accuracy[rival]
            line[f"better than {rival}"] = float(np.mean(better > 0) + np.mean(better == 0) / 2)
            line["p, accuracy" + f", {rival}"] = _p(better)
            line["p, log loss" + f", {rival}"] = _p(loss[name] - loss[rival])
        for few, some in ((True, "up to 60 bags"), (False, "more bags")):
            kept = [row for row in rows if (row["bags"] <= 60) == few]
            if kept and name != ELSEWHERE:
                line[f"log loss, {some}"] = _by_problem(kept, name, "log loss").mean()
        if name != ELSEWHERE:
            line["more than one standard error behind"] = _behind_afterwards(rows, name)
            line["calibration error, 150 to 200 bags"] = _calibration_error(rows, name)
        lines.append(line)
    return lines


def _each(rows):
    return [
        {"problem": row["problem"], "draw": row["draw"], "bags": row["bags"]}
        | {"asked": row["asked"], "learners": row["learners"]}
        | {
            f"{figure}, {name}": round(row["figures"][name][figure], 3)
            for figure in ("accuracy", "log loss")
            for name in (SHIPPED, BEFORE, SINGLE, RIVAL)
        }
        for row in rows
    ]


def _by_problem(rows, name, figure):
    return np.array(
        [
            np.mean([row["figures"][name][figure] for row in some])
            for some in grouped(rows, "problem").values()
        ]
    )


def _chosen_elsewhere(accuracy, loss):
    """For every problem the way of least log loss on all others: what choosing a way is worth."""
    names = [name for name in loss if name not in (RIVAL, SINGLE)]
    table = np.array([loss[name] for name in names])
    others = table.sum(axis=1, keepdims=True) - table
    best, places = others.argmin(axis=0), np.arange(table.shape[1])
    return np.array([accuracy[names[k]][i] for i, k in zip(places, best)]), table[best, places]


def _behind_afterwards(rows, name):
    """The share of problems and draws on which the best learner, picked afterwards, is ahead by
    more than a standard error of the way's own accuracy."""
    shares = []
    for row in rows:
        right, n = row["figures"][name]["accuracy"], row["asked"]
        error = np.sqrt(max(right * (1 - right), 1 / n) / n)
        shares.append(row["best afterwards"] - right > error)
    return float(np.mean(shares))


def _p(difference):
    return float(wilcoxon(difference).pvalue) if np.any(difference) else 1.0


def _calibration_error(rows, name):
    """Of all bags asked about on problems with so many bags together, in ten bins."""
    kept = [row for row in rows if 150 <= row["bags"] <= 200]
    if not kept:
        return None
    off = np.sum([row["figures"][name]["off"] for row in kept], axis=0)
    return float(np.abs(off).sum() / sum(row["asked"] for row in kept))


ELSEWHERE = "chosen on the other problems"
NOTES = (
    "Accuracy and logarithmic loss on bags that were not learned from, draws of a problem averaged "
    "first. Better: the share of problems, ties halved; p: Wilcoxon's signed ranks over problems. "
    "As shipped: answers rise with scores, and count exp(-z²) times as much when z standard errors "
    "behind the best, five at most. Others differ in what their name says. Chosen on the other "
    "problems: for every problem the way that is best on all others, so that nothing is chosen on "
    "what it is judged by. Calibration error: expected chances less frequencies in ten bins, over "
    "the bags of all problems with 150 to 200 bags together. Settings within blocks were chosen "
    "with the calibration that is shipped, whatever the way. Drawn towards merits: those of the "
    "table of efforts, which the first part among others gave: there it is flattered. More "
    "than one standard error behind: how often the best learner of a problem, picked afterwards by "
    "the bags asked about, is so far ahead."
)
