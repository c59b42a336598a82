"""What decides how wide rates are of groups that bags have not shown, on development tables alone.

With fewer bags than features a group may be set apart by what no bag has shown. Its log-odds are
shifted by a further standard deviation of a constant times the share outside of the bags' span,
over a power of how many times as far as by chance bags lie. All forms are judged on the same models
of the same draws of bags; that whose coverage is nearest to 95 % in the mean over all tables is
taken. None of these tables is a reported one of `coverage`.
"""

import itertools
from unittest.mock import patch

import numpy as np

from benchmarks._tables import Table, grouped
from benchmarks.counts._wide_tables import TABLES, wide
from benchmarks.counts.coverage import DRAWS, _inside, _quarters
from mixedbag import _laws
from mixedbag.aggregate import AggregateLogisticRegression
from mixedbag.uncertainty import bootstrap, posterior

OURS = "2.5 / spread²"
FORMS = {  # constant, power of spread
    "none": (0.0, 0.0),
    "1.5 / spread": (1.5, 1.0),
    OURS: (2.5, 2.0),
    "2.5 / spread³": (2.5, 3.0),
    "3.5 / spread³": (3.5, 3.0),
    "2.5 / spread⁴": (2.5, 4.0),
    "3.5 / spread⁴": (3.5, 4.0),
    "5 / spread⁴": (5.0, 4.0),
}
GROUPS = 80  # of a table
TINY = {"data": "wine", "kind": "uneven 8, wide", "way": "posterior", "groups": 8}


def cases():
    return [
        {"data": name, "kind": kind, "way": way}
        for way in DRAWS
        for kind, names in TABLES.items()
        for name in names
        if way == "posterior" or kind.startswith("uneven")
    ]


def run(case):
    hits: dict = {name: [] for name in FORMS}
    widths: dict = {name: [] for name in FORMS}
    spreads = []
    for seed in itertools.count():
        if len(hits[OURS]) >= case.get("groups", GROUPS):
            break
        bags, y, value = wide(case["data"], case["kind"], seed)
        seen = np.random.default_rng(seed).permutation(len(bags)) % 2 == 0
        learner = AggregateLogisticRegression().fit(bags[seen], y[seen])
        settings = {"n_draws": DRAWS[case["way"]], "random_state": seed}
        plausible = {"posterior": posterior, "bootstrap": bootstrap}[case["way"]]
        models = plausible(learner, bags[seen], y[seen], **settings)
        spreads.append(models.spread)
        there = bags.spread(~seen)
        group = _quarters(bags.instances, value, slice(None), there)
        for name, form in FORMS.items():
            with as_if(*form):
                told = models.rates(bags[~seen], group[there], learned_groups=group[~there])
            truth = np.array([value[there & (group == one)].mean() for one in told.names])
            hits[name] += _inside(told, truth)
            widths[name] += (told.high - told.low).tolist()
    return {
        **{f"{name}, % covered": 100 * np.mean(hit) for name, hit in hits.items()},
        **{f"{name}, mean width": np.mean(width) for name, width in widths.items()},
        "times chance": np.mean(spreads),
        "groups": len(hits[OURS]),
    }


def as_if(constant, power):
    """Another constant, over another power of how many times as far as by chance bags lie."""
    return patch.object(
        _laws.Chances, "untold", lambda law, spread: constant / max(spread, 1.0) ** power
    )


def table(rows):
    together = []
    for (kind, way), some in {("all", "all"): rows, **_kinds_and_ways(rows)}.items():
        for name in FORMS:
            covered = np.array([row[f"{name}, % covered"] for row in some])
            together.append(
                {
                    "bags": kind,
                    "way": way,
                    "shift": name,
                    "mean, % covered": covered.mean(),
                    "mean distance from 95": np.abs(covered - 95).mean(),
                    "tables": len(some),
                    "below 90": int((covered < 90).sum()),
                    "above 98": int((covered > 98).sum()),
                    "mean width": np.mean([row[f"{name}, mean width"] for row in some]),
                }
            )
    columns = ("data", "kind", "way", *(f"{name}, % covered" for name in FORMS))
    columns += ("times chance", "groups")
    return [
        Table(
            "The further shift, over all tables",
            together,
            "The shift is this many log-odds times the share outside of the span of bags; spread: "
            f'"times chance", where above one. Taken: {OURS}.',
        ),
        Table("Each table", [{name: row[name] for name in columns} for row in rows]),
    ]


def _kinds_and_ways(rows):
    named = [{**row, "bags": row["kind"].split()[0]} for row in rows]
    return grouped(named, "bags", "way")
