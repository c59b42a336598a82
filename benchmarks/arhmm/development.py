"""Where settings of `stretches` were chosen, and what else was tried to help ARHMM-MIL.

Bags mixed as in `mixed`, of activities that it does not ask for (sitting at a computer, talking
while standing), of one person. Nothing here is a result about methods: it is where they were made.
"""

import numpy as np
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._tables import Table
from benchmarks.arhmm._fixed import ORDER, STATES
from benchmarks.arhmm._methods import annealed_trees
from benchmarks.arhmm._purity import of_joined
from benchmarks.arhmm.mixed import MIXTURES, N_FOLDS, joined
from mixedbag import Bags
from mixedbag.sequence import ARHMMClassifier, QuantileWindows
from mixedbag.wrappers import InstanceWise

PERSON = "1"
LENGTHS = (10, 25, 40)
SEVERAL = 10  # starts
COMPONENTS, FEW = 6, 4  # of windows; states over a forest's scores
TINY = {"activity": 1, "mixture": "2 of 4"}


def cases():
    return [{"activity": a, "mixture": mixture} for mixture in MIXTURES for a in (1, 7)]


def run(case):
    bags, y, truth = joined({"person": PERSON, **case})
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    found, gains = {}, []
    for train, test in folds.split(y, y):
        samples = np.concatenate([truth[i] for i in test])
        parts = bags[train], y[train], bags[test]
        model = states(level=1.0).fit(*parts[:2])
        fewer = states(STATES // 2, level=1.0).fit(*parts[:2])
        gains.append((model.objective_[-1] - fewer.objective_[-1]) / len(train))
        scores = {"states": [*of_samples(model, parts[2])], **over_windows(*parts)}
        for length in LENGTHS:
            judged = model.set_params(stretch=length)
            scores[f"states, stretch {length}"] = [*of_samples(judged, parts[2])]
        for name, several in (("highest", {"n_init": SEVERAL}), ("mean", {"n_models": SEVERAL})):
            judged = states(level=1.0).set_params(stretch=25, **several).fit(*parts[:2])
            scores[f"states, stretch 25, {name} of {SEVERAL}"] = [*of_samples(judged, parts[2])]
        for name, (by_bags, by_samples) in scores.items():
            areas = roc_auc_score(y[test], by_bags), roc_auc_score(samples, by_samples)
            found.setdefault(name, []).append(areas)
    means = {name: np.mean(areas, axis=0).tolist() for name, areas in found.items()}
    return {"areas": means, "nats a bag": float(np.mean(gains))}


def states(n_states=STATES, order=ORDER, level=0.0):
    return ARHMMClassifier(n_states, order=order, level=level, max_iter=6, n_init=1, random_state=0)


def of_samples(model, bags):
    return model.decision_function(bags), model.decision_function_instances(bags)


def over_windows(train, y, test):
    """The forest; states over principal components; states over scores of forests left out."""
    windows = QuantileWindows().fit(train)
    a, b = windows.transform(train), windows.transform(test)
    forest = annealed_trees().fit(a, y)
    few = make_pipeline(
        InstanceWise(StandardScaler()), InstanceWise(PCA(COMPONENTS, random_state=0))
    )
    components = states(order=0).fit(few.fit_transform(a), y)
    out = np.empty(a.n_instances)
    for rest, left in StratifiedKFold(N_FOLDS, shuffle=True, random_state=1).split(y, y):
        other = annealed_trees().fit(a[rest], y[rest])
        out[np.isin(a.bag_of, left)] = other.decision_function_instances(a[left])
    chain = states(FEW, order=0).fit(Bags(out[:, None], a.offsets), y)
    told = forest.decision_function_instances(b)
    found = {
        "forest on quantile windows": (forest.decision_function(b), told),
        "states over components of windows": of_samples(components, few.transform(b)),
        "states over the forest's scores": of_samples(chain, Bags(told[:, None], b.offsets)),
    }
    return {
        name: (by_bags, windows.to_samples(test, scores))
        for name, (by_bags, scores) in found.items()
    }


def table(rows):
    several = [row for row in rows if any(f"of {SEVERAL}" in name for name in row["areas"])]
    names = [name for name in rows[0]["areas"] if all(name in row["areas"] for row in rows)]
    return [
        Table(f"Development problems, purity {pure(rows)}", lines(rows, names), notes(rows)),
        Table(
            f"Several starts, {len(several)} of the problems, purity {pure(several)}",
            lines(several, several[0]["areas"]) if several else [],
            f"highest of {SEVERAL}: the start of the largest density goes on (`n_init`); mean of "
            f"{SEVERAL}: all of them do, and their probabilities are averaged (`n_models`).",
        ),
    ]


def pure(rows):
    return of_joined(rows, person=PERSON)


def lines(rows, names):
    return [
        {"method": name}
        | dict(zip(("bags", "samples"), np.mean([r["areas"][name] for r in rows], axis=0).tolist()))
        for name in names
    ]


def notes(rows):
    gain = np.mean([row["nats a bag"] for row in rows])
    return (
        f"Mean areas under the curve. states: ARHMM-MIL of order {ORDER}, {STATES} states with "
        f"levels, on samples. components: order 0 on {COMPONENTS} principal components of "
        f"standardised quantile windows. forest's scores: {FEW} states on the scores that forests "
        "give to bags left out of them. Twice the states raise the objective of the model on "
        f"samples by {gain:.0f} nats a bag; all labels together could raise it by log 2 = 0.7 a "
        "bag, half of the bags being positive."
    )
