"""Delimited text: its encoding, separator, decimal mark and header, and its way into the engine.

The engine parses. What it refuses is read again by `csv`, slowly, only to name the line; and the
rows that it delivers are counted against the lines of the file.
"""

import csv
import itertools
import re
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from mixedbag.tables._encoding import survey_of, unicode_copy
from mixedbag.tables._engine import (
    first_line,
    lacks_room,
    literal,
    one_file,
    parquet_scan,
    spooled,
)
from mixedbag.tables._kinds import (
    DOT_NUMBER,
    MISSING,
    WHOLE,
    known,
    number_with,
    stripped,
    thousands_with,
)

# What the engine takes for missing while it reads; "none" may be a label: the coding decides.
_NULLS = ("", "?", "NA", "na", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null")
_CHUNK = 2**22  # bytes of text looked at a time
_SAMPLE, _VALUES = 1000, 500_000  # most rows and values that tell which columns may be numbers
_WIDE = 600  # columns, from which on threads hinder each other: each cuts groups of few rows
_QUOTED = re.compile(r'"[^"]*"')
_BLANKS = re.compile(r'"[^"]*"|[^\s"]+')
_TOLD = re.compile(r'"?sep=([^\w"\r\n])"?[\r\n]*', re.IGNORECASE)  # the first line of Excel's files
_FOREIGN = {  # by their first bytes
    b"PK\x03\x04": "a workbook or another zip archive",
    b"\xd0\xcf\x11\xe0": "an old workbook",
    b"%PDF": "a PDF document",
    b"\xfd7zXZ": "an xz archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"\x04\x22\x4d\x18": "an lz4 archive",
    **{b"BZh%d1AY&SY" % level: "a bzip2 archive" for level in range(1, 10)},
    **{bytes([0x80, protocol]): "a pickle" for protocol in range(2, 6)},
    b"<!doctype html": "a web page",
    b"<html": "a web page",
}
csv.field_size_limit(1 << 30)


@dataclass
class TextFile:
    """Delimited text in UTF-8 with plain line ends: the file of a user, or a copy of it."""

    path: str
    error: Callable  # error(reason, line) makes what is raised
    names: list
    delimiter: str
    has_header: bool
    header_line: int
    offset: int  # lines of the user's file above the first of this one
    n_lines: int  # that are not blank, if no quoted value spans lines
    underscores: bool  # whether digits are joined by underscores somewhere
    commas: bool  # whether digits follow a comma somewhere
    line_ends: frozenset  # the last bytes of all lines
    width: int  # bytes of the longest line
    notes: list = field(default_factory=list)

    @property
    def largest(self):
        """The bytes that a row may have."""
        return max(2_097_152, 2 * self.width)

    def records(self):
        """First line and fields of every row, the header left out."""
        below = self.has_header
        for line, record in _records(self.path, self.delimiter, self.error, self.offset):
            if not below:
                yield line, record
            below = False

    def line_of(self, row):
        """The line on which a row begins."""
        return next((line for line, _ in itertools.islice(self.records(), row, None)), None)

    def diagnose(self, reason):
        """The error that explains why the engine refused the file."""
        width = len(self.names)
        for line, record in self.records():
            if len(record) != width:
                return self.error(f"{len(record)} values where {width} are expected", line)
            if sum(len(value.encode()) for value in record) >= self.largest:
                return self.error("a row of several lines in quotes is too long", line)
        return self.error(f"not a readable table ({reason})", None)


def open_text(path, folder, error, delimiter=None, header=True):
    """The `TextFile` of a path that holds text; copies go to `folder`."""
    _refuse_foreign(path, error)
    notes = []
    survey = survey_of(path)
    if survey.needs_copy:
        path, note = unicode_copy(path, folder, survey, error)
        notes += note
        survey = survey_of(path)
    if survey.nul_line is not None:
        raise error("a NUL character: this is no text, or damaged", survey.nul_line)
    if survey.empty:
        raise error("the file is empty", None)
    told = _told_delimiter(path)
    if delimiter is None:
        delimiter = told or guess_delimiter(path, error)
    if delimiter == " ":
        path, delimiter = _blanks_to_tabs(path, folder, error), "\t"
    line, first, end = _first_record(path, delimiter, error, skip=int(told is not None))
    offset = 0
    above = end if header else line - 1
    if above > header:
        # A line that tells the separator, blank ones above the header, or a name that spans lines:
        # cut off, to be on the safe side.
        path, offset = _without_lines(path, folder, above), above
        survey = survey_of(path)
    names = header_names(first) if header else [str(j) for j in range(1, len(first) + 1)]
    if header and first and all(_is_number(name) for name in first):
        raise error("the first line holds numbers, not the names of the columns", line)
    has_header = header and not offset
    return TextFile(
        path, error, names, delimiter, has_header, line, offset,
        survey.n_lines, survey.underscores, survey.commas, survey.line_ends, survey.longest, notes,
    )  # fmt: skip


def _refuse_foreign(path, error):
    with open(path, "rb") as file:
        head = file.read(64).lower()
    for mark, what in _FOREIGN.items():
        if head.startswith(mark.lower()):
            raise error(f"this is {what}, no table: save the table as CSV or Parquet", None)


def header_names(names):
    """Header names without surrounding blanks; a column without one is called after its place."""
    return [name.strip() or f"unnamed {j}" for j, name in enumerate(names, start=1)]


def _told_delimiter(path):
    """The separator that a first line such as ``sep=;`` tells, or None."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        found = _TOLD.fullmatch(file.readline(16))
    return found and found[1]


def guess_delimiter(path, error):
    """The separator of the first line; blanks when it has none of the usual ones.

    Of several candidates, the one that cuts most lines of the file as often as the first.
    """
    with open(path, encoding="utf-8-sig", newline="") as file:
        lines = (line for line in file if not line.isspace())
        first = next(lines, None)
        if first is None:
            raise error("the file is empty", None)
        counts = {mark: _bare(first).count(mark) for mark in (",", "\t", ";", "|")}
        counts = {mark: count for mark, count in counts.items() if count}
        if len(counts) > 1:
            fitting: Counter = Counter()
            for line in lines:
                bare = _bare(line)
                fitting.update(mark for mark, n in counts.items() if bare.count(mark) == n)
            return max(counts, key=lambda mark: (fitting[mark], counts[mark]))
    if counts:
        return next(iter(counts))
    return " " if len(_BLANKS.findall(first)) > 1 else ","


def _bare(line):
    """A line without its quoted values."""
    return _QUOTED.sub("", line) if '"' in line else line


class Spooled(NamedTuple):
    """The rows of a text in the engine."""

    path: str  # of a Parquet file
    n_rows: int
    names: list
    types: list
    decimal: str


def spool(con, file, folder, as_text, ids=frozenset(), kept=None):
    """Rows of `file`, checked to be all of them, as a Parquet file in `folder`.

    Not as a table of the engine, which keeps statistics of all values and spills them to disk.

    Columns of the set `as_text` stay text, but those of `ids` become whole numbers where all are
    written as such. Others become numbers where all values of a sample are, unless a later value is
    none: then every column is read as text, for the coding to judge.

    `kept(names, types)` is what to keep in place of all columns: SQL by the names of new ones, from
    c0, c1, …; or None. Where a row makes the engine fail with it, all columns are kept.
    """
    import duckdb

    n_rows = min(_SAMPLE, 1 + _VALUES // len(file.names))
    sample = [record for _, record in itertools.islice(file.records(), n_rows)]
    decimal = _decimal_mark(con, file)
    numeric = {
        j
        for j, name in enumerate(file.names)
        if name not in as_text and _numbers(sample, j, decimal)
    }
    whole = {j for j, name in enumerate(file.names) if name in ids and _whole_numbers(sample, j)}
    kinds = dict.fromkeys(whole, "BIGINT"), dict.fromkeys(numeric, "DOUBLE")
    guesses: list[dict] = [{**kinds[0], **kinds[1]}, kinds[1], {}]
    attempts: list[tuple] = []
    for guess in [a for k, a in enumerate(guesses) if a not in guesses[:k]]:
        types = [guess.get(j, "VARCHAR") for j in range(len(file.names))]
        values = kept and kept(file.names, types)
        attempts += [(types, values)] if values and not attempts else []
        attempts += [(types, None)]
    for types, values in attempts:
        try:
            path, n_rows = _load(con, file, folder, types, decimal, values)
        except duckdb.Error as error:
            if lacks_room(error):
                raise
            if values is None and set(types) == {"VARCHAR"}:
                raise file.diagnose(first_line(error)) from error
            continue
        if n_rows != file.n_lines - file.has_header:
            promised = sum(1 for _ in file.records())
            if n_rows != promised:
                raise file.error(f"{n_rows} rows could be read of {promised}", None)
        _refuse_longer_rows(file)
        if values is None:
            return Spooled(path, n_rows, file.names, types, decimal)
        described = con.execute(f"describe select * from {parquet_scan(path)}").fetchall()
        types = [row[1] for row in described][:-1]
        return Spooled(path, n_rows, list(values), types, decimal)
    raise AssertionError("unreachable")


def _load(con, file, folder, types, decimal, kept=None):
    # The engine takes 1_0 for ten; and a full stop beside decimal commas may part thousands. Where
    # neither can be, it makes numbers of the text at once.
    plain = decimal == "." and not file.underscores
    read = ["DOUBLE" if kind == "DOUBLE" and plain else "VARCHAR" for kind in types]
    as_kind = {
        "DOUBLE": lambda column: column if plain else _as_number(column, decimal),
        "BIGINT": _as_whole_number,
        "VARCHAR": lambda column: column,
    }
    values = ", ".join(f"{as_kind[kind](f'c{j}')} as c{j}" for j, kind in enumerate(types))
    query = f"select {values} from {_scan(file, read)}"
    if kept is not None:
        values = ", ".join(f"{sql} as c{j}" for j, sql in enumerate(kept.values()))
        query = f"select {values} from ({query})"
    return spooled(con, query, len(kept or types), folder)


def _scan(file, types=None):
    """SQL for the rows of a file, as text unless their types are given."""
    types = types or ["VARCHAR"] * len(file.names)
    columns = ", ".join(f"'c{j}': '{kind}'" for j, kind in enumerate(types))
    nulls = ", ".join(map(literal, _NULLS))
    parallel = str(len(types) < _WIDE).lower()
    return (
        f"read_csv({one_file(file.path)}, auto_detect=false, header=false, "
        f"skip={int(file.has_header)}, delim={literal(file.delimiter)}, quote='\"', escape='\"', "
        f"strict_mode=true, null_padding=false, nullstr=[{nulls}], parallel={parallel}, "
        f"max_line_size={file.largest}, buffer_size={4 * file.largest}, columns={{{columns}}})"
    )


def _refuse_longer_rows(file):
    """Refuse rows with one more value, which is empty: the engine takes them for complete."""
    width = len(file.names)
    if not file.line_ends & frozenset(b"\r" + file.delimiter.encode()):
        return
    if not _has_longer_line(file.path, file.delimiter.encode(), width):
        return
    for number, record in file.records():  # unless the marks are in quotes
        if len(record) != width:
            raise file.error(f"{len(record)} values where {width} are expected", number)


def _as_number(column, decimal):
    """SQL for a column of text as numbers, which fails at what is none."""
    wrong, value = f"contains({column}, '_')", column
    if decimal == ",":
        wrong += f" or contains({column}, '.')"
        value = f"replace({column}, ',', '.')"
    return f"case when {wrong} then error('no number') else cast({value} as double) end"


def _has_longer_line(path, mark, width):
    """Whether a line ends with a mark, and has as many marks as there are columns."""
    return any(_holds_longer_line(lines, mark, width) for lines in _whole_lines(path))


def _whole_lines(path):
    """The file, some lines at a time, the last with an end of its own."""
    with open(path, "rb") as file:
        rest = b""
        while chunk := file.read(_CHUNK):
            lines, end, rest_here = chunk.rpartition(b"\n")
            if end:
                yield rest + lines + end
                rest = rest_here
            else:
                rest += chunk
        if rest:
            yield rest + b"\n"


def _holds_longer_line(lines, mark, width):
    for ending in (mark + b"\n", mark + b"\r\n"):
        place = lines.find(ending)
        while place >= 0:
            start = lines.rfind(b"\n", 0, place) + 1
            if lines.count(mark, start, place + 1) >= width:
                return True
            place = lines.find(ending, place + 1)
    return False


def _as_whole_number(column):
    """SQL for a column of text as whole numbers, which fails at what is not written as one."""
    number = f"try_cast({column} as bigint)"  # written back, it is quicker than a pattern
    return (
        f"case when {column} is null then null when cast({number} as varchar) = {column} "
        f"then {number} else error('no whole number') end"
    )


def _decimal_mark(con, file):
    """The mark that more columns of numbers are written with, by all of their values.

    Where no column is written with one mark alone, a comma in any number. Commas that may part
    thousands, as in all numbers of a column like 1,250, are not counted.
    """
    import duckdb

    if file.delimiter == "," or not file.commas:
        return "."
    asked = []
    for j in range(len(file.names)):
        value = known(stripped(f"c{j}"))
        for mark in ",.":
            number = literal(number_with(mark).pattern)
            is_number = f"coalesce(regexp_full_match({value}, {number}), false)"
            marked = f"{is_number} and contains({value}, '{mark}')"
            if mark == ",":
                marked += f" and not regexp_full_match({value}, {literal(thousands_with(mark))})"
            marked = f"bool_or({marked})"
            asked += [f"{marked} and bool_and({value} is null or {is_number})", marked]
    try:
        answers = con.execute(f"select {', '.join(asked)} from {_scan(file)}").fetchone()
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error:
        return "."  # it will fail again, and be explained
    n_commas, any_comma, n_dots, _ = (sum(map(bool, answers[k::4])) for k in range(4))
    if not n_commas and not n_dots:
        return "," if any_comma else "."
    return "," if n_commas >= n_dots else "."


def _numbers(sample, j, decimal):
    pattern = number_with(decimal)
    values = [record[j].strip() for record in sample if len(record) > j]
    known = [value for value in values if value.lower() not in MISSING]
    return bool(known) and all(pattern.fullmatch(value) for value in known)


def _whole_numbers(sample, j):
    values = [record[j] for record in sample if len(record) > j and record[j] not in _NULLS]
    return bool(values) and all(re.fullmatch(WHOLE, value) for value in values)


def _records(path, delimiter, error, offset=0):
    """First line and fields of every record on lines that are not empty."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        line = offset + 1
        try:
            for record in reader:
                if record:
                    yield line, record
                line = offset + reader.line_num + 1
        except csv.Error as problem:
            reason = str(problem)
            if "end of data" in reason:
                reason = "a quote is opened and not closed"
            raise error(reason, line) from problem


def _first_record(path, delimiter, error, skip):
    """Line, fields and last line of the first record that is not blank, some left out."""
    records = itertools.islice(_records(path, delimiter, error), skip, None)
    first = next((record for record in records if any(map(str.strip, record[1]))), None)
    if first is None:
        raise error("the file is empty", None)
    line, fields = first
    return line, fields, line + sum(field.count("\n") for field in fields)


def _blanks_to_tabs(path, folder, error):
    """A copy with tabs for runs of blanks, line by line."""
    with open(path, encoding="utf-8-sig") as file, _draft(folder) as copy:
        for number, line in enumerate(file, start=1):
            if line.count('"') % 2:
                raise error("a quote is opened and not closed", number)
            copy.write("\t".join(_BLANKS.findall(line)) + "\n")
    return copy.name


def _without_lines(path, folder, n_lines):
    with open(path, encoding="utf-8-sig", newline="") as file, _draft(folder) as copy:
        copy.writelines(itertools.islice(file, n_lines, None))
    return copy.name


def _draft(folder):
    return tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", newline="", dir=folder, suffix=".csv", delete=False
    )


def _is_number(text):
    return DOT_NUMBER.fullmatch(text.strip()) is not None
