"""How ambiguous are the bags? The share of samples that have their bag's own label, a problem each.

Bags that a recording is cut into hold one activity nearly always; those of `mixed` are joined of
several. All tables about sequences print the figure of their problems.
"""

import numpy as np

from benchmarks._tables import Table, grouped
from benchmarks.arhmm import (
    development,
    durations,
    figure_5,
    mixed,
    states,
    steepness,
    stream,
    when,
)
from benchmarks.arhmm._series import Series
from mixedbag import Bags
from mixedbag.datasets import load, make_traffic

ACTIVITIES = figure_5.ACTIVITIES["chest"]
TINY = {"event": "cutoff"}


def cases():
    asked = mixed.cases() + states.cases() + durations.cases() + steepness.cases()
    asked += [{"person": development.PERSON, **case} for case in development.cases()]
    joined = [{name: one[name] for name in ("person", "activity", "mixture")} for one in asked]
    return [
        *({"joined": one} for one in joined),
        *({"cut": one} for one in figure_5.problems()),
        *({"whole recording": activity} for activity in stream.ACTIVITIES),
        *({"event": event} for event in when.EVENTS),
    ]


def run(case):
    """The share of such samples, and of bags that hold no others."""
    ((kind, what),) = case.items()
    return shares(*BAGS[kind](what))


def joined(problem):
    bags, y, truth = mixed.joined(problem)
    return bags, y, np.concatenate(truth)


def cut(problem):
    series = Series(problem["data"], problem["activity"], problem["person"])
    return series.bags, series.y, series.truth.ravel()


def whole(activity):
    data, wanted = load("chest").bags_of(200), stream.ACTIVITIES[activity]
    return data.bags, data.y == wanted, data.instance_labels == wanted


def traffic(event):
    data = make_traffic(when.N_BAGS, when.DAYS, event, random_state=when.SEEDS[0])
    return data.bags, data.y == 1, data.instance_labels == 1


BAGS = {"joined": joined, "cut": cut, "whole recording": whole, "event": traffic}


def shares(bags: Bags, y, truth):
    own = truth == bags.spread(y)
    alone = np.logical_and.reduceat(own, bags.offsets[:-1])
    return {"purity": float(own.mean()), "pure": float(alone.mean())}


def table(rows):
    kinds = {kind: [row for row in rows if kind in row] for kind in BAGS}
    lines = [
        {"bags": f"joined, own stretches {mixture}", "of": ACTIVITIES[activity]} | means(mine)
        for (mixture, activity), mine in by(kinds["joined"], "joined", "mixture", "activity")
    ]
    lines += [
        {"bags": f"{data}, cut", "of": figure_5.ACTIVITIES[data][activity]} | means(mine)
        for (data, activity), mine in by(kinds["cut"], "cut", "data", "activity")
    ]
    lines += [
        {"bags": "chest, all people", "of": r["whole recording"]} | means([r])
        for r in kinds["whole recording"]
    ]
    lines += [{"bags": "traffic", "of": row["event"]} | means([row]) for row in kinds["event"]]
    return [Table("Purity of the bags that sequences are learned from", lines, NOTES)]


def by(rows, kind, *names):
    """Rows grouped by what their problem says."""
    return grouped([row | row[kind] for row in rows], *names).items()


def means(rows):
    return {
        "problems": len(rows),
        "samples of their bag's label": f"{np.mean([row['purity'] for row in rows]):.1%}",
        "bags of one label alone": f"{np.mean([row['pure'] for row in rows]):.1%}",
    }


NOTES = (
    "One activity against all others; half of the bags that were joined, and of those with an "
    "event, are positive. joined: `mixed`, and the studies on other activities that settings come "
    "from. cut: stretches of 200 samples as they come (`figure_5`, where bags carry the label of "
    "most of their samples). traffic: `when`."
)
