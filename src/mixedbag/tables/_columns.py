"""Which columns say something, and what to tell of the others, known from all of their values."""

import numpy as np

from mixedbag.tables._coding import on_missing


def usable(plan, block):
    """The table without the columns that say nothing, its names, and notes."""
    check_finite(plan, block)
    columns = Columns(plan)
    columns.add(block)
    kept, notes = columns.verdict()
    X = block.X if len(kept) == block.X.shape[1] else np.ascontiguousarray(block.X[:, kept])
    return X, [plan.features[j].name for j in kept], notes


class Columns:
    """What the blocks of a table tell of its features: missing values, and numbers of rows."""

    def __init__(self, plan):
        self._plan = plan
        self._n_rows = 0
        self._missing = np.zeros(len(plan.features), dtype=int)
        self._first = None
        self._numbers_rows = [True] * len(plan.features)

    def add(self, block):
        X, rows = block.X, block.rows
        if self._first is None:
            self._first = X[0].copy(), rows[0]
        self._n_rows += len(X)
        self._missing += np.isnan(X).sum(axis=0)
        row = rows - self._first[1]
        for j, first in enumerate(self._first[0]):
            # A look at one row spares most columns the look at all of them.
            if self._numbers_rows[j] and X[-1, j] - first == row[-1]:
                self._numbers_rows[j] = bool((X[:, j] - first == row).all())
            else:
                self._numbers_rows[j] = False

    def verdict(self):
        """Positions of the features that say something, and what to tell of the others."""
        plan, notes, kept = self._plan, list(self._plan.notes), []
        for j, feature in enumerate(plan.features):
            numbers_rows = self._numbers_rows[j] and self._n_rows > 2
            if self._missing[j] == self._n_rows and not plan.required:
                notes.append(f"column {feature.name!r} left out: no row has a value")
                continue
            kept.append(j)
            if self._missing[j]:
                notes.append(on_missing(feature.name, self._missing[j]))
            if numbers_rows:
                notes.append(
                    f"column {feature.name!r} only numbers the rows, yet was kept as a feature; "
                    "drop it if it is an id"
                )
        if not kept:
            raise plan.relation.error(
                "no column of numbers is left to be a feature: " + "; ".join(notes)
            )
        return kept, notes


def check_finite(plan, block):
    # The sum is one pass without temporaries; only a suspicious one calls for a closer look.
    with np.errstate(all="ignore"):
        if np.isfinite(block.X.sum()):
            return
    infinite = np.isinf(block.X)
    if infinite.any():
        rows = np.flatnonzero(infinite.any(axis=1))
        i = rows[np.argmin(block.rows[rows])]
        feature = plan.features[int(np.argmax(infinite[i]))]
        raise plan.relation.error(
            f"column {feature.column!r}: value {block.X[i].max():g} is not finite",
            int(block.rows[i]),
        )
