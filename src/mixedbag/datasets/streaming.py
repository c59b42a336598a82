"""`read_blocks`: a large file as a sequence of blocks of whole bags."""

from dataclasses import replace

from mixedbag.datasets._formats.source import Source
from mixedbag.datasets.readers import as_columns, is_table, read, recognise


def read_blocks(
    path,
    bag=None,
    label=None,
    *,
    features=None,
    weight=None,
    instance=None,
    time=None,
    query=None,
    rows=100_000,
):
    """Read a file as a sequence of blocks of whole bags, in the order in which bags first appear.

    Tables are never held in memory as a whole, whatever the order of their rows. Other formats are
    read at once and then cut.

    Parameters
    ----------
    path : str, path or data frame
    bag, label, weight, instance, time, query
        As in `read`.
    features : sequence of str, optional
        The columns to use as features; ``"type=br"`` is one where column "type" has the text "br".
        By default all that `read` would find.
    rows : int, default=100_000
        Instances a block, at least, except in the last; a block ends at the end of a bag.

    Yields
    ------
    BagData
    """
    from mixedbag import tables

    if rows < 1:
        raise ValueError(f"rows must be at least 1, got {rows}")
    roles = tables.Roles(bag, label, weight, instance, None, time, features)
    if (
        query is not None
        or is_table(path)
        or recognise(Source(path), as_columns(roles)).read is None
    ):
        yield from tables.read_blocks(path, roles, rows, query)
    else:
        whole = read(
            path, bag, label, weight=weight, instance=instance, time=time, features=features
        )
        yield from _slices(whole, rows)


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
