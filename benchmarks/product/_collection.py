"""The development collection: problems on which the choice among learners may be decided.

None of them is, or comes from, one of the ten sets that figures are reported on. They differ in
what makes a label, in how rare witnesses are, in size and in width; a third have 20 to 60 bags. In
some the bags are there by nature, and nobody knows which instances make the label, if any do.
Every problem is made anew from its seed or from a table that scikit-learn brings, so the collection
is the same everywhere; once published, problems are added, never changed.
"""

import inspect
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets as tables
from sklearn.utils import check_random_state

from mixedbag.bags import Bags
from mixedbag.datasets import (
    BagData,
    load_aggregates,
    load_digits_bags,
    load_sessions,
    make_any,
    make_count,
    make_majority,
    make_sequences,
    make_sum,
)


class Problem(NamedTuple):
    """What its labels mean, and how to make it."""

    rule: str
    make: Any


# Rules that the generators of the package do not know -------------------------------------------


def _cut(rng, n_bags, size):
    sizes = rng.randint(size[0], size[1] + 1, size=n_bags)
    return sizes, np.concatenate([[0], np.cumsum(sizes)]), rng.permutation(np.arange(n_bags) % 2)


def one_of_two_kinds(n_bags, size=(4, 10), n_features=8, seed=0):
    """A positive bag has a witness of one of two kinds, on opposite sides of the others."""
    rng = check_random_state(seed)
    _, offsets, y = _cut(rng, n_bags, size)
    X = rng.standard_normal((offsets[-1], n_features))
    for i in np.flatnonzero(y):
        X[rng.randint(offsets[i], offsets[i + 1]), :2] += rng.choice([-3.0, 3.0])
    return BagData(Bags(X, offsets), y)


def both_kinds(n_bags, size=(5, 10), n_features=6, seed=0):
    """A positive bag has witnesses of two kinds; a negative one of at most one of them."""
    rng = check_random_state(seed)
    sizes, offsets, y = _cut(rng, n_bags, size)
    X = rng.standard_normal((offsets[-1], n_features))
    for i, label in enumerate(y):
        one, two = offsets[i] + rng.choice(sizes[i], 2, replace=False)
        kept = (True, True) if label else rng.permutation([True, False])
        X[one, 0] += 3.5 * kept[0]
        X[two, 1] += 3.5 * kept[1]
    return BagData(Bags(X, offsets), y)


def all_a_little(n_bags, size=(4, 12), n_features=10, shift=0.5, seed=0):
    """No witness: all instances of a positive bag lie a little to one side."""
    rng = check_random_state(seed)
    sizes, offsets, y = _cut(rng, n_bags, size)
    X = rng.standard_normal((offsets[-1], n_features))
    X[:, :3] += shift * np.repeat(y, sizes)[:, None]
    return BagData(Bags(X, offsets), y)


def wider_spread(n_bags, size=(6, 12), n_features=6, seed=0):
    """Instances of positive bags vary more; their mean is the same."""
    rng = check_random_state(seed)
    sizes, offsets, y = _cut(rng, n_bags, size)
    X = rng.standard_normal((offsets[-1], n_features))
    X *= 1.0 + 0.7 * np.repeat(y, sizes)[:, None]
    return BagData(Bags(X, offsets), y)


def a_ball(n_bags, size=(3, 8), n_features=4, seed=0):
    """Witnesses lie near the origin, all others around them: no line tells them apart."""
    rng = check_random_state(seed)
    _, offsets, y = _cut(rng, n_bags, size)
    X = rng.standard_normal((offsets[-1], n_features))
    X *= (2.0 + rng.uniform(size=len(X)) / 2)[:, None] / np.linalg.norm(X, axis=1)[:, None]
    for i in np.flatnonzero(y):
        X[rng.randint(offsets[i], offsets[i + 1])] /= 4.0
    return BagData(Bags(X, offsets), y)


# Tables turned into bags ------------------------------------------------------------------------


def bags_of_rows(load, positive, n_bags, size, seed=0, rule="any", witnesses=1):
    """Bags of rows of a table with classes, none of which is drawn twice.

    Under the rule "any", a positive bag has so many rows of the class `positive`, others none;
    under "majority" and "count", shares of that class differ from bag to bag.
    """
    X, target = load(return_X_y=True)
    rng = check_random_state(seed)
    pools = [rng.permutation(np.flatnonzero((target == positive) == kind)) for kind in (0, 1)]
    y, rows = rng.permutation(np.arange(n_bags) % 2), []
    sizes = rng.randint(size[0], size[1] + 1, size=n_bags)
    counts = np.empty(n_bags, dtype=np.int64)
    for i, m in enumerate(sizes):
        if rule == "any":
            k = witnesses * y[i]
        elif rule == "majority":
            few = rng.randint(0, (m - 1) // 2 + 1)
            k = m - few if y[i] else few
        else:
            k = rng.randint(0, m + 1)
        taken = [pools[0][: m - k], pools[1][:k]]
        if sum(map(len, taken)) < m:
            raise ValueError(f"the table has too few rows for {n_bags} bags")
        pools = [pools[0][m - k :], pools[1][k:]]
        rows.append(np.concatenate(taken))
        counts[i] = k
    bags = Bags(np.asarray(X[np.concatenate(rows)]), np.concatenate([[0], np.cumsum(sizes)]))
    return BagData(bags, counts if rule == "count" else y)


def totals_of_rows(load, n_bags, size, seed=0):
    """Bags of rows of a table with amounts; the label is their total."""
    X, target = load(return_X_y=True)
    rng = check_random_state(seed)
    sizes = rng.randint(size[0], size[1] + 1, size=n_bags)
    rows = rng.permutation(len(X))[: sizes.sum()]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return BagData(Bags(X[rows], offsets), np.add.reduceat(target[rows], offsets[:-1]))


# Bags by nature -----------------------------------------------------------------------------------


def images_in_patches(positive, n_bags, seed=0, side=4, step=2):
    """An image of a digit is a bag of square patches, those without ink left out.

    The label tells some digits, `positive`, from others: ``(digits, others)``.
    """
    images, digits = tables.load_digits(return_X_y=True)
    rng = check_random_state(seed)
    half = n_bags // 2
    chosen = [rng.permutation(np.flatnonzero(np.isin(digits, some)))[:half] for some in positive]
    rows = rng.permutation(np.concatenate(chosen))
    windows = np.lib.stride_tricks.sliding_window_view(
        images[rows].reshape(-1, 8, 8), (side, side), axis=(1, 2)
    )
    patches = windows[:, ::step, ::step].reshape(len(rows), -1, side * side)
    has_ink = patches.mean(axis=2) > 1.0
    offsets = np.concatenate([[0], np.cumsum(has_ink.sum(axis=1))])
    return BagData(Bags(patches[has_ink], offsets), np.isin(digits[rows], positive[0]).astype(int))


def patients_in_three(n_bags, seed=0):
    """A tumour is a bag of three: mean, error and worst of ten measures of its cells."""
    X, target = tables.load_breast_cancer(return_X_y=True)
    rng = check_random_state(seed)
    rows = rng.permutation(len(X))[:n_bags]
    return BagData(Bags(X[rows].reshape(-1, 10), np.arange(0, 3 * n_bags + 1, 3)), target[rows])


# The collection -----------------------------------------------------------------------------------


def _any(make, *args, **settings):
    return Problem("any", partial(make, *args, **settings))


def _of(rule, make, *args, **settings):
    return Problem(rule, partial(make, *args, **settings))


COLLECTION = {
    "any: 20 bags": _any(make_any, 20, (4, 8), n_features=5, separation=4.0, random_state=1),
    "any: 30 bags, wide": _any(make_any, 30, (3, 6), 60, 5.0, random_state=2),
    "any: 60 bags, a weak witness": _any(make_any, 60, (4, 8), 8, 2.5, 1, random_state=3),
    "any: 100 bags, one of thirty": _any(make_any, 100, (25, 35), 6, 4.0, 1, random_state=4),
    "any: 200 bags, many witnesses": _any(make_any, 200, (5, 10), 10, 2.0, 5, random_state=5),
    "any: 120 bags, 120 features": _any(make_any, 120, (3, 7), 120, 5.0, 2, random_state=6),
    "any: pairs": _any(make_any, 160, 2, 8, 2.5, 1, random_state=7),
    "one of two kinds": _any(one_of_two_kinds, 120, seed=8),
    "one of two kinds, 40 bags": _any(one_of_two_kinds, 40, (3, 6), 4, seed=9),
    "both kinds": _any(both_kinds, 160, seed=10),
    "all a little": _any(all_a_little, 120, seed=11),
    "all a little, 40 bags": _any(all_a_little, 40, shift=0.8, seed=12),
    "wider spread": _any(wider_spread, 100, seed=13),
    "a ball": _any(a_ball, 150, seed=14),
    "a ball, 50 bags": _any(a_ball, 50, seed=15),
    "digits: a 9": _any(load_digits_bags, n_bags=120, random_state=16),
    "digits: a 9 of many": _any(
        bags_of_rows, tables.load_digits, 9, 60, (12, 20), seed=17, witnesses=2
    ),
    "digits: an 8": _any(bags_of_rows, tables.load_digits, 8, 140, (4, 10), seed=18),
    "wine": _any(bags_of_rows, tables.load_wine, 2, 30, (3, 5), seed=19),
    "breast cancer": _any(bags_of_rows, tables.load_breast_cancer, 0, 56, (3, 7), seed=20),
    "iris": _any(bags_of_rows, tables.load_iris, 1, 24, (2, 4), seed=21),
    "digits in patches: 3 or 8": _any(images_in_patches, ([3], [8]), 60, seed=33),
    "digits in patches: 4, 7, 9": _any(images_in_patches, ([9], [4, 7]), 200, seed=34),
    "digits in patches: odd or even": _any(
        images_in_patches, ([1, 3, 5, 7, 9], [0, 2, 4, 6, 8]), 150, seed=35
    ),
    "breast cancer in three": _any(patients_in_three, 100, seed=36),
    "majority: 40 bags": _of("majority", make_majority, 40, (5, 9), 6, 1.5, random_state=22),
    "majority: 150 bags": _of("majority", make_majority, 150, (5, 15), 20, 1.0, random_state=23),
    "majority: breast cancer": _of(
        "majority", bags_of_rows, tables.load_breast_cancer, 0, 60, (5, 8), 24, "majority"
    ),
    "majority: sessions": _of("majority", load_sessions),
    "count: 40 bags": _of("count", make_count, 40, (4, 8), 6, separation=2.0, random_state=25),
    "count: 150 bags": _of("count", make_count, 150, (5, 15), 12, separation=1.5, random_state=26),
    "count: breast cancer": _of(
        "count", bags_of_rows, tables.load_breast_cancer, 0, 50, (5, 8), 27, "count"
    ),
    "count: aggregates": _of("count", load_aggregates),
    "sum: 60 bags": _of("sum", make_sum, 60, (3, 8), 6, 0.5, random_state=28),
    "sum: 200 bags": _of("sum", make_sum, 200, (5, 15), 10, 1.0, random_state=29),
    "sum: diabetes": _of("sum", totals_of_rows, tables.load_diabetes, 80, (3, 7), seed=30),
    "sequence: 40 bags": _of("sequence", make_sequences, 40, 80, 3, random_state=31),
    "sequence: 80 bags": _of("sequence", make_sequences, 80, 120, 4, random_state=32),
}


def of_rule(rule):
    """The problems of one rule, by name."""
    return {name: one.make for name, one in COLLECTION.items() if one.rule == rule}


def is_drawn(name):
    """Whether a problem has a generator that makes as many bags as one likes."""
    make = COLLECTION[name].make
    return "n_bags" in inspect.signature(make.func).parameters and make.func not in _OF_TABLES


_OF_TABLES = (
    bags_of_rows,
    totals_of_rows,
    load_digits_bags,
    images_in_patches,
    patients_in_three,
)


def drawn(name, n_more, draw=0):
    """A problem with so many further bags of its kind, drawn anew, and how many it has itself."""
    make = COLLECTION[name].make
    if not is_drawn(name):
        data = make()
        return data, len(data.y)
    bound = inspect.signature(make.func).bind(*make.args, **make.keywords)
    n_bags = bound.arguments["n_bags"]
    seed = "seed" if "seed" in bound.arguments else "random_state"
    bound.arguments |= {"n_bags": n_bags + n_more, seed: bound.arguments[seed] + 100 * draw}
    return make.func(*bound.args, **bound.kwargs), n_bags
