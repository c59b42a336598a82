"""Work that several fits have in common, done once.

A comparison fits a learner with many settings to the same bags, and much of what they do is the
same: distances between bags, kernel matrices, concepts, clusters, trees. A learner asks for such a
piece by `once`. Alone it makes the piece; inside `sharing` it gets what was made before from the
same values. Results are the same, to the bit.
"""

import pickle
from collections import OrderedDict
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2b
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from mixedbag.bags import Bags

_CAPACITY = 2**28  # bytes of a shelf
_PIECE = 2**20  # bytes hashed at a time: a table is not copied whole


class Shelf:
    """Pieces by what they were made from; those not asked for longest leave when it is full.

    They are kept as bytes: nothing that one fit does with a piece can reach another. Bags, which
    nobody can change, are kept as they are.
    """

    def __init__(self, capacity: int = _CAPACITY):
        self.capacity = capacity
        self.size = 0
        self._pieces: OrderedDict[bytes, bytes | Bags] = OrderedDict()

    def get(self, key, make):
        if key in self._pieces:
            self._pieces.move_to_end(key)
            piece = self._pieces[key]
            return piece if isinstance(piece, Bags) else pickle.loads(piece)
        made = make()
        if isinstance(made, Bags):
            self._put(key, made)
        elif getattr(made, "nbytes", 0) <= self.capacity:
            self._put(key, pickle.dumps(made, protocol=pickle.HIGHEST_PROTOCOL))
        return made

    def _put(self, key, piece):
        self._pieces[key] = piece
        self.size += _size(piece)
        while self.size > self.capacity:
            _, old = self._pieces.popitem(last=False)
            self.size -= _size(old)


def _size(piece):
    """Bytes of a piece."""
    if isinstance(piece, bytes):
        return len(piece)
    rows = piece.instances
    arrays = (rows.data, rows.indices, rows.indptr) if piece.is_sparse else (rows,)
    return piece.offsets.nbytes + sum(array.nbytes for array in arrays)


_SHELF: ContextVar[Shelf | None] = ContextVar("_SHELF", default=None)
_SEEN: WeakKeyDictionary[Bags, list[bytes]] = WeakKeyDictionary()  # what tells bags from others


@contextmanager
def sharing(shelf: Shelf):
    """Fits inside put what they make by `once` on this shelf, and find what is there."""
    token = _SHELF.set(shelf)
    try:
        yield
    finally:
        _SHELF.reset(token)


def is_sharing() -> bool:
    """Whether other fits may need what this one makes."""
    return _SHELF.get() is not None


def once(make, what, *values):
    """``make()``, or what it gave before: `what` names the piece, all it depends on are `values`.

    Values are bags, arrays, dictionaries, and what `repr` tells apart. A learner that draws at
    random names its seed; with a generator, whose state changes, pieces are made anew.
    """
    shelf = _SHELF.get()
    if shelf is None:
        return make()
    seen = blake2b(what.encode(), digest_size=16)
    try:
        for value in values:
            for part in _parts(value):
                seen.update(part)
    except _ChangesError:
        return make()
    return shelf.get(seen.digest(), make)


class _ChangesError(Exception):
    """A value that may be another one the next time."""


def _parts(value):
    """Bytes that tell a value from all others."""
    if isinstance(value, np.random.RandomState):
        raise _ChangesError
    if isinstance(value, dict):
        return [part for pair in value.items() for each in pair for part in _parts(each)]
    if isinstance(value, Bags):
        if value not in _SEEN:
            _SEEN[value] = [b"bags", *_parts(value.instances), *_parts(value.offsets)]
        return _SEEN[value]
    if sparse.issparse(value):
        rows = value.tocsr()
        arrays = (rows.data, rows.indices, rows.indptr)
        return [repr(rows.shape).encode(), *(part for array in arrays for part in _parts(array))]
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:  # its bytes are places in memory
            raise _ChangesError
        told = f"{value.dtype}{value.shape}{value.flags.c_contiguous}"
        flat = np.ascontiguousarray(value).reshape(-1).view(np.uint8)
        pieces = (flat[i : i + _PIECE].tobytes() for i in range(0, len(flat), _PIECE))
        # Python's hash of 64 bits takes a quarter of blake's time, and a shelf holds few pieces.
        return [told.encode(), *(str(hash(piece)).encode() for piece in pieces)]
    return [repr(value).encode(), b";"]
