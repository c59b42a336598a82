"""Does the model that is handed over keep what the leaderboard promises?

Figures of a leaderboard come from models of the folds; what people use is fitted once more on all
bags, and the meaning of its scores is learned from those of the folds. Here bags are made, a third
of them is compared on, and the model answers about the others, which nobody has seen: the promise
beside what was kept, of bags and of their instances.
"""

import numpy as np
from sklearn.metrics import log_loss

from benchmarks._tables import Table, grouped
from mixedbag import compare
from mixedbag.datasets import make_any

LEARNERS = (
    *("BagMarginSVC", "InstanceMarginSVC", "MILogisticRegression", "EMDD", "ExpRegBoost"),
    "spread labels + forest",
)
PROBLEMS = {
    "few witnesses": {"separation": 3.0, "max_witnesses": 2},
    "many witnesses": {"separation": 2.0, "max_witnesses": 10, "size": (10, 20)},
    "hard": {"separation": 1.5, "max_witnesses": 4},
}
SEEDS = range(4)
BAGS, NEW = 80, 160
TINY = {"problem": "hard", "who": "MILogisticRegression", "seed": 0}


def cases():
    whom = (*LEARNERS, "stack")
    return [
        {"problem": problem, "who": who, "seed": seed}
        for problem in PROBLEMS
        for who in whom
        for seed in SEEDS
    ]


def run(case):
    """Log loss of bags and instances, and how many instances are named: promised and kept."""
    data = make_any(BAGS + NEW, random_state=case["seed"], **PROBLEMS[case["problem"]])
    order = np.random.default_rng(case["seed"]).permutation(BAGS + NEW)
    seen, new = np.sort(order[:BAGS]), np.sort(order[BAGS:])
    learners = LEARNERS if case["who"] == "stack" else [case["who"]]
    result = compare(data.bags[seen], data.y[seen], "any", learners=learners, folds=5)
    promised, bags = result.out_of_fold(), data.bags[new]
    truth = np.asarray(data.instance_labels)
    old, fresh = (truth[data.bags.rows_of(rows)] for rows in (seen, new))
    said = result.model.predict_proba_instances(bags)
    return {
        "bags": [
            _loss(data.y[seen], promised.bags),
            _loss(data.y[new], result.model.predict_proba(bags)),
        ],
        "instances": [_loss(old, promised.instances), _loss(fresh, said)],
        "named": [
            float(np.mean(promised.instance_labels == 1) / old.mean()),
            float(np.mean(result.model.predict_instances(bags) == 1) / fresh.mean()),
        ],
    }


def _loss(truth, answer):
    return float(log_loss(truth, np.clip(answer[:, 1], 1e-6, 1 - 1e-6)))


def table(rows):
    lines = []
    for (problem, who), some in grouped(rows, "problem", "who").items():
        line = {"problem": problem, "who": who}
        for what in ("bags", "instances", "named"):
            for when, values in zip(("promised", "kept"), np.mean([r[what] for r in some], axis=0)):
                line[f"{what}, {when}"] = float(values)
        lines.append(line)
    return [Table("What is promised and what is kept", lines, NOTES)]


NOTES = (
    f"{BAGS} bags compared on in five folds, {NEW} new ones, means over {len(SEEDS)} draws: "
    "logarithmic loss of bags and of instances, and how many instances are named for each that is "
    "one. Folds learn from fewer bags than the model, so it may be better than promised."
)
