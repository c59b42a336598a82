"""Which learner for which labels: every learner on a few sets for each rule; writes the docs page.

Nested figures, as `compare` gives them. The sets of the rule "any" are those of `ten_sets`, and one
whose instances have known labels; each set has the same time budget.
"""

from collections import defaultdict
from pathlib import Path

import numpy as np
from sklearn.metrics import r2_score, roc_auc_score

from benchmarks._tables import Table
from benchmarks.arhmm._series import Series
from benchmarks.product.ten_sets import BUDGET, SETS, compared, trials
from mixedbag.comparison import RULES, compare
from mixedbag.datasets import (
    BagData,
    aggregate,
    load,
    load_aggregates,
    load_digits_bags,
    load_sessions,
    make_sequences,
)

PAGE = Path(__file__).parents[2] / "docs" / "which-learner.md"


def _aggregated(name, size=5, randomness=100):
    table = load(name).complete()
    return aggregate(table.X, table.y, size, randomness, random_state=0)


def _activity(name, activity, person=None):
    series = Series(name, activity, person)
    truth = series.truth.ravel().astype(int)
    return BagData(series.bags, series.y.astype(int), instance_labels=truth)


PROBLEMS = {
    "any": {"bags of digits": lambda: load_digits_bags(n_bags=100, random_state=0)},
    "majority": {
        "wine sessions": lambda: load_sessions("wine", size=4),
        "cancer sessions": lambda: load_sessions("cancer"),
    },
    "count": {
        "cancer counts": lambda: load_aggregates("cancer"),
        "ionosphere counts": lambda: _aggregated("ionosphere"),
    },
    "sum": {
        "auto-mpg totals": lambda: _aggregated("auto-mpg"),
        "housing totals": lambda: _aggregated("housing"),
    },
    "sequence": {
        "switching oscillators": lambda: make_sequences(n_bags=60, random_state=0),
        "walking": lambda: _activity("chest", 4, "1"),
        "standing": lambda: _activity("chest", 3, "2"),
        "sitting on bed": lambda: _activity("batteryless", 1),
    },
}
TINY = {"rule": "majority", "budget": 60.0}


def cases():
    return [{"rule": rule, "budget": BUDGET} for rule in RULES]


def run(case):
    """Mean figures, mean place and time of every learner that met all folds of a set."""
    figures, places, seconds = defaultdict(list), defaultdict(list), defaultdict(list)
    inside = defaultdict(list)
    found = comparisons(case["rule"], case["budget"])
    for name, result in found.items():
        board = [r for r in result.leaderboard() if r.status == "done" and r.kind != "constant"]
        for place, row in enumerate(board, start=1):
            figures[row.name].append(row.mean)
            places[row.name].append(place)
            seconds[row.name].append(row.seconds)
            quality = instance_quality(case["rule"], name, result, row.name)
            if quality is not None:
                inside[row.name].append(quality)
    measure = next(iter(found.values())).measure
    lines = [
        {
            "learner": learner,
            measure: round(float(np.mean(values)), 3),
            "of instances": round(float(np.mean(inside[learner])), 3) if inside[learner] else "",
            "sets": f"{len(values)}/{len(found)}",
            "mean place": round(float(np.mean(places[learner])), 1),
            "seconds a set": round(float(np.mean(seconds[learner])), 1),
        }
        for learner, values in figures.items()
    ]
    # A place on few sets says little: learners that finished less than half come last.
    lines.sort(key=lambda row: (2 * len(figures[row["learner"]]) < len(found), row["mean place"]))
    return {"lines": lines, "sets": list(found)}


def comparisons(rule, budget):
    """Name of the data set to its comparison."""
    found = {name: compared(name, budget) for name in SETS} if rule == "any" else {}
    for name, make in PROBLEMS[rule].items():
        data, folder = make(), trials(f"{name}-{budget:g}")
        settings = {"time_budget": budget, "folder": folder, "folds": 5, "n_jobs": -1}
        metric = None if rule in ("count", "sum") else "accuracy"  # one column for all sets
        found[name] = compare(data.bags, data.y, rule, metric=metric, **settings)
    return found


def instance_quality(rule, name, result, learner):
    """How well unseen instances are answered, where their truth is known: AUC, accuracy or R²."""
    truth = PROBLEMS[rule][name]().instance_labels if name in PROBLEMS[rule] else None
    candidate = next((c for c in result.candidates if c.name == learner), None)
    if truth is None or (candidate is None and not learner.startswith("stack")):
        return None
    answers = result.out_of_fold(candidate).instances
    if rule in ("any", "sequence"):  # two labels, one of them rare among instances
        return roc_auc_score(truth, answers[:, 1])
    if rule == "sum":
        return r2_score(truth, answers[:, 0])
    if rule == "count":
        return float(np.mean((answers[:, -1] > 0.5) == np.unique(truth, return_inverse=True)[1]))
    return float(np.mean(result.question.classes[answers.argmax(axis=1)] == truth))


def table(rows):
    return [
        Table(
            f"{row['rule']}: {RULES[row['rule']]}",
            row["lines"],
            "Sets: " + ", ".join(row["sets"]) + ".",
        )
        for row in rows
    ]


def publish(rows, folder):
    """The docs page: what to take for each kind of label, with the figures behind it."""
    lines = ["# Which learner for which labels", "", OPENING, ""]
    for one in table(rows):
        rule, says = one.title.split(": ", 1)
        singles = [row for row in one.rows if not row["learner"].startswith(("stack", "best"))]
        apart = [row for row in singles if row["of instances"] != ""]
        apart.sort(key=lambda row: -row["of instances"])
        first, inside = (", ".join(row["learner"] for row in top[:3]) for top in (singles, apart))
        advice = f"Try first: **{first}**. To tell instances apart: **{inside}**."
        lines += [f"## {rule}", "", f"{says[0].upper()}{says[1:]}. {advice}", ""]
        lines += [*one.markdown().splitlines()[2:], ""]
    if len(rows) == len(RULES):
        PAGE.write_text("\n".join(lines))


OPENING = (
    "Written by `python -m benchmarks product/which_learner` from measured results: nested "
    "cross-validation, every setting chosen inside the training bags. Figures are means over "
    "the sets that a learner finished within the time budget, so compare rows with the same "
    "number of sets; those that finished less than half come last, and a learner that finished "
    'none is absent. "Of instances" is for single instances, where their truth is known: the area '
    "under the ROC curve for any and sequence, else accuracy, or R² of totals. The stack and the "
    "best single, chosen inside, are what `mixedbag compare` makes of the others; without a reason "
    "to do otherwise, take the model it saves."
)
