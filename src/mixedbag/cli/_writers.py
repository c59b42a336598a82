"""Answers as CSV, Parquet or lines of JSON: formed by several threads, written by one."""

import csv
import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mixedbag._files import cell, printable, written_whole
from mixedbag.exceptions import InputError

_FORMULA = r"^[=+\-@\t\r\n＝＋－＠]"  # how texts begin that `cell` looks at
_CONTROLS = r"^[=+\-@＝＋－＠]|[^ -~]"  # what `printable` looks at, too
_ENDINGS = ("", ".csv", ".parquet", ".txt")
_JSON_ENDINGS = ("", ".json", ".jsonl", ".ndjson", ".txt")


def refuse_ending(path: Path, as_json: bool = False) -> None:
    """Refuse a file called like something that `output` does not write."""
    is_device = path.exists() and not path.is_file()
    if not is_device and path.suffix.lower() not in (_JSON_ENDINGS if as_json else _ENDINGS):
        known = ".json, .jsonl or .ndjson with --json" if as_json else ".csv or .parquet"
        raise InputError(f"{path}: the name of what is written ends in {known}")


@contextmanager
def output(path: Path | None, as_json: bool = False) -> Iterator[Any]:
    """A writer to standard output, or to a file: complete or not there.

    Its `form` turns columns into what its `write` takes, in the order of the rows.
    """
    if path is None:
        with _standard_output() as screen:
            yield _JsonLines(screen) if as_json else _Csv(screen)
        return
    with written_whole(path) as file:
        if as_json:
            yield _JsonLines(file)
        elif path.suffix.lower() == ".parquet":
            writer = _Parquet(file)
            yield writer
            writer.close()
        else:
            yield _Csv(file)


@contextmanager
def _standard_output():
    screen = getattr(sys.stdout, "buffer", None) or _Encoded(sys.stdout)
    if isinstance(screen, io.RawIOBase):  # of `python -u`: it may write a part and say so
        whole = io.BufferedWriter(screen)
        try:
            yield whole
        finally:
            whole.detach()  # flushes, and leaves the stream open
        return
    yield screen
    screen.flush()


class _Encoded:
    """Bytes written to a stream of text, such as a notebook's standard output."""

    def __init__(self, stream):
        self._stream = stream
        self.flush = stream.flush

    def write(self, content):
        self._stream.write(str(content, "utf-8"))


class _Csv:
    def __init__(self, file):
        self._file = file
        self._begun = False
        self._is_screen = getattr(file, "isatty", lambda: False)()

    def form(self, columns):
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        header = io.StringIO()
        csv.writer(header, lineterminator="\n").writerow(map(self._shown, columns))
        columns = {name: self._harmless(column) for name, column in columns.items()}
        special = any(_any_matches(column, '[",\r\n]') for column in columns.values())
        options = arrow_csv.WriteOptions(
            include_header=False, quoting_style="needed" if special else "none"
        )
        content = pa.BufferOutputStream()
        arrow_csv.write_csv(pa.table(columns), content, options)
        return header.getvalue().encode(), content.getvalue()

    def write(self, formed):
        header, content = formed
        if not self._begun:
            self._file.write(header)
            self._begun = True
        self._file.write(content)

    def _shown(self, value):
        return printable(cell(value)) if self._is_screen else cell(value)

    def _harmless(self, column):
        import pyarrow as pa

        if not _any_matches(column, _CONTROLS if self._is_screen else _FORMULA):
            return column
        return pa.array([self._shown(value) for value in column.to_pylist()], pa.string())


def _any_matches(column, pattern):
    """Whether a column is of text, and a text of it matches."""
    import pyarrow as pa
    from pyarrow import compute

    is_text = pa.types.is_string(column.type)
    return is_text and compute.any(compute.match_substring_regex(column, pattern)).as_py()


class _Parquet:
    def __init__(self, file):
        self._file = file
        self._writer = None

    def form(self, columns):
        import pyarrow as pa

        return pa.table(columns)

    def write(self, table):
        from pyarrow import parquet

        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table)

    def close(self):
        if self._writer is not None:
            self._writer.close()


class _JsonLines:
    def __init__(self, file):
        self._file = file

    def form(self, columns):
        names = list(columns)
        rows = zip(*(column.to_pylist() for column in columns.values()))
        return "".join(json.dumps(dict(zip(names, row)), default=str) + "\n" for row in rows)

    def write(self, lines):
        self._file.write(lines.encode())
