"""Which learner for which labels: every learner on a few sets for each rule; writes the docs page.

Nested figures, as `compare` gives them. The sets of the rule "any" are those of `ten_sets`, and one
whose instances have known labels; each set has the same time budget.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import rankdata, studentized_range
from sklearn.metrics import r2_score, roc_auc_score

from benchmarks._measure import picture
from benchmarks._store import Store
from benchmarks._tables import RESULTS, Table, grouped
from benchmarks.arhmm._series import Series
from benchmarks.field import assumptions
from benchmarks.product.ten_sets import SETS, compared, trials
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
from mixedbag.learners import all_learners

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
BUDGET = 200.0  # seconds a set, on one core
TINY = {"rule": "majority", "data": "wine sessions", "budget": 60.0}


def cases():
    sets = {"any": [*SETS, *PROBLEMS["any"]]}
    return [
        {"rule": rule, "data": name, "budget": BUDGET}
        for rule in RULES
        if rule in PROBLEMS
        for name in sets.get(rule, PROBLEMS[rule])
    ]


def run(case):
    """Nested figures and time of every learner that met all folds of the set."""
    result = comparison(**case)
    measure, lines = result.measure, []
    for row in result.leaderboard():
        if row.status != "done" or row.kind == "constant":
            continue
        area = row.scores.get("roc_auc") or row.scores.get("roc_auc_ovr")
        inside = instance_quality(case["rule"], case["data"], result, row.name)
        lines.append([row.name, row.mean, area, inside, row.seconds])
    return {"measure": measure, "lines": lines}


def comparison(rule, data, budget):
    """The comparison on one set, going on from what its folder has."""
    if data in SETS:
        return compared(data, budget)
    made, folder = PROBLEMS[rule][data](), trials(f"{data}-{budget:g}")
    settings = {"time_budget": budget, "folder": folder, "folds": 5, "n_jobs": -1}
    metric = None if rule in ("count", "sum") else "accuracy"  # one column for all sets
    return compare(made.bags, made.y, rule, metric=metric, **settings)


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
    return [_of_rule(rule, some) for (rule,), some in grouped(rows, "rule").items()]


def _of_rule(rule, rows):
    """Means over the sets that a learner finished; places are those among all who finished one."""
    found = {row["data"]: {line[0]: line[1:] for line in row["lines"]} for row in rows}
    names = list(dict.fromkeys(name for lines in found.values() for name in lines))
    places: dict = {name: [] for name in names}
    for lines in found.values():
        ranks = rankdata([-round(figures[0], 6) for figures in lines.values()])
        for name, place in zip(lines, ranks):
            places[name].append(float(place))
    lines = []
    for name in names:
        own = [lines[name] for lines in found.values() if name in lines]
        figure, area, inside, seconds = (_mean(values) for values in zip(*own))
        lines.append(
            {
                "learner": name,
                rows[0]["measure"]: figure,
                "ROC AUC": area,
                "of instances": inside,
                "sets": f"{len(own)}/{len(found)}",
                "mean place": round(float(np.mean(places[name])), 1),
                "seconds a set": seconds,
            }
        )
    if rule in ("count", "sum"):
        lines = [{k: v for k, v in line.items() if k != "ROC AUC"} for line in lines]
    # A place on few sets says little: learners that finished less than half come last.
    lines.sort(key=lambda line: (2 * len(places[line["learner"]]) < len(found), line["mean place"]))
    through = [name for name in names if len(places[name]) == len(found)]
    notes = f"Sets: {', '.join(found)}."
    if len(through) > 1:
        notes += (
            f" {len(through)} finished all sets: places of these that differ by less than "
            f"{critical_difference(len(through), len(found)):.1f} are not told apart by so few "
            "sets (Nemenyi's critical difference, 5 %)."
        )
    return Table(f"{rule}: {RULES[rule]}", lines, notes)


def _mean(values):
    known = [value for value in values if value is not None]
    return round(float(np.mean(known)), 3) if known else ""


def critical_difference(n_learners, n_sets, level=0.05):
    """How far mean places over some sets must lie apart for two of all learners to differ."""
    spread = studentized_range.ppf(1 - level, n_learners, np.inf) / np.sqrt(2)
    return float(spread * np.sqrt(n_learners * (n_learners + 1) / (6 * n_sets)))


def publish(rows, folder):
    """The docs page: what to take for each kind of label, with the figures behind it."""
    if len(rows) < len(cases()):
        return
    lines = ["# Which learner for which labels", "", OPENING, ""]
    for one in table(rows):
        rule, says = one.title.split(": ", 1)
        singles = [row for row in one.rows if not row["learner"].startswith(("stack", "best"))]
        apart = [row for row in singles if row["of instances"] != ""]
        apart.sort(key=lambda row: -row["of instances"])
        first, inside = (
            ", ".join(_linked(row["learner"]) for row in top[:3]) for top in (singles, apart)
        )
        lines += [f"## {rule.capitalize()}", "", f"{says[0].upper()}{says[1:]}.", ""]
        lines += [f"- Try first: {first}.", f"- To tell instances apart: {inside}.", ""]
        if rule == "any":
            _draw(singles, folder / "which_learner.png")
            where = f"../benchmarks/results/{folder.name}/which_learner.png"
            lines += [f"![{CAPTION}]({where})", "", f"*{CAPTION}*", ""]
        shown = [row | {"learner": _linked(row["learner"])} for row in one.rows]
        lines += [*replace(one, rows=shown).markdown().splitlines()[2:], ""]
    tested = [row.figures for row in Store(RESULTS / "field.jsonl").latest("assumptions").values()]
    for one in assumptions.table(tested):
        lines += [one.markdown()]
    PAGE.write_text("\n".join(lines))


def _linked(name):
    """A learner as code, which the site links to its reference; a baseline as it is."""
    return f"`{name}`" if name in {kind.__name__ for kind in all_learners()} else name


CAPTION = (
    "Learners that finished all but one of the sets or more: how well they order bags, and what "
    "a set cost them. Orange: nobody is both quicker and better."
)


def _draw(rows, path):
    """Quality against time, of learners that can be compared."""
    n_sets = max(int(row["sets"].partition("/")[2]) for row in rows)
    rows = [row for row in rows if int(row["sets"].partition("/")[0]) >= n_sets - 1]
    time, area = (np.array([row[key] for row in rows]) for key in ("seconds a set", "ROC AUC"))
    with picture(path, figsize=(7, 5)) as (_, ax):
        for row, x, y in zip(rows, time, area):
            best = not ((time < x) & (area > y)).any()
            colour = "#c8571f" if best else "#5d626a"
            ax.plot(x, y, "o", color=colour, ms=7 if best else 5)
            crowded = ((time > x) & (time < 1.2 * x) & (abs(area - y) < 0.006)).any()
            place = {"ha": "right", "xytext": (-6, -3)} if crowded else {"xytext": (6, -3)}
            ax.annotate(
                row["learner"],
                (x, y),
                textcoords="offset points",
                color=colour,
                fontsize=9,
                **place,
            )
        ax.set(xscale="log", xlabel="seconds a set", ylabel="area under the ROC curve of bags")
        ax.set_xticks([2, 5, 10, 20, 50], ["2", "5", "10", "20", "50"])
        ax.minorticks_off()
        ax.margins(x=0.12)
        ax.spines[["top", "right"]].set_visible(False)


OPENING = (
    "Without a reason to do otherwise, take the model that `mixedbag compare` saves. This page is "
    "for those who choose by hand, or want to know why. It is written by `python -m benchmarks "
    "product/which_learner` from measured results:\n\n"
    "- **Nested cross-validation**, every setting chosen inside the training bags, and the same "
    f"time for every set ({BUDGET:g} seconds of one core).\n"
    "- **Figures are means** over the sets that a learner finished in that time, so compare rows "
    "with the same number of sets. Those that finished less than half come last; one that "
    "finished none is absent (the last table has those for *any* as well). Places are among all "
    "that finished a set.\n"
    "- **Of instances** is for single instances, where their truth is known: the area under the "
    "ROC curve for any and sequence, else accuracy, or R² of totals.\n"
    "- **The stack** and **the best single, chosen inside**, are what `compare` makes of the "
    "others."
)
