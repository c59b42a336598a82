"""The second part of the development collection: tables of the catalogue turned into bags.

None of them is, or comes from, one of the ten sets that figures are reported on. Rows of real
tables, 24 to 160 bags, under rules that differ in what makes a label: one row of a class, several,
two classes together, the share of a class, the largest and the mean of an amount, an image in
patches. A tenth of the labels of some are wrong. As in the first part, problems are added, never
changed.
"""

from functools import partial
from itertools import pairwise

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from benchmarks.product._collection import Problem, bags_of_rows
from mixedbag.bags import Bags
from mixedbag.datasets import BagData, load


def _complete(name):
    """As tables of scikit-learn are loaded."""

    def read(return_X_y=True):
        table = load(name).complete()
        return np.asarray(table.X, dtype=np.float64), np.asarray(table.y)

    return read


def _drawn(name, n_bags, size, seed):
    """Rows of a table, none twice, in bags of several sizes."""
    X, target = _complete(name)()
    rng = check_random_state(seed)
    sizes = rng.randint(size[0], size[1] + 1, size=n_bags)
    rows = rng.permutation(len(X))[: sizes.sum()]
    if len(rows) < sizes.sum():
        raise ValueError(f"{name} has too few rows for {n_bags} bags")
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return rng, Bags(X[rows], offsets), target[rows], offsets


def of_amounts(name, n_bags, size, combine, seed=0, wrong=0.0):
    """Positive: the largest, or the mean, of an amount is above what half of the bags have."""
    rng, bags, target, offsets = _drawn(name, n_bags, size, seed)
    amounts = [combine(target[a:b]) for a, b in pairwise(offsets)]
    y = (amounts > np.median(amounts)).astype(int)
    return BagData(bags, np.where(rng.uniform(size=n_bags) < wrong, 1 - y, y))


def of_shares(name, positive, n_bags, size, seed=0, wrong=0.0):
    """Positive: the share of a class is above what half of the bags have."""
    rng, bags, target, offsets = _drawn(name, n_bags, size, seed)
    shares = [np.mean(target[a:b] == positive) for a, b in pairwise(offsets)]
    y = (shares > np.median(shares)).astype(int)
    return BagData(bags, np.where(rng.uniform(size=n_bags) < wrong, 1 - y, y))


def of_two_classes(name, pair, n_bags, size, seed=0):
    """Positive: rows of both classes of a pair are there."""
    _, bags, target, offsets = _drawn(name, n_bags, size, seed)
    parts = [target[a:b] for a, b in pairwise(offsets)]
    y = np.array([np.isin(pair, part).all() for part in parts]).astype(int)
    return BagData(bags, y)


def scans_in_patches(positive, n_bags, seed=0, side=6, step=5):
    """A scanned digit of the post is a bag of square patches, those without ink left out."""
    images, digits = _complete("usps")()
    rng = check_random_state(seed)
    half = n_bags // 2
    chosen = [rng.permutation(np.flatnonzero(np.isin(digits, some)))[:half] for some in positive]
    rows = rng.permutation(np.concatenate(chosen))
    pictures = images[rows].reshape(-1, 16, 16)
    windows = np.lib.stride_tricks.sliding_window_view(pictures, (side, side), axis=(1, 2))
    patches = windows[:, ::step, ::step].reshape(len(rows), -1, side * side)
    has_ink = patches.std(axis=2) > 0.2 * images.std()
    has_ink[:, 4] = True
    offsets = np.concatenate([[0], np.cumsum(has_ink.sum(axis=1))])
    return BagData(Bags(patches[has_ink], offsets), np.isin(digits[rows], positive[0]).astype(int))


def of_texts(name, n_bags, n_words=60, seed=0):
    """Some texts of TREC9 by their most frequent words, as a dense table."""
    data = load(name)
    some = np.sort(check_random_state(seed).permutation(len(data.y))[:n_bags])
    bags = data.bags[some]
    X = sparse.csr_array(bags.instances)
    frequent = np.sort(np.argsort(-np.bincount(X.indices, minlength=X.shape[1]))[:n_words])
    y = (np.asarray(data.y)[some] == np.max(data.y)).astype(int)
    return BagData(Bags(np.asarray(X[:, frequent].todense()), bags.offsets), y)


def _any(make, *args, **settings):
    return Problem("any", partial(make, *args, **settings))


SECOND = {
    "ionosphere: a bad one": _any(bags_of_rows, _complete("ionosphere"), "b", 60, (2, 5), seed=41),
    "ionosphere: shares": _any(of_shares, "ionosphere", "b", 40, (5, 9), seed=42),
    "dermatology: one disease": _any(
        bags_of_rows, _complete("dermatology"), 2, 60, (3, 7), seed=43
    ),
    "dermatology: two diseases": _any(of_two_classes, "dermatology", (2, 5), 70, (4, 6), seed=44),
    "german: several bad credits": _any(
        bags_of_rows, _complete("german"), 2, 100, (5, 9), seed=45, witnesses=3
    ),
    "german: shares": _any(of_shares, "german", 2, 120, (6, 10), seed=46),
    "cmc: shares": _any(of_shares, "cmc", 1, 120, (5, 15), seed=47),
    "cmc: several": _any(bags_of_rows, _complete("cmc"), 3, 60, (6, 10), seed=48, witnesses=4),
    "spambase: one spam of many": _any(
        bags_of_rows, _complete("spambase"), 1, 160, (8, 16), seed=49
    ),
    "spambase: few bags": _any(bags_of_rows, _complete("spambase"), 1, 30, (4, 10), seed=50),
    "spambase: shares, some wrong": _any(
        of_shares, "spambase", 1, 100, (5, 12), seed=51, wrong=0.1
    ),
    "housing: the dearest": _any(of_amounts, "housing", 80, (4, 8), np.max, seed=52),
    "housing: the mean": _any(of_amounts, "housing", 60, (4, 8), np.mean, seed=53),
    "auto-mpg: the thriftiest, some wrong": _any(
        of_amounts, "auto-mpg", 60, (4, 8), np.max, seed=54, wrong=0.1
    ),
    "auto-mpg: the mean, 24 bags": _any(of_amounts, "auto-mpg", 24, (6, 12), np.mean, seed=55),
    "cpu-small: the idlest": _any(of_amounts, "cpu-small", 120, (5, 15), np.max, seed=56),
    "cpu-small: the busiest": _any(of_amounts, "cpu-small", 60, (10, 30), np.min, seed=57),
    "usps: a 4 among others": _any(bags_of_rows, _complete("usps"), 4, 80, (3, 7), seed=58),
    "usps in patches: 3 or 5": _any(scans_in_patches, ([3], [5]), 60, seed=59),
    "usps in patches: 4, 7, 9": _any(scans_in_patches, ([9], [4, 7]), 120, seed=60),
    "trec9-1": _any(of_texts, "trec9-1", 100, seed=61),
    "trec9-4": _any(of_texts, "trec9-4", 60, seed=62),
}
