"""Rows parted into buckets on disk, of which one at a time is in memory.

A piece of the table is sorted by bucket and written at once. Its numbers lie there as records, row
after row, so that those of a bucket are one read, whatever the columns.
"""

import tempfile
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from mixedbag._overlap import side_by_side
from mixedbag.tables._arrays import as_array, as_arrow, dtype_of
from mixedbag.tables._engine import cores

MOST = 1024  # buckets


class Rows(NamedTuple):
    """Features of rows as one table, and a batch of all that is known about them beside."""

    about: Any  # a record batch of Arrow
    X: np.ndarray


def parted(pieces, n_buckets, folder, may_miss=()):
    """The `Rows` of each bucket in turn, in the order in which they came.

    The column ``bucket`` of the pieces numbers the buckets, and is left out. Values may be missing
    in columns of text and in those of `may_miss`. Some pieces are sorted while another is written,
    and the next one is made.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        options = {"file": file, "turn": Lock(), "n_buckets": n_buckets, "may_miss": may_miss}
        stored = [*side_by_side(partial(_store, **options), pieces, cores())]
        for bucket in range(n_buckets):
            parts = [(piece, *piece.rows_of(bucket)) for piece in stored]
            parts = [part for part in parts if part[2]]
            if parts:
                yield _fetch(file, bucket, parts, stored[0].layout)


def joined(batches):
    """Batches as one."""
    import pyarrow as pa

    if len(batches) == 1:
        return batches[0]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


class _Layout(NamedTuple):
    """What lies in records, and what beside them as messages of Arrow."""

    record: np.dtype  # the numbers by their names, and ``features``
    names: list  # of all columns, in their order
    others: Any  # schema of those that are not in the records

    @classmethod
    def of(cls, rows, may_miss):
        import pyarrow as pa

        schema, X = rows.about.schema, rows.X
        kinds = {f.name: None if f.name in may_miss else dtype_of(f.type) for f in schema}
        fields = [(name, kind) for name, kind in kinds.items() if kind is not None]
        record = np.dtype([*fields, ("features", X.dtype, X.shape[1:])])
        return cls(record, schema.names, pa.schema([f for f in schema if kinds[f.name] is None]))


class _Stored(NamedTuple):
    """Where a piece is in the file: its records, and a message a bucket beside them."""

    place: int
    ends: np.ndarray  # of buckets, in rows
    messages: np.ndarray  # where they begin and end, a bucket each; none where there are no others
    layout: _Layout

    def rows_of(self, bucket):
        """First row and number of rows of a bucket."""
        start = int(self.ends[bucket - 1]) if bucket else 0
        return start, int(self.ends[bucket]) - start


def _store(rows, file, turn, n_buckets, may_miss):
    """Write a piece, when it is its turn; in whatever order pieces lie in the file."""
    records, others, ends, layout = _sorted(rows, n_buckets, may_miss)
    parts = zip([0, *ends], ends) if layout.others.names else ()
    messages = [others.slice(start, stop - start).serialize() for start, stop in parts]
    with turn:
        place = file.tell()
        file.write(records)
        between = [file.tell()]
        for message in messages:
            file.write(message)
            between.append(file.tell())
    return _Stored(place, ends, np.array(between), layout)


def _sorted(rows, n_buckets, may_miss):
    """The rows in the order of their buckets: records, what is beside, ends of buckets, layout."""
    about, X = rows
    bucket = as_array(about["bucket"])
    order = np.argsort(bucket, kind="stable")
    about = about.drop_columns(["bucket"])
    layout = _Layout.of(Rows(about, X), may_miss)
    records = np.empty(len(X), layout.record)
    for name in layout.record.names:
        records[name] = X if name == "features" else as_array(about[name])
    others = about.select(layout.others.names)
    if layout.others.names:
        others = others.take(as_arrow(order))
    ends = np.cumsum(np.bincount(bucket, minlength=n_buckets))
    # Many times quicker than an index.
    return records.take(order), others, ends, layout


def _fetch(file, bucket, parts, layout):
    """The rows of a bucket, given the pieces that have some."""
    import pyarrow as pa

    records = np.empty(sum(n_rows for _, _, n_rows in parts), layout.record)
    content, at = records.view(np.uint8), 0
    for piece, start, n_rows in parts:
        size = n_rows * records.itemsize
        file.seek(piece.place + start * records.itemsize)
        file.readinto(content[at : at + size])
        at += size
    columns = {name: as_arrow(records[name]) for name in layout.record.names[:-1]}
    if layout.others.names:
        batches = []
        for piece, _, _ in parts:
            begin, end = piece.messages[bucket : bucket + 2]
            file.seek(begin)
            message = pa.py_buffer(file.read(end - begin))
            batches.append(pa.ipc.read_record_batch(message, layout.others))
        columns |= dict(zip(layout.others.names, joined(batches).columns))
    about = pa.record_batch([columns[name] for name in layout.names], layout.names)
    return Rows(about, np.ascontiguousarray(records["features"]))
