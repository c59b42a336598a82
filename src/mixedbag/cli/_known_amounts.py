"""Known amounts of the bags of a stream, in the words of labels, block by block."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mixedbag.cli._edge import at_the_edge
from mixedbag.cli._tables import stream_bags

if TYPE_CHECKING:
    from mixedbag.datasets import BagData


@at_the_edge
def stream_amounts(
    path: str,
    bag: str | None,
    features: Sequence[str] | None,
    time: str | None,
    rows: int,
    query: str | None,
    amount: str | None,
    instance: str | None = None,
    in_parts: bool = False,
) -> "Iterator[BagData]":
    """As `stream_bags`, with known amounts for labels, in the words of labels.

    Per cent are shares, and so is "yes/voters"; "no,yes" has a column a class. With `in_parts`, for
    models of counts and shares, a number that is known to be a share or a count has one of the
    others beside it: numbers alone would not tell what they are where all are small.
    """
    from mixedbag.datasets._several_labels import as_numbers, label_columns, shares_of

    def stream(column, names=None):
        return stream_bags(path, bag, features, time, rows, query, column, names)

    columns, size = label_columns(amount) or ((amount,), None)
    blocks = stream(columns[0], instance)
    if amount is None:
        yield from blocks
        return
    if len(columns) == 1 and size is None:
        yield from map(_OneForm(amount, in_parts), blocks)
        return
    # The same blocks, for further columns: as many rows make the same bags.
    others = [stream(column) for column in (*columns[1:], *([size] if size else []))]
    for data, *beside in zip(blocks, *others, strict=True):
        names = (*columns, size)
        numbers = [as_numbers(one.y, name) for one, name in zip((data, *beside), names)]
        table = np.column_stack(numbers[: len(columns)])
        if size is not None:
            table = shares_of(table, numbers[-1], size, data.bags)
        if len(columns) > 1:
            yield replace(data, y=table)
        else:
            yield _beside_others(data, table[:, 0], 1.0, in_parts)


class _OneForm:
    """What one column holds, per cent, shares or counts of rows, from the first block that tells.

    The bags of another may be so few that all of its numbers are 0 or 1.
    """

    def __init__(self, column, in_parts):
        self.column, self.in_parts, self.form = column, in_parts, None

    def __call__(self, data):
        from mixedbag.counts import are_shares
        from mixedbag.datasets._several_labels import as_numbers, in_shares

        told = in_shares(data, self.column, by_sizes=False)
        if told is not data:
            self.form = "per cent"
            return _beside_others(told, told.y, 1.0, self.in_parts)
        if self.form == "per cent":
            shares = as_numbers(data.y, self.column) / 100
            return _beside_others(data, shares, 1.0, self.in_parts)
        if not self.in_parts:
            return data
        y = as_numbers(data.y, self.column)
        known, sizes = ~np.isnan(y), data.bags.sizes
        if self.form is None and are_shares(y[known]):
            self.form = "shares"
        elif self.form is None and (y[known] > 1).any():
            self.form = "counts"
        most = sizes if self.form == "counts" else np.ones(len(y))
        wrong = (y < 0) | (y > most)  # the model says so
        return data if self.form is None or wrong.any() else _beside_others(data, y, most, True)


def _beside_others(data, y, most, in_parts):
    """The data with known amounts `y` of `most`, beside those of the others if need be."""
    return replace(data, y=np.column_stack([most - y, y]) if in_parts else y)
