"""What a worker does with its share of the files: read rows, find split bags, put bags together."""

import zlib
from typing import NamedTuple

import numpy as np

from mixedbag.bags import Bags, bag_labels
from mixedbag.base import read_weights
from mixedbag.engines.local import Labelled

N_BUCKETS = 8  # ids are compared in this many rounds, so that no worker holds all of them


class Columns(NamedTuple):
    """Which columns mean what."""

    bag: str
    label: str
    weight: str | None
    features: list[str] | None


class Rows(NamedTuple):
    """Rows of a table: instances, and the bag id, label and weight of each."""

    instances: np.ndarray
    groups: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    feature_names: list[str]

    def where(self, keep):
        table = (part[keep] for part in self[:4])
        return Rows(*table, self.feature_names)


class Summary(NamedTuple):
    """What the client needs to know of a block."""

    n_bags: int
    n_instances: int
    labels: np.ndarray
    feature_names: list[str]


def read(path, columns):
    """The rows of a Parquet file."""
    import pyarrow.parquet as pq

    names = pq.read_schema(path).names
    special = [c for c in (columns.bag, columns.label, columns.weight) if c is not None]
    features = columns.features or [name for name in names if name not in special]
    missing = [name for name in [*special, *features] if name not in names]
    if missing:
        raise ValueError(f"{path} has no column {missing[0]!r}; its columns are {names}")
    table = pq.read_table(path, columns=[*special, *features])
    instances = np.empty((len(table), len(features)))
    for j, name in enumerate(features):
        try:
            instances[:, j] = table[name].to_numpy(zero_copy_only=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"column {name!r} of {path} is not numeric: {error}") from error
    weights = np.ones(len(table))
    if columns.weight is not None:
        weights = table[columns.weight].to_numpy(zero_copy_only=False).astype(np.float64)
    return Rows(
        instances,
        table[columns.bag].to_numpy(zero_copy_only=False),
        table[columns.label].to_numpy(zero_copy_only=False),
        weights,
        features,
    )


def ids_by_bucket(rows):
    """The distinct bag ids of some rows, in buckets by a hash that all workers agree on."""
    buckets = [[] for _ in range(N_BUCKETS)]
    for name in dict.fromkeys(rows.groups.tolist()):
        buckets[zlib.crc32(repr(name).encode()) % N_BUCKETS].append(name)
    return buckets


def split_ids(bucket, *ids):
    """The ids of one bucket that occur in several parts, each with those parts in order."""
    places = {}
    for part, buckets in enumerate(ids):
        for name in buckets[bucket]:
            places.setdefault(name, []).append(part)
    return [(name, found) for name, found in places.items() if len(found) > 1]


def extract(rows, ids):
    """The rows of the named bags."""
    return rows.where(_is_in(rows.groups, ids))


def assemble(rows, leaving, *arriving):
    """Whole bags from a part: without rows that go home elsewhere, with those that arrive."""
    if leaving:
        rows = rows.where(~_is_in(rows.groups, leaving))
    if arriving:
        parts = [rows, *arriving]
        table = (np.concatenate([part[k] for part in parts]) for k in range(4))
        rows = Rows(*table, rows.feature_names)
    if len(rows.groups) == 0:
        return None
    bags = Bags.from_groups(rows.instances, rows.groups, feature_names=rows.feature_names)
    weights = read_weights(bags, bag_labels(rows.weights, rows.groups))
    return Labelled(bags, bag_labels(rows.labels, rows.groups), weights)


def summarise(block):
    """Sizes and labels of a block, or None of an empty one."""
    if block is None:
        return None
    bags = block.bags
    return Summary(len(bags), bags.n_instances, np.unique(block.target), bags.feature_names)


def _is_in(groups, ids):
    wanted = set(ids)
    return np.fromiter((name in wanted for name in groups.tolist()), bool, len(groups))
