"""CSV, TSV and blank-separated tables, read without a data-frame library."""

import csv
import itertools
import re

from mixedbag.datasets._formats.columns import blocks, header_names, read_records
from mixedbag.datasets._formats.features import Feature, finish_features
from mixedbag.datasets._formats.rows import as_labels
from mixedbag.datasets._formats.source import MISSING
from mixedbag.datasets.records import Table


def read_delimited(source, columns, delimiter=None):
    """Rows from a table whose first line names the columns."""
    header_line, names, records = open_table(source, delimiter)
    return read_records(source, names, records, columns, header_line)


def open_table(source, delimiter=None):
    """The line and the names of the header, and the records below it."""
    records = _records(source, delimiter or guess_delimiter(source))
    header_line, header = _first(source, records)
    if header and all(_looks_numeric(name) for name in header):
        raise source.error(
            "the first line holds numbers, not the names of the columns", header_line
        )
    return header_line, header_names(header), records


def read_table(source, target, names=None, header=False, delimiter=None, drop=()):
    """A plain table with a `target` column; columns are named by `names` or the header line.

    Columns without a name are called by their position, from 1 on: "1", "2", ….
    """
    records = _records(source, delimiter or guess_delimiter(source))
    first_line, first = _first(source, records)
    if header:
        names, rows = header_names(first), records
    else:
        names = list(names or (str(j) for j in range(1, len(first) + 1)))
        rows = itertools.chain([(first_line, first)], records)
    for name in (target, *drop):
        if name not in names:
            raise source.error(f"no column is called {name!r}", first_line)
    position = names.index(target)
    table = {j: Feature(n) for j, n in enumerate(names) if n != target and n not in drop}
    labels = []
    for lines, block in blocks(source, rows, len(names)):
        for line, text in zip(lines, block[position]):
            if text.strip().lower() in MISSING:
                raise source.error(f"no value of {target!r}", line)
            labels.append(text.strip())
        for j, feature in table.items():
            feature.add(source, block[j], lines)
    if not labels:
        raise source.error("no rows below the header")
    X, feature_names, notes = finish_features(source, table.values())
    return Table(X, as_labels(labels), feature_names, notes=tuple(notes))


def guess_delimiter(source):
    """The separator that the first line uses most; blanks when it has none of the usual ones."""
    _, line = _first(source, source.lines())
    counts = {mark: line.count(mark) for mark in (",", "\t", ";")}
    best = max(counts, key=counts.get)
    return best if counts[best] else " "


def _records(source, delimiter):
    """Line number and fields of every row that is not blank."""
    if delimiter == " ":
        for line, text in source.lines():
            if text.count('"') % 2:
                raise source.error("a quote is opened and not closed", line)
            yield line, [field.strip('"') for field in _BLANKS.findall(text)]
        return
    reader = csv.reader(source.stream(), delimiter=delimiter, strict=True)
    try:
        for record in reader:
            if record and not (len(record) == 1 and not record[0].strip()):
                yield reader.line_num, record
    except csv.Error as error:
        raise source.error(str(error), reader.line_num) from error


def _first(source, records):
    first = next(records, None)
    if first is None:
        raise source.error("the file is empty")
    return first


def _looks_numeric(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


_BLANKS = re.compile(r'"[^"]*"|[^\s"]+')
