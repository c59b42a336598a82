"""Folders of bags, as tools that make embeddings leave them: one file of arrays a bag.

A file is ``.npy``, ``.npz``, ``.safetensors`` or ``.h5``, and holds the instances of one bag, a row
each: the array called ``features`` (``feats``), or the only table in it. An array ``coords`` tells
where the instances lie, such as the patches of a slide. Labels come in a table of their own. Files
of PyTorch (``.pt``) are not read: they are pickles, and opening one may run any program.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mixedbag._on_disk import empty_table, mapping_of
from mixedbag.bags import Bags
from mixedbag.datasets._bag_files import described, files_of, is_folder, some, stem
from mixedbag.datasets.records import BagData, class_sizes
from mixedbag.exceptions import InputError

if TYPE_CHECKING:
    from mixedbag.tables import Roles

__all__ = ["is_folder", "read_bag", "read_folder", "read_folder_blocks"]

_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,5}$")


def read_folder(
    path: str | Path, roles: "Roles", labels: Any = None, query: str | None = None
) -> BagData:
    """All bags of a folder with their labels as `BagData`; those without a label are left out.

    Parameters
    ----------
    path : path
        A folder, a file, or a pattern of files.
    roles : Roles
        The columns of the table of labels.
    labels : path or data frame, optional
    query : str, optional
        A select statement that makes the table of labels.
    """
    with _opened(path, roles) as folder:
        told, notes = _told(folder, roles, labels, query)
        folder = folder.only(told.pop("files"))
        bags, coords, more = folder.load()
        understood = (
            f"{len(bags)} bags ({class_sizes(told.get('y'))}), {bags.n_instances} instances of "
            f"{bags.n_features} features"
        )
        notes = (f"read as folder of bags: {folder.kinds()}", understood, *notes, *more)
        return BagData(bags, coords=coords, notes=notes, **told)


def read_folder_blocks(
    path: str | Path, roles: "Roles", rows: int, labels: Any = None, query: str | None = None
) -> Iterator[BagData]:
    """The bags of a folder in blocks of at least `rows` instances, as `BagData`."""
    with _opened(path, roles) as folder:
        told, _ = _told(folder, roles, labels, query)
        folder = folder.only(told.pop("files"))
        start, placed, notes = 0, folder.is_placed, folder.notes
        for part in _runs([file.n_rows for file in folder.files], rows):
            bags, coords, _ = folder.only(range(start, start + part)).load(placed)
            mine: dict[str, Any] = {
                role: None if v is None else v[start : start + part] for role, v in told.items()
            }
            yield BagData(bags, coords=coords, notes=notes, **mine)
            start, notes = start + part, ()


def read_bag(path: str | Path, name: str) -> BagData:
    """One bag of a folder, by its name."""
    with _opened(path, None, only=name) as folder:
        bags, coords, _ = folder.load()
        return BagData(bags, coords=coords)


# Files --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Folder:
    files: list
    place: Path
    notes: tuple = ()

    def only(self, positions):
        return _Folder([self.files[i] for i in positions], self.place, self.notes)

    def kinds(self):
        kinds = {file.source.path.suffix.lower() for file in self.files}
        return f"one file ({', '.join(sorted(kinds))}) a bag"

    @property
    def is_placed(self):
        """Whether some of the files tell where their instances lie."""
        return any(file.coords is not None for file in self.files)

    def load(self, placed=None):
        """Bags, coordinates (NaN where there are none, if others are `placed`), and notes."""
        dtype = np.result_type(np.float32, *{file.features.dtype for file in self.files})
        offsets = np.concatenate([[0], np.cumsum([file.n_rows for file in self.files])])
        X = empty_table((int(offsets[-1]), self.files[0].n_features), dtype)
        placed = self.is_placed if placed is None else placed
        coords = np.full((len(X), 2), np.nan) if placed else None
        missing = []
        for file, start, stop in zip(self.files, offsets[:-1], offsets[1:]):
            X[start:stop] = file.features.load()
            if _check_values(X[start:stop], file.source):
                missing.append(file.name)
            if coords is not None and file.coords is not None:
                coords[start:stop] = file.coords.load().reshape(stop - start, -1)[:, :2]
        notes = list(self.notes)
        if mapping_of(X) is not None:
            notes.append(f"{X.nbytes / 1e9:.1f} GB of instances stay on disk, mapped into memory")
        if missing:
            notes.append(f"missing values (NaN) in {some(missing)}")
        if placed:
            notes.append("instances have coordinates")
        bags = Bags(X, offsets, [file.name for file in self.files])
        return bags, coords, notes


@contextmanager
def _opened(path, roles, only=None):
    """The files of a folder, described, while their readers are there."""
    if roles is not None:
        for option in ("time", "instance", "drop"):
            if getattr(roles, option):
                raise InputError(f"{path}: a folder of bags has no columns, so no {option}")
    paths, place, notes = files_of(path)
    if only is not None:
        found = [p for p in paths if only in (stem(p), p.name)]
        if not found:
            raise InputError(f"{path} has no bag {only!r} among its {len(paths)} bags")
        paths = found
    with described(paths) as files:
        yield _Folder(files, place, notes)


def _check_values(X, source):
    """Whether values are missing; infinite ones are refused."""
    with np.errstate(all="ignore"):
        if np.isfinite(X.sum()):
            return False
    infinite = np.isinf(X)
    if infinite.any():
        i, j = np.argwhere(infinite)[0]
        raise source.error(f"the value of feature {j} in row {i} is not finite")
    return bool(np.isnan(X).any())


def _runs(sizes, rows):
    """How many bags follow each other until there are `rows` instances."""
    n_bags = n_rows = 0
    for size in sizes:
        n_bags, n_rows = n_bags + 1, n_rows + size
        if n_rows >= rows:
            yield n_bags
            n_bags = n_rows = 0
    if n_bags:
        yield n_bags


# Labels -------------------------------------------------------------------------------------------


def _told(folder, roles, labels, query):
    """Which files to read, what the table of labels says of them, and notes."""
    if labels is None:
        if query is not None:
            raise InputError(f"{folder.place}: a query selects from the table of labels: name it")
        return {"files": range(len(folder.files))}, ()
    from mixedbag.tables import read_labels

    places = _places(folder.files)
    found = read_labels(labels, roles, lambda text: _match(text, places) is not None, query)
    rows: dict = {}
    for row, name in enumerate(found.names):
        i = _match(name, places)
        if i is not None and rows.setdefault(i, row) != row:
            both = f"{found.names[rows[i]]!r} and {name!r}"
            raise InputError(f"{labels}: {both} both name the file {folder.files[i].source.path}")
    what = "the table of labels" if not isinstance(labels, (str, os.PathLike)) else str(labels)
    if not rows:
        raise InputError(
            f"{what} names none of the {len(folder.files)} files of {folder.place}: "
            f"{found.names[0]!r} is no {folder.files[0].name!r}; --bag names the column"
        )
    files = sorted(rows)
    order = [rows[i] for i in files]
    notes = list(found.notes)
    without = [file.name for i, file in enumerate(folder.files) if i not in rows]
    if without:
        notes.append(f"{len(without)} files without a label left out: {some(without)}")
    absent = [name for name in found.names if _match(name, places) is None]
    if absent:
        notes.append(f"{len(absent)} labels without a file: {some(absent)}")
    roles_told = {"y": found.label, "weight": found.weight, "groups": found.group}
    told = {role: None if v is None else v[order] for role, v in roles_told.items()}
    return {"files": files, **told}, notes


def _places(files):
    """Where a file is, by its name with and without its ending."""
    return {name: i for i, file in enumerate(files) for name in (file.source.path.name, file.name)}


def _match(text, places):
    """The file that a text names: as it is, or with another ending, such as ``slide-1.svs``."""
    return places.get(text, places.get(_ENDING.sub("", text)))
