"""`read`, `read_blocks` and `streamed`: a table of any origin as bags."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from mixedbag.bags import Bags
from mixedbag.datasets.records import BagData, Table, class_sizes
from mixedbag.tables import _kinds as kinds
from mixedbag.tables import _labels
from mixedbag.tables._coding import code
from mixedbag.tables._columns import Columns, check_finite, usable
from mixedbag.tables._fetching import fetch_bags, fetch_matrix
from mixedbag.tables._labels import Labels
from mixedbag.tables._ordering import label_of
from mixedbag.tables._planning import Plan, engine_on, in_blocks, planned
from mixedbag.tables._roles import Roles
from mixedbag.tables._sources import open_relation
from mixedbag.tables._written import written

_STREAM_MEMORY = 120  # megabytes of the engine: of less, it reads text by one thread
_LEARNING_MEMORY = 400


def read(source: Any, roles: Roles, query: str | None = None) -> BagData:
    """A table as `BagData`: all of it, its features chosen and coded by all of its values.

    Parameters
    ----------
    source : path, pattern of paths, or data frame
        The table.
    roles : Roles
        Which columns hold what.
    query : str, optional
        A select statement; the table is called ``data`` in it, several of a database by their
        names.

    Returns
    -------
    BagData
        Bags, labels, and what else the table tells.

    See Also
    --------
    mixedbag.datasets.read : Files of any format, recognised by content.
    read_blocks : The same for what does not fit into memory.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from mixedbag.tables import Roles, read
    >>> table = pa.table({"molecule": ["a", "a", "b"], "pH": [7.1, 6.5, 4.2], "active": [1, 1, 0]})
    >>> data = read(table, Roles(bag="molecule", label="active"))
    >>> data.bags, data.y.tolist()
    (Bags(2 bags, 3 instances × 1 features), [1, 0])
    """
    with planned(source, roles, query) as plan:
        block = fetch_bags(plan.relation, plan.features, plan.ordering, plan.instance)
        X, names, notes = usable(plan, block)
        return _bag_data(block, X, names, (*plan.relation.notes, *notes))


def read_blocks(
    source: Any, roles: Roles, rows: int, query: str | None = None
) -> Iterator[BagData]:
    """A table of any length as blocks of whole bags with at least `rows` instances, as `BagData`.

    The rows of a bag need not be adjacent. Where they are not, and the table is long, bags come in
    an order of their own.

    Parameters
    ----------
    source : path, pattern of paths, or data frame
        The table.
    roles : Roles
        Which columns hold what.
    rows : int
        Instances a block, at least, except in the last.
    query : str, optional
        A select statement; the table is called ``data`` in it, several of a database by their
        names.

    Yields
    ------
    BagData
        A block of whole bags; the first has the notes on the table.

    See Also
    --------
    mixedbag.datasets.read_blocks : Files of any format.
    read : The same at once.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from mixedbag.tables import Roles, read_blocks
    >>> table = pa.table({"bag": [0, 1, 0, 1, 2], "label": [0, 1, 0, 1, 0], "x": [1.0, 2, 3, 4, 5]})
    >>> [block.bags.sizes.tolist() for block in read_blocks(table, Roles(), rows=2)]
    [[2], [2, 1]]
    """
    with in_blocks(source, roles, query, _STREAM_MEMORY, lambda _: rows) as (plan, blocks):
        notes = (*plan.relation.notes, *plan.notes)
        for block in blocks:
            check_finite(plan, block)
            yield _bag_data(block, block.X, plan.names, notes)
            notes = ()


@contextmanager
def streamed(
    source: Any, roles: Roles, cells: int, query: str | None = None
) -> "Iterator[Streamed]":
    """A table of any length whose features are chosen and coded by all of its values.

    The context is a table in blocks, which are read once, inside of it.

    Parameters
    ----------
    source : path, pattern of paths, or data frame
        The table.
    roles : Roles
        Which columns hold what.
    cells : int
        Numbers a block, at least, except in the last.
    query : str, optional
        A select statement, as in `read`.

    See Also
    --------
    read_blocks : The same of features that are asked for by name.

    Examples
    --------
    >>> from pathlib import Path
    >>> from mixedbag.tables import Roles, streamed
    >>> _ = Path("cells.csv").write_text(chr(10).join(["bag,x,y", "a,1,", "b,2,", "b,4,"]))
    >>> with streamed("cells.csv", Roles(), cells=1) as table:
    ...     [block.bags.n_instances for block in table.blocks()], table.verdict()[0]
    ([1, 2], [0])
    """

    def rows(plan):
        return max(1, cells // len(plan.features))

    with in_blocks(source, roles, query, _LEARNING_MEMORY, rows) as (plan, blocks):
        yield Streamed(plan, blocks)


class Streamed:
    """A table in blocks; which of its features say something is known after the last of them."""

    def __init__(self, plan, blocks):
        self._plan, self._blocks = plan, blocks
        self._columns = Columns(plan)

    def blocks(self):
        """Blocks of whole bags, as `BagData`."""
        for block in self._blocks:
            check_finite(self._plan, block)
            self._columns.add(block)
            yield _bag_data(block, block.X, self._plan.names, ())

    def verdict(self):
        """Positions of the features that `read` would keep, and its notes."""
        kept, notes = self._columns.verdict()
        return kept, (*self._plan.relation.notes, *notes)


def read_rows(
    path: str | Path,
    target: str,
    names: Sequence[str] | None = None,
    header: bool = False,
    delimiter: str | None = None,
    drop: Sequence[str] = (),
) -> Table:
    """A plain table with a `target` column as a `Table`; `names` are those of the columns.

    Columns without a name are called by their position, from 1 on: "1", "2", ….

    Parameters
    ----------
    path : str or path
        The file.
    target : str
        The column with the labels.
    names : sequence of str, optional
        Names of the columns, where the file has none.
    header : bool
        Whether the first line has the names.
    delimiter : str, optional
        What separates values; by default it is found out.
    drop : sequence of str
        Columns to leave out.

    Returns
    -------
    Table
        Rows with a label each.

    See Also
    --------
    read : Bags of rows.
    mixedbag.datasets.aggregate : Makes bags of such rows.

    Examples
    --------
    >>> from pathlib import Path
    >>> from mixedbag.tables import read_rows
    >>> _ = Path("wine.csv").write_text('''pH,kind
    ... 3.2,red
    ... 3.0,white
    ... 3.4,red''')
    >>> read_rows("wine.csv", "kind", header=True, delimiter=",")
    Table(3 rows × 1 features, 1 of white, 2 of red)
    """
    with engine_on(path) as (con, folder):
        relation = open_relation(
            con, folder, path, None, delimiter=delimiter, header=header, names=names, text=(target,)
        )
        for name in (target, *drop):
            if name not in relation.names:
                raise relation.header_error(f"no column is called {name!r}")
        j = relation.names.index(target)
        known = kinds.known(kinds.stripped(f"c{j}"))
        ((row,),) = relation.ask(f"select min(row) from rows where {known} is null")
        if row is not None:
            raise relation.error(f"no value of {target!r}", row)
        label = label_of(relation, known, written(relation, j))
        asked = {n: (i, None) for i, n in enumerate(relation.names) if n not in (target, *drop)}
        features, notes = code(relation, asked, required=False)
        block = fetch_matrix(relation, features, label)
        plan = Plan(relation, features, notes, None, None, False, folder)
        X, feature_names, notes = usable(plan, block)
        return Table(X, block.label, feature_names, notes=tuple(notes))


def read_labels(
    source: Any, roles: Roles, known: Callable[[str], bool], query: str | None = None
) -> Labels:
    """A table with one row a bag, whose instances lie elsewhere, as `Labels`.

    Parameters
    ----------
    source : path, pattern of paths, or data frame
        The table.
    roles : Roles
        Which columns hold what; without a bag, it is the column of that name, or else the one that
        has most of the names.
    known : callable
        Tells whether a text names a bag.
    query : str, optional
        A select statement; the table is called ``data`` in it, several of a database by their
        names.

    Returns
    -------
    Labels
        Names of bags, and an array a role.

    See Also
    --------
    mixedbag.datasets.read : Reads a folder of bags with such a table.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from mixedbag.tables import Roles, read_labels
    >>> table = pa.table({"slide": ["s1", "s2"], "tumour": ["yes", "no"]})
    >>> read_labels(table, Roles(label="tumour"), known={"s1", "s2"}.__contains__).names
    ['s1', 's2']
    """
    with engine_on(source) as engine:
        return _labels.read_labels(engine, source, roles, known, query)


def _bag_data(block, X, names, notes):
    offsets = np.concatenate([[0], np.cumsum(block.sizes)])
    bags = Bags(X, offsets, block.ids, names)
    understood = (
        f"{len(bags)} bags ({class_sizes(block.label)}), {bags.n_instances} instances of "
        f"{bags.n_features} features"
    )
    return BagData(
        bags,
        block.label,
        block.weight,
        instance_ids=block.instance,
        groups=block.group,
        notes=(understood, *notes),
    )
