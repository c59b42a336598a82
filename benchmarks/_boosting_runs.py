"""Cross-validated runs of the boosters, shared by the tables and figures of the boosting paper.

Set ``MIXEDBAG_BENCHMARK_CACHE`` to a folder to keep finished runs between scripts.
"""

import os

import numpy as np
from joblib import Memory
from sklearn.model_selection import GridSearchCV, StratifiedKFold

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
BOOSTERS = {
    "ExpBin": "ExpBinBoost",
    "ExpReg": "ExpRegBoost",
    "NOR Boost": "NoisyOrBoost",
    "ISR Boost": "ISRBoost",
    "OWA-real": "OWABoost",
}
LAMBDAS = (0.03, 0.1, 0.3)

memory = Memory(os.environ.get("MIXEDBAG_BENCHMARK_CACHE"), verbose=0)


def n_rounds(name):
    """The paper's: 50 on the trains, 100 elsewhere."""
    return 50 if name in ("eastwest", "westeast") else 100


def folds(y, repetition):
    return StratifiedKFold(10, shuffle=True, random_state=repetition).split(np.zeros(len(y)), y)


@memory.cache
def curves(name, booster, repetition):
    """Accuracy after each round on the training and on the test bags, a row a fold."""
    data = load(name)
    result = {"train": [], "test": []}
    for train, test in folds(data.y, repetition):
        model = getattr(boosting, booster)(n_rounds=n_rounds(name))
        model.fit(data.bags[train], data.y[train])
        for part, rows in (("train", train), ("test", test)):
            stages = model.staged_predict(data.bags[rows])
            curve = [float((labels == data.y[rows]).mean()) for labels in stages]
            curve += [curve[-1]] * (n_rounds(name) - len(curve))
            result[part].append(curve)
    return {part: np.array(rows) for part, rows in result.items()}


@memory.cache
def nested(name, booster, repetition):
    """Test accuracy of each fold and the λ that three folds inside the training bags chose."""
    data = load(name)
    accuracy, chosen = [], []
    for train, test in folds(data.y, repetition):
        inner = StratifiedKFold(3, shuffle=True, random_state=repetition)
        model = getattr(boosting, booster)(n_rounds=n_rounds(name))
        search = GridSearchCV(model, {"lam": LAMBDAS}, cv=inner)
        search.fit(data.bags[train], data.y[train])
        accuracy.append(float(search.score(data.bags[test], data.y[test])))
        chosen.append(search.best_params_["lam"])
    return accuracy, chosen
