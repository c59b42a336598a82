"""A file to read: its bytes, its lines, and errors that say where in it something is wrong."""

import gzip
import io
import itertools
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import numpy as np

from mixedbag.datasets._formats import unpack
from mixedbag.datasets.records import DataFormatError

SAMPLE = 1000  # lines to tell a format by
# Of Excel's words for errors, #N/A says that there is no value. Others, such as #DIV/0!, tell of a
# formula that failed, which its author has to know: they are text, and refused among numbers.
MISSING = frozenset(["", "?", "na", "n/a", "#n/a", "nan", "null", "none"])


class Source:
    """A file, plain or gzip-compressed (told by its first bytes, not by its name)."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def error(self, reason: str, line: int | None = None) -> DataFormatError:
        return DataFormatError(self.path, reason, line)

    @contextmanager
    def _open(self):
        """The bytes of the file as a stream, unpacked."""
        with open(self.path, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            if not packed:
                yield file
                return
            try:
                with gzip.open(file) as unpacked:
                    yield io.BufferedReader(unpack.Capped(unpacked, self.limit), 2**16)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise self.error(f"a damaged gzip file ({error})") from error
            except unpack.TooLargeError as error:
                raise self.error(str(error)) from error

    @property
    def limit(self) -> int:
        """How many bytes of text may be unpacked from the file."""
        return unpack.limit(self.path)

    @property
    def binary_limit(self) -> int:
        """How many bytes of numbers: they compress better, and take less memory than text does."""
        return 4 * self.limit

    @cached_property
    def head(self) -> bytes:
        """The first bytes, to recognise a format by."""
        with self._open() as file:
            return file.read(4096)

    @cached_property
    def content(self) -> bytes:
        """All bytes."""
        with self._open() as file:
            content = file.read()
        if not content.strip():
            raise self.error("the file is empty")
        return content

    @cached_property
    def text(self) -> str:
        """All text, with plain newlines."""
        try:
            text = self.content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self.content.count(b"\n", 0, error.start) + 1
            raise self.error("not UTF-8 text; save it with that encoding", line) from error
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if "\0" in text:
            raise self._not_text(text.count("\n", 0, text.index("\0")) + 1)
        return text

    @cached_property
    def sample(self) -> list[tuple[int, str]]:
        """Number and text of the first lines that are neither blank nor a comment."""
        lines = (pair for pair in self.lines() if not pair[1].startswith("%"))
        return list(itertools.islice(lines, SAMPLE))

    def stream(self) -> Iterator[str]:
        """The lines as they are, read as they are needed."""
        with self._open() as file, io.TextIOWrapper(file, "utf-8-sig") as text:
            try:
                for number, line in enumerate(text, start=1):
                    if "\0" in line:
                        raise self._not_text(number)
                    yield line
            except UnicodeDecodeError:
                _ = self.text  # knows the line
                raise

    def _not_text(self, line):
        return self.error("a NUL byte: this is no text, or a damaged one", line)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Number and text of every line that is not blank."""
        for number, line in enumerate(self.stream(), start=1):
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


def number_table(
    source: Source, texts: Sequence[str], lines: Sequence[int], width: int | None = None
) -> np.ndarray:
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
