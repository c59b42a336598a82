"""What a smaller grid or a shorter fit costs in quality: how the grids of `compare` were settled.

The dearest learners meet every problem of the development collection with the rule "any", none of
the ten sets that figures are reported on, under several grids. As in `compare`, a setting is chosen
by cross-validation within the half that is learned from; the other half is asked about. The loss
is that of the calibrated answers (log loss); the regret is by how much it is above that of the
first grid of the learner, with the standard error of the difference over problems; seconds are
those of the processor, for all problems together.
"""

import time
from dataclasses import replace

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks._tables import Table
from benchmarks.product._collection import of_rule
from mixedbag.comparison._calibration import calibrator
from mixedbag.comparison._candidates import find_candidates
from mixedbag.comparison._protocol import Split, make_protocol
from mixedbag.comparison._trials import best_of, blocks, run_trial

_ALPHAS = {"alpha": [1e-3, 1e-2, 1e-1]}
_SHARES = {"min_share": [0.001, 0.005, 0.02]}
GRIDS: dict = {  # learner to words, parameters and grid; the first is what others are compared with
    "MeanNetworkClassifier": {
        "16 or 64 units, 3 alphas": ({}, {"hidden": [16, 64], **_ALPHAS}),
        "16 units, 3 alphas": ({"hidden": 16}, _ALPHAS),
        "16 units, 3 alphas, 50 steps": ({"hidden": 16, "max_iter": 50}, _ALPHAS),
        "16 units, 3 alphas, 100 steps": ({"hidden": 16, "max_iter": 100}, _ALPHAS),
        "16 units, 3 alphas, 1 start": ({"hidden": 16, "n_init": 1}, _ALPHAS),
    },
    "MINetworkClassifier": {
        "2 sharpnesses, 3 alphas": ({}, {"sharpness": [1.0, 5.0], **_ALPHAS}),
        "3 alphas": ({}, _ALPHAS),
        "3 alphas, 50 steps": ({"max_iter": 50}, _ALPHAS),
        "3 alphas, 100 steps": ({"max_iter": 100}, _ALPHAS),
        "3 alphas, 1 start": ({"n_init": 1}, _ALPHAS),
    },
    "PrototypeClassifier": {
        "4 or 16, 3 alphas": ({}, {"n_prototypes": [4, 16], **_ALPHAS}),
        "3 alphas": ({}, _ALPHAS),
        "2 alphas, 50 steps": ({"max_iter": 50}, {"alpha": [1e-3, 1e-2]}),
    },
    "ExpRegBoost": {
        "4 lambdas": ({}, {"lam": [0.03, 0.1, 0.3, 1.0]}),
        "2 lambdas": ({}, {"lam": [0.1, 1.0]}),
        "2 lambdas, 50 rounds": ({"n_rounds": 50}, {"lam": [0.1, 1.0]}),
    },
    "ExpBinBoost": {
        "4 lambdas": ({}, {"lam": [0.03, 0.1, 0.3, 1.0]}),
        "2 lambdas, 50 rounds": ({"n_rounds": 50}, {"lam": [0.1, 1.0]}),
    },
    "OWABoost": {
        "3 exponents": ({}, {"a": [0.25, 0.5, 1.0]}),
        "2 exponents, 50 rounds": ({"n_rounds": 50}, {"a": [0.5, 1.0]}),
    },
    "SparseBagMarginSVC": {
        "4 C": ({}, {"C": [0.1, 0.5, 1.0, 5.0]}),
        "2 C": ({}, {"C": [0.5, 1.0]}),
        "2 C, 2 starts": ({"n_init": 2}, {"C": [0.5, 1.0]}),
    },
    "AnnealedInstanceMarginSVC": {
        "4 C": ({}, {"C": [0.1, 1.0, 10.0, 100.0]}),
        "2 C": ({}, {"C": [1.0, 10.0]}),
    },
    "TwoLevelClassifier": {
        "6 or 16 leaves": ({}, {"max_leaves": [6, 16]}),
        "16 leaves": ({}, {}),
        "16 leaves, 50 trees": ({"n_estimators": 50}, {}),
    },
    "MIForestClassifier": {
        "3 shares, 8 forests of 100": ({"cooling": 0.3}, _SHARES),
        "1 share, 8 forests of 100": ({"cooling": 0.3}, {}),
        "1 share, 8 forests of 30": ({"cooling": 0.3, "n_estimators": 30}, {}),
        "1 share, 5 forests of 30": ({"cooling": 0.1, "n_estimators": 30}, {}),
    },
}
TINY = {"learner": "ExpRegBoost", "grid": "2 lambdas, 50 rounds"}


def cases():
    return [{"learner": name, "grid": words} for name, some in GRIDS.items() for words in some]


def run(case):
    """Loss and area on every half, and the seconds of all."""
    parameters, grid = GRIDS[case["learner"]][case["grid"]]
    losses, areas, seconds = {}, {}, 0.0
    for name, make in of_rule("any").items():
        data = make()
        _, protocol = make_protocol(data.bags, data.y, "any")
        (candidate,), _ = find_candidates("any", protocol.bags, [case["learner"]])
        named = {f"learner__{key}": value for key, value in parameters.items()}
        candidate = replace(
            candidate,
            estimator=candidate.estimator.set_params(**named),
            grid={f"learner__{key}": values for key, values in grid.items()},
            max_bags=None,
        )
        start = time.process_time()
        found = _asked(protocol, candidate)
        seconds += time.process_time() - start
        losses[name], areas[name] = np.round(found, 5).tolist()
    return {"losses": losses, "areas": areas, "seconds": round(seconds, 2)}


def _asked(protocol, candidate):
    """Log loss and area under the curve on one half of the bags, learned from the other."""
    everybody = protocol.everything.train
    split = Split("half", everybody[::2], everybody[1::2])
    n_blocks = len(blocks(candidate))
    trial = best_of([run_trial(protocol, candidate, split, block) for block in range(n_blocks)])
    question = protocol.question
    answer = calibrator(question, trial.inner, split.train)(trial.outer)
    loss = question.mean(question.loss(answer, split.test), split.test)
    return loss, roc_auc_score(question.codes[split.test], trial.outer[:, 0])


def table(rows):
    first = {row["learner"]: row for row in reversed(rows)}
    return [Table("grids, and what they cost", [_line(row, first) for row in rows], NOTES)]


def _line(row, first):
    reference = first[row["learner"]]
    worse = np.subtract(list(row["losses"].values()), list(reference["losses"].values()))
    error = worse.std(ddof=1) / np.sqrt(len(worse))
    return {
        "learner": row["learner"],
        "grid": row["grid"],
        "loss": f"{np.mean(list(row['losses'].values())):.3f}",
        "regret": "" if row is reference else f"{worse.mean():+.3f} ± {error:.3f}",
        "area": f"{np.mean(list(row['areas'].values())):.3f}",
        "seconds": f"{row['seconds']:.0f}",
    }


NOTES = "The problems with the rule “any”: one half learned from, one asked about."
