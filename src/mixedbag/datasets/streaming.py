"""`read_blocks`: a large file as a sequence of blocks of whole bags."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mixedbag.datasets._folders import is_folder, read_folder_blocks
from mixedbag.datasets._formats.source import Source
from mixedbag.datasets.readers import as_columns, is_table, read, recognise
from mixedbag.datasets.records import BagData

if TYPE_CHECKING:
    from mixedbag.tables import Roles


def read_blocks(
    path: Any,
    bag: str | None = None,
    label: str | tuple[()] | None = None,
    *,
    features: Sequence[str] | None = None,
    weight: str | None = None,
    instance: str | None = None,
    time: str | None = None,
    group: str | None = None,
    labels: Any = None,
    query: str | None = None,
    rows: int = 100_000,
) -> Iterator[BagData]:
    """Read a file as a sequence of blocks of whole bags.

    Tables and folders of bags are never held in memory as a whole, whatever the order of their
    rows. Other formats are read at once and then cut. Bags come in the order in which they first
    appear; but those of a long table whose rows are not adjacent, in one of their own.

    Parameters
    ----------
    path : str, path or data frame
        As in `read`.
    bag, label : str, optional
        As in `read`. Tables are read without labels, which need not agree then, where it is ``()``.
    features : sequence of str, optional
        The columns to use as features; ``"type=br"`` is one where column "type" has the text "br".
        By default all that `read` would find.
    weight, instance, time, group : str, optional
        As in `read`.
    labels : path or data frame, optional
        As in `read`.
    query : str, optional
        As in `read`.
    rows : int, default=100_000
        Instances a block, at least, except in the last; a block ends at the end of a bag.

    Yields
    ------
    BagData
        A block of whole bags.

    See Also
    --------
    read : The same at once.
    mixedbag.engines.DistributedBags : Bags of many files on a cluster.

    Examples
    --------
    >>> from pathlib import Path
    >>> from mixedbag.datasets import read_blocks
    >>> _ = Path("long.csv").write_text('''bag,label,x
    ... a,1,0.5
    ... a,1,2.0
    ... b,0,0.1
    ... c,0,0.3
    ... c,0,0.2''')
    >>> [block.bags.ids.tolist() for block in read_blocks("long.csv", rows=3)]
    [['a', 'b'], ['c']]
    """
    from mixedbag import tables

    if rows < 1:
        raise ValueError(f"rows must be at least 1, got {rows}")
    roles = tables.Roles(bag, label, weight, instance, group, time, features)
    if is_folder(path):
        yield from read_folder_blocks(path, roles, rows, labels, query)
    elif is_for_engine(path, roles, query):
        yield from tables.read_blocks(path, roles, rows, query)
    else:
        whole = read(
            path,
            bag,
            label or None,
            weight=weight,
            instance=instance,
            group=group,
            time=time,
            features=features,
        )
        yield from _slices(whole, rows)


def is_for_engine(path: Any, roles: "Roles", query: str | None = None) -> bool:
    """Whether the engine of tables reads a file, and no format of the field does."""
    return (
        query is not None
        or is_table(path)
        or recognise(Source(path), as_columns(roles)).read is None
    )


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
            **{n: _part(getattr(data, n), first, last) for n in ("instance_ids", "coords")},
        )
        start = stop


def _part(values, start, stop):
    return None if values is None else values[start:stop]
