"""Tables whose rows are put into bags of which only counts (or totals) are told.

What is decided (defaults, criteria) is decided on the tables of DEVELOPMENT; results are reported
on those of REPORTED, which had no say.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_moons
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

from mixedbag import Bags
from mixedbag.datasets import load

DEVELOPMENT = ("cancer", "digits", "wine", "moons", "cmc")
REPORTED = (
    *("breast-cancer-wisconsin", "ionosphere", "german", "spambase", "usps", "batteryless"),
    *("housing", "cpu-small"),
)
TOTALS = ("auto-mpg", "housing", "cpu-small")  # tables of numbers; for counts, above the median
KINDS = ("random 8", "random 32", "uneven 16", "uneven 64", "places 16")
_ROWS = 1000  # at most
_FEWEST = 6  # bags of a kind; small tables have smaller ones


def rows(name, random_state=0, values=False):
    """Standardised features and a label 0 or 1 (or with `values` a number) of every row."""
    X, y = _table(name, random_state)
    kept = np.random.default_rng(random_state).permutation(len(y))[:_ROWS]
    X = StandardScaler().fit_transform(SimpleImputer().fit_transform(X[kept]))
    y = y[kept].astype(float)
    if name in TOTALS:
        return X, y if values else (y > np.median(y)).astype(int)
    return X, y.astype(int)


def _table(name, random_state):
    if name == "moons":
        return make_moons(1000, noise=0.25, random_state=random_state)
    if name == "cancer":
        return load_breast_cancer(return_X_y=True)
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X, y % 2
    if name == "wine":
        X, y = load_wine(return_X_y=True)
        return X, y == 1
    data = load(name)
    if name == "usps":
        return data.X, data.y % 2
    if name == "batteryless":  # lying down or not, from acceleration and the strength of the signal
        X = np.column_stack([data.bags.instances, data.other[:, 1]])
        return X, data.instance_labels == 3
    if name in TOTALS:
        return data.X, data.y
    if name == "cmc":
        return data.X, data.y == np.unique(data.y)[0]
    return data.X, data.y == np.unique(data.y)[1]


def in_bags(X, y, kind, random_state=0):
    """The rows in bags of a kind, and what each row is.

    "random": rows at random. "uneven": every bag has a share of positives of its own, drawn evenly
    as long as there are rows of either class. "places": rows that are neighbours in their first
    two features.
    """
    rng = np.random.default_rng(random_state)
    way, size = kind.split()
    size = min(int(size), len(y) // _FEWEST)
    order = {"random": _random, "uneven": _uneven, "places": _places}[way](X, y, size, rng)
    n = len(order) // size * size
    order = order[:n]
    return Bags(X[order], np.arange(0, n + 1, size)), y[order]


def _random(X, y, size, rng):
    return rng.permutation(len(y))


def _uneven(X, y, size, rng):
    label = y > np.median(y) if len(np.unique(y)) > 2 else y > 0
    pools = [rng.permutation(np.flatnonzero(label == side)).tolist() for side in (False, True)]
    order = []
    while len(pools[0]) + len(pools[1]) >= size:
        n_yes = int(rng.binomial(size, rng.uniform()))
        # what is left of a rare class is shared out as far as it goes
        n_yes = min(max(n_yes, size - len(pools[0])), len(pools[1]))
        order += [pools[1].pop() for _ in range(n_yes)]
        order += [pools[0].pop() for _ in range(size - n_yes)]
    return np.array(order)


def _places(X, y, size, rng):
    n_strips = max(1, round(np.sqrt(len(y) / size)))
    strip = np.argsort(np.argsort(X[:, 0] + 1e-6 * rng.normal(size=len(y)))) * n_strips // len(y)
    return np.lexsort((X[:, 1], strip))


def counts_of(bags, y):
    """The sum of what the rows of each bag are."""
    return np.add.reduceat(y, bags.offsets[:-1])
