"""From what the user points at to a `Relation`: files of every kind, and tables in memory."""

import glob
import os
import re
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

import numpy as np

from mixedbag.datasets.records import DataFormatError
from mixedbag.exceptions import InputError
from mixedbag.tables import _databases, _json, _text
from mixedbag.tables._arrays import as_arrow
from mixedbag.tables._encoding import as_utf8
from mixedbag.tables._engine import first_line, identifier, one_file, parquet_scan
from mixedbag.tables._frames import arrow_table, asked_levels, is_frame
from mixedbag.tables._packed import first_bytes, unpacked
from mixedbag.tables._relation import Part, Piece, Relation
from mixedbag.tables._roles import default_column

_ROW, _FILE = "file_row_number", "file_index"  # what the engine calls its numbers
_MICROSECONDS = {"s": "1000000", "ms": "1000", "us": "1", "ns": "0.001"}
_WILD = re.compile(r"[*?\[]")


def files_of(source):
    """The files that a path or a pattern means, in alphabetical order."""
    name = os.fspath(source)
    if os.path.exists(name) or not _WILD.search(name):
        if not os.path.exists(name):
            raise FileNotFoundError(f"no file {name!r}")
        _refuse_pipe(name)
        return [name]
    found = sorted(path for path in glob.glob(name, recursive=True) if os.path.isfile(path))
    if not found:
        raise FileNotFoundError(f"no file matches {name!r}")
    return found


def _refuse_pipe(path):
    if not (os.path.isfile(path) or os.path.isdir(path)):
        raise InputError(f"{path} is no file that can be read more than once: save it as one")


def kind_of(path):
    """The kind of a file that is not packed, by its first bytes."""
    with open(path, "rb") as file:
        return _kind_by(file.read(4096), path)


def _kind_by(head, path):
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    if head.startswith(b"SQLite format 3\0"):
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
    bare = as_utf8(head).removeprefix(b"\xef\xbb\xbf").lstrip()
    if bare.startswith((b"{", b"[{", b"[\n", b"[ ", b"[\r")) or (
        bare.startswith(b"[") and path.lower().endswith((".json", ".json.gz", ".json.zst"))
    ):
        return "json"
    return "text"


def is_certain(path: str | os.PathLike) -> bool:
    """Whether a file, or a pattern of files, is a table beyond doubt, by its first bytes.

    Plain text is not: it may be one of the formats of the field.

    Parameters
    ----------
    path : str or path
        A file, or a pattern of files.

    Returns
    -------
    bool
        False for plain text, and for formats of the field.

    See Also
    --------
    mixedbag.datasets.read : Recognises the others by their lines.

    Examples
    --------
    >>> from pathlib import Path
    >>> from mixedbag.tables import is_certain
    >>> _ = Path("notes.txt").write_text("bag,label,x")
    >>> is_certain("notes.txt"), is_certain("plates-*.parquet")
    (False, True)
    """
    if not os.path.exists(path):
        return True
    _refuse_pipe(path)
    head = first_bytes(path)
    if head.startswith((b"\x28\xb5\x2f\xfd", b"\xff\xfe", b"\xfe\xff")):
        return True
    if b"\0" in head and not head.startswith((b"\x1f\x8b", b"MATLAB 5.0", b"\x89HDF")):
        return not os.fspath(path).lower().endswith(".mat")
    return _kind_by(head, os.fspath(path)) != "text"


def open_relation(con, folder, source, roles, query=None, **layout):
    """The `Relation` of a file, a pattern, or a data frame, or of the answer to a query on it.

    `layout` tells what is known of text files: `delimiter`, `header`, `names` of the columns, which
    columns are `text`, and what of them is `kept`.
    """
    if is_frame(source):
        table = arrow_table(source, asked_levels(source, roles) if query is None else ())
        relation = _united(con, ["the table"], [_register(con, table, "part_0")])
        answered = False
    else:
        relation, answered = _open_files(con, folder, files_of(source), roles, query, layout)
    if query is not None:
        relation = relation if answered else _queried(relation, query)
        relation.notes.append(f"asked: {query}")
    if not relation.n_rows:
        raise relation.error("no rows")
    return relation


def _open_files(con, folder, paths, roles, query, layout):
    """The relation, and whether it is the answer to the query already."""
    opened = []
    for path in paths:
        if os.path.isdir(path):
            raise InputError(f"{path} is a folder, and a table is a file")
        plain = unpacked(path, folder)
        opened.append((path, plain, kind_of(plain)))
    first, _, kind = opened[0]
    for path, _, other in opened:
        if other != kind:
            raise DataFormatError(
                path, f"{other} cannot be one table with {kind}, which {first} holds"
            )
    if kind == "text":
        return _open_texts(con, folder, opened, None if query else roles, **layout), False
    pieces, notes = [], []
    for number, (path, plain, _) in enumerate(opened):
        name = f"part_{number}"
        if kind == "parquet":
            pieces.append(_load_parquet(con, plain, path, name))
        elif kind == "arrow":
            pieces.append(_load_arrow(con, plain, path, name))
        elif kind == "json":
            plain, told = _json.in_unicode(plain, folder, _error_at(path))
            notes += told
            pieces.append(_json.load(con, plain, path, name))
        elif kind == "sqlite":
            pieces.append(_databases.load_sqlite(con, plain, path, name, query))
        else:
            pieces.append(_databases.load_duckdb(con, plain, path, name, query))
    relation = _united(con, paths, pieces, _exact(pieces[0].names, None if query else roles))
    relation.notes += dict.fromkeys(notes)
    return relation, query is not None and kind in ("sqlite", "duckdb")


def _error_at(path):
    return lambda reason, line=None: DataFormatError(path, reason, line)


def _exact(names, roles):
    """Names of the columns that must not become other numbers: of ids, or all if none is known."""
    if roles is None:
        return set(names)
    return {roles.bag or default_column("bag", names), roles.group, roles.instance}


def _united(con, paths, pieces, exact=()):
    """One view of all pieces, columns matched by their names.

    A column may be one of whole numbers in some of them and of others elsewhere, unless it must be
    `exact`, and without any value in some.
    """
    first = pieces[0]
    if not first.names:
        raise DataFormatError(paths[0], "no columns")
    known: dict = {}
    chosen, parts, start = [], [], 0
    for path, piece in zip(paths, pieces):
        if set(piece.names) != set(first.names) or len(piece.names) != len(first.names):
            missing = sorted(set(first.names) ^ set(piece.names))
            reason = f"column {missing[0]!r} is" if missing else "some columns are"
            raise DataFormatError(path, f"{reason} not in both this file and {paths[0]}")
        order = (
            [j for j in range(len(first.names))]
            if piece.names == first.names
            else [piece.names.index(name) for name in first.names]
        )
        for name, k in zip(first.names, order):
            kind = piece.types[k]
            if kind == '"NULL"':
                continue
            other, place = known.setdefault(name, (kind, path))
            if _family(kind, name in exact) != _family(other, name in exact):
                raise DataFormatError(
                    path,
                    f"column {name!r} is {kind.lower()} here and {other.lower()} in {place}",
                )
        columns = ", ".join(f"{piece.columns[k]} as c{j}" for j, k in enumerate(order))
        chosen.append(_Chosen(piece, columns, [piece.types[k] for k in order], start))
        parts.append(Part(path, start, piece.n_rows, **piece.place))
        start += piece.n_rows
    scans = [_scan([*run]) for _, run in groupby(chosen, _Chosen.scanned_with)]
    con.execute("create or replace temp view rows as " + " union all ".join(scans))
    types = [row[1] for row in con.execute("describe rows").fetchall()][:-1]
    return Relation(con, list(first.names), types, parts)


class _Chosen(NamedTuple):
    """A piece, SQL for its columns in their order, their types, and the number of its first row."""

    piece: Piece
    columns: str
    types: list
    start: int

    def scanned_with(self):
        """Pieces one after the other that share this are read in one scan."""
        return (self.columns, self.types) if self.piece.parquet else id(self.piece)


def _scan(run):
    """SQL for the rows of pieces that one scan reads: with a scan each, a thousand take minutes."""
    piece, columns, _, start = run[0]
    if len(run) == 1:
        return f"select {columns}, {piece.row} + {start} as row from {piece.name}"
    scan = parquet_scan(*(chosen.piece.parquet for chosen in run))
    start = f"{[chosen.start for chosen in run]}[cast({_FILE} as bigint) + 1]"
    return f"select {columns}, {_ROW} + {start} as row from {scan}"


def _family(kind, exact):
    """What types of one column in two files must share."""
    from mixedbag.tables._kinds import INTEGERS, is_date, is_numeric, is_text

    for name, belongs in (("whole", lambda k: exact and k in INTEGERS), ("number", is_numeric),
                          ("date", is_date), ("text", is_text)):  # fmt: skip
        if belongs(kind):
            return name
    return kind


# Text ---------------------------------------------------------------------------------------------


def _open_texts(
    con, folder, opened, roles, delimiter=None, header=True, names=None, text=(), kept=None
):
    texts = []
    for path, plain, _ in opened:
        texts.append(_text.open_text(plain, folder, _error_at(path), delimiter, header))
        if names is not None:
            texts[-1].names = list(names)
    as_text = set(text or texts[0].names)  # a query sees columns as they are written
    ids: set = set()
    if roles is not None:
        names = texts[0].names

        def header_error(reason):
            return texts[0].error(reason, texts[0].header_line)

        positions = roles.positions(names, header_error)
        asked = roles.feature_positions(names, positions.values(), header_error)
        by_value = [j for j, value in asked.values() if value is not None]
        as_text = {names[j] for j in (*positions.values(), *by_value)}
        ids = {names[positions[role]] for role in ("bag", "group") if role in positions}
    kept = kept if len(texts) == 1 else None  # files must have the same columns
    loaded = [_text.spool(con, text, folder, as_text, ids, kept) for text in texts]
    unlike = {
        name for one in loaded for name, kind in zip(one.names, one.types) if kind == "VARCHAR"
    }
    for number, (text, one) in enumerate(zip(texts, loaded)):
        if any(kind != "VARCHAR" and name in unlike for name, kind in zip(one.names, one.types)):
            loaded[number] = _text.spool(con, text, folder, as_text | unlike, ids - unlike)
    pieces = [
        Piece(parquet_scan(one.path), one.names, one.types, one.n_rows, _ROW, parquet=one.path,
              line_of=text.line_of, header_line=text.header_line)
        for text, one in zip(texts, loaded)
    ]  # fmt: skip
    relation = _united(con, [path for path, _, _ in opened], pieces)
    if any(one.decimal == "," for one in loaded):
        relation.decimal = ","
        relation.notes.append("numbers have a decimal comma")
    relation.parted_by_commas = any(file.delimiter == "," for file in texts)
    for file in texts:
        relation.notes += [note for note in file.notes if note not in relation.notes]
    if not relation.n_rows:
        raise relation.error("no rows below the header")
    return relation


# Parquet and Arrow --------------------------------------------------------------------------------


def _load_parquet(con, path, place, name):
    """A view of a Parquet file whose parts agree on how many rows there are."""
    import duckdb
    from pyarrow import parquet

    try:
        metadata = parquet.read_metadata(path)
        schema = metadata.schema.to_arrow_schema()
        names = [str(n) for n in schema.names]
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        promised = {metadata.num_rows, sum(group.num_rows for group in groups)}
        lowered = {name.lower() for name in names}
        numbered = _ROW not in lowered
        scan = parquet_scan(path, numbered=numbered)
        described = con.execute(f"describe select * from {scan}").fetchall()
        promised |= {row[0] for row in con.execute(
            f"select num_rows from parquet_file_metadata({one_file(path)})"
        ).fetchall()}  # fmt: skip
        promised |= {row[0] for row in con.execute(
            "select sum(n) from (select path_in_schema, sum(num_values) as n, "
            f"sum(row_group_num_rows) as r from parquet_metadata({one_file(path)}) "
            "group by path_in_schema) group by path_in_schema, r having "
            "path_in_schema not like '%, %' and sum(n) <> r"
        ).fetchall()}  # fmt: skip
    except duckdb.OutOfMemoryException:
        raise
    except (duckdb.Error, OSError, ValueError, RuntimeError, KeyError) as error:
        raise DataFormatError(
            place, f"not a readable Parquet file ({first_line(error)})"
        ) from error
    if len(promised) > 1:
        raise DataFormatError(
            place,
            f"a damaged Parquet file: it promises {' and '.join(map(str, sorted(promised)))} rows",
        )
    if not metadata.num_rows:
        raise DataFormatError(place, "a Parquet file without rows")
    described = described[:-1] if numbered else described
    if len(described) != len(names):
        raise DataFormatError(place, "a damaged Parquet file: its columns cannot be told apart")
    columns = [_as_duration(identifier(row[0]), f.type) for row, f in zip(described, schema)]
    types = [row[1] for row in described]
    if len(set(names)) < len(names):
        return Piece("(select 1)", names, types, metadata.num_rows, "0", ["1"] * len(names))
    row = _ROW if numbered else "row_number() over () - 1"
    joined = path if lowered.isdisjoint((_ROW, _FILE)) else None
    return Piece(scan, names, types, metadata.num_rows, row, columns, joined)


def _as_duration(column, kind):
    """SQL for a column of Parquet: one of durations is of bare numbers there."""
    import pyarrow as pa

    if not pa.types.is_duration(kind):
        return column
    return f"to_microseconds(cast({column} * {_MICROSECONDS[kind.unit]} as bigint))"


def _load_arrow(con, path, place, name):
    import pyarrow as pa

    try:
        with pa.memory_map(path) as file:
            stream = file.read(6) != b"ARROW1"
            file.seek(0)
            reader = pa.ipc.open_stream(file) if stream else pa.ipc.open_file(file)
            table = reader.read_all()
            table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, RuntimeError) as error:
        raise DataFormatError(place, f"not a readable Arrow file ({first_line(error)})") from error
    return _register(con, table, name)


def _register(con, table, name):
    """An Arrow table as a relation of the engine."""
    import pyarrow as pa

    names = [str(n) for n in table.column_names]
    columns = [_as_known(column) for column in table.columns]
    row = as_arrow(np.arange(table.num_rows))
    table = pa.table([*columns, row], names=[*(f"c{j}" for j in range(len(names))), "row"])
    con.register(name, table)
    types = [kind for _, kind, *_ in con.execute(f"describe {name}").fetchall()][:-1]
    return Piece(name, names, types, table.num_rows, "row")


def _as_known(column):
    """A column of Arrow in a type that the engine has."""
    import pyarrow as pa

    if pa.types.is_float16(column.type):
        return column.cast(pa.float32())
    if pa.types.is_decimal256(column.type):
        return column.cast(pa.string())
    if pa.types.is_duration(column.type):
        # The engine multiplies seconds where there are none as well, and fails.
        return column.cast(pa.duration("us"), safe=False)
    return column


# Queries ------------------------------------------------------------------------------------------


def _queried(relation, query):
    """The answer to a query over the table ``data``."""
    con = relation.con
    columns = ", ".join(
        f"{_natural(relation, j)} as {identifier(name)}" for j, name in enumerate(relation.names)
    )
    if len(set(relation.names)) < len(relation.names):
        raise relation.header_error("two columns have the same name: no query can tell them apart")
    con.execute(f"create or replace temp table data as select {columns} from rows")
    piece = _databases.answer(con, query, "answer", relation.parts[0].place)
    united = _united(con, [relation.parts[0].place], [piece])
    return replace(united, notes=relation.notes, parted_by_commas=relation.parted_by_commas)


def _natural(relation, j):
    """SQL for a column of text in the type that it is written in."""
    from mixedbag.tables import _kinds as kinds
    from mixedbag.tables._ordering import whole_ids
    from mixedbag.tables._written import written

    if relation.types[j] != "VARCHAR":
        return f"c{j}"
    known = kinds.known(kinds.stripped(f"c{j}"), kinds.NO_NAME)
    column = written(relation, j, kinds.NO_NAME)
    found = column.kinds.keys()
    if found == {kinds.NUMBER}:
        whole = whole_ids(relation, known, "rows")
        if whole != known:
            return whole
        zeros = relation.ask(
            f"select count(*) from rows where regexp_matches({known}, '^[-+]?0[0-9]')"
        )[0][0]
        return known if zeros else kinds.as_number(known, column.decimal)
    if found == {kinds.FLAG}:
        return f"lower({known}) = 'true'"
    if found == {kinds.DATE}:
        return f"cast({known} as timestamp)"
    if found == {kinds.ZONED}:
        return f"cast({known} as timestamptz)"
    return known
