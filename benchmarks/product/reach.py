"""How high any choice among our learners could go on the ten sets.

The trials are those that `product/ten_sets` leaves: run it first, and nothing is fitted again. Each
learner that met all folds has calibrated answers about unseen bags. From them: the learner that is
best on all bags, picked afterwards; the learner that is best on the *test* bags of all folds but
one, judged on that one; likewise the best mean of two learners; and the mean of all. And how far
ahead of the chosen model the best picked afterwards would be by chance, were none better in truth.
"""

from itertools import combinations

import numpy as np

from benchmarks._tables import Table
from benchmarks.product.ten_sets import SETS, SMALL, WORK, standard_error, worked

DRAWS = 2000
WAYS = ("chosen model", "best afterwards", "by test bags", "pair by test bags", "mean of all")
TINY = {"data": "eastwest", "work": 2.0}


def cases():
    return [{"data": name, "work": WORK} for name in SETS]


def run(case):
    return reached(worked(case["data"], case["work"]))


def reached(result):
    """Which bags each way has right, a digit a bag, and how many learners it could choose from."""
    finished, codes = result.finished(), result.protocol.question.codes
    folds = np.empty(len(codes), dtype=int)
    for k, split in enumerate(result.splits):
        folds[split.test] = k
    chances = np.array([result.unseen_bags([candidate]) for candidate in finished])
    right = is_right(chances, codes)
    pairs = np.array([a + b for a, b in combinations(chances, 2)] or chances)
    told = {
        "chosen model": is_right(result.unseen_bags(finished), codes),
        "best afterwards": right[right.mean(axis=1).argmax()],
        "by test bags": by_other_folds(right, folds),
        "pair by test bags": by_other_folds(is_right(pairs, codes), folds),
        "mean of all": is_right(chances.mean(axis=0), codes),
    }
    answers = {way: "".join(map(str, told[way].astype(int))) for way in WAYS}
    led = lead_by_chance(told["chosen model"], right)
    return {"learners": len(finished), "right": answers, "lead": led}


def is_right(chances, codes):
    return chances.argmax(axis=-1) == codes


def by_other_folds(right, folds):
    """For each fold the row that has most bags of the other folds right, the first of equals."""
    chosen = np.empty(len(folds), dtype=bool)
    for fold in np.unique(folds):
        best = right[:, folds != fold].sum(axis=1).argmax()
        chosen[folds == fold] = right[best, folds == fold]
    return chosen


def lead_by_chance(chosen, right, draws=DRAWS):
    """How far the best picked afterwards is ahead, and would be were no learner truly better.

    In standard errors of the chosen model's accuracy. Bags are drawn anew, so that who is right
    together stays so; whoever is ahead is taken for as good as the chosen model, whoever is behind
    stays as far behind (the null of White's reality check, as Hansen recentres it).
    """
    n_bags, rng = len(chosen), np.random.default_rng(0)
    ahead = right.astype(float) - chosen
    mean = ahead.mean(axis=1)
    error = standard_error(chosen.mean(), n_bags)
    drawn = rng.multinomial(n_bags, np.full(n_bags, 1 / n_bags), draws) / n_bags
    leads = (drawn @ ahead.T - np.maximum(mean, 0.0)).max(axis=1) / error
    lead = mean.max() / error
    return {
        "lead": float(lead),
        "by chance": float(leads.mean()),
        "more than one": float((leads > 1.0).mean()),
        "as large": float((leads >= lead - 1e-9).mean()),
    }


def none_beyond(shares):
    """The chance that no set has a lead of more than one standard error, sets being independent."""
    return float(np.prod(1.0 - np.asarray(shares)))


def table(rows):
    right = {way: [_digits(row["right"][way]) for row in rows] for way in WAYS}
    lines = [
        {"data": row["data"], "bags": len(right[WAYS[0]][i]), "learners": row["learners"]}
        | {way: round(100 * right[way][i].mean(), 1) for way in WAYS}
        for i, row in enumerate(rows)
    ]
    larger = [i for i, row in enumerate(rows) if row["data"] not in SMALL]
    means = [
        {"mean over": name, "way": way} | mean_and_error([right[way][i] for i in some])
        for name, some in (("all sets", range(len(rows))), ("the larger", larger))
        for way in WAYS
        if some
    ]
    return [
        Table("accuracy (%) by who chooses", lines, NOTES),
        Table("means over sets", means),
        Table("how far ahead the best picked afterwards is", _leads(rows), LEADS),
    ]


def _leads(rows):
    lines = [
        {"data": row["data"]} | {key: round(row["lead"][key], 2) for key in row["lead"]}
        for row in rows
    ]
    shares = [row["lead"]["more than one"] for row in rows]
    beyond = [row["lead"]["lead"] > 1.0 for row in rows]
    told = {"more than one, sets": sum(beyond), "expected by chance": round(sum(shares), 1)}
    return [*lines, {"data": "all", **told, "never, by chance": round(none_beyond(shares), 3)}]


def _digits(text):
    return np.array(list(text), dtype=int)


def mean_and_error(sets):
    """The mean of accuracies, its binomial standard error, and what draws of bags say."""
    errors = [np.sqrt(one.mean() * (1 - one.mean()) / len(one)) for one in sets]
    rng = np.random.default_rng(0)
    draws = np.mean([rng.binomial(len(one), one.mean(), DRAWS) / len(one) for one in sets], axis=0)
    low, high = np.quantile(draws, [0.025, 0.975])
    return {
        "accuracy": round(100 * float(np.mean([one.mean() for one in sets])), 1),
        "standard error": round(100 * float(np.sqrt(np.sum(np.square(errors))) / len(sets)), 1),
        "95 %": f"{100 * low:.1f}–{100 * high:.1f}",
    }


NOTES = (
    "Chosen model: nested, as in product/ten_sets. Best afterwards: picked by the figure itself, "
    "so too high, the more so the fewer the bags. By test bags: no choice that a user can make, as "
    "it sees the labels of other test bags; yet it is honest about the fold it is judged on. It "
    "shows about what one learner a set can reach if the choice is as good as so many bags allow; "
    "it says nothing of other learners, other settings, or of weights learned otherwise, and the "
    "models of folds share training bags. Standard error, 95 %: as if each bag were right or wrong "
    "by chance (binomial; draws of bags within sets), with folds, seeds and choices as they are; "
    "two ways on the same bags differ by less noise than their standard errors say."
)
LEADS = (
    "In standard errors of the chosen model's accuracy, as in product/ten_sets. By chance: the "
    "mean lead over draws of bags if no learner were better than the chosen model in truth (who is "
    "behind stays as far behind; learners are right together as they are). More than one: how "
    "often it is beyond one standard error then; as large: how often as far ahead as found, which "
    'is the p value of "no learner is better". Never, by chance: how probable it is that no set '
    "shows a lead beyond one standard error though no learner is better on any: a target of "
    '"never" can be asked of truth, not of figures picked afterwards.'
)
