"""The oracle: rows made here, and what must be found of them in whatever a reader accepts.

Every row has a value that no other has. A line that the damage left as it was must be found with
its bag, its label and its values, and there are as many instances as lines: nothing is lost,
doubled or merged in silence.
"""

import random
from collections import Counter
from typing import NamedTuple

import numpy as np
from scipy import sparse


class Row(NamedTuple):
    instance: str
    bag: str
    label: str
    values: tuple


def make_rows(n_bags=9, seed=0):
    """Rows of a few bags, adjacent, with one value that numbers them in secret."""
    rng = random.Random(seed)
    rows = []
    for bag in range(n_bags):
        for k in range(rng.randint(1, 5)):
            mark = 1000 + 7 * len(rows) + 0.5
            values = (mark, round(rng.uniform(-9, 9), 2), float(rng.randint(1, 5)))
            rows.append(Row(f"i{bag}_{k}", f"b{bag}", str(bag % 2), values))
    return rows


ROWS = make_rows()


def found(data):
    """The rows of what a reader returned, as a multiset of (bag, label, values)."""
    X = data.bags.instances
    X = X.toarray() if sparse.issparse(X) else np.asarray(X)
    of = data.bags.bag_of
    ids = [str(i) for i in data.bags.ids]
    labels = None if data.y is None else [str(v) for v in data.y.tolist()]
    return Counter(
        (ids[b], None if labels is None else labels[b], tuple(row))
        for b, row in zip(of, X.tolist())
    )


def missing(data, undamaged):
    """How many undamaged rows are not in what was read."""
    if data.bags.n_features != len(ROWS[0].values):
        return None
    keyed = Counter((r.bag, None if data.y is None else r.label, r.values) for r in undamaged)
    return sum((keyed - found(data)).values())
