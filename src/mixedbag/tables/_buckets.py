"""Rows parted into buckets on disk, of which one at a time is in memory."""

import tempfile
from typing import Any, NamedTuple

import numpy as np

from mixedbag.tables._arrays import as_array, is_plain

MOST = 256  # buckets


class Rows(NamedTuple):
    """Features of rows as one table, and a batch of all that is known about them beside."""

    about: Any  # a record batch of Arrow
    X: np.ndarray


def parted(pieces, n_buckets, folder):
    """The `Rows` of each bucket in turn, in the order in which they came.

    The column ``bucket`` of the pieces numbers the buckets, and is left out.
    """
    stored: list[list] = [[] for _ in range(n_buckets)]  # place, size and rows of each part
    like = None
    with tempfile.TemporaryFile(dir=folder) as file:
        for piece in pieces:
            for bucket, like in _by_bucket(piece):
                about, X = like
                message = about.serialize()
                stored[bucket].append((file.tell(), message.size, len(X)))
                file.write(message)
                file.write(X)
        for places in filter(None, stored):
            yield _read(file, places, like)


def joined(batches):
    """Batches as one."""
    import pyarrow as pa

    if len(batches) == 1:
        return batches[0]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def _by_bucket(piece):
    """Bucket and rows of the parts of a piece."""
    bucket = as_array(piece.about["bucket"]).astype(np.uint16)
    order = np.argsort(bucket, kind="stable")
    about, X = _in_order(piece.about.drop_columns(["bucket"]), order), piece.X[order]
    ends = np.cumsum(np.bincount(bucket))
    for one, (start, stop) in enumerate(zip([0, *ends], ends)):
        if start < stop:
            yield one, Rows(about.slice(start, stop - start), X[start:stop])


def _in_order(batch, order):
    """Like `take`, which is several times slower than NumPy."""
    import pyarrow as pa

    columns = []
    for column in batch.columns:
        if is_plain(column):
            columns.append(pa.array(as_array(column)[order]))
        else:
            columns.append(column.take(pa.array(order)))
    return pa.record_batch(columns, batch.schema.names)


def _read(file, places, like):
    """The rows at some places of a file."""
    import pyarrow as pa

    X = np.empty((sum(n_rows for _, _, n_rows in places), like.X.shape[1]), like.X.dtype)
    batches, start = [], 0
    for place, size, n_rows in places:
        file.seek(place)
        message = pa.py_buffer(file.read(size))
        batches.append(pa.ipc.read_record_batch(message, like.about.schema))
        file.readinto(X[start : start + n_rows])
        start += n_rows
    return Rows(joined(batches), X)
