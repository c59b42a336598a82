"""Cross-validated runs of the boosters, shared by the paper's tables and figures."""

from functools import cache

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks._tables import published
from mixedbag import boosting
from mixedbag.datasets import load

# The columns of the paper's Table I, and our names of the sets.
SETS = {
    "atom": "mutagenesis-atoms",
    "bond": "mutagenesis-bonds",
    "chain": "mutagenesis-chains",
    "east": "eastwest",
    "west": "westeast",
    "musk1": "musk1",
    "musk2": "musk2",
    "eleph.": "elephant",
    "tiger": "tiger",
    "fox": "fox",
}
EIGHT = [column for column in SETS if column not in ("east", "west")]
BOOSTERS = {
    "ExpBin": "ExpBinBoost",
    "ExpReg": "ExpRegBoost",
    "NOR Boost": "NoisyOrBoost",
    "ISR Boost": "ISRBoost",
    "OWA-real": "OWABoost",
}


def booster(label, column):
    """The booster with the paper's rounds: 50 on the trains, 100 elsewhere."""
    return getattr(boosting, BOOSTERS[label])(n_rounds=50 if column in ("east", "west") else 100)


def folds(y, repetition):
    return StratifiedKFold(10, shuffle=True, random_state=repetition).split(np.zeros(len(y)), y)


@cache
def curves(column, label, repetition):
    """Accuracy (%) after each round on the training and on the test bags, a row a fold."""
    data = load(SETS[column])
    result = {"train": [], "test": []}
    for train, test in folds(data.y, repetition):
        model = booster(label, column).fit(data.bags[train], data.y[train])
        for part, rows in (("train", train), ("test", test)):
            stages = model.staged_predict(data.bags[rows])
            curve = [100 * float((labels == data.y[rows]).mean()) for labels in stages]
            result[part].append(curve + [curve[-1]] * (model.n_rounds - len(curve)))
    return {part: np.array(rows) for part, rows in result.items()}


def paper(row, columns):
    """The paper's Table I, one row."""
    (found,) = (r for r in published("boosting_table1") if r["algorithms"] == row)
    return {column: float(found[column]) for column in columns}


def with_averages(row):
    """The row, rounded, with its averages over all sets and over those that are not tiny."""
    averages = {"avg.": np.mean(list(row.values()))}
    if set(EIGHT) <= set(row):
        averages["eight"] = np.mean([row[column] for column in EIGHT])
    return {column: round(float(value), 1) for column, value in (row | averages).items()}
