"""`read_blocks`: a large file as a sequence of blocks of whole bags."""

from dataclasses import replace

from mixedbag.datasets._formats.columns import Columns, read_records
from mixedbag.datasets._formats.delimited import open_table
from mixedbag.datasets._formats.parquet import frames, read_frame
from mixedbag.datasets._formats.source import Source
from mixedbag.datasets.readers import read, recognise


def read_blocks(path, bag=None, label=None, *, features, weight=None, instance=None, rows=100_000):
    """Read a file as a sequence of blocks of whole bags, in the order of the file.

    CSV, TSV and Parquet tables are never held in memory as a whole, which asks two things of them:
    the rows of a bag are adjacent (an error names the bag otherwise), and `features` names the
    columns, so that all blocks have the same. Other formats are read at once and then cut.

    Parameters
    ----------
    path : str or path
    bag, label, features, weight, instance
        As in `read`.
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
    columns = Columns(bag, label, weight, instance, tuple(features))
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
    roles, _ = columns.resolve(source, names, header_line)
    order = _Adjacent(source)
    block = []
    for line, record in records:
        if len(record) != len(names):
            raise source.error(f"{len(record)} values where {len(names)} are expected", line)
        if order.begins(record[roles["bag"]].strip(), line) and len(block) >= rows:
            yield read_records(source, names, block, columns, header_line).gather(source)
            block = []
        block.append((line, record))
    yield read_records(source, names, block, columns, header_line).gather(source)


def _parquet_blocks(source, columns, rows):
    import pyarrow as pa

    order = _Adjacent(source)
    waiting, first_row = [], 0
    for frame in frames(source, rows):
        roles, _ = columns.resolve(source, frame.column_names, line=None)
        ids = frame.column(roles["bag"]).to_pylist()
        starts = [row for row, name in enumerate(ids) if order.begins(name)]
        if starts and sum(map(len, waiting)) + starts[-1] >= rows:
            block = pa.concat_tables([*waiting, frame.slice(0, starts[-1])])
            yield read_frame(source, block, columns, first_row).gather(source)
            first_row += len(block)
            waiting, frame = [], frame.slice(starts[-1])
        waiting.append(frame)
    yield read_frame(source, pa.concat_tables(waiting), columns, first_row).gather(source)


class _Adjacent:
    """Watches that no bag comes back after another has begun."""

    def __init__(self, source):
        self.source = source
        self.seen = set()
        self.current = None

    def begins(self, name, line=None):
        """Whether a row of bag `name` is the first of its bag."""
        if name == self.current:
            return False
        if name in self.seen:
            raise self.source.error(f"the rows of bag {name!r} are not adjacent", line)
        self.seen.add(name)
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
