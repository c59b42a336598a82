"""How the penalty of EM-DD matters on data that are in none of the other tables."""

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedKFold, cross_val_score

from benchmarks._tables import Table, grouped
from benchmarks.classics._folds import prepared
from mixedbag import Bags
from mixedbag.classics import EMDD
from mixedbag.datasets import BagData, load, make_any

PENALTIES = (0.0, 0.01, 0.1, 1.0, 10.0)
SEEDS = (0, 1, 2)
FAMILIES = {
    "synthetic, 10 features": [f"any-10-{seed}" for seed in SEEDS],
    "synthetic, 50 features": [f"any-50-{seed}" for seed in SEEDS],
    "synthetic, 150 features": [f"any-150-{seed}" for seed in SEEDS],
    "synthetic text, 1,000 words": [f"text-1000-{seed}" for seed in SEEDS],
    "mutagenesis": ["mutagenesis-atoms", "mutagenesis-bonds", "mutagenesis-chains"],
}


def cases():
    return [{"data": family, "alpha": alpha} for family in FAMILIES for alpha in PENALTIES]


def run(case):
    return {"accuracy": np.mean([accuracy(n, case["alpha"]) for n in FAMILIES[case["data"]]])}


def accuracy(name, alpha):
    data = named(name)
    model = prepared(EMDD(alpha=alpha, random_state=0), data)
    folds = [StratifiedKFold(5, shuffle=True, random_state=r) for r in (0, 1)]
    return 100 * np.mean([cross_val_score(model, data.bags, data.y, cv=cut) for cut in folds])


def named(name):
    if name.startswith("mutagenesis"):
        return load(name)
    kind, width, seed = name.split("-")
    if kind == "any":
        return make_any(n_bags=200, n_features=int(width), random_state=int(seed))
    return synthetic_text(int(width), int(seed))


def synthetic_text(vocabulary, seed, n_bags=200, size=8, length=20):
    """Passages of words by Zipf's law; one in a positive bag takes half of them from a topic."""
    rng = np.random.default_rng(seed)
    frequency = 1.0 / np.arange(1, vocabulary + 1)
    words = rng.choice(vocabulary, (n_bags * size, length), p=frequency / frequency.sum())
    topic = rng.choice(vocabulary, 20, replace=False)
    y = np.arange(n_bags) % 2
    on_topic = np.flatnonzero(y) * size
    words[on_topic, : length // 2] = rng.choice(topic, (len(on_topic), length // 2))
    passage = np.repeat(np.arange(len(words)), length)
    counts = sparse.coo_array(
        (np.full(words.size, 1.0 / length), (passage, words.ravel())), (len(words), vocabulary)
    )
    return BagData(Bags(counts.tocsr(), np.arange(n_bags + 1) * size), y)


def table(rows):
    lines = [
        {"data": family} | {f"alpha = {row['alpha']:g}": row["accuracy"] for row in mine}
        for (family,), mine in grouped(rows, "data").items()
    ]
    mean = {
        k: float(np.mean([line[k] for line in lines if k in line])) for k in lines[0] if k != "data"
    }
    notes = (
        "Mean accuracy in percent, 2 × 5 stratified folds, three sets a row; the standard error of "
        f"a mean is about 2 points. The highest mean has {max(mean, key=mean.get)}. No penalty is "
        "best everywhere: choose it by cross-validation. The default, alpha = 0.1, was settled "
        "while looking at test folds of MUSK1, Elephant, Tiger and three TREC9 sets. alpha = 1 was "
        "the default for a while, as this table would have it; on the test folds of the thesis's "
        "sets it gave less (MUSK1 72.7, MUSK2 65.6, Elephant 75.5, Fox 52.8, Tiger 68.0), so 0.1 "
        "came back: figures of the default setting on these sets are optimistic."
    )
    return [Table("EM-DD: which penalty", [*lines, {"data": "mean", **mean}], notes)]
