"""The files of bags in a folder: which they are, and what each of them holds."""

import glob
import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mixedbag.datasets._formats.hdf5 import Hdf5Arrays
from mixedbag.datasets._formats.safetensors import read_safetensors
from mixedbag.datasets._formats.source import Source
from mixedbag.datasets._formats.stored import Stored, read_npy, read_npz
from mixedbag.datasets.records import DataFormatError
from mixedbag.exceptions import InputError

_READERS = {".npy": read_npy, ".npz": read_npz, ".safetensors": read_safetensors}
_HDF5 = (".h5", ".hdf5")
_SUFFIXES = (*_READERS, *_HDF5)
_PICKLES = (".pt", ".pth")
_NAMES = ("features", "feats")
_TOLD = 3  # names that a note gives
UNREAD = "not read"  # how a note ends


def is_folder(path: Any) -> bool:
    """Whether a path, or a pattern of paths, means files of arrays, one a bag."""
    if not isinstance(path, (str, os.PathLike)):
        return False
    if os.path.isdir(path):
        return bool(_inside(path, (*_SUFFIXES, *_PICKLES)) or _subfolders(path))
    return os.fspath(path).lower().endswith((*_SUFFIXES, *_PICKLES))


@dataclass(frozen=True)
class BagFile:
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


def files_of(path):
    """The paths of the bags' files, what to call all of them, and notes."""
    name = os.fspath(path)
    if os.path.isdir(name):
        found = _inside(name, _SUFFIXES)
        pickles = _inside(name, _PICKLES)
        inner = _subfolders(name)
        if not found and not pickles:
            raise InputError(f"{name} has no files of bags; {some(inner)} has: name that folder")
    else:
        inner = []
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
    stems = [stem(p) for p in found]
    for earlier, later in zip(sorted(stems), sorted(stems)[1:]):
        if earlier == later:
            both = [p for p in found if stem(p) == later]
            raise DataFormatError(both[1], f"{both[0].name} is there, too: which one is the bag?")
    notes = [f"{len(pickles)} pickles ({pickles[0].suffix}) {UNREAD}"] if pickles else []
    if inner:
        notes.append(f"files of bags in folders inside ({some(inner)}) {UNREAD}")
    return found, Path(name), tuple(notes)


@contextmanager
def described(paths):
    """What the files at some paths hold, while their readers are there to load it."""
    hdf5 = Hdf5Arrays() if any(p.suffix.lower() in _HDF5 for p in paths) else None
    readers = _READERS | dict.fromkeys(_HDF5, hdf5)
    try:
        files = [_described(p, readers[p.suffix.lower()]) for p in paths]
        _refuse_unlike(files)
        yield files
    finally:
        if hdf5 is not None:
            hdf5.close()


def _inside(folder, suffixes):
    """Files of a folder, and links to files that are not there, by their endings."""
    paths = (p for p in Path(folder).iterdir() if p.suffix.lower() in suffixes)
    return sorted(p for p in paths if p.is_file() or not p.exists())


def _subfolders(folder):
    """Folders inside that have files of bags."""
    return sorted(
        str(inner)
        for inner in Path(folder).iterdir()
        if inner.is_dir() and _inside(inner, _SUFFIXES)
    )


def stem(path):
    return path.name[: -len(path.suffix)]


def _described(path, reader):
    source = Source(path)
    if not path.exists():
        raise source.error("a link to a file that is not there")
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
    return BagFile(stem(path), source, features, coords)


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


def some(names):
    more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
    return ", ".join(map(str, names[:_TOLD])) + more
