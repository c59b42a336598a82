"""Arrays in the files of NumPy, safetensors and HDF5: what they are, loaded when they are needed.

Every size is compared with that of the file before a number is read.
"""

import io
import math
import os
import warnings
import zipfile
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from mixedbag.datasets._formats.source import Source
from mixedbag.datasets.records import DataFormatError


@dataclass(frozen=True)
class Stored:
    """An array in a file."""

    shape: tuple
    dtype: np.dtype
    load: Callable  # gives the array, mapped from the file where that is possible


def read_npy(source: Source) -> dict[str, Stored]:
    """The one array of a file of NumPy, which has no name."""
    with open(source.path, "rb") as file:
        shape, fortran, dtype = _header(source, file)
        start = file.tell()
    _check_size(source, shape, dtype, os.path.getsize(source.path) - start)
    order: Literal["F", "C"] = "F" if fortran else "C"

    def load():
        if not math.prod(shape):
            return np.empty(shape, dtype)
        return np.memmap(source.path, dtype, "r", start, shape, order)

    return {"": Stored(shape, dtype, load)}


def read_npz(source: Source) -> dict[str, Stored]:
    """The arrays of an archive of NumPy by name."""
    arrays = {}
    with _archive(source) as archive:
        members = [m for m in archive.infolist() if m.filename.endswith(".npy")]
        if sum(member.file_size for member in members) > source.binary_limit:
            raise source.error("it unpacks to more numbers than is plausible for its size")
        for member in members:
            with archive.open(member) as file:
                shape, _, dtype = _header(source, file)
                _check_size(source, shape, dtype, member.file_size - file.tell())
            name = member.filename.removesuffix(".npy")
            if name in arrays:
                raise source.error(f"two arrays are called {name!r}")
            arrays[name] = Stored(shape, dtype, partial(_load_member, source, member.filename))
    return arrays


def _load_member(source, name):
    with _archive(source) as archive:
        return np.load(io.BytesIO(archive.read(name)), allow_pickle=False)


@contextmanager
def _archive(source):
    with open(source.path, "rb") as file, _damage(source, "a damaged archive of arrays"):
        yield zipfile.ZipFile(file)


@contextmanager
def _damage(source, what):
    """What goes wrong in a damaged file has no list of its own: anything refuses it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (DataFormatError, MemoryError):
        raise
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise source.error(f"{what} ({reason})") from error


def _header(source, file):
    """Shape, order and type, as the file of an array begins with them."""
    with _damage(source, "no array of NumPy"):
        version = np.lib.format.read_magic(file)
        read = {(1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0}[version]  # fmt: skip
        shape, fortran, dtype = read(file)
    if dtype.hasobject:
        raise source.error("an array of Python objects: that is a pickle, which may do anything")
    if any(n < 0 for n in shape):
        raise source.error(f"an array of shape {shape}")
    return shape, fortran, dtype


def _check_size(source, shape, dtype, n_bytes):
    if math.prod(shape) * dtype.itemsize != n_bytes:
        raise source.error(f"an array of shape {shape} and type {dtype} in {n_bytes} bytes")
