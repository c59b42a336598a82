"""safetensors: the length of a header, the header in JSON, and the numbers of all arrays.

Read here and not by the package of that name: the format is these three things, the numbers stay
where they are until they are used, and ``BF16``, which NumPy does not know, is read as well.
"""

import json
import math
import os

import numpy as np

from mixedbag.datasets._formats.source import Source
from mixedbag.datasets._formats.stored import Stored

_LONGEST = 2**20  # bytes of header; a file of one bag needs a few hundred
_DTYPES = {
    **{"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"},
    **{"I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "<i1"},
    **{"U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "<u1"},
}


def read_safetensors(source: Source) -> dict[str, Stored]:
    """The arrays of a file by name, each to be loaded when it is needed."""
    size = os.path.getsize(source.path)
    with open(source.path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > min(_LONGEST, size - 8):
            raise source.error(f"no safetensors file: a header of {length} bytes in one of {size}")
        header = _header(source, file.read(length))
    start, ends = 8 + length, []
    arrays = {}
    for name, facts in header.items():
        if name == "__metadata__":
            continue
        dtype, shape, begin, end = _facts(source, name, facts)
        ends.append((begin, end))
        if dtype is not None:
            arrays[name] = _stored(source.path, dtype, shape, start + begin, facts["dtype"])
    position = 0
    for begin, end in sorted(ends):
        if begin != position:
            raise source.error("arrays that overlap, or bytes between them")
        position = end
    if start + position != size:
        raise source.error(f"{size} bytes where the header describes {start + position}")
    return arrays


def _header(source, content):
    try:
        header = json.loads(content, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise source.error(f"the header is not JSON ({error})") from error
    if not isinstance(header, dict):
        raise source.error("the header names no arrays")
    return header


def _unique(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found


def _facts(source, name, facts):
    """Type (None where it is no number of ours), shape, and where the bytes begin and end."""
    try:
        word, shape, (begin, end) = facts["dtype"], tuple(facts["shape"]), facts["data_offsets"]
        whole = all(type(n) is int and n >= 0 for n in (*shape, begin, end))
    except (KeyError, TypeError, ValueError):
        whole = False
    if not whole or begin > end or not isinstance(word, str):
        raise source.error(f"the header does not describe the array {name!r}")
    dtype = _DTYPES.get(word)
    if dtype is not None and math.prod(shape) * np.dtype(dtype).itemsize != end - begin:
        raise source.error(
            f"array {name!r} of shape {shape} and type {word} in {end - begin} bytes"
        )
    return dtype, shape, begin, end


def _stored(path, dtype, shape, offset, word):
    def load():
        if not math.prod(shape):
            return np.empty(shape, dtype)
        array = np.memmap(path, dtype, "r", offset, shape)
        return _from_bfloat16(array) if word == "BF16" else array

    return Stored(shape, np.dtype("<f4" if word == "BF16" else dtype), load)


def _from_bfloat16(array):
    """The upper halves of numbers in single precision as such."""
    return (array.astype("<u4") << 16).view("<f4")
