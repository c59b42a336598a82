"""Instances in the order of a column, for formats that have no table of their own engine."""

from dataclasses import replace

import numpy as np

from mixedbag.bags import Bags
from mixedbag.datasets._formats.source import Source
from mixedbag.datasets.records import BagData


def in_order_of(data: BagData, time: str, source: Source) -> BagData:
    """The same data with the instances of each bag sorted by a column, which is no feature then."""
    names = data.bags.feature_names or []
    if time not in names:
        known = ", ".join(map(repr, names[:12])) or "none"
        raise source.error(f"no column of numbers is called {time!r}; there are {known}")
    j = names.index(time)
    when = data.bags.instances[:, j]
    if np.isnan(when).any():
        raise source.error(f"column {time!r} lacks the time of some rows")
    order = np.lexsort((when, data.bags.bag_of))
    kept = [k for k in range(len(names)) if k != j]
    if not kept:
        raise source.error(f"no column besides the time {time!r} is left to be a feature")
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
