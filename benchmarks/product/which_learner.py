"""Which learner for which labels: every learner on all sets of the catalogue; writes the docs page.

A case is a learner on a set: nested figures on five folds, as `compare` gives them. So a new
learner adds its own rows, and nobody's figures hang on the time that others took. What the table of
efforts expects to take long is not run, and the page names it.
"""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.transforms import Bbox
from scipy.stats import rankdata, studentized_range
from sklearn.metrics import r2_score, roc_auc_score

from benchmarks._measure import cpu_timed, picture, within
from benchmarks._store import Store
from benchmarks._tables import RESULTS, Table, grouped
from benchmarks.arhmm._series import Series
from benchmarks.field import assumptions
from benchmarks.product.effort import learners
from benchmarks.product.ten_sets import SETS, trials
from mixedbag.comparison import RULES, compare
from mixedbag.comparison._sequence import sequence
from mixedbag.datasets import (
    BagData,
    aggregate,
    list_names,
    load,
    load_aggregates,
    load_digits_bags,
    load_sessions,
    make_sequences,
)
from mixedbag.exceptions import InputError
from mixedbag.learners import all_learners

PAGE = Path(__file__).parents[2] / "docs" / "which-learner.md"


def _aggregated(name, size=5, randomness=100):
    table = load(name).complete()
    return aggregate(table.X, table.y, size, randomness, random_state=0)


def _activity(name, activity, person=None):
    series = Series(name, activity, person)
    truth = series.truth.ravel().astype(int)
    return BagData(series.bags, series.y.astype(int), instance_labels=truth)


SPARSE = "any, in words"
PROBLEMS = {
    "any": {
        "bags of digits": lambda: load_digits_bags(n_bags=100, random_state=0),
        **{name: lambda name=name: load(name) for name in SETS},
    },
    SPARSE: {
        name: lambda name=name: load(name) for name in list_names() if name.startswith("trec9")
    },
    "majority": {
        "wine sessions": lambda: load_sessions("wine", size=4),
        "cancer sessions": lambda: load_sessions("cancer"),
    },
    "count": {
        "cancer counts": lambda: load_aggregates("cancer"),
        **{
            f"{name} counts": lambda name=name: _aggregated(name)
            for name in ("ionosphere", "dermatology", "german", "cmc", "spambase", "usps")
        },
    },
    "sum": {
        f"{name} totals": lambda name=name: _aggregated(name)
        for name in ("auto-mpg", "housing", "cpu-small")
    },
    "sequence": {
        "switching oscillators": lambda: make_sequences(n_bags=60, random_state=0),
        "walking": lambda: _activity("chest", 4, "1"),
        "standing": lambda: _activity("chest", 3, "2"),
        "sitting on bed": lambda: _activity("batteryless", 1),
    },
}
MOST = 100.0  # expected core-seconds of a learner on a set, above which it is not run
CUT = 600  # core-seconds after which one that was expected to take fewer is ended
CHOICE = "what compare makes of them"
WORK = 200.0  # expected core-seconds of the learners that `compare` chooses from
TINY = {"kind": "majority", "data": "wine sessions", "learner": "VLADClassifier"}


def cases():
    return [
        {"kind": kind, "data": data, "learner": learner}
        for kind, problems in PROBLEMS.items()
        for data in problems
        for learner in [*learners(_rule(kind)), CHOICE]
    ]


def _rule(kind):
    return kind.partition(",")[0]


def run(case):
    """Nested figures and core-seconds of a learner, or why there are none."""
    figures = within(CUT, _nested, case)
    return figures or {"lines": [], "reason": f"ended after {CUT} core-seconds"}


def _nested(case):
    rule, data = _rule(case["kind"]), PROBLEMS[case["kind"]][case["data"]]()
    chosen = case["learner"] == CHOICE
    if case["learner"] in {
        k.__name__ for k in {*all_learners(installed=False)} - {*all_learners()}
    }:
        return {"lines": [], "reason": EXTRA}
    settings = {
        "learners": None if chosen else [case["learner"]],
        "folds": 5,
        "metric": None if rule in ("count", "sum") else "accuracy",  # one column for all sets
        "folder": trials(case["data"]),
    }
    try:
        plan = compare(data.bags, data.y, rule, work=0, **settings)
    except InputError as error:  # not for such data
        return {"lines": [], "reason": str(error).rpartition(": ")[2].rstrip(")")}
    expected = np.cumsum([unit.seconds for unit in sequence(plan.candidates, plan.protocol)])
    if not chosen and expected[-1] > MOST:
        return {"lines": [], "reason": f"{expected[-1]:.0f} s are expected"}
    work = int(np.searchsorted(expected, WORK if chosen else MOST, side="right"))
    result, seconds = cpu_timed(lambda: compare(data.bags, data.y, rule, work=work, **settings))
    wanted = ("choice", "stack") if chosen else ("learner",)
    lines, failures = [], []
    for row in result.leaderboard():
        if row.kind in wanted and row.status != "done":
            failures.append(f"ends with {row.status}: {row.note}")
        elif row.kind in wanted:
            area = row.scores.get("roc_auc") or row.scores.get("roc_auc_ovr")
            inside = instance_quality(rule, data.instance_labels, result, row.name)
            spent = None if chosen else seconds
            lines.append([row.name, row.mean, area, inside, spent])
    if not lines:
        return {"lines": [], "reason": "; ".join(failures) or FAILED}
    return {"measure": result.measure, "lines": lines}


def instance_quality(rule, truth, result, learner):
    """How well unseen instances are answered, where their truth is known: AUC, accuracy or R²."""
    candidate = next((c for c in result.candidates if c.name == learner), None)
    if truth is None or (candidate is None and not learner.startswith("stack")):
        return None
    answers = result.out_of_fold(candidate).instances
    if rule in ("any", "sequence"):  # two labels, one of them rare among instances
        return roc_auc_score(truth, answers[:, 1])
    if rule == "sum":
        return r2_score(truth, answers[:, 0])
    if rule == "count":
        codes = np.unique(truth, return_inverse=True)[1]
        most = answers[:, -1] > 0.5 if codes.max() == 1 else answers.argmax(axis=1)
        return float(np.mean(most == codes))
    return float(np.mean(result.question.classes[answers.argmax(axis=1)] == truth))


def table(rows):
    by_kind = grouped(rows, "kind").items()
    return [_of_kind(kind, some) for (kind,), some in by_kind] + [
        _every_cell(kind, some) for (kind,), some in by_kind
    ]


def _of_kind(kind, rows):
    """Means over the sets that a learner was run on.

    Mean places are for those that have figures on all sets, among each other, as their critical
    difference is; the others are told by how many of those run on the same sets they beat.
    """
    found: dict = {}
    for row in rows:
        found.setdefault(row["data"], {}).update({line[0]: line[1:] for line in row["lines"]})
    found = {data: lines for data, lines in found.items() if len(lines) > 1}
    names = list(dict.fromkeys(name for lines in found.values() for name in lines))
    through = [name for name in names if all(name in lines for lines in found.values())]
    beaten: dict = {name: [] for name in names}
    for lines in found.values():
        places = _places(lines, lines)
        for name, place in places.items():
            beaten[name].append((len(places) - place) / (len(places) - 1))
    among = [_places(through, lines) for lines in found.values()]
    measure = next(row["measure"] for row in rows if "measure" in row)
    lines = []
    for name in names:
        own = [lines[name] for lines in found.values() if name in lines]
        figure, area, inside, seconds = (_mean(values) for values in zip(*own))
        lines.append(
            {
                "learner": name,
                measure: figure,
                "ROC AUC": area,
                "of instances": inside,
                "sets": f"{len(own)}/{len(found)}",
                "beats, %": round(100 * float(np.mean(beaten[name]))),
                "mean place": round(float(np.mean([places[name] for places in among])), 1)
                if name in through
                else "",
                "seconds a set": seconds,
            }
        )
    lines = [{k: v for k, v in line.items() if k in _told(lines)} for line in lines]
    # What is beaten on few sets says little: learners of less than half come last.
    lines.sort(key=lambda line: (2 * len(beaten[line["learner"]]) < len(found), -line["beats, %"]))
    notes = f"Sets: {', '.join(found)}."
    if len(through) > 1:
        notes += (
            f" {len(through)} have figures on all sets: places of these that differ by less than "
            f"{critical_difference(len(through), len(found)):.1f} are not told apart by so few "
            "sets (Nemenyi's critical difference, 5 %)."
        )
    return Table(f"{kind}: {RULES[_rule(kind)]}", lines, f"{notes} {_left_out(kind, rows)}")


def _places(names, lines):
    return dict(zip(names, rankdata([-round(lines[name][0], 6) for name in names]).tolist()))


def _told(lines):
    """Columns in which somebody has a figure; the area only where it is the bags'."""
    return [key for key in lines[0] if any(line[key] != "" for line in lines)]


def _every_cell(kind, rows):
    """A line a learner and a column a set: the figure, or why there is none."""
    known = {(row["learner"], row["data"]): row for row in rows}
    lines = [
        {"learner": name} | {data: _cell(known, name, data) for data in PROBLEMS[kind]}
        for name in learners(_rule(kind))
    ]
    return Table(f"{kind}{CELL_BY_CELL}", lines, CELLS)


def _cell(known, name, data):
    row = known.get((name, data))
    if row is None:
        return NOT_YET
    if row["lines"]:
        return f"{row['lines'][0][1]:.3f}"
    return next((short for long, short in SHORT.items() if long in row["reason"]), row["reason"])


def _left_out(kind, rows):
    """How many cells have figures, and why the others have none."""
    known = {(row["learner"], row["data"]): row for row in rows}
    cells = [(name, data) for name in learners(_rule(kind)) for data in PROBLEMS[kind]]
    states = Counter(_state(known, *cell) for cell in cells)
    told = f"{states.pop('', 0)} of {len(cells)} cells have figures"
    why = ", ".join(f"{n} {state}" for state, n in states.most_common())
    return f"{told}; of the others {why}." if why else f"{told}."


def _state(known, name, data):
    if known.get((name, data), {}).get("lines"):
        return ""
    cell = _cell(known, name, data)
    return LONG if cell.endswith("are expected") else cell


LONG = f"expected to take more than {MOST:g} core-seconds"
NOT_YET = "not run"
EXTRA = "needs the extra torch"
FAILED = "no figures on all folds"
SHORT = {"needs dense": "needs dense data", "not to end": "no end expected"}
CELL_BY_CELL = ", cell by cell"
CELLS = (
    "The measure of the table above, or why there is none: *needs dense data* as these are sparse; "
    "*no end expected*: by the table of efforts a fit would not end in good time, and `compare` "
    f"leaves the learner out; *N s are expected*, above {MOST:g}, of a core for the nested run; "
    f"*ended after {CUT} core-seconds*; *{NOT_YET}*, though less is expected, as the cheapest came "
    "first and time was up. The two networks with attention were run on a processor, by torch 2.13 "
    "(2.15 on three sets) and torchmil 1.0.2."
)


def _mean(values):
    known = [value for value in values if value is not None]
    return round(float(np.mean(known)), 3) if known else ""


def critical_difference(n_learners, n_sets, level=0.05):
    """How far mean places over some sets must lie apart for two of all learners to differ."""
    spread = studentized_range.ppf(1 - level, n_learners, np.inf) / np.sqrt(2)
    return float(spread * np.sqrt(n_learners * (n_learners + 1) / (6 * n_sets)))


def publish(rows, folder):
    """The docs page: what to take for each kind of label, then the figures behind it."""
    kinds = [one for one in table(rows) if CELL_BY_CELL not in one.title]
    parts = [
        "# Which learner for which labels\n",
        f"{OPENING}\n",
        _bare(map(_answer, kinds)),
        PLAIN,
    ]
    for one in kinds:
        kind, says = one.title.split(": ", 1)
        parts += [f"## {kind.capitalize()}\n", f"{says[0].upper()}{says[1:]}.\n"]
        if kind == "any":
            _draw(_singles(one), folder / "which_learner.png")
            where = f"../benchmarks/results/{folder.name}/which_learner.png"
            parts += [f"![{CAPTION}]({where})\n", f"*{CAPTION}*\n"]
        parts += [_bare(_linked(row) for row in one.rows), f"{one.notes}\n"]
    tested = [row.figures for row in Store(RESULTS / "field.jsonl").latest("assumptions").values()]
    for one in assumptions.table(tested):
        parts += [replace(one, rows=[_linked(row) for row in one.rows]).markdown()]
    PAGE.write_text("\n".join([*parts, MEASURED]))


def _answer(one):
    """A line of the table that the page begins with: whom to try for a kind of label."""
    kind, says = one.title.split(": ", 1)
    singles = _singles(one)
    apart = [row for row in singles if row.get("of instances", "") != ""]
    apart.sort(key=lambda row: -row["of instances"])
    first, inside = (
        ", ".join(_linked(row)["learner"] for row in top[:3]) for top in (singles, apart)
    )
    here = f"[{kind}](#{kind.replace(',', '').replace(' ', '-')})"
    return {"labels": f"{here}: {says}", "try first": first, "to tell instances apart": inside}


def _singles(one):
    return [row for row in one.rows if not row["learner"].startswith(("stack", "best"))]


def _bare(rows):
    """A table without a heading."""
    return Table("", list(rows)).markdown().partition("\n\n")[2]


def _linked(row):
    """A learner as code, which the site links to its reference; a baseline as it is."""
    known = {kind.__name__ for kind in all_learners(installed=False)}
    name = row["learner"]
    return row | {"learner": f"`{name}`" if name in known else name}


CAPTION = (
    "Learners with figures on all but one of the sets or more, named where there is room: how well "
    "they order bags, and what a set cost them. Orange: nobody is both quicker and better."
)


ORANGE, GREY = "#c8571f", "#5d626a"


def _draw(rows, path):
    """Quality against time, of learners that can be compared."""
    n_sets = max(int(row["sets"].partition("/")[2]) for row in rows)
    rows = [row for row in rows if int(row["sets"].partition("/")[0]) >= n_sets - 1]
    time, area = (np.array([row[key] for row in rows]) for key in ("seconds a set", "ROC AUC"))
    best = np.array([not ((time < x) & (area > y)).any() for x, y in zip(time, area)])
    with picture(path, figsize=(8, 6)) as (figure, ax):
        for some, colour, size in ((~best, GREY, 5), (best, ORANGE, 7)):
            ax.plot(time[some], area[some], "o", color=colour, ms=size)
        ax.set(xscale="log", xlabel="seconds a set", ylabel="area under the ROC curve of bags")
        ax.set_xticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
        ax.minorticks_off()
        ax.margins(x=0.15)
        ax.spines[["top", "right"]].set_visible(False)
        figure.canvas.draw()
        places = ax.transData.transform(np.c_[time, area])
        taken = [Bbox.from_bounds(x - 4, y - 4, 8, 8) for x, y in places]
        for k in sorted(range(len(rows)), key=lambda k: (not best[k], -area[k])):
            colour = ORANGE if best[k] else GREY
            _name(ax, rows[k]["learner"], (time[k], area[k]), colour, taken)


def _name(ax, name, point, colour, taken):
    """A point's name where there is room for it, if there is any."""
    for side, beside in (("left", (6, -3)), ("right", (-6, -3))):
        note = ax.annotate(
            name, point, beside, textcoords="offset points", ha=side, color=colour, fontsize=8
        )
        note.set_in_layout(False)
        box = note.get_window_extent()
        inside = box.x1 <= ax.figure.bbox.x1
        if inside and not any(box.overlaps(other) for other in taken):
            taken.append(box)
            return
        note.remove()


OPENING = (
    "Without a reason to do otherwise, take the model that `mixedbag compare` saves. To choose by "
    "hand, begin with these; the tables below say how well each learner does and what it costs, "
    "and [the end of the page](#how-this-was-measured) how that was measured."
)
PLAIN = (
    "Those in plain words are a model of scikit-learn behind a wrapper, which `compare` tries as "
    "well: *bag statistics* are `BagFeatures`, *spread labels, counts, totals* `SpreadLabels` and "
    "*windows* `SlidingWindows`; windows by their *quantiles* are `QuantileWindows`, by *states* "
    "`StateWindows`.\n"
)
MEASURED = (
    "## How this was measured\n\n"
    "This page is written by `python -m benchmarks product/which_learner`.\n\n"
    "- **Nested cross-validation** on five folds, every setting chosen inside the training bags. "
    "(Figures from before 18 November 2026 come from runs of 200 seconds a set with as many folds, "
    "up to ten, as there was time for.)\n"
    "- **Figures are means** over the sets that a learner was run on, so compare rows with the "
    "same number of sets. *Beats* is the share of those run on the same set that a learner is "
    "better than; those with less than half of the sets come last. Mean places are for learners "
    "with figures on all sets, among each other. Seconds are those of a core for the whole nested "
    "run, the compiling of kernels included. Every single cell, or why it has no figure, is in "
    "[the figures](benchmarks/product/which_learner.generated.md).\n"
    "- **Of instances** is for single instances, where their truth is known: the area under the "
    "ROC curve for any and sequence, else accuracy, or R² of totals.\n"
    "- **The stack** and **the best single, chosen inside**, are what `compare` makes of the "
    f"others: of the beginning of its sequence that is expected to take a core {WORK:g} seconds.\n"
    "- **The two networks with attention** were run on a processor, by torch 2.13 (2.15 on "
    "EastWest, WestEast and MUSK1) and torchmil 1.0.2; there was no graphics card.\n"
)
