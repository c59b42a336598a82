"""What it costs to give settings up early: racing over inner folds beside trying all to the end.

Learners with several settings meet the problems of the development collection with the rule "any",
none of the ten sets that figures are reported on: half of the bags is learned from, with the five
inner folds of `compare`, and the other half asked about. From the answers of all settings on all
inner folds it follows which of them a race would have given up, at several distances from the best,
how many fits that saves, and how much worse the setting that wins the race does on the bags asked
about (the regret; the merit is twice the area under the ROC curve, less one).
"""

import warnings
from dataclasses import replace

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks._tables import Table
from benchmarks.product._collection import of_rule
from mixedbag._once import Shelf, sharing
from mixedbag.comparison import _trials
from mixedbag.comparison._candidates import find_candidates
from mixedbag.comparison._protocol import make_protocol
from mixedbag.comparison._trials import blocks, fit, not_behind

LEARNERS = [
    *("ExpRegBoost", "ExpBinBoost", "OWABoost", "MILogisticRegression", "MINetworkClassifier"),
    *("MeanNetworkClassifier", "AnnealedBagMarginSVC", "EMDD", "MILIS", "SetKernelSVC"),
    *("FisherVectorClassifier", "VocabularyClassifier", "BayesianCitationKNN", "DDSVM"),
]
DISTANCES = (1.0, 1.5, 2.0, 3.0)
TINY = {"learner": "SetKernelSVC"}


def cases():
    return [{"learner": name} for name in LEARNERS]


def run(case):
    """Merit of the winner and share of the inner fits, for every distance, on all problems."""
    found = [_met(case["learner"], make()) for make in of_rule("any").values()]
    means = {key: round(float(np.mean([one[key] for one in found])), 4) for key in found[0]}
    return means | {"problems": len(found)}


def _met(name, data):
    _, protocol = make_protocol(data.bags, data.y, "any")
    (candidate,), _ = find_candidates("any", protocol.bags, [name])
    candidate = replace(candidate, max_bags=None)
    rows, test = protocol.everything.train[::2], protocol.everything.train[1::2]
    question, splits = protocol.question, protocol.inner_splits(rows)
    chosen = {behind: [] for behind in (np.inf, *DISTANCES)}  # pairs of a loss and a merit
    n_fits = dict.fromkeys(chosen, 0)
    n_blocks = len(blocks(candidate))
    with warnings.catch_warnings(), sharing(Shelf()):
        warnings.simplefilter("ignore")
        for block in range(n_blocks):
            race = [_trials._Setting(s, len(rows)) for s in blocks(candidate)[block]]
            for one in race:
                for train, where in splits:
                    one.meet(protocol, candidate, rows[train], rows[where], where)
            merits = [_merit(protocol, candidate, one.setting, rows, test) for one in race]
            for behind in chosen:
                left, n = _raced(question, race, rows, splits, behind)
                n_fits[behind] += n
                everybody = np.ones(len(rows), dtype=bool)
                losses = [race[k].losses(question, rows, everybody).mean() for k in left]
                best = left[int(np.argmin(losses))]
                chosen[behind].append((min(losses), merits[best]))
    merit = {behind: min(pairs)[1] for behind, pairs in chosen.items()}
    told = {"merit": merit[np.inf]}
    for behind in DISTANCES:
        told[f"fits at {behind}"] = n_fits[behind] / n_fits[np.inf]
        told[f"regret at {behind}"] = merit[np.inf] - merit[behind]
    return told


def _raced(question, race, rows, splits, behind):
    """The places of the settings that are left in the end, and the fits that it took."""
    left, n_fits, met = list(range(len(race))), 0, np.zeros(len(rows), dtype=bool)
    for k, (_, test) in enumerate(splits, start=1):
        n_fits += len(left)
        met[test] = True
        if k >= _trials._WARM_UP and len(left) > 1 and behind < np.inf:
            losses = np.array([race[i].losses(question, rows, met) for i in left])
            ahead = not_behind(losses, question.weight[rows[met]], behind)
            left = [i for i, stays in zip(left, ahead) if stays]
    return left, n_fits


def _merit(protocol, candidate, setting, rows, test):
    model = fit(protocol, candidate, setting, rows)
    evidence = protocol.question.evidence(model, protocol.bags[test])
    return 2.0 * roc_auc_score(protocol.question.codes[test], evidence[:, 0]) - 1.0


def table(rows):
    lines = [
        {key: f"{value:.3f}" if isinstance(value, float) else value for key, value in row.items()}
        for row in rows
    ]
    numbers = [{k: v for k, v in row.items() if k not in ("learner", "problems")} for row in rows]
    means = {key: f"{np.mean([one[key] for one in numbers]):.3f}" for key in numbers[0]}
    return [Table("settings given up early", [*lines, {"learner": "mean"} | means], NOTES)]


NOTES = (
    "Fits: the inner fits that the race makes, beside those of all settings on all inner folds. "
    "Regret: the merit of the setting that wins without a race, less that of the race's winner. "
    "Distances are standard errors of the difference to the best setting so far."
)
