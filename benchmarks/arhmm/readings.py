"""What is lost between series and answer: by the description of series, and by labels of bags.

On the mixed problems, series are described by states of ten ARHMMs or by quantiles of windows, and
what a description says about labels is learned from labels of bags or, which nobody has in earnest,
from the label of every training sample. The last are upper bounds, of a kind: what a description
could tell if labels of bags cost nothing.
"""

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benchmarks._store import Store, case_key
from benchmarks._tables import RESULTS, Table
from benchmarks.arhmm import mixed
from benchmarks.arhmm import states as study
from benchmarks.arhmm._averaged import FIGURES, mean
from benchmarks.arhmm._fixed import ORDER, STATES
from benchmarks.arhmm._purity import of_joined
from benchmarks.arhmm.stretches import LENGTH
from mixedbag import Bags
from mixedbag._segments import bag_max
from mixedbag.sequence import QuantileWindows, SlidingWindows, StateWindows
from mixedbag.sequence._stretches import best_stretch

TOLD_STATES = "states, a forest, labels of samples"
TOLD_NUMBERS = "states, a number a state, labels of samples"
TOLD_QUANTILES = "quantiles, a forest, labels of samples"
OF_STATES = "states, MI-Forest, labels of bags"
OF_NUMBERS = "states, a number a state, labels of bags (ARHMM-MIL, mean of ten)"
OF_QUANTILES = "quantiles, MI-Forest, labels of bags"
LOSSES = (
    ("labels of bags, states read by a forest", TOLD_STATES, OF_STATES),
    ("labels of bags, quantiles read by a forest", TOLD_QUANTILES, OF_QUANTILES),
    ("labels of bags, a number a state", TOLD_NUMBERS, OF_NUMBERS),
    ("a number a state in place of a forest, labels of samples", TOLD_STATES, TOLD_NUMBERS),
    ("a number a state in place of a forest, labels of bags", OF_STATES, OF_NUMBERS),
    ("quantiles in place of states, labels of samples", TOLD_STATES, TOLD_QUANTILES),
    ("quantiles in place of states, labels of bags", OF_STATES, OF_QUANTILES),
)
TINY = mixed.TINY


def cases():
    return mixed.cases()


def run(case):
    """Areas by bags and by samples of what is told the label of every training sample."""
    bags, y, truth = mixed.joined(case)
    found = {}
    for train, test in StratifiedKFold(mixed.N_FOLDS, shuffle=True, random_state=0).split(y, y):
        own = Bags.from_list([truth[i][:, None].astype(float) for i in train])
        windows = StateWindows(LENGTH, n_states=STATES, order=ORDER, random_state=0)
        parts = bags[train], own, bags[test]
        scores = {
            TOLD_STATES: by_forest(windows.fit(bags[train]), *parts),
            TOLD_NUMBERS: by_numbers(windows, *parts),
            TOLD_QUANTILES: by_forest(QuantileWindows().fit(bags[train]), *parts),
        }
        samples = np.concatenate([truth[i] for i in test])
        for name, (by_bags, by_samples) in scores.items():
            areas = roc_auc_score(y[test], by_bags), roc_auc_score(samples, by_samples)
            found.setdefault(name, []).append(areas)
    return {"areas": {n: dict(zip(FIGURES, np.mean(a, axis=0).tolist())) for n, a in found.items()}}


def by_forest(windows, train, own, test):
    """QUANT's forest of windows, each with the label of most of its samples."""
    share = SlidingWindows(windows.size, n_frequencies=0).fit_transform(own).instances[:, 0]
    forest = ExtraTreesClassifier(200, criterion="entropy", max_features=0.1, random_state=0)
    forest.fit(windows.transform(train).instances, share > 0.5)
    seen = windows.transform(test)
    positive = forest.predict_proba(seen.instances)[:, 1]
    return bag_max(positive, seen.offsets), windows.to_samples(test, positive)


def by_numbers(windows, train, own, test):
    """Each state has the share of positive samples in its time, as θ in ARHMM-MIL."""
    time = windows._series(train)
    theta = (own.instances.T @ time)[0] / np.maximum(time.sum(axis=0), 1e-12)
    positive = windows._series(test) @ theta / len(windows.models_)
    return best_stretch(positive, test.offsets, LENGTH), positive


def table(rows):
    rows = beside_bags(rows)
    lines = [
        {"description, reading, labels": name} | {f: mean(rows, name, f) for f in FIGURES}
        for name in rows[0]["areas"]
    ]
    losses = [
        {"what costs": what} | {f: study.ahead(rows, better, f, worse) for f in FIGURES}
        for what, better, worse in LOSSES
    ]
    return [
        Table(f"Area under the curve, {len(rows)} problems, purity {of_joined(rows)}", lines),
        Table(f"What is lost, purity {of_joined(rows)}", losses, NOTES),
    ]


def beside_bags(rows):
    """The problems with the areas of those that are told labels of bags."""
    store = Store(RESULTS / "arhmm.jsonl")
    states, several, others = map(store.latest, ("states", "several", "mixed"))
    found = []
    for row in rows:
        problem = {key: row[key] for key in ("person", "activity", "mixture")}
        key = case_key(problem)
        forest = [others[key].result[level][study.RIVAL] for level in mixed.LEVELS]
        of_bags = {
            OF_STATES: states[key].result["areas"][study.NAME],
            OF_NUMBERS: several[key].result,
            OF_QUANTILES: dict(zip(FIGURES, forest)),
        }
        found.append(problem | {"areas": row["areas"] | of_bags})
    return found


NOTES = (
    f"The problems and folds of `mixed`. States: {STATES} a model, ten models, shares of time in "
    f"windows of {LENGTH} samples (`StateWindows`); quantiles: of windows of 50. A "
    "forest that is told labels of samples is QUANT's, of windows with the label of most of their "
    "samples; a bag has the score of its best window. A number a state: the share of positive "
    f"samples in the state's time, averaged over models; a bag has the score of its best {LENGTH} "
    "samples in a row. ARHMM-MIL's states are climbed to with labels of bags, the others "
    "without. Mean difference over people ± half width of its 95 % interval (t, six people), then "
    "for how many it is above zero.\n\n"
    "**What it shows.** Told every label, states and quantiles tell bags alike, and states tell "
    "samples better: the model's view of the series is no worse than a forest's, and no method "
    "here is above that line by bags. Labels of bags in place of samples cost every reading, and "
    "one number a state in place of a forest costs about as much again. ARHMM-MIL pays both, "
    "MI-Forest on quantiles one, and that is why ARHMM-MIL is second by bags: told every label, "
    "one number a state would be ahead of that forest by half of what labels of bags cost it. "
    "MI-Forest on states pays once, too, from the description that tells samples better, and is "
    "first. What is left for any method is the price of labels of bags."
)
