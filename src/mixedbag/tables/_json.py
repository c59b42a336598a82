"""JSON tables: an array of objects, or one object a line."""

import codecs
import json

from mixedbag.datasets.records import DataFormatError
from mixedbag.tables._encoding import survey_of, unicode_copy
from mixedbag.tables._engine import first_line, lacks_room, literal, one_file
from mixedbag.tables._kinds import is_nested
from mixedbag.tables._relation import Piece

_LARGEST = 1 << 24  # bytes of an object; every thread of the engine has a buffer for two


def load(con, path, place, name):
    import duckdb

    try:
        described = con.execute(f"describe select * from {_scan(path)}").fetchall()
        names, types = [row[0] for row in described], [row[1] for row in described]
        if _are_keys(con, path, names):
            types = [_as_written(kind) for kind in types]
            _fill(con, name, path, names, types)
            large = _large(con, name, types)
            if large:
                types = ["VARCHAR" if j in large else kind for j, kind in enumerate(types)]
                _fill(con, name, path, names, types)
        else:
            _fill(con, name, path, None, types)
            types = ["VARCHAR" if kind == "JSON" else kind for kind in types]
    except duckdb.Error as error:
        if lacks_room(error):
            raise
        raise _explained(path, place, first_line(error)) from error
    ((n_rows,),) = con.execute(f"select count(*) from {name}").fetchall()
    if n_rows and names == ["json"]:  # what the engine calls a value that is no object
        raise DataFormatError(
            place,
            "an array of objects, or one object a line, is expected, with a name for each value",
        )
    promised = _promised(path)
    if promised is not None and promised != n_rows:
        raise DataFormatError(place, f"{n_rows} objects could be read of {promised}")
    return Piece(name, names, types, n_rows)


def in_unicode(path, folder, error):
    """The path, or that of a copy in plain UTF-8 in `folder`, and the notes to tell of it."""
    survey = survey_of(path)
    with open(path, "rb") as file:
        marked = file.read(3) == codecs.BOM_UTF8
    if survey.encoding == "utf-8" and not marked:
        return path, []
    return unicode_copy(path, folder, survey, error)


def _scan(path, **options):
    options |= {"sample_size": -1, "maximum_depth": -1, "maximum_object_size": _LARGEST}
    told = ", ".join(f"{name}={value}" for name, value in options.items())
    return f"read_json({one_file(path)}, {told})"


def _fill(con, name, path, keys, types):
    """Make a table of the file: values of the keys in those types, or all as the engine thinks."""
    options = {}
    if keys is not None:
        asked = (f"{literal(key)}: {literal(kind)}" for key, kind in zip(keys, types))
        options["columns"] = f"{{{', '.join(asked)}}}"
    columns = ", ".join(
        f"#{j} ->> '$' as c{j - 1}" if kind == "JSON" else f"#{j} as c{j - 1}"
        for j, kind in enumerate(types, start=1)
    )
    con.execute(f"create or replace table {name} as select {columns} from {_scan(path, **options)}")


def _are_keys(con, path, names):
    """Whether columns are called like their keys: of "x" and "X", one becomes "X_1"."""
    lowered = {name.lower() for name in names}
    if lowered.isdisjoint(_without_number(name) for name in lowered):
        return True
    objects = f"read_json_objects({one_file(path)}, maximum_object_size={_LARGEST})"
    keys = con.execute(f"select distinct unnest(json_keys(json)) from {objects}").fetchall()
    return {key for (key,) in keys} == set(names)


def _without_number(name):
    bare, mark, number = name.rpartition("_")
    return bare if mark and number.isdigit() else None


def _as_written(kind):
    """The type to read values in: text where the engine thinks that texts are dates or the like.

    So are values of several types. The coding says what they are, as of any other source.
    """
    guessed = kind in ("JSON", '"NULL"', "UUID") or kind.startswith(("DATE", "TIME"))
    return "VARCHAR" if guessed and not is_nested(kind) else kind


def _large(con, name, types):
    """Columns of numbers that are not exact: ids that differ in a digit would be one."""
    columns = [j for j, kind in enumerate(types) if kind == "DOUBLE"]
    if not columns:
        return set()
    asked = ", ".join(f"bool_or(isfinite(c{j}) and abs(c{j}) >= {2**53})" for j in columns)
    found = con.execute(f"select {asked} from {name}").fetchone()
    return {j for j, is_large in zip(columns, found) if is_large}


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
    return DataFormatError(place, f"not a JSON table ({reason})")
