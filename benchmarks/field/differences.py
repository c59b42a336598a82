"""Where our and printed figures of MI-Forest and mi-Graph part: the cut, the scaling, who chooses.

Ways that choose on the test bags are no figures of a learner: they show what such a choice is
worth.
"""

from dataclasses import replace

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import (
    GridSearchCV,
    ParameterGrid,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
)
from sklearn.preprocessing import MinMaxScaler

from benchmarks._tables import Table, plus_minus
from benchmarks.classics._folds import prepared
from benchmarks.field.systems import SETS, printed
from mixedbag._once import Shelf, sharing
from mixedbag.classics import MIForestClassifier, MIGraphSVC
from mixedbag.datasets import load
from mixedbag.wrappers import SpreadLabels

DRAWS = 10  # each draws ten folds anew
WIDTHS = (0.125, 0.25, 0.5, 1.0, 2.0)  # of gamma, times one by the number of features
GAMMAS = (0.03, 0.1, 0.3, 1.0, 3.0)  # where all features lie between 0 and 1
INNER = StratifiedKFold(3, shuffle=True, random_state=1)
TINY = {"system": "MI-Forest", "way": "cut at one half", "set": "fox"}


def _forest(data):
    return prepared(MIForestClassifier(cooling=0.1, random_state=0), data)


def _first_forest():
    """What the annealing begins with: every instance has its bag's label."""
    forest = RandomForestClassifier(50, max_depth=20, random_state=0)
    return SpreadLabels(forest, rule="any")


def _cut_inside(data):
    return TunedThresholdClassifierCV(
        _forest(data), scoring="accuracy", response_method="decision_function", cv=INNER
    )


def _graph(data, **more):
    """Features standardised on the training bags, settings chosen inside them."""
    grid = {f"migraphsvc__{key}": values for key, values in (PENALTIES | more).items()}
    return GridSearchCV(prepared(MIGraphSVC(), data), grid, cv=INNER)


PENALTIES = {"C": MIGraphSVC._search_space["C"]}
SQUEEZED = PENALTIES | {"gamma": GAMMAS}


def _squeezed(data):
    """Features between 0 and 1, by their range over all bags: the test bags' own as well."""
    rows = MinMaxScaler().fit_transform(data.bags.instances)
    return replace(data, bags=data.bags.with_instances(rows))


def _best_cut(data):
    """Who is positive by the cut that is right most often, a draw at a time."""
    scores = _asked(_forest(data), data, "decision_function")
    truth = data.y == np.unique(data.y)[1]
    cuts = [max(draw, key=lambda cut: np.mean((draw >= cut) == truth)) for draw in scores]
    return scores >= np.array(cuts)[:, None]


def _best_setting(data):
    """Who is positive by the setting that is right most often over all draws."""
    said = [_asked(MIGraphSVC(**one), data) for one in ParameterGrid(SQUEEZED)]
    return max(said, key=lambda answers: np.mean(answers == (data.y == np.unique(data.y)[1])))


# System and way: who is said to be positive, a row a draw.
WAYS = {
    ("MI-Forest", "the first forest alone"): lambda data: _asked(_first_forest(), data),
    ("MI-Forest", "cut at one half"): lambda data: _asked(_forest(data), data),
    ("MI-Forest", "cut chosen inside"): lambda data: _asked(_cut_inside(data), data),
    ("MI-Forest", "cut chosen on the test bags"): _best_cut,
    ("mi-Graph", "C chosen inside"): lambda data: _asked(_graph(data), data),
    ("mi-Graph", "C and gamma chosen inside"): lambda data: _asked(
        _graph(data, gamma=[width / data.bags.n_features for width in WIDTHS]), data
    ),
    ("mi-Graph", "ranges of all bags, C and gamma chosen inside"): lambda data: _asked(
        GridSearchCV(MIGraphSVC(), SQUEEZED, cv=INNER), _squeezed(data)
    ),
    ("mi-Graph", "ranges of all bags, C and gamma chosen on the test bags"): lambda data: (
        _best_setting(_squeezed(data))
    ),
}


def cases():
    names = [name for name in SETS if name != "musk1"]
    return [{"system": s, "way": way, "set": name} for s, way in WAYS for name in names]


def run(case):
    """Accuracy on ten folds of every draw, and the share of bags that are called positive."""
    data = load(case["set"])
    with sharing(Shelf()):  # kernel matrices, among the settings of a machine
        said = WAYS[case["system"], case["way"]](data)
    accuracy = 100 * np.mean(said == (data.y == np.unique(data.y)[1]), axis=1)
    return {"accuracy": list(accuracy), "called": float(np.mean(said))}


def _asked(model, data, method="predict"):
    """Answers about held-out bags, a row a draw of ten folds; of `predict`, who is positive."""
    draws = (StratifiedKFold(10, shuffle=True, random_state=k) for k in range(DRAWS))
    asked = [cross_val_predict(model, data.bags, data.y, cv=cv, method=method) for cv in draws]
    return np.array(asked) == np.unique(data.y)[1] if method == "predict" else np.array(asked)


def table(rows):
    lines = [
        {
            "system": row["system"],
            "way": row["way"],
            "set": row["set"],
            "accuracy, %": plus_minus(np.mean(row["accuracy"]), np.std(row["accuracy"])),
            "draws": len(row["accuracy"]),
            "printed": printed(row["system"])[1][row["set"]],
            "called positive, %": round(100 * row["called"]),
        }
        for row in rows
    ]
    return [Table("Where ours and printed figures part", lines, NOTES)]


NOTES = (
    "Means of draws of ten folds ± their spread; half of the 200 bags are positive, so that the "
    "bags themselves leave any such figure uncertain by 2.5 to 3.5 points. Ways that choose *on "
    "the test bags* are no figures of a learner: they say what such a choice would be worth. "
    "MI-Forest: a bag's score is its best instance's share of trees, and nothing says that one "
    "half is the place to cut it; `compare` settles the cut on held-out bags. Annealing begins "
    "with a forest of the bags' labels (50 ordinary trees of depth 20 here). It gains on Elephant "
    "and Tiger and loses on Fox: there the first forest alone comes near what is printed, and "
    "after our annealing no cut does. mi-Graph: a good part of the gap is scaling. With features "
    "between 0 and 1 by their range over all bags, the test bags' own among them, Tiger comes half "
    "of the way from ours, standardised on the training bags, to what is printed; settings chosen "
    "on the test bags would do most of the rest. This scaling is one of five that were "
    "tried on these very sets, with settings chosen on the test bags, and the first forest was "
    "looked at because annealing had lost: both say where the gap may come from, and are no fair "
    "figures to compare learners by. How the originals scaled, cut and chose we could not look up."
)
