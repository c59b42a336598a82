"""Maximum-margin learners against one fit of the plain machine on the same rows, and Weka."""

import json
import resource
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from benchmarks._measure import cpu_timed, relational_arff, weka
from benchmarks._tables import Table, only
from mixedbag import Bags
from mixedbag.datasets import load
from mixedbag.margin import BagMarginSVC, InstanceMarginSVC

LEARNERS = {"BagMarginSVC": BagMarginSVC, "InstanceMarginSVC": InstanceMarginSVC}
WEKA_LIMIT = 200  # seconds
TINY = {"part": "linear", "learner": "BagMarginSVC", "loss": "hinge", "C": 1.0, "bags": 200}


def cases():
    linear = [
        {"part": "linear", "learner": learner, "loss": loss, "C": C, "bags": 5000}
        for learner in LEARNERS
        for loss in ("hinge", "squared_hinge")
        for C in (0.01, 0.1, 1.0, 10.0, 100.0)
    ]
    growth = [{"part": "growth", "bags": n} for n in (1000, 3000, 10_000, 30_000, 100_000)]
    text = [{"part": "text", "set": f"TREC9 {i}"} for i in (1, 2, 3, 4, 7, 9, 10)]
    costs = (1.0, 10.0, 100.0)
    rbf = [{"part": "rbf", "learner": learner, "C": C} for learner in LEARNERS for C in costs]
    rival = [{"part": "weka", "bags": n} for n in (500, 1000, 2000)]
    return linear + growth + text + rbf + rival


def run(case):
    warm_up()
    parts = {"linear": linear, "growth": growth, "text": text, "rbf": rbf, "weka": against_weka}
    return parts[case["part"]](case)


def warm_up():
    bags, y = world(30)
    for loss in ("hinge", "squared_hinge"):
        BagMarginSVC(kernel="linear", loss=loss).fit(bags, y)
    BagMarginSVC().fit(bags, y)
    wide = load("trec9-1")
    BagMarginSVC(kernel="linear").fit(wide.bags[::8], wide.y[::8])


def world(n_bags, size=10, n_features=50, seed=0):
    """Half the bags hold one instance that is shifted along a hidden direction."""
    rng = np.random.default_rng(seed)
    direction = rng.standard_normal(n_features)
    X = rng.standard_normal((n_bags * size, n_features))
    y = np.arange(n_bags) % 2
    X[np.flatnonzero(y) * size] += 2.5 * direction / np.linalg.norm(direction)
    return Bags(X, np.arange(n_bags + 1) * size), y


def same_rows(model, bags, y):
    """The rows and labels of the last machine: what one plain fit would get."""
    positive = bags.spread(y == model.classes_[1])
    if isinstance(model, BagMarginSVC):
        rows = np.concatenate([model.witness_, np.flatnonzero(~positive)])
        return bags.instances[rows], np.where(np.arange(len(rows)) < len(model.witness_), 1, -1)
    label = (model.decision_function_instances(bags) > 0) & positive
    label[model.witness_] = True
    return bags.instances, np.where(label, 1, -1)


def linear(case):
    bags, y = world(case["bags"])
    C, loss = case["C"], case["loss"]
    learner = LEARNERS[case["learner"]](C=C, kernel="linear", loss=loss)
    model, ours = cpu_timed(lambda: learner.fit(bags, y), 3)
    X, label = same_rows(model, bags, y)
    plain, theirs = cpu_timed(
        lambda: LinearSVC(C=C, loss=loss, dual=True, random_state=0).fit(X, label), 3
    )
    shortfall = np.maximum(1 - label * plain.decision_function(X), 0)
    total = C * (shortfall if loss == "hinge" else shortfall**2).sum()
    norm = plain.coef_[0] @ plain.coef_[0] + plain.intercept_[0] ** 2
    return {
        "ours, whole fit (s)": ours,
        "LinearSVC, one fit (s)": theirs,
        "ratio": ours / theirs,
        "machines": model.n_iter_,
        "our relative gap": model.dual_gap_ / model.objective_[-1],
        "their excess objective": (0.5 * norm + total) / model.objective_[-1] - 1,
    }


def growth(case):
    """Time and memory of one fit in a fresh process."""
    code = f"from benchmarks.thesis.margin_speed import measure; measure({case['bags']})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(n_bags):
    """Print time and memory of one fit, as JSON."""
    bags, y = world(100)
    BagMarginSVC(kernel="linear").fit(bags, y)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    before = pages * resource.getpagesize() // 1024
    bags, y = world(n_bags)
    size = bags.instances.nbytes
    model, seconds = cpu_timed(lambda: BagMarginSVC(kernel="linear").fit(bags, y))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    memory = (peak - before) * 1024 / size
    print(json.dumps({"seconds": seconds, "machines": model.n_iter_, "memory / data": memory}))


def text(case):
    data = load(case["set"].lower().replace(" ", "-"))
    row = {"instances": data.bags.n_instances, "features": data.bags.n_features}
    for name, learner in LEARNERS.items():
        model, seconds = cpu_timed(lambda c=learner: c(kernel="linear").fit(data.bags, data.y))
        row[f"{name} (s)"] = seconds
        row[f"{name} gap"] = model.dual_gap_ / model.objective_[-1]
    return row


def rbf(case):
    data = load("musk2")
    bags = data.bags.with_instances(StandardScaler().fit_transform(data.bags.instances))
    learner = LEARNERS[case["learner"]](C=case["C"])
    model, ours = cpu_timed(lambda: learner.fit(bags, data.y), 3)
    X, label = same_rows(model, bags, data.y)
    plain = SVC(C=case["C"], gamma=model.gamma_)
    _, theirs = cpu_timed(lambda: plain.fit(X, label), 3)
    _, all_rows = cpu_timed(lambda: plain.fit(bags.instances, bags.spread(data.y)))
    return {
        "ours, whole fit (s)": ours,
        "SVC, one fit (s)": theirs,
        "ratio": ours / theirs,
        "SVC, all instances with bag labels (s)": all_rows,
        "machines": model.n_iter_,
        "our relative gap": model.dual_gap_ / model.objective_[-1],
    }


def against_weka(case):
    bags, y = world(case["bags"])
    with relational_arff(bags, y) as path:
        found = weka(["weka.classifiers.mi.MISVM", "-t", path, "-no-cv", "-o"], WEKA_LIMIT)
    _, ours = cpu_timed(lambda: BagMarginSVC(kernel="linear").fit(bags, y))
    row = {"BagMarginSVC linear (s)": ours}
    if found:
        row |= {"Weka MISVM linear (s)": found[1], "Weka / ours": found[1] / ours}
    return row


CPU = "Seconds of processor time, one thread."
BEST = "The best of three runs on either side."


def table(rows):
    return [
        Table(
            "Linear: a whole fit against one LinearSVC",
            only(rows, part="linear"),
            f"10 instances × 50 features a bag. {CPU} {BEST} LinearSVC with its defaults "
            "(tol=1e-4, at most 1000 epochs, which it reaches where its excess is large), on the "
            "rows and labels of our last machine. 'Their excess objective' is LinearSVC's "
            "objective over ours, minus one; in rows computed since ours is free it also holds "
            "what LinearSVC's intercept costs, most of it at a small C. Target: a ratio of 1.5 at "
            f"every C; missed in: {missed(only(rows, part='linear'))}.",
        ),
        Table(
            "Linear: growth",
            with_exponents(only(rows, part="growth")),
            'BagMarginSVC(kernel="linear"), 10 instances × 50 features a bag, each size in a '
            f"fresh process. {CPU} Exponent: of the number of bags, since the row before. Memory "
            "is the most it held, less what it held before it made the data, over the size of the "
            "data: 1 would be the data alone; small data disappear in what libraries hold anyway.",
        ),
        Table(
            "Linear on sparse text: one fit",
            only(rows, part="text"),
            f"{CPU} C = 1; the data stay sparse.",
        ),
        Table(
            "RBF on MUSK2: a whole fit against one SVC",
            only(rows, part="rbf"),
            '6,598 instances × 166 features, standardised, gamma="scale". '
            f"{CPU} {BEST} SVC with its defaults (tol=1e-3) on the rows and labels of our last "
            "machine.",
        ),
        Table(
            "Weka's MISVM",
            only(rows, part="weka"),
            f"10 instances × 50 features a bag. {CPU} Weka 3.6 with its defaults (a linear kernel, "
            "C = 1), reading the file and starting Java included; an empty cell is more than "
            f"{WEKA_LIMIT} s, or no Weka.",
        ),
    ]


def check(rows):
    """A whole linear fit takes at most 1.5 times one LinearSVC, at every C."""
    slow = missed(only(rows, part="linear"))
    assert slow == "none", f"above 1.5: {slow}"


def missed(rows):
    """The rows whose ratio is above the target, in words."""
    above = [row for row in rows if row["ratio"] > 1.5]
    return (
        ", ".join(f"{row['learner']} ({row['loss']}, C = {row['C']:g})" for row in above) or "none"
    )


def with_exponents(rows):
    for before, row in pairwise(rows):
        ratio = row["seconds"] / before["seconds"]
        row["exponent"] = float(np.log(ratio) / np.log(row["bags"] / before["bags"]))
    return rows
