"""`Relation`: what every table becomes, with the way back from a row to its place in a file."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mixedbag.datasets.records import DataFormatError


@dataclass(frozen=True)
class Part:
    """The rows of one file; `line_of` gives the line of a row, where there are lines."""

    place: str
    first: int
    n_rows: int
    line_of: Callable | None = None
    header_line: int | None = None


@dataclass
class Relation:
    """The view ``rows``: columns c0, c1, … called `names`, and `row`, which numbers all rows.

    `types` are DuckDB's. `parts` say which file a row comes from; theirs are all rows.
    """

    con: Any  # of DuckDB, which is imported only when a table is read
    names: list
    types: list
    parts: list
    decimal: str = "."
    parted_by_commas: bool = False  # whether commas part its columns, in a text
    notes: list = field(default_factory=list)

    @property
    def n_rows(self):
        return sum(part.n_rows for part in self.parts)

    def error(self, reason, row=None):
        """The error to raise, at a row or about the file."""
        part = self._part(row)
        if row is None:
            return DataFormatError(part.place, reason)
        if part.line_of is None:
            return DataFormatError(part.place, f"{reason} (row {row - part.first})")
        return DataFormatError(part.place, reason, part.line_of(row - part.first))

    def header_error(self, reason):
        part = self._part(None)
        return DataFormatError(part.place, reason, part.header_line)

    def place(self, row):
        """A row as messages call it: ``line 3``, or ``row 1`` where there are no lines.

        Of several files, with the name of its own.
        """
        part = self._part(row)
        row -= part.first
        place = f"row {row}" if part.line_of is None else f"line {part.line_of(row)}"
        return place if len(self.parts) == 1 else f"{place} of {os.path.basename(part.place)}"

    def _part(self, row):
        for part in self.parts:
            if row is not None and part.first <= row < part.first + part.n_rows:
                return part
        return self.parts[0]

    def ask(self, query):
        return self.con.execute(query).fetchall()


class Piece:
    """One file in the engine: a relation called `name`, and what its columns are.

    `row` is the SQL that numbers its rows; `parquet` is the path of a Parquet file whose rows the
    engine numbers itself; `place` tells how to name a row (see `Part`).
    """

    def __init__(
        self, name, names, types, n_rows, row="rowid", columns=None, parquet=None, **place
    ):
        self.name, self.names, self.types, self.n_rows = name, names, types, n_rows
        self.row, self.parquet, self.place = row, parquet, place
        self.columns = columns or [f"c{j}" for j in range(len(names))]
