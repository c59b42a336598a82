"""Rows sorted in bounded memory: into buckets on disk by the first row of their bag, then each.

The engine sorts, too, but within 100 MB it gave up on ten million rows; here, only one bucket is in
memory at a time, whatever the number of rows or bags.
"""

import tempfile
from array import array

import numpy as np

from mixedbag.tables._arrays import as_array

_MOST = 512  # buckets
_PLACES = 16_384  # among which the edges of buckets are chosen


def edges_of(relation, rows):
    """Where buckets of whole bags with about so many rows begin, as first rows of bags."""
    rows = max(rows, relation.n_rows // _MOST)
    width = max(1, relation.n_rows // _PLACES)
    found = relation.ask(
        f"select first // {width} as place, cast(sum(n) as bigint) from bags "
        "group by place order by place"
    )
    place, n_rows = np.array(found, dtype=np.int64).T
    bucket = (np.cumsum(n_rows) - n_rows) // rows
    return place[np.flatnonzero(np.diff(bucket, prepend=-1))] * width


def in_order(reader, keys, edges, folder):
    """The batches of `reader` sorted by the columns `keys`, of which the first decides the bucket.

    Together, the keys of a row are unlike those of all others.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        stored = [array("q") for _ in edges]  # place and size of each part
        for batch in reader:
            for bucket, part in _parted(batch, keys[0], edges):
                message = part.serialize()
                stored[bucket].extend((file.tell(), message.size))
                file.write(message)
        for places in stored:
            if places:
                yield _sorted(_stored(file, places, reader.schema), keys)


def _stored(file, places, schema):
    """The batches at some places of a file."""
    import pyarrow as pa

    batches = []
    for start, size in zip(places[::2], places[1::2]):
        file.seek(start)
        batches.append(pa.ipc.read_record_batch(pa.py_buffer(file.read(size)), schema))
    return batches


def _sorted(parts, keys):
    """The rows of all parts in order, as one batch; the list is emptied, to have memory for it."""
    import pyarrow as pa

    whole = pa.Table.from_batches(parts).combine_chunks().to_batches()[0]
    parts.clear()
    return whole.take(pa.array(_order([as_array(whole[key]) for key in keys])))


def _parted(batch, key, edges):
    """Bucket and rows of the parts of a batch, in the order of buckets."""
    import pyarrow as pa

    bucket = (np.searchsorted(edges, as_array(batch[key]), side="right") - 1).astype(np.uint16)
    order = np.argsort(bucket, kind="stable")
    batch = batch.take(pa.array(order))
    found, starts = np.unique(bucket[order], return_index=True)
    for one, start, stop in zip(found, starts, [*starts[1:], len(order)]):
        yield one, batch.slice(start, stop - start)


def _order(keys):
    """The permutation that sorts by several keys."""
    if len(keys) == 2:
        first, row = (key - key.min() for key in keys)
        span = int(row.max()) + 1
        if (int(first.max()) + 1) * span < 2**63:  # one key sorts several times faster than two
            return np.argsort(first * span + row)
    return np.lexsort(keys[::-1])
