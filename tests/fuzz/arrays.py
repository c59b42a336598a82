"""Arrays, lists and frames of odd types: `as_bags` and the builders refuse them, or change nothing.

A case is the seed of an input, as text.
"""

import random

import numpy as np
from scipy import sparse

from mixedbag import Bags, as_bags
from mixedbag.bags import bag_labels

KINDS = (
    "f8",
    "f4",
    "f2",
    "i8",
    "u8",
    "i1",
    "?",
    "c16",
    "M8[s]",
    "m8[s]",
    "U8",
    "S4",
    "O",
    ">f8",
    "g",
)


def cases(seed):
    rng = random.Random(seed)
    while True:
        number = rng.getrandbits(40)
        yield f"arrays-{number}", str(number).encode()


def run(content):
    rng = random.Random(int(content))
    try:
        return rng.choice([tables, lists, groups, labels, frames])(rng)
    except (ValueError, TypeError) as error:
        return "refused" if str(error) else "exception: an error without a word"


def array(rng, shape):
    kind = rng.choice(KINDS)
    size = int(np.prod(shape))
    pool = [0, 1, -1, 2**53, 2**53 + 1, 127, 0.5, 1e300, float("nan"), float("inf"), 3.25]
    if kind == "O":
        pool = [
            *pool,
            "1",
            "x",
            None,
            True,
            1j,
            np.datetime64(5, "s"),
            np.timedelta64(5, "s"),
            [1],
            {},
        ]
        values = np.empty(size, dtype=object)
        for k in range(size):
            values[k] = rng.choice(pool) if rng.random() < 0.2 else float(k)
    else:
        with np.errstate(all="ignore"):
            values = np.arange(size).astype(kind)
            if kind in ("f8", "f4", "f2", "g", "c16", ">f8") and size:
                values[rng.randrange(size)] = rng.choice(pool)
    values = values.reshape(shape)
    if rng.random() < 0.2:
        values = np.ma.MaskedArray(values, mask=[rng.random() < 0.3 for _ in range(size)])
    if rng.random() < 0.2:
        values = np.asfortranarray(values) if not np.ma.isMA(values) else values
    return values


def same(bags, x):
    """Whether the instances are the numbers that were given; masked ones are NaN."""
    flat = [None if v is np.ma.masked else v for v in np.ma.asarray(x).ravel()]
    others = (complex, np.complexfloating, np.datetime64, np.timedelta64)
    if any(isinstance(value, others) for value in flat):
        return "lost: what is no number became one"
    with np.errstate(all="ignore"):
        expected = np.array([np.nan if v is None else float(v) for v in flat])
        got = np.asarray(bags.instances, dtype=np.float64).ravel()
    if len(got) != len(expected):
        return f"lost: {len(got)} numbers of {len(expected)}"
    return "accepted" if np.array_equal(got, expected, equal_nan=True) else "lost: other numbers"


def tables(rng):
    x = array(rng, tuple(rng.randint(0, 4) for _ in range(rng.choice([1, 2, 2, 2, 3, 3, 4]))))
    return same(as_bags(x), x)


def lists(rng):
    width = rng.randint(1, 3)
    parts = [
        array(rng, (rng.randint(0, 3), width + (rng.random() < 0.1)))
        for _ in range(rng.randint(0, 4))
    ]
    if rng.random() < 0.3:
        parts = [part.tolist() for part in parts]
        bags = as_bags(parts)
        return "accepted" if bags.n_instances == sum(map(len, parts)) else "lost: rows"
    if rng.random() < 0.3 and parts and parts[0].dtype.kind == "f" and not np.ma.isMA(parts[0]):
        parts[0] = sparse.coo_array(parts[0])
    bags = as_bags(parts) if rng.random() < 0.5 else Bags.from_list(parts)
    if bags.is_sparse:
        return (
            "accepted" if bags.n_instances == sum(part.shape[0] for part in parts) else "lost: rows"
        )
    for part, bag in zip(parts, bags):
        outcome = same(as_bags(bag), part)
        if outcome != "accepted":
            return outcome
    return "accepted"


IDS = [
    0,
    1,
    -1,
    "0",
    "1",
    "a",
    "a ",
    "a\0",
    1.5,
    2**53,
    2**53 + 1,
    2**63,
    2**70,
    True,
    None,
    float("nan"),
    (1, 2),
    b"a",
]


def ids(rng, n):
    pool = rng.sample(IDS, rng.randint(1, 4))
    return [rng.choice(pool) for _ in range(n)]


def groups(rng):
    n = rng.randint(1, 8)
    names = ids(rng, n)
    bags = Bags.from_groups(np.arange(n, dtype=float)[:, None], names)
    expected = {}
    for k, name in enumerate(names):
        expected.setdefault(name, []).append(float(k))
    got = [bag.ravel().tolist() for bag in bags]
    return "accepted" if got == list(expected.values()) else f"lost: {names} became {got}"


def labels(rng):
    n = rng.randint(1, 8)
    names, given = ids(rng, n), ids(rng, n)
    found = bag_labels(given, names)
    expected = {}
    for name, label in zip(names, given):
        first = expected.setdefault(name, label)
        if first is not label and first != label:
            return f"lost: {label!r} and {expected[name]!r} of {name!r} were taken for equal"
    return "accepted" if found.tolist() == list(expected.values()) else f"lost: {found.tolist()}"


def frames(rng):
    import pandas as pd
    import polars as pl

    n = rng.randint(1, 5)
    columns = {name: array(rng, (n,)) for name in "xyz"}
    columns = {name: c.filled() if np.ma.isMA(c) else c for name, c in columns.items()}
    frame = (pd if rng.random() < 0.6 else pl).DataFrame(columns)
    bags = as_bags(frame)
    if any(c.dtype.kind in "mMc" for c in columns.values()):
        return "lost: what is no number became one"
    return "accepted" if bags.n_instances == n else "lost: rows"
