"""How often 95 % intervals hold the truth, on made and on real data whose instances are known.

Made: values that are logistic, Poisson or linear in two features, in places that differ. Real: rows
of the reported tables in bags, drawn until so many groups are judged that the coverage of a single
table is known to about 1.5 points. A random half of the bags is learned from; the truth is what is
found in the other half: totals of bags, and rates in quarters of their instances by the most
telling feature. What was changed was decided on made data and on development tables, which are told
apart; "few" bags of them are fewer than features, and for these there are more tables.

The feature is chosen on both halves. "Picked" are rates by the feature that tells most in the half
that is asked about: of many features, that is the one which happens to tell more there than
anywhere else, and an interval that has not seen the truth cannot know.
"""

import itertools

import numpy as np

from benchmarks._tables import Table, grouped
from benchmarks.counts._few_bags import TABLES, rows_of
from benchmarks.counts._problems import counts_of, in_bags, rows
from mixedbag import Bags
from mixedbag.aggregate import (
    AggregateLogisticRegression,
    AggregatePoissonRegressor,
    AggregateRidgeRegressor,
)
from mixedbag.uncertainty import bootstrap, posterior

MADE = ("logistic", "poisson", "ridge")
REAL = ("breast-cancer-wisconsin", "ionosphere", "german", "spambase")
DECIDED = ("cancer", "digits", "moons", "cmc")  # on these, for draws of weights
KINDS = ("random 8", "uneven 16")  # instances of an uneven bag have more in common than features
FEW = "few 8"  # random bags, 22 to learn from, of at least 32 features
GROUPS = 240
DRAWS = {"bootstrap": 60, "posterior": 200}
TINY = {"data": "logistic", "way": "posterior", "groups": 8}


def cases():
    return [
        *({"data": name, "way": way} for name in MADE for way in DRAWS),
        *(
            {"data": name, "kind": kind, "way": way}
            for name in REAL
            for kind in KINDS
            for way in DRAWS
        ),
        *(
            {"data": name, "kind": kind, "way": "posterior"}
            for name in DECIDED
            for kind in (*KINDS, FEW)
        ),
        *({"data": name, "kind": FEW, "way": "posterior"} for name in TABLES),
    ]


def run(case):
    hits: dict = {"rates": [], "picked": [], "expected": [], "totals": []}
    by_draw, spreads, widths = [], [], []
    made = case["data"] in MADE
    for seed in itertools.count():
        if len(hits["rates"]) >= case.get("groups", GROUPS):
            break
        bags, y, value, chance = _made(case["data"], seed) if made else _real(case, seed)
        learner = {
            "poisson": AggregatePoissonRegressor(),
            "ridge": AggregateRidgeRegressor(),
        }.get(case["data"], AggregateLogisticRegression())
        # At random: uneven bags are made one after the other until a class runs out.
        seen = np.random.default_rng(seed).permutation(len(bags)) % 2 == 0
        settings = {"n_draws": DRAWS[case["way"]], "random_state": seed}
        if case["way"] == "posterior":
            model = learner.fit(bags[seen], y[seen])
            models = posterior(model, bags[seen], y[seen], **settings)
        else:
            models = bootstrap(learner, bags[seen], y[seen], **settings)
        spreads.append(models.spread)
        new, there = bags[~seen], bags.spread(~seen)
        for by, some in (("rates", slice(None)), ("picked", there)):
            group = _quarters(bags.instances, value, some, there)
            told = models.rates(new, group[there], learned_groups=group[~there])
            truth = np.array([value[there & (group == name)].mean() for name in told.names])
            inside = _inside(told, truth)
            hits[by] += inside
            if by == "rates":
                by_draw.append(inside)
                widths += (told.high - told.low).tolist()
        hits["totals"] += _inside(models.totals(new), y[~seen])
        if chance is not None:
            hits["expected"] += _inside(models.instances(new), chance[there])
    covered = {f"{name}, % covered": 100 * np.mean(hit) for name, hit in hits.items() if hit}
    if case["data"] != "ridge":
        covered["times chance"] = np.mean(spreads)
    return {
        **covered,
        "groups": len(hits["rates"]),
        "± (standard error)": 100 * _error(by_draw),
        "mean width of rates": np.mean(widths),
    }


def _error(by_draw):
    """Standard error of a share; groups of one draw are right or wrong together."""
    share = np.mean(np.concatenate(by_draw))
    return np.sqrt(sum((np.sum(some) - share * len(some)) ** 2 for some in by_draw)) / sum(
        map(len, by_draw)
    )


def _inside(told, truth):
    return ((told.low <= truth + 1e-12) & (truth <= told.high + 1e-12)).tolist()


def _made(name, seed, n_bags=200, size=10):
    rng = np.random.default_rng(seed)
    place = np.repeat(rng.normal(size=(n_bags, 2)), size, axis=0)
    X = rng.normal(size=(n_bags * size, 2)) + 0.7 * place
    z = 1.2 * X[:, 0] - 0.6 * X[:, 1] - 0.3
    bags = Bags(X, np.arange(0, len(X) + 1, size))
    if name == "logistic":
        chance = 1 / (1 + np.exp(-z))
        value = (rng.random(len(z)) < chance).astype(int)
    elif name == "poisson":
        chance = np.exp(0.5 * z)
        value = rng.poisson(chance)
    else:
        chance = z
        value = z + rng.normal(size=len(z))
    return bags, counts_of(bags, value), value, chance


def _real(case, seed):
    X, label = (rows_of if case["data"] in TABLES else rows)(case["data"], seed)
    kind = case["kind"]
    if kind == FEW:
        # Rows come in random order; what is missing of the features is noise.
        noise = np.random.default_rng(seed).normal(size=(len(X), max(0, 32 - X.shape[1])))
        X, label, kind = np.hstack([X, noise])[:352], label[:352], "random 8"
    bags, label = in_bags(X, label, kind, seed)
    return bags, counts_of(bags, label), label, None


def _quarters(X, value, chosen_on, there):
    """Four groups by the feature that tells most on some rows: quarters of those asked about."""
    some, told = X[chosen_on], value[chosen_on]
    telling = np.abs((some - some.mean(axis=0)).T @ (told - told.mean())).argmax()
    return np.digitize(X[:, telling], np.quantile(X[there, telling], [0.25, 0.5, 0.75]))


def table(rows):
    decided = [row for row in rows if row["data"] in (*DECIDED, *TABLES)]
    rows = [row for row in rows if row not in decided]
    real = [row for row in rows if row.get("kind")]
    together = [
        {
            "way": way,
            "kind": kind[0] if kind else "all",
            "rates, % covered": np.average(
                [row["rates, % covered"] for row in some], weights=[row["groups"] for row in some]
            ),
            "groups": sum(row["groups"] for row in some),
        }
        for by in (("way",), ("way", "kind"))
        for (way, *kind), some in grouped(real, *by).items()
    ]
    return [
        Table(
            "Coverage of 95 % intervals",
            rows,
            "Of bags that were not learned from. rates: found in quarters of the instances; "
            "picked: the same by the feature that tells most in these bags, chosen by the truth; "
            "totals: of bags; expected: an instance's own probability or mean. Target: 90 to 98. "
            "times chance: how far bags lie from what is expected of them; above 1.25, they differ "
            "in something that no feature tells, and `rates` warns that intervals may not cover.",
        ),
        *([Table("All real tables together", together)] if together else []),
        *([Table("Development tables", decided)] if decided else []),
    ]
