"""What decides how wide rates are of groups that bags have not shown, on development tables alone.

With fewer bags than features a group may be set apart by what no bag has shown; before bags are
asked, its rate is taken to be shifted by a standard deviation of so many log-odds times the share
that lies outside of the bags' span. The same models of the same tables are judged with different
constants, and with a shift that is added to what bags tell and not part of it ("added").

"few 8" and "few uneven 16" are 352 rows of at least 32 features, in 44 random or 22 uneven bags, of
which half are learned from; "wide uneven 16" are 1000 rows of at least 48, in 62 uneven bags.
"""

import itertools
from unittest.mock import patch

import numpy as np

from benchmarks._tables import Table, grouped
from benchmarks.counts._few_bags import TABLES, few
from benchmarks.counts.coverage import DECIDED, DRAWS, inside, quarters
from mixedbag import _group_effects
from mixedbag.aggregate import AggregateLogisticRegression
from mixedbag.uncertainty import bootstrap, posterior

CONSTANTS = (0.0, 1.0, 1.5, 2.0)
KINDS = ("few 8", "few uneven 16", "wide uneven 16")
WAYS = {"few 8": ("posterior",), "few uneven 16": tuple(DRAWS), "wide uneven 16": ("posterior",)}
GROUPS = 48
TINY = {"data": "iris", "kind": "few uneven 16", "way": "posterior", "groups": 4}


class Added(_group_effects.GroupEffects):
    """A shift that no bag is asked about, beside those that bags tell."""

    def __init__(self, model, left, codes, n_groups, outside):
        super().__init__(model, left, codes, n_groups)
        self.untold = _group_effects._ANYTHING * outside

    def drawn(self, model, rng):
        return super().drawn(model, rng) + self.untold * rng.normal(size=self.n_groups)


def cases():
    return [
        {"data": name, "kind": kind, "way": way}
        for kind in KINDS
        for way in WAYS[kind]
        for name in (*DECIDED, *TABLES)
    ]


def ways_to_judge():
    """What to put in the place of what, by name."""
    constants = {f"{k:g}": patch.object(_group_effects, "_ANYTHING", k) for k in CONSTANTS}
    return constants | {"1.5 added": patch.object(_group_effects, "GroupEffects", Added)}


def run(case):
    hits: dict = {name: [] for name in ways_to_judge()}
    widths: dict = {name: [] for name in hits}
    for seed in itertools.count():
        if len(hits["0"]) >= case.get("groups", GROUPS):
            break
        bags, y, value = few(case["data"], case["kind"], seed)
        seen = np.random.default_rng(seed).permutation(len(bags)) % 2 == 0
        learner = AggregateLogisticRegression().fit(bags[seen], y[seen])
        settings = {"n_draws": DRAWS[case["way"]], "random_state": seed}
        plausible = {"posterior": posterior, "bootstrap": bootstrap}[case["way"]]
        models = plausible(learner, bags[seen], y[seen], **settings)
        there = bags.spread(~seen)
        group = quarters(bags.instances, value, slice(None), there)
        for name, replaced in ways_to_judge().items():
            with replaced:
                told = models.rates(bags[~seen], group[there], learned_groups=group[~there])
            truth = np.array([value[there & (group == one)].mean() for one in told.names])
            hits[name] += inside(told, truth)
            widths[name] += (told.high - told.low).tolist()
    return {
        **{f"{name}, % covered": 100 * np.mean(hit) for name, hit in hits.items()},
        **{f"{name}, mean width": np.mean(width) for name, width in widths.items()},
        "groups": len(hits["0"]),
    }


def table(rows):
    names = list(ways_to_judge())
    together = []
    for (kind, way), some in {("all", ""): rows, **grouped(rows, "kind", "way")}.items():
        for name in names:
            covered = np.array([row[f"{name}, % covered"] for row in some])
            together.append(
                {
                    "kind": kind,
                    "way": way,
                    "constant": name,
                    "mean, % covered": covered.mean(),
                    "mean distance from 95": np.abs(covered - 95).mean(),
                    "tables below 90": int((covered < 90).sum()),
                    "tables above 98": int((covered > 98).sum()),
                    "mean width": np.mean([row[f"{name}, mean width"] for row in some]),
                }
            )
    columns = ("data", "kind", "way", *(f"{name}, % covered" for name in names), "groups")
    return [
        Table("Constants, over all development tables of few bags", together),
        Table("Each table", [{name: row[name] for name in columns} for row in rows]),
    ]
