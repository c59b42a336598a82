"""What leaves the program: files written whole or not at all, text that does no harm.

A file is written beside its place and moved there when it is complete, so a full disk, an error or
a kill leaves the old file as it was. Names come from other people's tables: on a terminal their
control characters are shown, not obeyed, and in a table for spreadsheets none of them is a formula.
"""

import os
import re
import unicodedata
import uuid
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
except ImportError:  # not on Windows, where a file that is open cannot be removed anyway
    fcntl = None  # type: ignore[assignment]

_DRAFT = re.compile(r"\.(.+)\.[0-9a-f]{32}\.part")
# Marks that reorder what stands beside them on the screen.
_REORDERING = {
    "\u061c",
    "\u200e",
    "\u200f",
    *map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))),
}
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")  # how cells begin that a spreadsheet runs


class written_whole:
    """A binary file that is complete or not there: written beside its place, then moved.

    What a killed process left of the same file is swept. A pipe or a device is written directly.
    """

    def __init__(self, path: str | Path) -> None:
        self._given = Path(path)  # by which alone a pipe is found
        self.path = Path(os.path.realpath(path))

    def __enter__(self) -> IO[bytes]:
        self._draft: Path | None = None
        self._file: IO[bytes]
        if self._given.exists() and not self._given.is_file():
            self._file = open(self._given, "wb")
            return self._file
        refuse_place(self.path)
        sweep(self.path.parent, self.path.name)
        self._draft = self.path.with_name(f".{self.path.name}.{uuid.uuid4().hex}.part")
        self._file = open(self._draft, "x+b")
        _try_lock(self._file)
        return self._file

    def __exit__(self, kind, error, trace):
        try:
            with self._file as file:
                if kind is None:
                    file.flush()
                    if self._draft is not None:
                        os.fsync(file.fileno())
            if kind is None and self._draft is not None:
                os.replace(self._draft, self.path)
        finally:
            if self._draft is not None:
                self._draft.unlink(missing_ok=True)


def refuse_place(path: Path) -> None:
    """Refuse a file whose folder is not there, or may not be written to."""
    folder = path.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"no folder {folder} to write {path.name} in")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"the folder {folder} may not be written to, as {path.name} asks for")


def sweep(folder: str | Path, name: str | None = None) -> None:
    """Remove what killed processes left half-written in `folder`: of one file, or of all."""
    for path in Path(folder).glob(".*.part"):
        match = _DRAFT.fullmatch(path.name)
        if match is None or name not in (None, match.group(1)):
            continue
        with suppress(OSError), open(path, "rb") as file:
            if _try_lock(file):  # else somebody is still writing it
                path.unlink()


def _try_lock(file):
    """Lock a file for as long as it is open; whether nobody else had it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def printable(text: object, keep: str = "") -> str:
    """`text` for a terminal: control characters are spelled out, but for those in `keep`."""
    return "".join(
        c if c in keep or not _is_control(c) else c.encode("unicode_escape").decode()
        for c in str(text)
    )


def _is_control(character):
    if character.isprintable():
        return False
    kind = unicodedata.category(character)
    return kind in ("Cc", "Cs", "Zl", "Zp") or character in _REORDERING


def drawn(text: object) -> str:
    """`text` for a picture: its lines stay lines, its dollars are not the ends of a formula."""
    return printable(text, keep="\n").replace("$", r"\$")


def cell(value: Any) -> Any:
    """A value as a cell of a table for spreadsheets: text that would run as a formula is quoted.

    Numbers are short, and stay numbers with any sign; nothing is an empty cell.
    """
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    if not isinstance(value, str) or not value.startswith(_FORMULA):
        return value
    with suppress(ValueError):
        float(value)
        return value
    return f"'{value}"
