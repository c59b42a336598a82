"""A DuckDB connection that can do nothing but read the named files."""

import glob
import os
import tempfile
from contextlib import contextmanager

_GROUP = 600_000  # values of a group of rows, of which a thread holds some


@contextmanager
def sandbox(paths=(), limits=None):
    """A connection to an empty database in memory, and a folder for what it spills.

    It reads `paths` and the folder, nothing else: no other file, no network, no extension, no
    Python variable by its name, and no statement can change that. `limits` are settings of it.
    """
    import duckdb

    with tempfile.TemporaryDirectory(prefix="mixedbag-", ignore_cleanup_errors=True) as folder:
        con = duckdb.connect(
            config={
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "python_enable_replacements": "false",
                "threads": str(cores()),
                "temp_directory": os.path.join(folder, "spill"),
                **(limits or {}),
            }
        )
        try:
            # Beside a database may lie its journal.
            files = [f"{path}{end}" for path in paths for end in ("", ".wal")]
            allowed = ", ".join([*map(literal, files), *map(one_file, paths)])
            con.execute("set TimeZone = 'UTC'")
            con.execute("set enable_progress_bar = false")
            # Else a whole group of rows is fetched at once, which takes twice the time and memory.
            con.execute("load parquet")
            con.execute("set disable_parquet_prefetching = true")
            con.execute(f"set allowed_directories = [{literal(folder + os.sep)}]")
            if allowed:
                con.execute(f"set allowed_paths = [{allowed}]")
            con.execute("set enable_external_access = false")
            con.execute("set lock_configuration = true")
            yield con, folder
        finally:
            con.close()


def spooled(con, query, width, folder):
    """The answer of so many columns to a query as a Parquet file in `folder`, for quick reading.

    Returns
    -------
    The path, for `parquet_scan`, and how many rows there are
    """
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".parquet", delete=False) as file:
        path = file.name
    ((n_rows,),) = con.execute(
        f"copy ({query}) to {literal(path)} (format parquet, compression uncompressed, "
        f"dictionary_size_limit 1, row_group_size {max(2048, _GROUP // width)})"
    ).fetchall()
    return path, n_rows


def parquet_scan(*paths, numbered=True):
    """SQL for the rows of Parquet files, in their order.

    In the last column, ``file_row_number``, are their numbers, those of each file from 0 on.
    """
    files, number = ", ".join(map(one_file, paths)), str(numbered).lower()
    return f"read_parquet([{files}], file_row_number={number}, hive_partitioning=false)"


def cores():
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def literal(text):
    """A text as it is written in SQL."""
    return "'" + text.replace("'", "''").replace("\0", "'||chr(0)||'") + "'"


def one_file(path):
    """A path as functions that read take it: by marks of patterns, others would be meant."""
    return literal(glob.escape(path))


def identifier(name):
    """A name as it is written in SQL."""
    return '"' + name.replace('"', '""') + '"'


def lacks_room(error):
    """Whether the engine failed for want of memory, or of space on the disk: no fault of a file."""
    import duckdb

    is_full = isinstance(error, duckdb.IOException) and "No space left" in str(error)
    return is_full or isinstance(error, duckdb.OutOfMemoryException)


def first_line(error):
    """What an error of the engine says, without its kind and its hints."""
    text = str(error).strip().split("\n")[0]
    _, mark, rest = text.partition("Error: ")
    return rest if mark else text
