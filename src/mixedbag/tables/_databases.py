"""Tables of SQLite and DuckDB files, and answers to queries."""

import os
import sqlite3
from pathlib import Path

from mixedbag.datasets.records import DataFormatError
from mixedbag.tables._engine import first_line, identifier, lacks_room, literal
from mixedbag.tables._relation import Piece

_BATCH = 50_000
_ALL = "select * from temp.data"
_ALLOWED = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}


def load_sqlite(con, path, place, name, query=None):
    """The only table of a SQLite file, or the answer to a query, as texts that the coding types.

    Read by Python's own module: the engine's extension would have to come from the network.
    """
    import pyarrow as pa

    database = sqlite3.connect(_uri(path), uri=True)
    try:
        found = database.execute(
            "select name from sqlite_master where type in ('table', 'view') "
            "and name not like 'sqlite%' order by name"
        ).fetchall()
        tables = [table for (table,) in found]
        if query is None or _is_one_by_another_name(tables):
            table = identifier(_only(place, tables))
            database.execute(f"create temp view data as select * from main.{table}")
        database.set_authorizer(
            lambda action, *_: sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY
        )
        rows = database.execute(_ALL if query is None else query)
        if rows.description is None:
            raise DataFormatError(place, "the query selects nothing")
        names = [column[0] for column in rows.description]
        columns = ", ".join(f"c{j} varchar" for j in range(len(names)))
        con.execute(f"create or replace table {name} ({columns})")
        n_rows, binary = 0, set()
        while batch := rows.fetchmany(_BATCH):
            columns = list(zip(*batch))
            binary |= {j for j, column in enumerate(columns) if bytes in map(type, column)}
            texts = [pa.array(map(_text, column), pa.string()) for column in columns]
            con.register("batch", pa.table(texts, names=[f"c{j}" for j in range(len(names))]))
            con.execute(f"insert into {name} select * from batch")
            con.unregister("batch")
            n_rows += len(batch)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise DataFormatError(place, f"SQLite: {error}") from error
    finally:
        database.close()
    types = ["BLOB" if j in binary else "VARCHAR" for j in range(len(names))]
    kept = [f"cast({'null' if j in binary else f'c{j}'} as {types[j]})" for j in range(len(names))]
    return Piece(name, names, types, n_rows, columns=kept)


def _uri(path):
    """The address of a database to read.

    Of one that keeps a journal ahead (WAL), SQLite reads nothing where it may not write beside it,
    unless it is told that nobody changes it: so is one without such a journal.
    """
    path = Path(path).resolve()
    with open(path, "rb") as file:
        journalled = file.read(20)[18:] == b"\2\2"
    shut = not os.access(path.parent, os.W_OK) and not os.path.exists(f"{path}-wal")
    return path.as_uri() + ("?immutable=1" if journalled and shut else "?mode=ro")


def load_duckdb(con, path, place, name, query=None):
    """The only table of a DuckDB file, or the answer to a query."""
    import duckdb

    try:
        con.execute(f"attach {literal(path)} as file (read_only)")
        found = con.execute(
            "select schema_name, table_name from duckdb_tables() where database_name = 'file' "
            "union all select schema_name, view_name from duckdb_views() "
            "where database_name = 'file' and not internal order by all"
        ).fetchall()
        tables = [table for _, table in found]
        if query is None or _is_one_by_another_name(tables):
            _only(place, tables)
            table = ".".join(map(identifier, found[0]))
            con.execute(f"create or replace temp view data as select * from file.{table}")
        con.execute("use file")
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        raise DataFormatError(place, f"not a readable DuckDB file ({first_line(error)})") from error
    piece = answer(con, _ALL if query is None else query, name, place)
    con.execute("use memory")
    return piece


def answer(con, query, name, place):
    """The rows that a query selects, as a table of the engine."""
    import duckdb

    try:
        statements = con.extract_statements(query)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise DataFormatError(place, "a query is one select statement")
        query = statements[0].query.strip().rstrip(";")
        described = con.execute(f"describe {query}").fetchall()
        columns = ", ".join(f"#{j} as c{j - 1}" for j in range(1, len(described) + 1))
        con.execute(
            f"create or replace table memory.main.{name} as select {columns} from ({query}\n)"
        )
    except duckdb.Error as error:
        if lacks_room(error):
            raise
        raise DataFormatError(place, f"the query failed: {first_line(error)}") from error
    ((n_rows,),) = con.execute(f"select count(*) from memory.main.{name}").fetchall()
    names = [row[0] for row in described]
    return Piece(f"memory.main.{name}", names, [row[1] for row in described], n_rows)


def _is_one_by_another_name(tables):
    """Whether a query may call the only table of a database ``data``, as of any other source."""
    return len(tables) == 1 and tables[0].lower() != "data"


def _only(path, tables):
    if len(tables) == 1:
        return tables[0]
    if not tables:
        raise DataFormatError(path, "the database has no table")
    known = ", ".join(map(repr, tables[:12]))
    raise DataFormatError(path, f"the database has several tables: choose with a query; {known}")


def _text(value):
    """A value as text; none of binary values, whose columns are no text."""
    if value is None or isinstance(value, str):
        return value
    return None if isinstance(value, bytes) else repr(value)
