"""The oracle: rows made here, and what must be found of them in whatever a reader accepts.

Every row has a value that no other has. A line that the damage left as it was must be found with
its bag, its label and its values, and there are as many instances as lines: nothing is lost,
doubled or merged in silence.
"""

import random
from typing import NamedTuple


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


def same_label(found, written):
    """Whether a label is the number that was written: 0 is 0.0 beside 0.5."""
    try:
        return float(found) == float(written)
    except ValueError:
        return False


def lost(data, undamaged, strict):
    """Which undamaged rows are not found with their bag and label; by their mark, if need be.

    Without `strict`, names or types of columns were damaged: one may be something else now.
    """
    X = data.bags.instances
    if data.bags.is_sparse:  # and perhaps very wide by now; the rows have three values
        X = X[:, :3].toarray()
    of = data.bags.bag_of
    places = {}
    for k, row in enumerate(X.tolist()):
        for value in row:
            places.setdefault(value, []).append(k)
    for row in undamaged:
        where = places.get(row.values[0], [])
        if not where:
            if strict:
                return f"row {row} is not there"
            continue
        if strict and not any(
            str(data.bags.ids[of[k]]) == row.bag
            and (data.y is None or same_label(data.y[of[k]], row.label))
            and all(value in X[k] for value in row.values)
            for k in where
        ):
            k = where[0]
            label = None if data.y is None else data.y[of[k]]
            return f"row {row} is {data.bags.ids[of[k]]!r}, {label!r}, {X[k].tolist()}"
    return None
