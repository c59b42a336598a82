"""JSON tables: an array of objects, or one object a line."""

import json

from mixedbag.datasets.records import DataFormatError
from mixedbag.tables._engine import first_line, literal
from mixedbag.tables._relation import Piece

_LARGEST = 1 << 24  # bytes of an object; every thread of the engine has a buffer for two


def load(con, path, place, name):
    import duckdb

    options = f"sample_size=-1, maximum_depth=-1, maximum_object_size={_LARGEST}"
    scan = f"read_json({literal(path)}, {options})"
    try:
        described = con.execute(f"describe select * from {scan}").fetchall()
        # Of values of several types, texts: the coding says which.
        types = ["VARCHAR" if row[1] == "JSON" else row[1] for row in described]
        as_text = [" ->> '$'" if row[1] == "JSON" else "" for row in described]
        columns = ", ".join(f"#{j + 1}{text} as c{j}" for j, text in enumerate(as_text))
        con.execute(f"create or replace table {name} as select {columns} from {scan}")
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        raise _explained(path, place, first_line(error)) from error
    ((n_rows,),) = con.execute(f"select count(*) from {name}").fetchall()
    promised = _promised(path)
    if promised is not None and promised != n_rows:
        raise DataFormatError(place, f"{n_rows} objects could be read of {promised}")
    return Piece(name, [row[0] for row in described], types, n_rows)


def _promised(path):
    """How many lines an object each has, or None for an array."""
    with open(path, "rb") as file:
        lines = (line.strip() for line in file)
        first = next((line for line in lines if line), b"")
        if not first.startswith(b"{") or not first.endswith(b"}"):
            return None
        return 1 + sum(1 for line in lines if line)


def _explained(path, place, reason):
    """The error for a file that the engine refused, with the line where JSON ends to be JSON."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read(1 << 28)
        if text.lstrip().startswith("["):
            json.loads(text)
        else:
            for number, line in enumerate(text.splitlines(), start=1):
                if line.strip():
                    try:
                        json.loads(line)
                    except json.JSONDecodeError as error:
                        return DataFormatError(place, f"not JSON: {error.msg}", number)
    except json.JSONDecodeError as error:
        return DataFormatError(place, f"not JSON: {error.msg}", error.lineno)
    except UnicodeDecodeError:
        return DataFormatError(place, "JSON must be UTF-8 text")
    return DataFormatError(place, f"not a JSON table ({reason})")
