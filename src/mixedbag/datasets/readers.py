"""`read`: any supported file as bags, recognised by its content."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from mixedbag.datasets._formats import arff, c45, delimited, indexed, layouts, matlab, parquet
from mixedbag.datasets._formats.columns import Columns
from mixedbag.datasets._formats.source import Source


@dataclass(frozen=True)
class Format:
    """A file format: how to know it, and how to turn a `Source` into `Rows`.

    `recognises` gets the source and its first lines (an empty list for binary content). `read`
    gets the source and, when the format names its columns (`named`), the `Columns` asked for.
    """

    name: str
    description: str
    recognises: Callable
    read: Callable
    named: bool = False


def read(
    path,
    bag=None,
    label=None,
    *,
    weight=None,
    instance=None,
    group=None,
    features=None,
    drop=(),
    format=None,
):
    """Read bags and labels from a file.

    The format is recognised by content: CSV or TSV with a header (plain or gzip-compressed),
    Parquet, Weka ARFF (relational or flat), UCI C4.5 as in MUSK,
    ``instance:bag:label index:value …``, ``instance,bag,label,…`` with dense or sparse values, and
    MATLAB files (a PRTools data set, or matrices of instances, bag numbers and labels, in one file
    or a folder).

    In tables, every column that is no bag, label, weight, group or instance name is a feature. A
    column of text with few values, such as ``type``, becomes one feature of zeros and ones a value,
    called ``type=br``; text of many values is left out. Missing values (empty, ``?``, ``NA``,
    ``NaN``, …) become NaN, or zero in all features of a text. `notes` of the result says so for
    each column. Nothing else is left out: a line that cannot be read is an error.

    Parameters
    ----------
    path : str or path
    bag, label : str, optional
        Columns that hold the bag of each row and its label; by default those called "bag" and
        "label". Without a label column, `y` is None. A bag with two labels is an error.
    weight, instance : str, optional
        Columns that hold bag weights and names of instances.
    group : str, optional
        Column that holds what a bag belongs to, such as its patient: bags of one group stay
        together in cross-validation.
    features : sequence of str, optional
        The columns to use as features, if not all others.
    drop : sequence of str
        Columns to leave out.
    format : str or Format, optional
        The name of the format, to skip recognition (see `FORMATS`), or a format of your own.

    Returns
    -------
    BagData

    Raises
    ------
    DataFormatError
        With the file, the line and the reason.
    """
    source = Source(path)
    if not source.path.exists():
        raise FileNotFoundError(f"no file {str(path)!r}")
    columns = Columns(
        bag,
        label,
        weight,
        instance,
        None if features is None else tuple(features),
        tuple(drop),
        group,
    )
    chosen = recognise(source, columns) if format is None else _format(format)
    rows = chosen.read(source, columns) if chosen.named else chosen.read(source)
    if not chosen.named and columns != Columns():
        rows.notes.append(
            f"the format ({chosen.name}) has no named columns: column options not used"
        )
    data = rows.gather(source)
    return replace(data, notes=(f"read as {chosen.description}", *data.notes))


def recognise(source, columns=None):
    """The format of a file; column names, when given, mean a format that has them."""
    lines = _first_lines(source)
    named = columns is not None and columns.bag is not None
    for candidate in FORMATS:
        if named and not candidate.named and lines:
            continue
        if candidate.recognises(source, lines):
            return candidate
    raise source.error("unknown format: neither text nor Parquet nor MATLAB")


def _first_lines(source):
    """The first lines that are not blank or a comment; none of binary content."""
    if source.path.is_dir() or source.head.startswith(_BINARY) or b"\x00" in source.head:
        return []
    if not source.sample:
        _ = source.content  # says so when the file is empty
    return [line for _, line in source.sample]


def _format(name):
    if isinstance(name, Format):
        return name
    for candidate in FORMATS:
        if candidate.name == name:
            return candidate
    raise ValueError(f"unknown format {name!r}; known are {[f.name for f in FORMATS]}")


def _starts_with(*signatures):
    return lambda source, lines: not source.path.is_dir() and source.head.startswith(signatures)


def _is_mat(source, lines):
    if source.path.is_dir():
        return True
    return not lines and (
        source.path.suffix.lower() == ".mat" or source.head.startswith(b"MATLAB 5.0 MAT-file")
    )


_BINARY = (b"PAR1", b"MATLAB 5.0", b"\x89HDF")

FORMATS = (
    Format("parquet", "Parquet table", _starts_with(b"PAR1"), parquet.read_parquet, named=True),
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
    Format(
        "table",
        "table with named columns",
        lambda source, lines: bool(lines),
        delimited.read_delimited,
        named=True,
    ),
)
