"""Finished rows: one file of lines a paper, a line a row.

A row knows its case, its figures, the code it ran (a hash), the versions of what that code stands
on, when it was computed and how long that took. It is fresh while code and versions are those of
today. Rows from before there was this store carry no hash: where they come from is all they say,
and they are never fresh.
"""

import fcntl
import json
import os
from contextlib import contextmanager
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Row:
    benchmark: str  # the file in the paper's folder
    case: dict
    result: dict
    code: str | None = None
    versions: dict | None = None
    when: str | None = None
    seconds: float | None = None
    carried: str | None = None  # from where, if it was not computed by this store

    @property
    def key(self):
        return self.benchmark, case_key(self.case)

    @property
    def figures(self):
        return self.case | self.result


def case_key(case):
    return json.dumps(case, sort_keys=True, ensure_ascii=False)


class Store:
    """The rows of one paper; every method reads or writes the file at once."""

    def __init__(self, path):
        self.path = path

    def rows(self, benchmark=None):
        """Rows in the order they were kept. A line that an interruption cut short is no row."""
        if not self.path.exists():
            return []
        found = []
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                row = Row(**json.loads(line))
            except (json.JSONDecodeError, TypeError):
                continue
            if benchmark in (None, row.benchmark):
                found.append(row)
        return found

    def latest(self, benchmark):
        """The last row of each case, by the case's key."""
        return {row.key[1]: row for row in self.rows(benchmark)}

    def fresh(self, benchmark, code, versions):
        """The last row of each case that this code has run on these versions."""
        rows = self.rows(benchmark)
        return {r.key[1]: r for r in rows if r.code == code and r.versions == versions}

    def append(self, *rows):
        """Keep rows, whole lines or nothing: other processes may be doing the same."""
        text = "".join(_line(row) for row in rows)
        with self._locked(), open(self.path, "a+b", buffering=0) as file:
            if size := file.seek(0, os.SEEK_END):
                file.seek(size - 1)
                text = text if file.read(1) == b"\n" else "\n" + text
            file.write(text.encode())
            os.fsync(file.fileno())

    def compact(self):
        """Leave the last row of each case, in a file that replaces the old one at once."""
        with self._locked():
            last = {row.key: row for row in self.rows()}
            part = self.path.with_suffix(".part")
            part.write_text("".join(map(_line, last.values())), encoding="utf-8")
            os.replace(part, self.path)

    @contextmanager
    def _locked(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)


def _line(row):
    known = {key: value for key, value in asdict(row).items() if value is not None}
    return json.dumps(known, ensure_ascii=False, separators=(",", ":"), default=float) + "\n"
