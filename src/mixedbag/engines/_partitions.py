"""What a worker does with its share of the files: read rows, find split bags, put bags together."""

import zlib
from typing import NamedTuple

import numpy as np

from mixedbag._validation import read_weights
from mixedbag.bags import Bags, bag_labels
from mixedbag.engines.local import Labelled

N_BUCKETS = 8  # ids are compared in this many rounds, so that no worker holds all of them


class LabelledRows(NamedTuple):
    """Rows of a table: instances, and the bag id, label and weight of each."""

    instances: np.ndarray
    groups: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    feature_names: list[str]

    def where(self, keep):
        return self._replace(
            instances=self.instances[keep],
            groups=self.groups[keep],
            labels=self.labels[keep],
            weights=self.weights[keep],
        )


class Summary(NamedTuple):
    """What the client needs to know of a block."""

    n_bags: int
    n_instances: int
    labels: np.ndarray
    feature_names: list[str]


def read(path, columns):
    """The rows of a Parquet file, the features in the order of ``columns.features``."""
    table = _table(path, [*columns.special, *columns.features])
    instances = np.empty((len(table), len(columns.features)))
    for j, name in enumerate(columns.features):
        instances[:, j] = _numbers(table[name])
    weights = np.ones(len(table)) if columns.weight is None else _numbers(table[columns.weight])
    keys: dict[str, np.ndarray] = {}
    for role, name in (("groups", columns.bag), ("labels", columns.label)):
        missing = table[name].is_null(nan_is_null=True).to_numpy()
        if missing.any():
            raise ValueError(f"{path} has no value of {name!r} in row {int(np.argmax(missing))}")
        keys[role] = _comparable(table[name].to_numpy(zero_copy_only=False))
    return LabelledRows(instances, weights=weights, feature_names=columns.features, **keys)


def _table(path, names):
    """Some columns of a file, with as many rows as it promises."""
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            table = file.read(names)
            table.validate(full=True)
            about = file.metadata
            in_groups = sum(about.row_group(k).num_rows for k in range(about.num_row_groups))
    except Exception as error:
        raise ValueError(f"{path} is not a readable Parquet file ({error})") from error
    if not len(table) == about.num_rows == in_groups:
        raise ValueError(
            f"{path} is damaged: it promises {about.num_rows} rows and its parts {in_groups}, "
            f"{len(table)} can be read"
        )
    return table


def _comparable(values):
    """Ids or labels in the one type that those of their kind have in every file."""
    if values.dtype.kind in "iu" and values.dtype != np.uint64:
        return values.astype(np.int64)
    return values + 0.0 if values.dtype.kind == "f" else values  # -0.0 is the bag of 0.0


def _numbers(column):
    import pyarrow as pa

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    return column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)


def ids_by_bucket(rows):
    """The distinct bag ids of some rows, in buckets by a hash that all workers agree on."""
    buckets: list[list] = [[] for _ in range(N_BUCKETS)]
    for name in dict.fromkeys(rows.groups.tolist()):
        buckets[zlib.crc32(repr(name).encode()) % N_BUCKETS].append(name)
    return buckets


def split_ids(bucket, *ids):
    """The ids of one bucket that occur in several parts, each with those parts in order."""
    places: dict = {}
    for part, buckets in enumerate(ids):
        for name in buckets[bucket]:
            places.setdefault(name, []).append(part)
    return [(name, found) for name, found in places.items() if len(found) > 1]


def extract(rows, ids):
    """The rows of the named bags."""
    return rows.where(_is_in(rows.groups, ids))


def assemble(rows, leaving, *arriving):
    """Whole bags from a part: without rows that go home elsewhere, with those that arrive.

    Bags of weight zero are left out; None, where no others are left.
    """
    if leaving:
        rows = rows.where(~_is_in(rows.groups, leaving))
    if arriving:
        table = map(np.concatenate, zip(*(part[:4] for part in (rows, *arriving))))
        rows = rows._replace(**dict(zip(LabelledRows._fields, table)))
    if len(rows.groups) == 0:
        return None
    bags = Bags.from_groups(rows.instances, rows.groups, feature_names=rows.feature_names)
    weights = bag_labels(rows.weights, rows.groups)
    if not np.any(weights):  # which is no fault where other parts have some
        return None
    return Labelled(bags, bag_labels(rows.labels, rows.groups), read_weights(bags, weights)).used()


def summarise(block):
    """Sizes and labels of a block, or None of an empty one."""
    if block is None:
        return None
    bags = block.bags
    return Summary(len(bags), bags.n_instances, np.unique(block.target), bags.feature_names)


def _is_in(groups, ids):
    wanted = set(ids)
    return np.fromiter((name in wanted for name in groups.tolist()), bool, len(groups))
