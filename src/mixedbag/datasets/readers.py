"""`read`: any supported file as bags, recognised by its content."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mixedbag.datasets._folders import is_folder, read_folder
from mixedbag.datasets._formats import arff, c45, indexed, layouts, matlab
from mixedbag.datasets._formats.columns import Columns
from mixedbag.datasets._formats.source import Source
from mixedbag.datasets._several_labels import (
    in_shares,
    label_columns,
    read_several,
    with_size_noted,
)
from mixedbag.datasets._time import in_order_of
from mixedbag.datasets.records import BagData, DataFormatError
from mixedbag.exceptions import InputError

if TYPE_CHECKING:
    from mixedbag.tables import Roles


@dataclass(frozen=True)
class Format:
    """A file format: how to know it, and how to turn a `Source` into `Rows`.

    `recognises` gets the source and its first lines (an empty list for binary content). `read`
    gets the source and, when the format names its columns (`named`), the `Columns` asked for;
    without it, the file is a table, which `mixedbag.tables` reads.

    Parameters
    ----------
    name : str
        What to call it in ``read(..., format=name)``.
    description : str
        What to say of it in notes.
    recognises : callable
        Whether a source is of this format, by its first lines.
    read : callable, optional
        Turns the source into `Rows`.
    named : bool
        Whether its columns have names that can be asked for.

    See Also
    --------
    read : Takes a format of your own.
    Rows : What it makes of a file.

    Examples
    --------
    >>> from mixedbag.datasets import Format
    >>> Format("pairs", "bag=value a line", lambda source, lines: "=" in lines[0]).named
    False
    """

    name: str
    description: str
    recognises: Callable
    read: Callable | None = None
    named: bool = False


def read(
    path: Any,
    bag: str | None = None,
    label: str | Sequence[str] | None = None,
    *,
    size: str | None = None,
    weight: str | None = None,
    instance: str | None = None,
    group: str | None = None,
    time: str | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    labels: Any = None,
    query: str | None = None,
    format: str | Format | None = None,
) -> BagData:
    """Read bags and labels from a file, several files of one kind, a folder, or a data frame.

    The format is recognised by content: tables with named columns (CSV, TSV, JSON, Parquet, Arrow,
    SQLite, DuckDB; plain, gzip or zstd), Weka ARFF (relational or flat), UCI C4.5 as in MUSK,
    ``instance:bag:label index:value …``, ``instance,bag,label,…`` with dense or sparse values, and
    MATLAB files (a PRTools data set, or matrices of instances, bag numbers and labels, in one file
    or a folder).

    A folder with one file of arrays a bag, as tools that make embeddings leave them, has its labels
    in a table of their own, `labels`. A file is ``.npy``, ``.npz``, ``.safetensors`` or ``.h5``;
    its ``features`` has a row an instance, its ``coords`` tells where they lie. What does not fit
    into memory stays on disk.

    In tables, every column that is no bag, label, weight, group, time or instance name is a
    feature. A column of text with few values, such as ``type``, becomes one feature of zeros and
    ones a value, called ``type=br``; text of many values is left out, and so is what numbers the
    rows without a name, such as an index of pandas; dates become days since 1970-01-01. Missing
    values (empty, ``?``, ``NA``, ``N/A``, ``#N/A``, ``NaN``, ``null``, ``none`` in any case) become
    NaN, or zero in all features of a text. `notes` of the result says so for each column. Nothing
    else is left out: a line that cannot be read is an error. The rows of a bag need not be
    adjacent. Encoding, separator, decimal mark (of one column alone, too, where nothing else can be
    meant) and types are found out from the whole file. Ids are text, unless all are whole numbers.

    Parameters
    ----------
    path : str, path or data frame
        A file; a pattern such as ``"plates/*.parquet"`` for several that are one table; a folder of
        bags; or a data frame of pandas, polars, pyarrow or DuckDB. A level of an index of pandas is
        a column if it is asked for by its name.
    bag, label : str, optional
        Columns that hold the bag of each row and its label; by default those called "bag" and
        "label". Without a label column, `y` is None. A bag with two labels is an error. Of tables,
        counts or shares may have a column a class, ``"no,yes"`` or ``["no", "yes"]``, and counts
        may be told with what they are counts of, ``"yes/voters"``, which gives shares.
    size : str, optional
        Of tables, the column that says of how many the label counts, where it has a name that
        cannot be written behind a stroke: ``label="yes", size="voters"`` is ``"yes/voters"``.
    weight, instance : str, optional
        Columns that hold bag weights and names of instances.
    group : str, optional
        Column that holds what a bag belongs to, such as its patient: bags of one group stay
        together in cross-validation.
    time : str, optional
        Column that orders the rows of a bag: numbers, or dates such as ``2024-05-31T12:30:00Z``.
    features : sequence of str, optional
        The columns to use as features, if not all others.
    drop : sequence of str
        Columns to leave out.
    labels : path or data frame, optional
        The table with the labels of a folder of bags, a row a bag: its column `bag` has the names
        of the files, with or without their ending. By default, that is the column called "bag", or
        the one in which these names are. Files without a label are left out, and a note says so.
    query : str, optional
        A select statement that makes the table of another: of the one in the file, which is called
        ``data`` in it, or of those in a database, which are called by their names.
    format : str or Format, optional
        The name of the format, to skip recognition (see `FORMATS`), or a format of your own.

    Returns
    -------
    BagData
        Bags, labels, and what else the source tells; `notes` says how it was understood.

    Raises
    ------
    DataFormatError
        With the file, the line and the reason.

    See Also
    --------
    read_blocks : The same for what does not fit into memory, block by block.
    load : Data sets that were published, by name.
    mixedbag.Bags.from_frame : Bags and labels of a data frame, without notes.

    Examples
    --------
    >>> from pathlib import Path
    >>> from mixedbag.datasets import read
    >>> _ = Path("shapes.csv").write_text('''molecule,pH,active
    ... a,7.1,yes
    ... a,6.5,yes
    ... b,4.2,no''')
    >>> data = read("shapes.csv", bag="molecule", label="active")
    >>> data.bags, data.y.tolist()
    (Bags(2 bags, 3 instances × 1 features), ['yes', 'no'])
    """
    from mixedbag import tables

    if isinstance(label, Iterable) and not isinstance(label, str):
        label = tuple(label)
    roles = tables.Roles(bag, label, weight, instance, group, time, features, tuple(drop))
    if format is None and is_folder(path):
        return read_folder(path, roles, labels, query)
    is_certain = format is None and is_table(path)  # which says so where there is no such file
    if labels is not None:
        raise InputError(
            f"{path} is no folder of bags, in .npy, .npz, .safetensors or .h5 files: of all else, "
            "labels are one of the columns"
        )
    if query is not None or is_certain:
        return _read_table(path, roles, query, size)
    source = Source(path)
    columns = as_columns(roles)
    chosen = recognise(source, columns) if format is None else _format(format)
    if chosen.read is None:
        return _read_table(path, roles, query, size)
    if size is not None or isinstance(roles.label, tuple):
        raise InputError(f"{path}: labels in several columns are read from tables only")
    rows = chosen.read(source, columns) if chosen.named else chosen.read(source)
    if not chosen.named and columns != Columns():
        rows.notes.append(
            f"the format ({chosen.name}) has no named columns: column options not used"
        )
    data = rows.gather(source)
    data = replace(data, notes=(f"read as {chosen.description}", *data.notes))
    return data if time is None else in_order_of(data, time, source)


def _read_table(path, roles, query, size=None):
    from mixedbag import tables

    def reading(part):
        return tables.read(path, part, query)

    several = label_columns(roles.label, size)
    if several is None:
        data = with_size_noted(reading(roles), roles.label)
    elif size is not None or isinstance(roles.label, tuple):
        data = read_several(reading, roles, *several)
    else:
        try:  # a column may well be called "yes/no"
            data = reading(roles)
        except DataFormatError as error:
            if error.column != roles.label:
                raise
            data = read_several(reading, roles, *several)
    data = in_shares(data, roles.label if several is None else None)
    return replace(data, notes=("read as table with named columns", *data.notes))


def is_table(path: Any) -> bool:
    """Whether a source is a table beyond doubt: its format need not be recognised by its lines."""
    from mixedbag.tables import is_certain

    if not isinstance(path, (str, os.PathLike)):
        return True
    if not os.path.exists(path) and not re.search(r"[*?\[]", os.fspath(path)):
        raise FileNotFoundError(f"no file {str(path)!r}")
    return not os.path.isdir(path) and is_certain(path)


def as_columns(roles: "Roles") -> Columns:
    """What the formats of the field can be asked for."""
    features = roles.features
    if features is not None and roles.time is not None:
        features = (*features, roles.time)
    label = roles.label
    if isinstance(label, tuple):
        label = label[0] if label else None
    return Columns(
        roles.bag, label, roles.weight, roles.instance, features, roles.drop, roles.group
    )


def recognise(source: Source, columns: Columns | None = None) -> Format:
    """The format of a file; column names, when given, mean a format that has them."""
    lines = _first_lines(source)
    named = columns is not None and columns.bag is not None
    for candidate in FORMATS:
        if named and not candidate.named and lines:
            continue
        if candidate.recognises(source, lines):
            return candidate
    raise source.error("unknown format: neither text nor Parquet, Arrow, SQLite, DuckDB or MATLAB")


def _first_lines(source):
    """The first lines that are not blank or a comment; none of binary content."""
    if source.path.is_dir() or source.head.startswith(_BINARY) or b"\x00" in source.head:
        return []
    try:
        if not source.sample:
            _ = source.content  # says so when the file is empty
    except DataFormatError as error:
        if not isinstance(error.__cause__, UnicodeError):
            raise
        # Not UTF-8: no format of the field, but maybe a table.
        return source.head.decode("latin-1").splitlines()[:1]
    return [line for _, line in source.sample]


def _format(name):
    if isinstance(name, Format):
        return name
    for candidate in FORMATS:
        if candidate.name == name:
            return candidate
    raise ValueError(f"unknown format {name!r}; known are {[f.name for f in FORMATS]}")


def _is_mat(source, lines):
    if source.path.is_dir():
        return True
    return not lines and (
        source.path.suffix.lower() == ".mat" or source.head.startswith(b"MATLAB 5.0 MAT-file")
    )


_BINARY = (b"MATLAB 5.0", b"\x89HDF")

FORMATS = (
    Format("mat", "MATLAB file", _is_mat, matlab.read_mat),
    Format(
        "arff",
        "Weka ARFF",
        lambda source, lines: bool(lines) and lines[0].lower().startswith("@relation"),
        arff.read_arff,
        named=True,
    ),
    Format(
        "colons",
        "instance:bag:label index:value …",
        layouts.has_layout("colons"),
        indexed.read_colons,
    ),
    Format(
        "sparse-commas",
        "instance,bag,label,index:value,…",
        layouts.has_layout("sparse-commas"),
        indexed.read_sparse_commas,
    ),
    Format(
        "c45",
        "UCI C4.5: bag,instance,values…,class.",
        layouts.has_layout("c45"),
        c45.read_c45,
    ),
    Format(
        "commas",
        "instance,bag,label,values…",
        layouts.has_layout("commas"),
        indexed.read_commas,
    ),
    Format("table", "table with named columns", lambda source, lines: bool(lines), named=True),
)
