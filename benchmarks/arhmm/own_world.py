"""ARHMM-MIL where its assumptions hold and where they do not: sampled and recorded bags.

The mixed problems of `mixed` once as they were recorded, and once with every series drawn anew
from ARHMMs that were fitted to stretches of known labels (`_own_world`): the same people, labels,
lengths and places, in a world of which ARHMM-MIL's model is true. What windows know by their levels
alone, and without them, is measured beside it.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benchmarks._store import Store, case_key
from benchmarks._tables import RESULTS, Table, grouped
from benchmarks.arhmm import mixed
from benchmarks.arhmm._fixed import ORDER, STATES, on_states
from benchmarks.arhmm._methods import OnWindows, annealed_trees, spread_trees
from benchmarks.arhmm._own_world import World
from benchmarks.arhmm.stretches import LENGTH
from mixedbag import Bags
from mixedbag.sequence import QuantileWindows
from mixedbag.sequence._stretches import best_stretch

MIXTURE = "1 of 4"
SWITCH = 1 / 60  # a stretch has 60 samples on average
WORLDS = ("recorded", "sampled")
LEVELS = ("bags", "samples")
KNOWN = "the world's own parameters"
WITHOUT = "windows without levels, MI-Forest"
FORESTS = (("quantiles, extra trees", spread_trees), ("quantiles, MI-Forest", annealed_trees))
TINY = {"world": "sampled", "activity": 4, "person": "1"}


class OnLevels(OnWindows):
    """Windows described by their means alone."""

    def _describe(self, bags):
        windows = self.windows.transform(bags)
        keep = [name.startswith("mean_") for name in windows.feature_names]
        return Bags(windows.instances[:, keep], windows.offsets)


def methods(world):
    """Fresh learners by name; settings are those of `mixed` and `stretches`."""
    found = {
        "ARHMM-MIL": on_states(stretch=LENGTH),
        "windows' means alone, MI-Forest": OnLevels(annealed_trees, [{}]),
    }
    if world == "sampled":
        found |= {
            name: OnWindows(make, [{}], make_windows=QuantileWindows) for name, make in FORESTS
        }
    else:
        found[WITHOUT] = OnWindows(annealed_trees, [{}], levels=False)
    return found


def cases():
    return [
        {"world": world, "activity": activity, "person": person}
        for person in mixed.PEOPLE
        for activity in mixed.ACTIVITIES
        for world in WORLDS
    ]


def run(case):
    bags, y, truth = mixed.joined({**case, "mixture": MIXTURE})
    found = {}
    if case["world"] == "sampled":
        world = World(bags, truth, STATES // 2, ORDER)
        bags = world.sample(bags, truth, np.random.default_rng(0))
        told = world.posterior(bags, SWITCH)
        scores = best_stretch(told, bags.offsets, LENGTH), told
        found[KNOWN] = areas(y, np.concatenate(truth), *scores)
    folds = list(StratifiedKFold(mixed.N_FOLDS, shuffle=True, random_state=0).split(y, y))
    for name, method in methods(case["world"]).items():
        by_fold = []
        for train, test in folds:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                method.fit(bags[train], y[train], method.settings[0])
                scores = method.scores(bags[test])
            by_fold.append(areas(y[test], np.concatenate([truth[i] for i in test]), *scores))
        found[name] = np.mean(by_fold, axis=0).tolist()
    purity = float(np.mean(np.concatenate(truth) == bags.spread(y)))
    return {"areas": found, "purity": purity}


def areas(y, truth, by_bags, by_samples):
    return [float(roc_auc_score(y, by_bags)), float(roc_auc_score(truth, by_samples))]


def table(rows):
    rows = with_forests(rows)
    by_world = {world: mine for (world,), mine in grouped(rows, "world").items()}
    names = list(dict.fromkeys(name for row in rows for name in row["areas"]))
    lines = [{"method": name} | figures(by_world, name) for name in names]
    apart = [
        {"activity": mixed.ACTIVITIES[activity], "world": world, "people": len(mine)}
        | {name: mean(mine, name, 0) for name in names if name in mine[0]["areas"]}
        for (activity, world), mine in grouped(rows, "activity", "world").items()
    ]
    return [
        Table("Area under the curve", lines, notes(by_world)),
        Table("Bags, by activity", apart),
    ]


def with_forests(rows):
    """The rows; those of recorded bags with the forests of `mixed`, on the same folds."""
    latest = Store(RESULTS / "arhmm.jsonl").latest("mixed")
    found = []
    for row in rows:
        if row["world"] == "recorded":
            same = {key: row[key] for key in ("person", "activity")} | {"mixture": MIXTURE}
            known = latest[case_key(same)].result
            forests = {name: [known[level][name] for level in mixed.LEVELS] for name, _ in FORESTS}
            row = row | {"areas": row["areas"] | forests}
        found.append(row)
    return found


def figures(by_world, name):
    """Means in both worlds, and for how many people ARHMM-MIL is better by bags."""
    found = {}
    for world, mine in by_world.items():
        if name not in mine[0]["areas"]:
            continue
        for k, level in enumerate(LEVELS):
            found[f"{world}: {level}"] = mean(mine, name, k)
        gains = [
            np.mean([row["areas"]["ARHMM-MIL"][0] - row["areas"][name][0] for row in one])
            for one in grouped(mine, "person").values()
        ]
        found[f"{world}: ARHMM-MIL better for"] = f"{sum(g > 0 for g in gains)} of {len(gains)}"
    return found


def mean(rows, name, level):
    return float(np.mean([row["areas"][name][level] for row in rows]))


def notes(by_world):
    purity = np.mean([row["purity"] for mine in by_world.values() for row in mine])
    problems = ", ".join(f"{len(mine)} {world}" for world, mine in by_world.items())
    return NOTES.format(purity=purity, problems=problems)


NOTES = (
    "Mean areas under the curve over problems ({problems}), three folds each; a positive bag has "
    f"{MIXTURE} stretches of the activity, purity {{purity:.0%}}. sampled: every series is drawn "
    f"from two ARHMMs of {STATES // 2} states and order {ORDER}, one fitted to the recorded "
    "stretches of the activity and one to those of the others, with the labels of the recorded "
    f"bags; ARHMM-MIL has {STATES} states and order {ORDER}, so that its model is true there. "
    f"'{KNOWN}': these two models, known, tell every sample; nobody can do much better. Bags by "
    f"ARHMM-MIL and by that are judged by their best {LENGTH} samples in a row."
)
