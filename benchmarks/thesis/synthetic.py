"""The proof of concept of section 6.3.1: how much ambiguity DPBoost can stand.

Instances are uniform in the unit square; a smooth intensity says which regions are positive (white)
and negative (black), with a grey margin between them. A positive bag has one positive and k - 1
negative instances, k ~ Poisson(λ) (at least 1); as many single negatives are added. The thesis's
intensity is not published: ours is the sum of three Gaussian bumps. Accuracy is that of single
instances, on 1000 fresh ones from the white and black regions.
"""

import numpy as np

from benchmarks._measure import cpu_timed, picture
from benchmarks._tables import RESULTS, Table, grouped, plus_minus
from mixedbag import Bags
from mixedbag.disjunctive import DPBoost, SparseBagMarginSVC

SHARED = {"features": "thresholded", "gamma": 6.0, "C": 1.0, "random_state": 0}
BUMPS = ((0.3, 0.65, 0.15), (0.7, 0.7, 0.12), (0.65, 0.25, 0.15))
PICTURE = {"picture": "boundaries.png", "positive bags": 20, "λ": 3, "seed": 1}
TINY = {"positive bags": 5, "λ": 1, "seed": 0}


def cases():
    runs = [
        {"positive bags": n_bags, "λ": lam, "seed": seed}
        for n_bags in (10, 20, 30)
        for lam in (1, 3, 5, 7)
        for seed in range(5)
    ]
    return [*runs, PICTURE]


def intensity(X):
    return sum(np.exp(-((X - (x, y)) ** 2).sum(axis=1) / (2 * r * r)) for x, y, r in BUMPS)


def draw(rng, n, positive):
    """n instances from the white or from the black region."""
    X = rng.uniform(size=(40 * n + 200, 2))
    bright = intensity(X)
    return X[bright > 0.6 if positive else bright < 0.4][:n]


def make_bags(rng, n_bags, lam):
    """Bags, bag labels and true instance labels."""
    bags, truth = [], []
    for _ in range(n_bags):
        k = max(1, rng.poisson(lam))
        bags.append(np.vstack([draw(rng, 1, True), draw(rng, k - 1, False)]))
        truth.append(np.arange(k) == 0)
    bags += [draw(rng, 1, False) for _ in range(n_bags)]
    truth += [np.zeros(1, bool)] * n_bags
    y = np.repeat([1, 0], n_bags)
    return Bags.from_list(bags), y, np.concatenate(truth)


def fits(bags, y, truth):
    """The four algorithms; LPBoost is the 1-norm machine on bags of one."""
    lpboost = SparseBagMarginSVC(**SHARED)
    spread = bags.spread(y)
    yield "naive", lambda: lpboost.fit(bags.instances, spread)
    yield "DPBoost", lambda: DPBoost(time_limit=60, **SHARED).fit(bags, y)
    keep = truth | (spread == 0)
    yield "perfect selector", lambda: lpboost.fit(bags.instances[keep], spread[keep])
    yield "perfect knowledge", lambda: lpboost.fit(bags.instances, truth.astype(int))


def run(case):
    rng = np.random.default_rng(case["seed"])
    bags, y, truth = make_bags(rng, case["positive bags"], case["λ"])
    if "picture" in case:
        return draw_boundaries(bags, y, truth, RESULTS / "thesis" / case["picture"])
    X = np.vstack([draw(rng, 500, True), draw(rng, 500, False)])
    expected = np.repeat([1, 0], [500, len(X) - 500])
    row = {}
    for name, fit in fits(bags, y, truth):
        model, seconds = cpu_timed(fit)
        row[name] = 100 * float(np.mean(model.predict_instances(X) == expected))
        if name == "DPBoost":
            row["gap"], row["cpu_seconds"] = model.gap_, seconds
    return row


def draw_boundaries(bags, y, truth, path):
    """The learned boundaries, like Figure 6.9; their accuracies on a grid."""
    side = np.linspace(0, 1, 151)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    ambiguous = bags.spread(bags.sizes) > 1
    bright = intensity(grid)
    clear = (bright > 0.6) | (bright < 0.4)
    image = {"origin": "lower", "extent": (0, 1, 0, 1)}
    found = {}
    with picture(path, 1, 5, figsize=(17, 3.8), sharex=True, sharey=True) as (_, axes):
        axes[0].imshow(bright.reshape(151, 151), cmap="gray", **image)
        axes[0].set_title("intensity")
        for axis, (name, fit) in zip(axes[1:], fits(bags, y, truth)):
            model = fit()
            right = (model.predict_instances(grid) == 1)[clear] == (bright > 0.5)[clear]
            found[name] = 100 * float(np.mean(right))
            scores = model.decision_function_instances(grid).reshape(151, 151)
            axis.imshow(np.clip(scores, -3, 3), cmap="coolwarm", alpha=0.7, **image)
            axis.contour(side, side, scores, levels=[0.0], colors="black")
            axis.plot(*bags.instances[ambiguous].T, "o", mfc="none", mec="black", ms=4)
            axis.plot(*bags.instances[~ambiguous].T, "kx", ms=4)
            axis.set_title(f"{name} ({found[name]:.1f} %)")
    return found


def table(rows):
    found = []
    runs = [row for row in rows if "picture" not in row]
    for (n_bags, lam), mine in grouped(runs, "positive bags", "λ").items():
        row = {"positive bags": n_bags, "λ": lam}
        for name in ("naive", "DPBoost", "perfect selector", "perfect knowledge"):
            values = [r[name] for r in mine]
            row[name] = plus_minus(np.mean(values), np.std(values))
        row["DPBoost gap"] = float(np.mean([r["gap"] for r in mine]))
        row["DPBoost CPU s"] = float(np.mean([r["cpu_seconds"] for r in mine]))
        found.append(row)
    notes = "Instance accuracy in %, mean ± deviation over five data sets."
    return [Table("Section 6.3.1: accuracy against ambiguity", found, notes)]
