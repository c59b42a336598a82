"""The archive that a model file is: its members, and the arrays they hold, none trusted.

Nothing is unpacked to more than the file could hold, and an array is what its header says.
"""

import io
import json
import math
import re
import zipfile

import numpy as np
from numpy.lib import format as npy

_NAME = re.compile(r"[\w-]+\.(json|npy|npz|bin)", re.ASCII)
# A sparse array of old files is compressed: what it may unpack to, beside and per byte it takes.
_SPARE_BYTES, _RATIO = 2**26, 20


class Damaged(ValueError):
    """What a model file must not contain, in a few words."""


class Archive:
    """The members of a zip file, no larger than the file itself."""

    def __init__(self, file):
        size = file.seek(0, io.SEEK_END)
        self._archive = zipfile.ZipFile(file)
        members = self._archive.infolist()
        self._members = {member.filename: member for member in members}
        if len(self._members) < len(members):
            raise Damaged("two members have one name")
        for member in members:
            if not _NAME.fullmatch(member.filename):
                raise Damaged(f"a member is called {member.filename[:50]!r}")
            if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1:
                raise Damaged(f"{member.filename} is compressed or encrypted")
        if sum(member.file_size for member in members) > size:
            raise Damaged("it claims to hold more than it can")

    def read(self, name):
        if name not in self._members:
            raise Damaged(f"{str(name)[:50]!r} is missing")
        return self._archive.read(self._members[name])

    def json(self, name):
        return json.loads(self.read(name))


def read_array(content):
    """An array from the bytes of a .npy file; its header must tell the truth."""
    stream = io.BytesIO(content)
    version = npy.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise Damaged(f"an array in format {version}")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    try:
        shape, fortran, dtype = read(stream)
    except MemoryError as error:  # of the parser: a header is short
        raise Damaged("an array with a strange header") from error
    _check_dtype(dtype)
    size = math.prod(shape)
    if min(shape, default=0) < 0 or size * dtype.itemsize != len(content) - stream.tell():
        raise Damaged(f"an array of {len(content)} bytes claims the shape {shape}")
    flat = np.frombuffer(content, dtype, size, stream.tell()) if size else np.empty(0, dtype)
    array = flat.reshape(shape, order="F" if fortran else "C").copy(order="K")
    if dtype.kind == "b" and (array.view(np.uint8) > 1).any():
        raise Damaged("a truth value that is neither")
    if dtype.kind == "U" and size and flat.view(dtype.byteorder + "u4").max() > 0x10FFFF:
        raise Damaged("text that is none")
    return array


def _check_dtype(dtype):
    if dtype.names is not None:
        for name in dtype.names:
            _check_dtype(dtype.fields[name][0])
    elif dtype.kind not in "biufcUSmM" or dtype.subdtype is not None or dtype.itemsize == 0:
        raise Damaged(f"an array of {dtype}")


def read_sparse(content, kind):
    """A compressed sparse row array from the bytes of a .npz file, its indices in range."""
    from scipy import sparse

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        if any(m.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for m in members):
            raise Damaged("a sparse array in another compression")
        if sum(m.file_size for m in members) > _SPARE_BYTES + _RATIO * len(content):
            raise Damaged("a sparse array that unpacks to far more than it takes")
        parts = {}
        for member in members:
            with archive.open(member) as file:
                # Without the number it would first unpack whatever there is.
                parts[member.filename.removesuffix(".npy")] = read_array(
                    file.read(member.file_size)
                )
    shape = tuple(parts["shape"].tolist())
    if parts["format"].tobytes() not in (b"csr", "csr".encode("utf-32-le")) or len(shape) != 2:
        raise Damaged("a sparse array that is not of compressed rows")
    if parts["data"].dtype.kind not in "biuf":
        raise Damaged(f"a sparse array of {parts['data'].dtype}")
    arrays = [parts[name] for name in ("data", "indices", "indptr")]
    made = {"csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}[kind](
        tuple(arrays), shape=shape
    )
    made.check_format(full_check=True)
    return made
