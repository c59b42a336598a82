"""What a setting is worth: how the grids of the dearest learners in `compare` were settled.

Each setting alone meets every problem of the development collection with the rule "any", none of
the ten sets that figures are reported on: one half of the bags is learned from, the other asked
about, and then the halves change places. The merit is how well unseen bags are ordered (twice the
area under the ROC curve, less one), as in the table of efforts; seconds are those of the processor,
for all problems together. What a grid can bring at most is seen from its settings' best on every
problem, chosen by looking at the answers.
"""

import time
import warnings
from dataclasses import replace

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks._tables import Table
from benchmarks.product._collection import of_rule
from mixedbag.comparison._candidates import find_candidates
from mixedbag.comparison._protocol import make_protocol
from mixedbag.comparison._trials import fit

_ALPHAS = [1e-3, 1e-2, 1e-1]
_PRICES = [0.1, 1.0, 10.0, 100.0]
_SHORT = [  # steps of a search, and how precisely it ends
    *({"max_iter": n} for n in (100, 50, 30)),
    *({"max_iter": 50, "tol": tol} for tol in (1e-4, 1e-3)),
]
SETTINGS = {
    **{
        name: [{"alpha": alpha} | short for short in _SHORT for alpha in (0.01, 0.1, 1.0)]
        for name in ("DiverseDensity", "EMDD")
    },
    "DDSVM": [{"max_iter": n, "n_init": k} for n in (50, 25) for k in (20, 10)],
    "MeanNetworkClassifier": [
        *({"hidden": h, "alpha": alpha} for h in (16, 64) for alpha in _ALPHAS),
        *({"hidden": 16, "alpha": alpha, "tol": 1e-5} for alpha in _ALPHAS),
        *({"hidden": 16, "alpha": alpha, "tol": 1e-4} for alpha in _ALPHAS),
        *({"hidden": 16, "alpha": a, "max_iter": n} for n in (200, 100, 50, 30) for a in _ALPHAS),
        *({"hidden": 16, "alpha": alpha, "max_iter": 50, "n_init": 2} for alpha in _ALPHAS),
    ],
    "MINetworkClassifier": [
        *({"sharpness": m, "alpha": alpha} for m in (1.0, 3.0, 5.0) for alpha in _ALPHAS),
        *({"alpha": alpha, "tol": 1e-5} for alpha in _ALPHAS),
        *({"alpha": alpha, "tol": 1e-4} for alpha in _ALPHAS),
        *(
            {"sharpness": m, "alpha": alpha, "max_iter": n}
            for n in (200, 100, 50, 30)
            for m in (1.0, 5.0)
            for alpha in (1e-2, 1e-1)
        ),
    ],
    "MIForestClassifier": [
        *({"min_share": share} for share in (0.001, 0.005, 0.02)),
        {"n_estimators": 30},
        {"n_estimators": 50, "cooling": 0.1},
        {"n_estimators": 30, "cooling": 0.1},
        *({"min_share": 0.02, "n_estimators": n, "cooling": 0.1} for n in (100, 50)),
    ],
    "PrototypeClassifier": [
        {"n_prototypes": k, "alpha": alpha} for k in (4, 8, 16) for alpha in _ALPHAS
    ],
    "ExpRegBoost": [
        {"lam": lam, "n_rounds": n} for n in (100, 50) for lam in (0.03, 0.1, 0.3, 1.0)
    ],
    "ExpBinBoost": [
        {"lam": lam, "n_rounds": n} for n in (100, 50) for lam in (0.03, 0.1, 0.3, 1.0)
    ],
    "OWABoost": [{"a": a, "n_rounds": n} for n in (100, 50) for a in (0.25, 0.5, 1.0)],
    "SparseBagMarginSVC": [
        *({"C": C} for C in (0.1, 0.5, 1.0, 5.0)),
        *({"C": C, "n_init": 1} for C in (1.0, 5.0)),
    ],
    "TwoLevelClassifier": [
        {"max_leaves": leaves, "n_estimators": n} for n in (100, 50) for leaves in (6, 16)
    ],
    "SimilarityMarginSVC": [{"C": C, "max_iter": n} for n in (20, 5, 3) for C in _PRICES],
    "AnnealedBagMarginSVC": [{"C": C, "cooling": c} for c in (0.5, 0.25, 0.1) for C in _PRICES],
    "DirichletMixtureClassifier": [
        {"n_components": k, "concentration": c, "max_iter": n}
        for n in (100, 50, 25)
        for k in (3, 10)
        for c in (0.1, 10.0)
    ],
    "AnnealedInstanceMarginSVC": [
        *({"C": C} for C in _PRICES),
        *({"C": 10.0, "cooling": c} for c in (0.5, 0.25, 0.1)),
    ],
}
TINY = {"learner": "SparseBagMarginSVC", "setting": "C=1.0"}


def cases():
    return [
        {"learner": name, "setting": _words(setting)}
        for name, settings in SETTINGS.items()
        for setting in settings
    ]


def _words(setting):
    return ", ".join(f"{key}={value}" for key, value in setting.items())


def run(case):
    """Merit on every problem, and the seconds of all."""
    setting = next(s for s in SETTINGS[case["learner"]] if _words(s) == case["setting"])
    setting = {f"learner__{key}": value for key, value in setting.items()}
    merits, seconds = {}, 0.0
    for name, make in of_rule("any").items():
        data = make()
        _, protocol = make_protocol(data.bags, data.y, "any")
        (candidate,), _ = find_candidates("any", protocol.bags, [case["learner"]])
        start = time.process_time()
        halves = [_asked(protocol, replace(candidate, max_bags=None), setting, k) for k in (0, 1)]
        seconds += time.process_time() - start
        merits[name] = round(float(np.mean(halves)), 4)
    return {"merits": merits, "seconds": round(seconds, 2)}


def _asked(protocol, candidate, setting, first):
    """The merit on one half of the bags, learned from the other."""
    everybody, question = protocol.everything.train, protocol.question
    test = everybody[1 - first :: 2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fit(protocol, candidate, setting, everybody[first::2])
    evidence = question.evidence(model, protocol.bags[test])
    return 2.0 * roc_auc_score(question.codes[test], evidence[:, 0]) - 1.0


def table(rows):
    lines = []
    for name in dict.fromkeys(row["learner"] for row in rows):
        some = [row for row in rows if row["learner"] == name]
        known = [
            problem for problem in some[0]["merits"] if all(problem in r["merits"] for r in some)
        ]
        merits = np.array([[row["merits"][problem] for problem in known] for row in some])
        lines += [
            {
                "learner": name,
                "setting": row["setting"],
                "merit": f"{own.mean():.3f}",
                "best of all settings": f"{merits.max(axis=0).mean():.3f}",
                "problems": len(known),
                "seconds": f"{row['seconds']:.1f}",
            }
            for row, own in zip(some, merits)
        ]
    return [Table("what a setting is worth", lines, NOTES)]


NOTES = (
    "Two fits and their answers a problem; the best of all settings is that of every problem. "
    "Problems are those that all settings of a learner have met: some rows are older than the "
    "latest problems, and their seconds are those of fewer."
)
