"""Reading what the user points at, and saying what was understood."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from mixedbag.bags import Bags
from mixedbag.cli._edge import at_the_edge


@at_the_edge
def read_data(
    source, bag=None, label=None, time=None, drop=(), instance=None, group=None, weight=None
):
    """A file, or a data set of the catalogue by its name, as `BagData`."""
    from mixedbag import datasets

    path = Path(source)
    if not path.exists() and source in datasets.list_names():
        data = datasets.load(source)
        if not isinstance(data, datasets.BagData):
            raise ValueError(f"{source} is no set of bags; see `mixedbag datasets show {source}`")
    else:
        data = datasets.read(
            path, bag, label, instance=instance, group=group, weight=weight, drop=drop
        )
    if data.weight is not None:
        note = f"bags count by their weights, {data.weight.min():g} to {data.weight.max():g}"
        data = replace(data, notes=(*data.notes, note))
    return data if time is None else in_order_of(data, time, source)


@at_the_edge
def stream_bags(path, bag=None, features=None, time=None, rows=20_000):
    """Blocks of whole bags of a table of any length, with the features that a model needs.

    Parameters
    ----------
    path : path
    bag : str, optional
        The column with the bag of each row; by default "bag".
    features : list of str, optional
        The columns to use, in this order; by default all others.
    time : str, optional
        The column that orders the rows of a bag.
    rows : int
        How many rows a block has at least.
    """
    from mixedbag.datasets import read_blocks

    wanted = features if features is None or time is None else [*features, time]
    for data in read_blocks(path, bag, features=wanted, rows=rows):
        yield (data if time is None else in_order_of(data, time, path)).bags


def in_order_of(data, time, source):
    """The same data with the instances of each bag sorted by a column, which is no feature then."""
    names = data.bags.feature_names or []
    if time not in names:
        known = ", ".join(map(repr, names[:12])) or "none"
        raise ValueError(f"{source}: no column of numbers is called {time!r}; there are {known}")
    j = names.index(time)
    when = data.bags.instances[:, j]
    if np.isnan(when).any():
        raise ValueError(f"{source}: column {time!r} lacks the time of some rows")
    order = np.lexsort((when, data.bags.bag_of))
    kept = [k for k in range(len(names)) if k != j]
    if not kept:
        raise ValueError(f"{source}: no column besides the time {time!r} is left to be a feature")
    bags = Bags(
        data.bags.instances[order][:, kept],
        data.bags.offsets,
        data.bags.ids,
        [names[k] for k in kept],
    )

    def sort(values):
        return None if values is None else values[order]

    return replace(
        data,
        bags=bags,
        instance_labels=sort(data.instance_labels),
        instance_ids=sort(data.instance_ids),
        notes=(*data.notes, f"instances in the order of {time!r}"),
    )


@at_the_edge
def require_labels(data, source, positive=None):
    """Refuse data without labels, with the option that names them.

    `positive` is the label that counts as positive (1, all others 0); without it, the last of two
    text labels in alphabetical order does, and a note says so.
    """
    if data.y is None:
        names = ", ".join(map(repr, (data.bags.feature_names or [])[:12]))
        raise ValueError(
            f"{source} has no column 'label': name it with --label COLUMN; there are {names}"
        )
    labels = sorted({str(value) for value in data.y.tolist()})
    if positive is not None:
        if positive not in labels:
            raise ValueError(f"{source}: no bag is labelled {positive!r}; there are {labels[:12]}")
        y = np.array([str(value) == positive for value in data.y.tolist()]).astype(int)
        return replace(data, y=y, notes=(*data.notes, f"label 1 is {positive!r}, 0 all others"))
    if data.y.dtype.kind in "OU" and len(labels) == 2:
        note = f"the positive label is {labels[1]!r}; --positive chooses"
        return replace(data, notes=(*data.notes, note))
    return data


@at_the_edge
def seconds(text):
    """``"90"``, ``"90s"``, ``"10m"`` or ``"1h30m"`` as seconds; "none" for no limit."""
    if text.strip().lower() in ("none", "0", ""):
        return None
    match = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?", text.strip().lower())
    if match is None:
        raise ValueError(f"{text!r} is no time: write 90s, 10m or 1h30m")
    hours, minutes, rest = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + rest


@at_the_edge
def shape(text):
    """``"8x8"`` as (8, 8)."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+)[x×](\d+)", text)
    if match is None:
        raise ValueError(f"{text!r} is no image shape: write HEIGHTxWIDTH, such as 8x8")
    return tuple(int(part) for part in match.groups())
