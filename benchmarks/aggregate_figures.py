"""Figures 1–8 of the aggregate-outputs paper: every learner against its control, cell by cell.

Six data sets × bag sizes 2, 5, 10, 20 × 0 to 2000 swapped pairs × five folds. Bags are built from
the training part of each fold; squared error or accuracy is measured on single rows of the test
part. The control fits the same method to single rows that carry the mean of their bag.

    python -m benchmarks aggregate_figures            all figures; finished ones are kept
    python -m benchmarks.aggregate_figures 3 4        compute these figures anew
    python -m benchmarks.aggregate_figures --draw     redraw all figures from the stored numbers
"""

import argparse
import json
import time
import warnings

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.common import RESULTS, Table, published
from mixedbag.aggregate import (
    AggregateKNeighborsClassifier,
    AggregateKNeighborsRegressor,
    AggregateMLPClassifier,
    AggregateRBFRegressor,
    AggregateSVC,
    AggregateSVR,
    AggregateTreeClassifier,
    AggregateTreeRegressor,
)
from mixedbag.datasets import aggregate, load

SIZES = (2, 5, 10, 20)
RANDOMNESS = (0, 25, 50, 100, 200, 500, 2000)
DATA = {
    "regression": ("auto-mpg", "housing", "cpu-small"),
    "classification": ("breast-cancer-wisconsin", "dermatology", "ionosphere"),
}
PARTS = RESULTS / "aggregate_figures"

# Settings are the same for all cells of a figure and were fixed before the first run.
FIGURES = {
    1: ("k-nearest neighbours", "regression", AggregateKNeighborsRegressor(5)),
    2: ("k-nearest neighbours", "classification", AggregateKNeighborsClassifier(5)),
    3: ("RBF network", "regression", AggregateRBFRegressor(12, random_state=0)),
    4: (
        "neural network",
        "classification",
        AggregateMLPClassifier(12, loss="squared", alpha=0.1, random_state=0),
    ),
    5: ("support vector machine", "regression", AggregateSVR(C=1.0, epsilon=0.0)),
    6: ("support vector machine", "classification", AggregateSVC(C=0.1)),
    7: ("decision tree", "regression", AggregateTreeRegressor(max_depth=5, ridge=0.05)),
    8: ("decision tree", "classification", AggregateTreeClassifier(max_depth=5)),
}
# The paper picks C of the regression machines for each data set, by powers of ten; here
# cross-validation over the training bags picks it, for learner and control alike.
CHOSEN = {5: {"C": [0.01, 0.1, 1.0, 10.0]}}
# The paper's controls of the trees have no ridge; that of the SVM is a regression on proportions.
CONTROLS = {6: AggregateSVR(C=0.1, epsilon=0.0), 7: AggregateTreeRegressor(max_depth=5, ridge=0.0)}


def read(name):
    """Rows and targets of a data set as the paper uses it."""
    data = load(name)
    X, y = data.X, data.y
    if name == "cpu-small":
        kept = np.random.default_rng(0).choice(len(y), 300, replace=False)
        X, y = X[kept], y[kept]
    elif name == "dermatology":  # psoriasis or not, complete rows
        kept = ~np.isnan(X).any(axis=1)
        X, y = X[kept], (y[kept] == 1).astype(int)
    elif name in DATA["classification"]:
        y = (y == np.unique(y)[1]).astype(int)
    return X, y


def folds(X, y, task):
    """Standardised training and test parts of five folds; missing values take the mean."""
    splitter = KFold if task == "regression" else StratifiedKFold
    for train, test in splitter(5, shuffle=True, random_state=0).split(X, y):
        prepare = make_pipeline(SimpleImputer(), StandardScaler()).fit(X[train])
        y_train, y_test = y[train], y[test]
        if task == "regression":
            centre, scale = y_train.mean(), y_train.std()
            y_train, y_test = (y_train - centre) / scale, (y_test - centre) / scale
        yield prepare.transform(X[train]), y_train, prepare.transform(X[test]), y_test


def measure(model, X, y):
    """Mean squared error, or accuracy, on single rows."""
    predicted = model.predict_instances(X)
    if y.dtype.kind == "f":
        return float(np.mean((predicted - y) ** 2))
    if predicted.dtype.kind == "f":  # a regression on proportions
        predicted = predicted > 0.5
    return float(np.mean(predicted == y))


def fit(figure, learner, bags, y, groups):
    """The fitted learner, its settings chosen without the test part if the figure chooses any."""
    if figure not in CHOSEN:
        return learner.fit(bags, y)
    splits = GroupKFold(5, shuffle=True, random_state=0)
    search = GridSearchCV(learner, CHOSEN[figure], scoring="neg_mean_squared_error", cv=splits)
    return search.fit(bags, y, groups=groups).best_estimator_


def control(figure, learner, data):
    """The learner's control: fitted to single rows with the mean of their bag."""
    learner = CONTROLS.get(figure, learner)
    share = data.bags.spread(data.y / data.bags.sizes)
    if FIGURES[figure][1] == "classification" and figure not in CONTROLS:
        share = np.column_stack([1.0 - share, share])
    return fit(figure, learner, data.bags.singletons(), share, data.bags.bag_of)


def cell(figure, folded, size, randomness):
    """Scores of the learner and of its control over the folds of one cell."""
    learner = FIGURES[figure][2]
    scores = {"aggregate": [], "control": [], "fixed": []}
    for seed, (X, y, X_test, y_test) in enumerate(folded):
        data = aggregate(X, y, size, randomness, random_state=seed)
        model = fit(figure, learner, data.bags, data.y, np.arange(len(data.bags)))
        scores["aggregate"].append(measure(model, X_test, y_test))
        if figure > 2:  # for neighbours, the control is the same thing
            scores["control"].append(measure(control(figure, learner, data), X_test, y_test))
        if figure in CHOSEN:  # what the choice is worth
            model = learner.fit(data.bags, data.y)
            scores["fixed"].append(measure(model, X_test, y_test))
    return {name: values for name, values in scores.items() if values}


def compute(figure, quick=False):
    """All cells of a figure."""
    _, task, _ = FIGURES[figure]
    printed = {
        (r["dataset"], int(r["size"]), int(r["randomness"])): float(r["value"])
        for r in published("aggregate_knn")
        if r["task"] == task
    }
    rows, start = [], time.perf_counter()
    for name in DATA[task][: 1 if quick else 3]:
        X, y = read(name)
        folded = list(folds(X, y, task))
        for size in SIZES[::3] if quick else SIZES:
            for randomness in RANDOMNESS[::3] if quick else RANDOMNESS:
                row = {"figure": figure, "dataset": name, "size": size, "randomness": randomness}
                for kind, values in cell(figure, folded, size, randomness).items():
                    row[kind] = round(float(np.mean(values)), 4)
                    row[f"{kind} sd"] = round(float(np.std(values, ddof=1)), 4)
                if figure <= 2:
                    row["paper"] = printed[name, size, randomness]
                else:  # up is better, as in the paper's charts
                    better = row["aggregate"] - row["control"]
                    row["advantage"] = round(better if task == "classification" else -better, 4)
                rows.append(row)
    return {"rows": rows, "seconds": round(time.perf_counter() - start, 1)}


def table(figure, part):
    method, task, learner = FIGURES[figure]
    measure_name = "mean squared error" if task == "regression" else "accuracy"
    rows = part["rows"]
    if figure <= 2:
        away = np.abs([r["aggregate"] - r["paper"] for r in rows])
        notes = f"Mean distance to the paper's printed values: {away.mean():.3f}."
    else:
        gain = np.array([r["advantage"] for r in rows])
        notes = (
            f"The aggregate learner is better in {np.mean(gain > 0):.0%} and worse in "
            f"{np.mean(gain < 0):.0%} of cells; mean advantage {gain.mean():.3f}."
        )
    notes += f" {learner}; five folds, {part['seconds']} s."
    if figure in CHOSEN:
        notes += (
            f" In every training part five-fold cross-validation over bags chooses {CHOSEN[figure]}"
            " of learner and control; 'fixed' is the learner without. The paper's claim that the"
            " advantage grows with size and randomness holds up to size 10. Bags of 20 leave 12 to"
            " 21 bags a fold for 7 to 13 features: at C = 1 the learner follows them too closely,"
            " and with a chosen C its advantage grows on where bags are completely mixed, but for"
            " cpu-small, which has the fewest bags."
        )
    return Table(f"Figure {figure}: {method}, {task}, {measure_name}", rows, notes)


def draw(figure, rows):
    """One panel a data set: ours and the paper's (Figures 1 and 2), or the advantage."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    method, task, _ = FIGURES[figure]
    names = list(dict.fromkeys(r["dataset"] for r in rows))
    panels, axes = plt.subplots(1, len(names), figsize=(4.2 * len(names), 3.4), squeeze=False)
    for name, ax in zip(names, axes[0]):
        cells = [r for r in rows if r["dataset"] == name]
        levels = sorted({r["randomness"] for r in cells})
        for k, size in enumerate(sorted({r["size"] for r in cells})):
            mine = [r for r in cells if r["size"] == size]
            place = np.arange(len(levels))
            if figure <= 2:
                ax.plot(place, [r["aggregate"] for r in mine], f"C{k}o-", label=f"size {size}")
                ax.plot(place, [r["paper"] for r in mine], f"C{k}x:", label=f"size {size}, paper")
            else:
                values = [r["advantage"] for r in mine]
                ax.bar(place + 0.2 * k - 0.3, values, 0.2, color=f"C{k}", label=f"size {size}")
        ax.set_xticks(np.arange(len(levels)), levels)
        ax.set_xlabel("randomness (swapped pairs)")
        ax.set_title(name)
        ax.axhline(0, color="k", lw=0.6, visible=figure > 2)
    unit = "mean squared error" if task == "regression" else "accuracy"
    axes[0, 0].set_ylabel(unit if figure <= 2 else f"advantage over control ({unit})")
    axes[0, -1].legend(fontsize=6)
    panels.suptitle(f"Figure {figure}: {method}, {task}")
    panels.tight_layout()
    panels.savefig(PARTS / f"figure_{figure}.png", dpi=110)
    plt.close(panels)


def stored(figure):
    path = PARTS / f"figure_{figure}.json"
    return json.loads(path.read_text()) if path.exists() else None


def store(figure):
    PARTS.mkdir(parents=True, exist_ok=True)
    part = compute(figure)
    (PARTS / f"figure_{figure}.json").write_text(json.dumps(part) + "\n")
    draw(figure, part["rows"])
    return part


def run(quick):
    """All eight figures; those already computed are read from the results folder."""
    warnings.simplefilter("ignore")
    if quick:
        return [table(figure, compute(figure, quick=True)) for figure in FIGURES]
    tables, seconds = [], []
    for figure in FIGURES:
        part = stored(figure) or store(figure)
        draw(figure, part["rows"])
        tables.append(table(figure, part))
        seconds.append({"figure": figure, "seconds": part["seconds"]})
    total = sum(row["seconds"] for row in seconds)
    notes = f"{total / 60:.1f} minutes for all figures, one thread, on a busy machine."
    return [*tables, Table("Time", seconds, notes)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", nargs="*", type=int, help="numbers of figures; all by default")
    parser.add_argument("--draw", action="store_true", help="only redraw from stored numbers")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for figure in options.figures or FIGURES:
        if options.draw:
            draw(figure, stored(figure)["rows"])
        else:
            part = store(figure)
            print(table(figure, part).notes)


if __name__ == "__main__":
    main()
