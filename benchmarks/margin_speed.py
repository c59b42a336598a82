"""Maximum-margin learners against one fit of the plain machine on the same rows, and Weka."""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from benchmarks.common import Table
from mixedbag import Bags
from mixedbag.datasets import load
from mixedbag.margin import BagMarginSVC, InstanceMarginSVC

WEKA = Path("/usr/share/java/weka.jar")
BEST = "The best of three runs on either side."
WEKA_LIMIT = 200  # seconds
CPU = "Seconds of processor time, one thread."


def run(quick):
    n = 500 if quick else 5000
    warm_up()
    return [
        linear_ratios(n),
        growth((300, 1000) if quick else (1000, 3000, 10_000, 30_000, 100_000)),
        sparse_text((1,) if quick else (1, 2, 3, 4, 7, 9, 10)),
        kernel_ratios((10.0,) if quick else (1.0, 10.0, 100.0)),
        weka((100,) if quick else (500, 1000, 2000)),
    ]


def world(n_bags, size=10, n_features=50, seed=0):
    """Half the bags hold one instance that is shifted along a hidden direction."""
    rng = np.random.default_rng(seed)
    direction = rng.standard_normal(n_features)
    X = rng.standard_normal((n_bags * size, n_features))
    y = np.arange(n_bags) % 2
    X[np.flatnonzero(y) * size] += 2.5 * direction / np.linalg.norm(direction)
    return Bags(X, np.arange(n_bags + 1) * size), y


def cpu_seconds(call, repeat=1):
    """The result, and the fewest processor seconds of several calls: the machine may be shared."""
    seconds = []
    for _ in range(repeat):
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            result = call()
        seconds.append(time.process_time() - start)
    return result, min(seconds)


def warm_up():
    bags, y = world(30)
    for loss in ("hinge", "squared_hinge"):
        BagMarginSVC(kernel="linear", loss=loss).fit(bags, y)
    BagMarginSVC().fit(bags, y)
    wide = load("trec9-1")
    BagMarginSVC(kernel="linear").fit(wide.bags[::8], wide.y[::8])


def same_rows(model, bags, y):
    """The rows and labels of the last machine: what one plain fit would get."""
    positive = bags.spread(y == model.classes_[1])
    if isinstance(model, BagMarginSVC):
        rows = np.concatenate([model.witness_, np.flatnonzero(~positive)])
        return bags.instances[rows], np.where(np.arange(len(rows)) < len(model.witness_), 1, -1)
    label = (model.decision_function_instances(bags) > 0) & positive
    label[model.witness_] = True
    return bags.instances, np.where(label, 1, -1)


def linear_ratios(n_bags):
    rows = []
    bags, y = world(n_bags)
    for learner in (BagMarginSVC, InstanceMarginSVC):
        for loss in ("hinge", "squared_hinge"):
            for C in (1.0, 0.01):
                fit = learner(C, kernel="linear", loss=loss).fit
                model, ours = cpu_seconds(lambda fit=fit: fit(bags, y), 3)
                X, label = same_rows(model, bags, y)
                plain = LinearSVC(C=C, loss=loss, dual=True, random_state=0)
                _, theirs = cpu_seconds(lambda p=plain, X=X, label=label: p.fit(X, label), 3)
                rows.append(
                    {
                        "learner": learner.__name__,
                        "loss": loss,
                        "C": C,
                        "ours, whole fit (s)": ours,
                        "LinearSVC, one fit (s)": theirs,
                        "ratio": ours / theirs,
                        "machines": model.n_iter_,
                        "our relative gap": model.dual_gap_ / model.objective_[-1],
                        "their excess objective": excess(plain, C, loss, X, label, model),
                    }
                )
    notes = f"""{n_bags} bags × 10 instances × 50 features. {CPU} {BEST} LinearSVC with its defaults
(tol=1e-4, at most 1000 epochs, which it reaches where its excess is large), on the rows and labels
of our last machine. "Their excess objective" is LinearSVC's objective over ours, minus one."""
    return Table("Linear: a whole fit against one LinearSVC", rows, notes)


def excess(plain, C, loss, X, label, model):
    shortfall = np.maximum(1 - label * plain.decision_function(X), 0)
    total = C * (shortfall if loss == "hinge" else shortfall**2).sum()
    norm = plain.coef_[0] @ plain.coef_[0] + plain.intercept_[0] ** 2
    return (0.5 * norm + total) / model.objective_[-1] - 1


def growth(sizes):
    rows = []
    for n_bags in sizes:
        row = {"bags": n_bags, **in_fresh_process(n_bags)}
        if rows:
            ratio = row["seconds"] / rows[-1]["seconds"]
            row["exponent"] = np.log(ratio) / np.log(n_bags / rows[-1]["bags"])
        rows.append(row)
    whole = np.log(rows[-1]["seconds"] / rows[0]["seconds"]) / np.log(sizes[-1] / sizes[0])
    notes = f"""BagMarginSVC(kernel="linear"), 10 instances × 50 features a bag, each size in a
fresh process. {CPU} Over the whole range time grows like n^{whole:.2f}. Memory is the most it
held, less what it held before it made the data, over the size of the data: 1 would be the data
alone; small data disappear in what libraries hold anyway."""
    return Table("Linear: growth", rows, notes)


def in_fresh_process(n_bags):
    code = f"from benchmarks.margin_speed import measure; measure({n_bags})"
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
    model, seconds = cpu_seconds(lambda: BagMarginSVC(kernel="linear").fit(bags, y))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    memory = (peak - before) * 1024 / size
    print(json.dumps({"seconds": seconds, "machines": model.n_iter_, "memory / data": memory}))


def sparse_text(sets):
    rows = []
    for i in sets:
        data = load(f"trec9-{i}")
        row = {"set": f"TREC9 {i}", "instances": data.bags.n_instances}
        row["features"] = data.bags.n_features
        for learner in (BagMarginSVC, InstanceMarginSVC):
            fit = learner(kernel="linear").fit
            model, seconds = cpu_seconds(lambda fit=fit, data=data: fit(data.bags, data.y))
            row[f"{learner.__name__} (s)"] = seconds
            row[f"{learner.__name__} gap"] = model.dual_gap_ / model.objective_[-1]
        rows.append(row)
    return Table("Linear on sparse text: one fit", rows, f"{CPU} C = 1; the data stay sparse.")


def kernel_ratios(costs):
    data = load("musk2")
    bags = data.bags.with_instances(StandardScaler().fit_transform(data.bags.instances))
    rows = []
    for learner in (BagMarginSVC, InstanceMarginSVC):
        for C in costs:
            fit = learner(C).fit
            model, ours = cpu_seconds(lambda fit=fit: fit(bags, data.y), 3)
            X, label = same_rows(model, bags, data.y)
            plain = SVC(C=C, gamma=model.gamma_)
            _, theirs = cpu_seconds(lambda p=plain, X=X, label=label: p.fit(X, label), 3)
            spread = bags.spread(data.y)
            _, all_rows = cpu_seconds(lambda plain=plain, s=spread: plain.fit(bags.instances, s))
            rows.append(
                {
                    "learner": learner.__name__,
                    "C": C,
                    "ours, whole fit (s)": ours,
                    "SVC, one fit (s)": theirs,
                    "ratio": ours / theirs,
                    "SVC, all instances with bag labels (s)": all_rows,
                    "machines": model.n_iter_,
                    "our relative gap": model.dual_gap_ / model.objective_[-1],
                }
            )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    notes = f"""MUSK2, 6,598 instances × 166 features, standardised, gamma="scale". {CPU} {BEST} SVC
with its defaults (tol=1e-3) on the rows and labels of our last machine. Peak memory of the whole
process so far, earlier tables and libraries included: {peak:.0f} MB."""
    return Table("RBF on MUSK2: a whole fit against one SVC", rows, notes)


def weka(sizes):
    title = "Weka's MISVM"
    if not (WEKA.exists() and shutil.which("java")):
        return Table(title, [], "No rows: Weka is not installed.")
    rows = [weka_row(n_bags) for n_bags in sizes]
    notes = f"""10 instances × 50 features a bag. {CPU} Weka 3.6 with its defaults (a linear kernel,
C = 1), reading the file and starting Java included; "nan" is more than {WEKA_LIMIT} s."""
    if len(rows) > 1:
        theirs = [row["Weka MISVM linear (s)"] for row in rows[-2:]]
        power = np.log(theirs[1] / theirs[0]) / np.log(sizes[-1] / sizes[-2])
        at_5000 = theirs[1] * (5000 / sizes[-1]) ** power
        notes += f""" Its last step grows like n^{power:.2f}; at 5,000 bags, which were not run,
that would make {at_5000:.0f} s."""
    return Table(title, rows, notes)


def weka_row(n_bags):
    bags, y = world(n_bags)
    theirs = weka_seconds(bags, y, WEKA_LIMIT)
    _, ours = cpu_seconds(lambda: BagMarginSVC(kernel="linear").fit(bags, y))
    return {
        "bags": n_bags,
        "BagMarginSVC linear (s)": ours,
        "Weka MISVM linear (s)": theirs,
        "Weka / ours": theirs / ours if np.isfinite(theirs) else "",
    }


def weka_seconds(bags, y, limit):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bags.arff"
        path.write_text(relational_arff(bags, y))
        command = ["java", "-Xmx4g", "-cp", str(WEKA), "weka.classifiers.mi.MISVM"]
        before = sum(os.times()[2:4])
        try:
            subprocess.run(
                [*command, "-t", str(path), "-no-cv", "-o"],
                capture_output=True,
                check=True,
                timeout=limit,
            )
        except subprocess.TimeoutExpired:
            return float("nan")
        return sum(os.times()[2:4]) - before


def relational_arff(bags, y):
    lines = ["@relation bags", f"@attribute id {{{','.join(f'b{i}' for i in range(len(bags)))}}}"]
    lines += ["@attribute bag relational"]
    lines += [f"  @attribute f{j} numeric" for j in range(bags.n_features)]
    lines += ["@end bag", "@attribute class {0,1}", "@data"]
    for i in range(len(bags)):
        cells = "\\n".join(",".join(f"{v:.6g}" for v in row) for row in bags[i])
        lines.append(f'b{i},"{cells}",{y[i]}')
    return "\n".join(lines) + "\n"
