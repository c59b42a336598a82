"""Our learners of counts and llp-learn's, on eight tables × five kinds of bags × three seeds.

llp-learn needs an environment of its own: give its Python as MIXEDBAG_LLP_PYTHON, or its methods
are left out, which the table says. Features are standardised before, settings are defaults on both
sides, new rows judge.
"""

import json
import os
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

from benchmarks._tables import Table
from benchmarks.counts._problems import KINDS, REPORTED, counts_of, in_bags, rows
from mixedbag.aggregate import (
    AggregateEasyLLPClassifier,
    AggregateForestClassifier,
    AggregateGradientBoostingClassifier,
    AggregateKNeighborsClassifier,
    AggregateLogisticRegression,
    AggregateMeanMapClassifier,
    AggregateMLPClassifier,
)

OURS = {
    "AggregateLogisticRegression": AggregateLogisticRegression(),
    "AggregateMLPClassifier": AggregateMLPClassifier(random_state=0),
    "AggregateForestClassifier": AggregateForestClassifier(random_state=0),
    "AggregateGradientBoostingClassifier": AggregateGradientBoostingClassifier(),
    "AggregateKNeighborsClassifier": AggregateKNeighborsClassifier(15),
    "AggregateMeanMapClassifier": AggregateMeanMapClassifier(),
    "AggregateEasyLLPClassifier": AggregateEasyLLPClassifier(),
}
RIVALS = {"DLLP": "llp_learn.dllp", "MixBag": "llp_learn.mixbag", "LLPVAT": "llp_learn.llpvat"}
TINY = {
    "data": "ionosphere",
    "kind": "random 8",
    "seed": 0,
    "method": "AggregateLogisticRegression",
}

# Run by the other environment: reads a problem, writes probabilities of new rows and the time.
_THEIRS = """
import importlib, json, sys, time
import numpy as np
folder, module, name = sys.argv[1:]
data = np.load(folder + "/problem.npz")
kind = getattr(importlib.import_module(module), name)
start = time.perf_counter()
model = kind(lr=0.001, n_epochs=200, hidden_layer_sizes=(100,), random_state=0)
model.fit(data["X"], data["bag"], data["share"])
seconds = time.perf_counter() - start
told = np.asarray(model.predict_proba(data["new"]), dtype=float)
chance = told[:, -1] if told.ndim == 2 else told
json.dump({"chance": chance.tolist(), "seconds": seconds}, open(folder + "/answer.json", "w"))
"""


def cases():
    methods = [*OURS, *(RIVALS if os.environ.get("MIXEDBAG_LLP_PYTHON") else ())]
    return [
        {"data": name, "kind": kind, "seed": seed, "method": method}
        for name in REPORTED
        for kind in KINDS
        for seed in range(3)
        for method in methods
    ]


def run(case):
    X, y = rows(case["data"], case["seed"])
    cut = int(0.7 * len(y))
    bags, label = in_bags(X[:cut], y[:cut], case["kind"], case["seed"])
    if len(bags) < 4:
        return {"bags": len(bags)}
    counts = counts_of(bags, label)
    fit = _ours if case["method"] in OURS else _theirs
    chance, seconds = fit(case["method"], bags, counts, X[cut:])
    chance = np.clip(chance, 1e-6, 1 - 1e-6)
    return {
        "bags": len(bags),
        "AUC": roc_auc_score(y[cut:], chance),
        "accuracy": accuracy_score(y[cut:], chance > 0.5),
        "log loss": log_loss(y[cut:], chance, labels=[0, 1]),
        "seconds": seconds,
    }


def _ours(method, bags, counts, new):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        model = clone(OURS[method]).fit(bags, counts)
        seconds = time.perf_counter() - start
    return model.predict_proba_instances(new)[:, 1], seconds


def _theirs(method, bags, counts, new):
    with tempfile.TemporaryDirectory() as folder:
        problem = {"X": bags.instances, "bag": bags.bag_of, "share": counts / bags.sizes}
        np.savez(Path(folder) / "problem.npz", new=new, **problem)
        python = os.environ["MIXEDBAG_LLP_PYTHON"]
        command = [python, "-c", _THEIRS, folder, RIVALS[method], method]
        subprocess.run(command, check=True, timeout=1800)
        answer = json.loads((Path(folder) / "answer.json").read_text())
    return np.array(answer["chance"]), answer["seconds"]


def table(rows):
    judged = [row for row in rows if "AUC" in row]
    methods = list(dict.fromkeys(row["method"] for row in judged))
    ranks = _ranks(judged)
    summary = [
        {
            "method": method,
            "mean AUC rank": np.mean(ranks[method]),
            **{
                figure: np.mean([r[figure] for r in judged if r["method"] == method])
                for figure in ("AUC", "accuracy", "log loss", "seconds")
            },
        }
        for method in methods
    ]
    missing = [name for name in RIVALS if name not in methods]
    note = f"{len(set(map(_problem, judged)))} problems, new rows."
    if missing:
        note += f" Not run, for want of their environment: {', '.join(missing)}."
    return [Table("Learners of counts", summary, note)]


def _problem(row):
    return row["data"], row["kind"], row["seed"]


def _ranks(rows):
    found: dict = {}
    for problem in set(map(_problem, rows)):
        same = sorted((r for r in rows if _problem(r) == problem), key=lambda r: -r["AUC"])
        for place, row in enumerate(same, start=1):
            found.setdefault(row["method"], []).append(place)
    return found
