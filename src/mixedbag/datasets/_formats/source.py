"""A file to read: its bytes, its lines, and errors that say where in it something is wrong."""

import gzip
import io
import zlib
from functools import cached_property
from pathlib import Path

import numpy as np

from mixedbag.datasets.records import DataFormatError

MISSING = frozenset(["", "?", "na", "n/a", "nan", "null", "none"])


class Source:
    """A file, plain or gzip-compressed (told by its first bytes, not by its name)."""

    def __init__(self, path):
        self.path = Path(path)

    def error(self, reason, line=None):
        return DataFormatError(self.path, reason, line)

    @cached_property
    def content(self):
        content = self.path.read_bytes()
        if content.startswith(b"\x1f\x8b"):
            try:
                content = gzip.decompress(content)
            except (EOFError, OSError, zlib.error) as error:
                raise self.error(f"a damaged gzip file ({error})") from error
        if not content.strip():
            raise self.error("the file is empty")
        return content

    @cached_property
    def text(self):
        try:
            text = self.content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self.content.count(b"\n", 0, error.start) + 1
            raise self.error("not UTF-8 text; save it with that encoding", line) from error
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def lines(self):
        """Number and text of every line that is not blank."""
        for number, line in enumerate(io.StringIO(self.text, newline="\n"), start=1):
            line = line.strip()
            if line:
                yield number, line


def number(source, text, line, what="value"):
    """A finite number or NaN for a missing value; anything else is an error that names the line."""
    text = text.strip()
    if text.lower() in MISSING:
        return np.nan
    try:
        value = float(text)
    except ValueError:
        value = None
    if value is None or "_" in text:
        raise source.error(f"{what} {shown(text)} is not a number", line)
    if not np.isfinite(value):
        raise source.error(f"{what} {shown(text)} is not finite", line)
    return value


def number_table(source, texts, lines, width=None):
    """Texts of numbers between commas as a 2-D array of `width` columns (default: as the first)."""
    if not texts:
        raise source.error("no instances")
    width = width or texts[0].count(",") + 1
    try:
        # Without missing values, NumPy's own parser reads it all, about ten times faster. It skips
        # blank texts, which hold a missing value.
        if all(map(str.strip, texts)):
            table = np.loadtxt(texts, delimiter=",", comments=None, ndmin=2)
            if table.shape == (len(texts), width) and np.isfinite(table).all():
                return table
    except ValueError:
        pass
    table = np.empty((len(texts), width))
    for row, text, line in zip(table, texts, lines):
        values = text.split(",")
        if len(values) != width:
            raise source.error(f"{len(values)} values where {width} are expected", line)
        row[:] = [number(source, value, line) for value in values]
    return table


def shown(text):
    """A value quoted for a message, cut when it is long."""
    return repr(text if len(text) <= 40 else text[:37] + "...")
