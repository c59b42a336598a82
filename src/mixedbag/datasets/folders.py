"""Folders of bags, as tools that make embeddings leave them: one file of arrays a bag.

A file is ``.npy``, ``.npz``, ``.safetensors`` or ``.h5``, and holds the instances of one bag, a row
each: the array called ``features`` (``feats``), or the only table in it. An array ``coords`` tells
where the instances lie, such as the patches of a slide. Labels come in a table of their own. Files
of PyTorch (``.pt``) are not read: they are pickles, and opening one may run any program.
"""

import glob
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
from mixedbag.datasets._formats.hdf5 import Hdf5Arrays
from mixedbag.datasets._formats.safetensors import read_safetensors
from mixedbag.datasets._formats.source import Source
from mixedbag.datasets._formats.stored import Stored, read_npy, read_npz
from mixedbag.datasets.records import BagData, DataFormatError, class_sizes
from mixedbag.exceptions import InputError

if TYPE_CHECKING:
    from mixedbag.tables import Roles

_READERS = {".npy": read_npy, ".npz": read_npz, ".safetensors": read_safetensors}
_HDF5 = (".h5", ".hdf5")
_SUFFIXES = (*_READERS, *_HDF5)
_PICKLES = (".pt", ".pth")
_NAMES = ("features", "feats")
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,5}$")
_TOLD = 3  # names that a note gives


def is_folder(path: Any) -> bool:
    """Whether a path, or a pattern of paths, means files of arrays, one a bag."""
    if not isinstance(path, (str, os.PathLike)):
        return False
    if os.path.isdir(path):
        return bool(_inside(path, (*_SUFFIXES, *_PICKLES)) or _subfolders(path))
    return os.fspath(path).lower().endswith((*_SUFFIXES, *_PICKLES))


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
        start = 0
        for part in _runs([file.n_rows for file in folder.files], rows):
            bags, coords, _ = folder.only(range(start, start + part)).load()
            mine: dict[str, Any] = {
                role: None if v is None else v[start : start + part] for role, v in told.items()
            }
            yield BagData(bags, coords=coords, **mine)
            start += part


def read_bag(path: str | Path, name: str) -> BagData:
    """One bag of a folder, by its name."""
    with _opened(path, None, only=name) as folder:
        bags, coords, _ = folder.load()
        return BagData(bags, coords=coords)


# Files --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _File:
    """The file of a bag: its name, and where its instances and their places are."""

    name: str
    source: Source
    features: Stored
    coords: Stored | None

    @property
    def n_rows(self):
        return self.features.shape[-2]

    @property
    def n_features(self):
        return self.features.shape[-1]


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

    def load(self):
        """Bags, coordinates, and notes."""
        dtype = np.result_type(np.float32, *{file.features.dtype for file in self.files})
        offsets = np.concatenate([[0], np.cumsum([file.n_rows for file in self.files])])
        X = empty_table((int(offsets[-1]), self.files[0].n_features), dtype)
        is_somewhere = any(file.coords is not None for file in self.files)
        coords = np.full((len(X), 2), np.nan) if is_somewhere else None
        missing = []
        for file, start, stop in zip(self.files, offsets[:-1], offsets[1:]):
            _fill(X[start:stop], file.features)
            if _check_values(X[start:stop], file.source):
                missing.append(file.name)
            if coords is not None and file.coords is not None:
                coords[start:stop] = file.coords.load().reshape(stop - start, -1)[:, :2]
        notes = list(self.notes)
        if mapping_of(X) is not None:
            notes.append(f"{X.nbytes / 1e9:.1f} GB of instances stay on disk, mapped into memory")
        if missing:
            notes.append(f"missing values (NaN) in {_some(missing)}")
        if is_somewhere:
            notes.append("instances have coordinates")
        bags = Bags(X, offsets, [file.name for file in self.files])
        return bags, coords, notes


@contextmanager
def _opened(path, roles, only=None):
    """The files of a folder, described, while their readers are there."""
    if roles is not None:
        for option in ("time", "instance", "features", "drop"):
            if option != "features" and getattr(roles, option):
                raise InputError(f"{path}: a folder of bags has no columns, so no {option}")
    paths, place, notes = _files_of(path)
    if only is not None:
        found = [p for p in paths if only in (_stem(p), p.name)]
        if not found:
            raise InputError(f"{path} has no bag {only!r} among its {len(paths)} bags")
        paths = found
    hdf5 = None
    if any(p.suffix.lower() in _HDF5 for p in paths):
        hdf5 = Hdf5Arrays()
    readers = _READERS | dict.fromkeys(_HDF5, hdf5)
    try:
        files = [_described(p, readers[p.suffix.lower()]) for p in paths]
        _refuse_unlike(files)
        yield _Folder(files, place, notes)
    finally:
        if hdf5 is not None:
            hdf5.close()


def _files_of(path):
    """The paths of the bags' files, what to call all of them, and notes."""
    name = os.fspath(path)
    if os.path.isdir(name):
        found = _inside(name, _SUFFIXES)
        pickles = _inside(name, _PICKLES)
        if not found and not pickles:
            inner = _subfolders(name)
            raise InputError(f"{name} has no files of bags; {_some(inner)} has: name that folder")
    else:
        paths = [name] if os.path.exists(name) else glob.glob(name, recursive=True)
        if not paths:
            raise FileNotFoundError(f"no file {name!r}")
        paths = [Path(p) for p in paths]
        found = sorted(p for p in paths if p.suffix.lower() in _SUFFIXES)
        pickles = sorted(p for p in paths if p.suffix.lower() in _PICKLES)
    if not found:
        raise DataFormatError(
            pickles[0],
            f"{pickles[0].suffix} files are pickles, and opening one may run any program: they are "
            "not read; save the arrays as .npy, .safetensors or .h5",
        )
    stems = [_stem(p) for p in found]
    for earlier, later in zip(sorted(stems), sorted(stems)[1:]):
        if earlier == later:
            both = [p for p in found if _stem(p) == later]
            raise DataFormatError(both[1], f"{both[0].name} is there, too: which one is the bag?")
    notes = (f"{len(pickles)} pickles ({pickles[0].suffix}) not read",) if pickles else ()
    return found, Path(name), notes


def _inside(folder, suffixes):
    return sorted(p for p in Path(folder).iterdir() if p.suffix.lower() in suffixes and p.is_file())


def _subfolders(folder):
    """Folders inside that have files of bags."""
    return sorted(
        str(inner)
        for inner in Path(folder).iterdir()
        if inner.is_dir() and _inside(inner, _SUFFIXES)
    )


def _stem(path):
    return path.name[: -len(path.suffix)]


def _described(path, reader):
    source = Source(path)
    if not os.path.getsize(path):
        raise source.error("the file is empty")
    arrays = {name: _flat(stored) for name, stored in reader(source).items()}
    tables = {n: s for n, s in arrays.items() if len(s.shape) == 2 and n != "coords"}
    named = [name for name in _NAMES if name in arrays]
    if named:
        features = arrays[named[0]]
    elif len(tables) == 1:
        (features,) = tables.values()
    else:
        listed = ", ".join(f"{name!r} of shape {s.shape}" for name, s in arrays.items()) or "none"
        raise source.error(f"no array 'features' of a row an instance; the arrays are {listed}")
    if len(features.shape) != 2 or 0 in features.shape:
        raise source.error(f"features of shape {features.shape}: a row an instance is expected")
    coords = arrays.get("coords")
    for what, stored in (("features", features), ("coords", coords)):
        if stored is not None and stored.dtype.kind not in "iuf":
            raise source.error(f"{what} of type {stored.dtype}: numbers are expected")
    if coords is not None and (
        len(coords.shape) != 2 or coords.shape[0] != features.shape[0] or coords.shape[1] < 2
    ):
        raise source.error(f"coords of shape {coords.shape} beside features of {features.shape}")
    return _File(_stem(path), source, features, coords)


def _flat(stored):
    """The array without the axis of length one that some tools put in front."""
    if len(stored.shape) == 3 and stored.shape[0] == 1:
        return Stored(stored.shape[1:], stored.dtype, lambda: stored.load()[0])
    return stored


def _refuse_unlike(files):
    for file in files:
        if file.n_features != files[0].n_features:
            raise file.source.error(
                f"{file.n_features} features, {files[0].source.path.name} has {files[0].n_features}"
            )


def _fill(rows, stored):
    rows[...] = stored.load()


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
        notes.append(f"{len(without)} files without a label left out: {_some(without)}")
    absent = [name for name in found.names if _match(name, places) is None]
    if absent:
        notes.append(f"{len(absent)} labels without a file: {_some(absent)}")
    roles_told = {"y": found.label, "weight": found.weight, "groups": found.group}
    told = {role: None if v is None else v[order] for role, v in roles_told.items()}
    return {"files": files, **told}, notes


def _places(files):
    """Where a file is, by its name with and without its ending."""
    return {name: i for i, file in enumerate(files) for name in (file.source.path.name, file.name)}


def _match(text, places):
    """The file that a text names: as it is, or with another ending, such as ``slide-1.svs``."""
    return places.get(text, places.get(_ENDING.sub("", text)))


def _some(names):
    more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
    return ", ".join(map(str, names[:_TOLD])) + more
