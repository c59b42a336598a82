"""MATLAB 5 to 7.2 files as plain Python values.

SciPy's reader trusts the lengths in a file, and a damaged one can end the process. This one checks
every length against the bytes there are, and reads only what data sets are made of: numbers, text,
cells and structs. Other variables (functions, sparse matrices, …) become None.
"""

import math
import struct

import numpy as np

from mixedbag.datasets._formats.unpack import inflate

_NUMBERS = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
_TEXTS = {16: "utf-8", 17: "utf-16", 18: "utf-32"}
_MATRIX, _COMPRESSED = 14, 15
_CELL, _STRUCT, _OBJECT, _CHAR = 1, 2, 3, 4
_NUMERIC = range(6, 16)
_COMPLEX = 0x0800  # among the flags of a variable
_DEEPEST = 32


def read_variables(content, allowed=2**28):
    """Variables by name: arrays, lists of text (rows), lists (cells), and dicts (structs).

    A struct array is a list of dicts. Anything malformed raises ValueError, and so does a file that
    unpacks to more than `allowed` bytes.
    """
    mark = content[126:128]
    if mark not in (b"IM", b"MI"):
        raise ValueError("not a MATLAB 5 file; save it with the option -v7")
    order = "<" if mark == b"IM" else ">"
    variables = {}
    stream = _Elements(memoryview(content)[128:], order)
    while stream.left:
        kind, data = stream.next()
        if kind == _COMPRESSED:
            unpacked = memoryview(inflate(data, allowed))
            allowed -= len(unpacked)
            inner = _Elements(unpacked, order)
            kind, data = inner.next()
            inner.end()
        if kind != _MATRIX:
            raise ValueError(f"an element of type {kind} where a variable is expected")
        name, value = _matrix(_Elements(data, order))
        if name in variables:
            raise ValueError(f"two variables are called {name!r}")
        variables[name] = value
    return variables


class _Elements:
    """Tagged pieces of data, one after the other."""

    def __init__(self, data, order, depth=0):
        if depth > _DEEPEST:
            raise ValueError("variables are nested too deeply")
        self.data, self.order, self.depth = data, order, depth
        self.at = 0

    @property
    def left(self):
        return len(self.data) - self.at

    def next(self):
        """Type and bytes of the next element."""
        if self.left < 8:
            raise ValueError("the file is cut")
        first, size = struct.unpack_from(self.order + "II", self.data, self.at)
        if first >> 16:  # up to four bytes are stored in the tag itself
            kind, size, start = first & 0xFFFF, first >> 16, self.at + 4
            if size > 4:
                raise ValueError("a short element is too long")
            self.at += 8
        else:
            kind, start = first, self.at + 8
            padding = 0 if kind == _COMPRESSED else -size % 8
            self.at = min(start + size + padding, len(self.data))
        if start + size > len(self.data):
            raise ValueError("the file is cut")
        return kind, self.data[start : start + size]

    def numbers(self):
        kind, data = self.next()
        if kind not in _NUMBERS:
            raise ValueError(f"an element of type {kind} where numbers are expected")
        dtype = np.dtype(self.order + _NUMBERS[kind])
        if len(data) % dtype.itemsize:
            raise ValueError("half a number")
        return np.frombuffer(data, dtype)

    def whole_numbers(self):
        values = self.numbers()
        if values.dtype.kind == "f":
            raise ValueError("a size that is not a whole number")
        return [int(value) for value in values]

    def end(self):
        if self.left:
            raise ValueError(f"{self.left} bytes are left over")

    def text(self):
        values = self.numbers()
        if values.dtype.itemsize != 1:
            raise ValueError("a name that is not text")
        return values.tobytes().decode("latin-1")

    def matrix(self):
        """The value of a nested variable."""
        kind, data = self.next()
        if kind != _MATRIX:
            raise ValueError(f"an element of type {kind} where a variable is expected")
        if not len(data):
            return np.empty((0, 0))
        return _matrix(_Elements(data, self.order, self.depth + 1))[1]


def _matrix(parts):
    """Name and value of a variable."""
    flags = parts.whole_numbers()
    shape = tuple(parts.whole_numbers())
    if len(flags) < 1 or len(shape) < 2 or min(shape) < 0:
        raise ValueError("a variable without a class or a shape")
    name = parts.text()
    kind = flags[0] & 0xFF
    if kind not in _READ:
        return name, None
    if flags[0] & _COMPLEX:
        raise ValueError(f"variable {name!r} holds complex numbers")
    value = _READ[kind](parts, shape, math.prod(shape))
    parts.end()  # what is left would be lost
    return name, value


def _numbers(parts, shape, count):
    values = parts.numbers()
    if len(values) != count:
        raise ValueError(f"{len(values)} numbers for a matrix of shape {shape}")
    return values.astype(values.dtype.newbyteorder("=")).reshape(shape, order="F")


def _rows_of_text(parts, shape, count):
    kind, data = parts.next()
    if kind in _TEXTS:
        ending = "" if kind == 16 else ("-le" if parts.order == "<" else "-be")
        characters = bytes(data).decode(_TEXTS[kind] + ending)
    elif kind in (1, 2):
        characters = bytes(data).decode("latin-1")
    elif kind in (3, 4):
        characters = bytes(data).decode("utf-16" + ("-le" if parts.order == "<" else "-be"))
    else:
        raise ValueError(f"text of type {kind}")
    if len(characters) != count or len(shape) != 2:
        raise ValueError(f"{len(characters)} characters for text of shape {shape}")
    return [characters[row :: shape[0]] for row in range(shape[0])] if count else []


def _cells(parts, shape, count):
    if count * 8 > parts.left:
        raise ValueError("the file is cut")
    return [parts.matrix() for _ in range(count)]


def _object(parts, shape, count):
    parts.text()  # the name of its class
    return _structs(parts, shape, count)


def _structs(parts, shape, count):
    length = parts.whole_numbers()
    names = parts.text()
    if len(length) != 1 or length[0] < 1 or len(names) % length[0]:
        raise ValueError("a struct with damaged names of its fields")
    (step,) = length
    fields = [names[k : k + step].split("\0")[0] for k in range(0, len(names), step)]
    if len(set(fields)) < len(fields):
        raise ValueError("a struct with two fields of one name")
    if not fields or count * len(fields) * 8 > parts.left:
        if not fields or not count:
            return {}
        raise ValueError("the file is cut")
    found = [{field: parts.matrix() for field in fields} for _ in range(count)]
    return found[0] if count == 1 else found


_READ = {
    _CELL: _cells,
    _STRUCT: _structs,
    _OBJECT: _object,
    _CHAR: _rows_of_text,
    **dict.fromkeys(_NUMERIC, _numbers),
}
