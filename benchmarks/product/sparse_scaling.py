"""How sparse features are best scaled: what `compare` does was settled here.

Passages of made texts, as counts, shares, tf-idf or plain words; tables in several units, and of
categories beside amounts; and texts of TREC9. Six learners that need scaled features choose among
their settings inside each half of the bags, and order those of the other half: the area under the
ROC curve, the mean of both halves. Looked at before the decision were the made problems and three
sets of TREC9; the other four were asked afterwards, once.
"""

import warnings
from dataclasses import replace

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer

from benchmarks._tables import Table
from mixedbag._once import Shelf, sharing
from mixedbag.bags import Bags
from mixedbag.comparison._candidates import find_candidates
from mixedbag.comparison._protocol import make_protocol
from mixedbag.comparison._scaling import in_one_unit
from mixedbag.comparison._trials import best_of, blocks, run_trial
from mixedbag.datasets import BagData, load
from mixedbag.wrappers import InstanceWise

N_BAGS = 120
WORDS, TOPICS = 3000, 12
WAYS = {
    "as they are": [],
    "features by their largest": [MaxAbsScaler()],
    "rows of length one": [Normalizer()],
    "features, then rows": [MaxAbsScaler(), Normalizer()],
}
LEARNERS = [
    "BagMarginSVC",
    "DissimilarityClassifier",
    "InstanceMarginSVC",
    "MILES",
    "MILogisticRegression",
    "SetKernelSVC",
]
AFTERWARDS = ["trec9-4", "trec9-7", "trec9-9", "trec9-10"]
TINY = {"data": "categories and amounts", "learner": "SetKernelSVC"}


def _cut(rng, sizes):
    y, sizes = rng.permutation(np.arange(N_BAGS) % 2), rng.integers(*sizes, N_BAGS)
    return y, np.concatenate([[0], np.cumsum(sizes)])


def _text(form):
    """Passages about topics; a positive text has one about the first topic."""
    rng = np.random.default_rng(0)
    common = 1.0 / np.arange(1, WORDS + 1) ** 1.05
    own = np.array([rng.permutation(common) ** 0.9 for _ in range(TOPICS)])
    chance = 0.7 * common / common.sum() + 0.3 * own / own.sum(axis=1, keepdims=True)
    y, offsets = _cut(rng, (4, 12))
    topic = rng.integers(1, TOPICS, offsets[-1])
    for i in np.flatnonzero(y):
        topic[rng.integers(offsets[i], offsets[i + 1])] = 0
    lengths = rng.integers(10, 60, len(topic))
    table = sparse.csr_array(
        np.array([rng.multinomial(n, chance[k]) for n, k in zip(lengths, topic)], dtype=float)
    )
    if form == "tf-idf":
        table = sparse.csr_array(TfidfTransformer().fit_transform(table))
    elif form == "shares":
        table = sparse.csr_array(table / lengths[:, None])
    elif form == "words":
        table.data[:] = 1.0
    return BagData(Bags(table, offsets), y)


def _units():
    """A tenth of three hundred amounts is not zero, each in a unit of its own."""
    rng, n_features = np.random.default_rng(0), 300
    y, offsets = _cut(rng, (4, 10))
    shape = offsets[-1], n_features
    X = (rng.random(shape) < 0.1) * rng.gamma(2.0, 1.0, shape)
    for i in np.flatnonzero(y):
        X[rng.integers(offsets[i], offsets[i + 1]), rng.permutation(12)[:7]] = rng.gamma(
            4.0, 1.0, 7
        )
    X *= 10 ** rng.uniform(-2, 2, n_features)
    return BagData(Bags(sparse.csr_array(X), offsets), y)


def _categories():
    """Five categories, a column a value, and four amounts."""
    rng = np.random.default_rng(0)
    y, offsets = _cut(rng, (4, 10))
    n = offsets[-1]
    values = [rng.integers(0, k, n) for k in (3, 5, 8, 20, 40)]
    amounts = rng.lognormal(0, 1, (n, 4)) * [1, 10, 1000, 0.1]
    for i in np.flatnonzero(y):
        k = rng.integers(offsets[i], offsets[i + 1])
        values[0][k], values[2][k], amounts[k, 2] = 0, 1, rng.uniform(3000, 6000)
    X = np.hstack([*(np.eye(v.max() + 1)[v] for v in values), amounts])
    return BagData(Bags(sparse.csr_array(X), offsets), y)


def _trec(name):
    """Some of the texts, and the words that they have."""
    data = load(name)
    some = np.sort(np.random.default_rng(0).permutation(len(data.y))[:N_BAGS])
    bags = data.bags[some]
    used = np.unique(bags.instances.indices)
    return BagData(Bags(sparse.csr_array(bags.instances[:, used]), bags.offsets), data.y[some])


PROBLEMS = {
    **{
        f"text, {form}": lambda form=form: _text(form)
        for form in ("counts", "shares", "tf-idf", "words")
    },
    "several units": _units,
    "categories and amounts": _categories,
    **{
        name: lambda name=name: _trec(name)
        for name in ("trec9-1", "trec9-2", "trec9-3", *AFTERWARDS)
    },
}


def cases():
    return [{"data": name, "learner": learner} for name in PROBLEMS for learner in LEARNERS]


def run(case):
    """The area under the curve with each way, and which of them `compare` takes."""
    data = PROBLEMS[case["data"]]()
    _, protocol = make_protocol(data.bags, data.y, "any", folds=2, inner_folds=3)
    (candidate,), _ = find_candidates("any", protocol.bags, [case["learner"]])
    own = candidate.estimator.steps[-1]
    areas = {}
    for way, scalers in WAYS.items():
        steps = [(f"step {k}", InstanceWise(scaler)) for k, scaler in enumerate(scalers)]
        prepared = replace(candidate, estimator=Pipeline([*steps, own]), max_bags=None)
        areas[way] = round(_area(protocol, prepared, data.y), 3)
    return {"areas": areas, "one unit": in_one_unit(data.bags.instances)}


def _area(protocol, candidate, y):
    areas = []
    with warnings.catch_warnings(), sharing(Shelf()):
        warnings.simplefilter("ignore")
        for split in protocol.splits:
            n_blocks = len(blocks(candidate))
            best = best_of([run_trial(protocol, candidate, split, k) for k in range(n_blocks)])
            areas.append(roc_auc_score(y[split.test], best.outer[:, 0]))
    return float(np.mean(areas))


def table(rows):
    lines = []
    for name in dict.fromkeys(row["data"] for row in rows):
        some = [row for row in rows if row["data"] == name]
        means = {way: round(float(np.mean([r["areas"][way] for r in some])), 3) for way in WAYS}
        taken = "rows of length one" if some[0]["one unit"] else "features, then rows"
        lines.append({"data": name, "learners": len(some), **means, "compare takes": taken})
    single = [
        {"data": row["data"], "learner": row["learner"], **row["areas"]}
        for row in rows
        if row["data"] in AFTERWARDS
    ]
    return [
        Table("area under the curve, the mean of learners", lines, NOTES),
        Table("sets that were asked after the decision, by learner", single),
    ]


NOTES = f"Asked after the decision: {', '.join(AFTERWARDS)}."
