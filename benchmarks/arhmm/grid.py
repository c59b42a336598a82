"""The mixed problems over orders, states and windows: what fixing the settings cost each side."""

import warnings
from itertools import product

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benchmarks._tables import Table, grouped
from benchmarks.arhmm import mixed
from benchmarks.arhmm._fixed import on_states
from benchmarks.arhmm._methods import OnWindows, annealed_trees
from benchmarks.arhmm.stretches import LENGTH
from mixedbag.sequence import QuantileWindows

MIXTURE = "1 of 4"
ORDERS, STATES = (0, 3, 5, 7), (5, 10, 15)  # the paper's, and order 0
WINDOWS = (25, 50, 100)
TINY = {"method": "ARHMM-MIL", "order": 0, "states": 5, "activity": 4, "person": "1"}


def cases():
    settings = [{"method": "ARHMM-MIL", "order": p, "states": k} for p in ORDERS for k in STATES]
    settings += [{"method": "quantiles, MI-Forest", "window": size} for size in WINDOWS]
    problems = [
        {"activity": activity, "person": person}
        for activity, person in product(mixed.ACTIVITIES, mixed.PEOPLE)
    ]
    return [setting | problem for problem in problems for setting in settings]


def run(case):
    bags, y, truth = mixed.joined({**case, "mixture": MIXTURE})
    method = method_of(case)
    areas = []
    for train, test in StratifiedKFold(mixed.N_FOLDS, shuffle=True, random_state=0).split(y, y):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            method.fit(bags[train], y[train], method.settings[0])
            by_bags, by_samples = method.scores(bags[test])
        samples = np.concatenate([truth[i] for i in test])
        areas.append([roc_auc_score(y[test], by_bags), roc_auc_score(samples, by_samples)])
    bag_area, sample_area = map(float, np.mean(areas, axis=0))
    purity = float(np.mean(np.concatenate(truth) == bags.spread(y)))
    return {"bags": bag_area, "samples": sample_area, "purity": purity}


def method_of(case):
    if "window" in case:
        windows = OnWindows(annealed_trees, [{}], make_windows=QuantileWindows)
        windows.settings = [{"size": case["window"]}]
        return windows
    return on_states(
        order=case["order"], n_states=case["states"], level=float(case["order"] > 0), stretch=LENGTH
    )


def table(rows):
    lines = []
    for (name,), mine in by_setting(rows).items():
        line = {"method": name}
        for (activity,), some in grouped(mine, "activity").items():
            what = mixed.ACTIVITIES[activity]
            line[f"{what}: people"] = len(some)
            line[f"{what}: bags"] = float(np.mean([row["bags"] for row in some]))
            line[f"{what}: samples"] = float(np.mean([row["samples"] for row in some]))
        lines.append(line | {"purity": f"{np.mean([row['purity'] for row in mine]):.0%}"})
    return [Table(f"Mean areas under the curve, {MIXTURE} stretches", lines, NOTES)]


def by_setting(rows):
    return grouped([row | {"setting": setting(row)} for row in rows], "setting")


def setting(row):
    if "window" in row:
        return f"{row['method']}, windows of {row['window']}"
    return f"{row['method']}, order {row['order']}, {row['states']} states"


NOTES = (
    "The problems and folds of `mixed`. ARHMM-MIL with the states' own levels (`level=1`; order 0 "
    f"is levels alone) and judged by its best {LENGTH} samples in a row. Nothing is chosen: every "
    "line is one setting on all problems that have been run, so compare lines of as many people. "
    "A best line picked here would be picked on test folds."
)
