"""`read_blocks`: a large file as a sequence of blocks of whole bags."""

from array import array
from bisect import bisect_left
from dataclasses import replace

import numpy as np

from mixedbag.datasets._formats.columns import Columns, read_records
from mixedbag.datasets._formats.delimited import open_table
from mixedbag.datasets._formats.parquet import frames, read_frame
from mixedbag.datasets._formats.source import Source
from mixedbag.datasets.readers import read, recognise

_RECENT = 100_000  # bags remembered by a set, before they are sorted in with the others


def read_blocks(
    path, bag=None, label=None, *, features=None, weight=None, instance=None, rows=100_000
):
    """Read a file as a sequence of blocks of whole bags, in the order of the file.

    CSV, TSV and Parquet tables are never held in memory as a whole, which asks two things of them:
    the rows of a bag are adjacent (an error names the bag otherwise), and the features are known
    beforehand, so that all blocks have the same. Other formats are read at once and then cut.

    Parameters
    ----------
    path : str or path
    bag, label, weight, instance
        As in `read`.
    features : sequence of str, optional
        The columns to use as features; ``"type=br"`` is one where column "type" has the text "br".
        By default all columns without another part, which must be numbers then.
    rows : int, default=100_000
        Instances a block, at least, except in the last; a block ends at the end of a bag.

    Yields
    ------
    BagData
    """
    if rows < 1:
        raise ValueError(f"rows must be at least 1, got {rows}")
    source = Source(path)
    if not source.path.exists():
        raise FileNotFoundError(f"no file {str(path)!r}")
    columns = Columns(bag, label, weight, instance, None if features is None else tuple(features))
    form = recognise(source, columns).name
    if form == "table":
        yield from _table_blocks(source, columns, rows)
    elif form == "parquet":
        yield from _parquet_blocks(source, columns, rows)
    else:
        whole = read(path, bag, label, weight=weight, instance=instance, features=features)
        yield from _slices(whole, rows)


def _table_blocks(source, columns, rows):
    header_line, names, records = open_table(source)
    roles, features = columns.resolve(source, names, header_line)
    columns = replace(columns, features=tuple(feature.name for _, feature in features))
    order = _Adjacent(source)
    block = []
    for line, record in records:
        if len(record) != len(names):
            raise source.error(f"{len(record)} values where {len(names)} are expected", line)
        if order.begins(record[roles["bag"]].strip(), line) and len(block) >= rows:
            yield _gather(source, read_records(source, names, block, columns, header_line), columns)
            block = []
        block.append((line, record))
    yield _gather(source, read_records(source, names, block, columns, header_line), columns)


def _parquet_blocks(source, columns, rows):
    import pyarrow as pa

    order = _Adjacent(source)
    waiting, first_row = [], 0
    for frame in frames(source, rows, columns):
        roles, features = columns.resolve(source, frame.column_names, line=None)
        columns = replace(columns, features=tuple(feature.name for _, feature in features))
        ids = frame.column(roles["bag"]).to_pylist()
        starts = [row for row, name in enumerate(ids) if order.begins(name)]
        if starts and sum(map(len, waiting)) + starts[-1] >= rows:
            block = pa.concat_tables([*waiting, frame.slice(0, starts[-1])])
            yield _gather(source, read_frame(source, block, columns, first_row), columns)
            first_row += len(block)
            waiting, frame = [], frame.slice(starts[-1])
        waiting.append(frame)
    rest = pa.concat_tables(waiting)
    yield _gather(source, read_frame(source, rest, columns, first_row), columns)


def _gather(source, rows, columns):
    """The rows of a block as bags, given that they have the features of every block."""
    for name, found in zip(columns.features, rows.feature_names):
        if name != found:
            raise source.error(
                f"column {name!r} holds text; in a stream, ask for its values, such as {found!r}",
                rows.lines[0] if rows.lines else None,
            )
    return rows.gather(source)


class _Adjacent:
    """Watches that no bag comes back after another has begun, in eight bytes a bag.

    The names themselves might fill memory; two of 10 million bags share a hash with a chance of
    one in 400,000.
    """

    def __init__(self, source):
        self.source = source
        self.seen = array("q")  # hashes of bags, sorted
        self.recent = set()  # those not yet among them
        self.current = None

    def begins(self, name, line=None):
        """Whether a row of bag `name` is the first of its bag."""
        if name == self.current:
            return False
        key = hash(str(name))  # those of the numbers -1 and -2 are equal
        place = bisect_left(self.seen, key)
        if key in self.recent or self.seen[place : place + 1] == array("q", [key]):
            raise self.source.error(f"the rows of bag {name!r} are not adjacent: sort them", line)
        self.recent.add(key)
        if len(self.recent) > _RECENT:
            seen = np.union1d(np.asarray(self.seen), np.fromiter(self.recent, np.int64))
            self.seen, self.recent = array("q", seen.astype(np.int64).tobytes()), set()
        self.current = name
        return True


def _slices(data, rows):
    """Runs of whole bags with at least `rows` instances."""
    start = 0
    for stop in range(1, len(data.bags) + 1):
        first, last = data.bags.offsets[start], data.bags.offsets[stop]
        if last - first < rows and stop < len(data.bags):
            continue
        yield replace(
            data,
            bags=data.bags[start:stop],
            **{n: _part(getattr(data, n), start, stop) for n in ("y", "weight", "groups")},
            instance_ids=_part(data.instance_ids, first, last),
        )
        start = stop


def _part(values, start, stop):
    return None if values is None else values[start:stop]
