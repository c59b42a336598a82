"""Development tables of random and of uneven bags, fewer than features or close to it.

None of them is reported. Rows of bags that are in the catalogue (segments of photographs, shapes of
molecules, passages of articles) have the label of their bag.
"""

import functools

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

from benchmarks.counts._few_bags import TABLES as FEW
from benchmarks.counts._few_bags import rows_of
from benchmarks.counts._problems import counts_of, in_bags, rows
from mixedbag.datasets import load

_ROWS = 1000
_WORDS = 57  # the most frequent ones
_KINDS = {  # rows at most, features at least (what is missing is noise), kind of bags
    "random 8, wide": (352, 0, "random 8"),
    "random 8, noise": (352, 32, "random 8"),
    "uneven 16, wide": (_ROWS, 0, "uneven 16"),
    "uneven 16, noise": (352, 32, "uneven 16"),
    "uneven 8, wide": (176, 0, "uneven 8"),
}
TABLES = {
    "random 8, wide": ("dermatology", "elephant", "musk", "trec9-1", "words", "chains", "digits"),
    "random 8, noise": (
        *("cancer", "moons", "cmc", "wine", "iris", "large digits", "diabetes", "friedman"),
        *("hastie", "rings", "mixture", "rare", "blobs", "one feature", "all features"),
    ),
    "uneven 16, wide": (
        *("dermatology", "cancer", "digits", "large digits", "elephant", "tiger", "musk"),
        *("trec9-1", "trec9-7", "trains", "words"),
        *("mixture", "blobs", "all features", "one feature"),
    ),
    "uneven 16, noise": ("chains", "rings", "hastie", "diabetes", "rare", "cmc", "moons"),
    "uneven 8, wide": ("wine",),
}


def wide(name, kind, seed):
    """Bags, their counts and the labels of their rows."""
    n_rows, n_features, bags = _KINDS[kind]
    X, label = _table(name, seed)
    noise = np.random.default_rng(seed).normal(size=(len(X), max(0, n_features - X.shape[1])))
    bags, label = in_bags(np.hstack([X, noise])[:n_rows], label[:n_rows], bags, seed)
    return bags, counts_of(bags, label), label


def _table(name, seed):
    """Standardised features and a label 0 or 1 of every row, in random order."""
    if name not in _MORE:
        return (rows_of if name in FEW else rows)(name, seed)
    X, label = _MORE[name](seed)
    kept = np.random.default_rng(seed).permutation(len(label))[:_ROWS]
    X = StandardScaler().fit_transform(SimpleImputer().fit_transform(X[kept]))
    return X, label[kept].astype(int)


@functools.cache
def _rows_of_bags(name):
    data = load(name)
    X, label = data.bags.instances, data.bags.spread(np.asarray(data.y))
    if data.bags.is_sparse:
        X = X.tocsc()
        frequent = np.sort(np.argsort(-np.diff(X.indptr))[:_WORDS])
        X = X[:, frequent].toarray()
    return X.astype(float), label == np.unique(label)[-1]


@functools.cache
def _first_class(name):
    data = load(name)
    return data.X.astype(float), data.y == np.unique(data.y)[0]


def _made_words(seed):
    """How often words are said, by texts of two topics; half of the words go with the topic."""
    rng = np.random.default_rng(seed)
    topic = rng.random(_ROWS) < 0.4
    usual = np.exp(rng.normal(-1.5, 1.0, _WORDS))
    told = rng.normal(0.0, 0.8, _WORDS) * (rng.random(_WORDS) < 0.5)
    mean = usual * np.exp(told * np.where(topic, 0.7, -0.7)[:, None])
    said = rng.poisson(mean * rng.gamma(1.0, 1.0, (_ROWS, _WORDS)))
    return said * rng.lognormal(0.0, 0.7, (_ROWS, 1)), topic


_MORE = {
    "dermatology": lambda seed: _first_class("dermatology"),
    "elephant": lambda seed: _rows_of_bags("elephant"),
    "tiger": lambda seed: _rows_of_bags("tiger"),
    "musk": lambda seed: _rows_of_bags("musk1"),
    "chains": lambda seed: _rows_of_bags("mutagenesis-chains"),
    "trec9-1": lambda seed: _rows_of_bags("trec9-1"),
    "trec9-7": lambda seed: _rows_of_bags("trec9-7"),
    "trains": lambda seed: _rows_of_bags("eastwest"),
    "words": _made_words,
}
