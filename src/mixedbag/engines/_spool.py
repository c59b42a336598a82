"""Objects on disk: their arrays in a file without a name, all else in memory.

An object is taken apart by `pickle` (protocol 5). What is left of it without its arrays stays in
memory, so nothing that comes from a file is ever executed; the arrays are written as they lie in
memory, and mapped when the object is needed again. A function that reads one field of a block
reads no other from the disk, and what it leaves alone is not written twice.

Not Arrow or Parquet, since learners pass over a block many times: a mapped array is used where it
lies, in the layout that they want, while a column format would be decoded and put into rows again
at every pass.
"""

import io
import mmap
import pickle
import tempfile
import threading
import weakref
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

_SMALL = 1 << 16  # bytes of arrays up to which an object stays in memory
_ALIGNED = 64  # bytes: arrays begin at multiples, as NumPy likes them


class Spool:
    """A file without a name in the folder for temporary files, which goes when nobody uses it."""

    def __init__(self):
        self._file = tempfile.TemporaryFile(prefix="mixedbag-")  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._end = 0
        self._writing = threading.Lock()

    def append(self, views):
        """Write some memory as one stretch of the file; with it, where each begins in it."""
        with self._writing:
            start = -(-self._end // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
            places, end = [], 0
            for view in views:
                if view.nbytes:
                    end = -(-end // _ALIGNED) * _ALIGNED
                    self._file.seek(start + end)
                    self._file.write(view)
                places.append(end)
                end += view.nbytes
            self._file.flush()
            self._end = start + end
        return Stretch(self, start, end), places

    def map(self, start, length):
        """A stretch of the file in memory; writing to it changes no file."""
        return mmap.mmap(self._file.fileno(), length, access=mmap.ACCESS_COPY, offset=start)


class Stretch(NamedTuple):
    spool: Spool
    start: int
    length: int


class _Buffer(NamedTuple):
    """The memory of one array: a part of a stretch."""

    stretch: Stretch
    place: int
    length: int
    readonly: bool


@dataclass(frozen=True)
class Stored:
    """An object whose arrays are on disk."""

    head: bytes
    buffers: list


class Workbench:
    """Objects brought back for one call, and what the call made of them put away again."""

    def __init__(self):
        self._maps: dict[Stretch, Any] = {}

    def take(self, item):
        """An object as it was."""
        if not isinstance(item, Stored):
            return item
        return pickle.loads(item.head, buffers=[self._view(buffer) for buffer in item.buffers])

    def put(self, item, spool):
        """The object with its arrays in `spool`, but for those that lie on disk already.

        Small objects stay in memory.
        """
        head, views = _apart(item)
        if sum(view.nbytes for view in views) <= _SMALL:
            return self.own(item)
        buffers = [self._known(view) for view in views]
        fresh = [view for view, known in zip(views, buffers) if known is None]
        stretch, places = spool.append(fresh)
        written = (
            _Buffer(stretch, place, view.nbytes, view.readonly)
            for view, place in zip(fresh, places)
        )
        return Stored(head, [next(written) if known is None else known for known in buffers])

    def own(self, item):
        """The object without any memory that belongs to a file."""
        if not self._maps:
            return item
        head, views = _apart(item)
        copies = (bytes(view) if view.readonly else bytearray(view) for view in views)
        return pickle.loads(head, buffers=copies)

    def _view(self, buffer):
        stretch, place = buffer.stretch, buffer.place
        if not buffer.length:
            return bytearray()
        if stretch not in self._maps:
            self._maps[stretch] = stretch.spool.map(stretch.start, stretch.length)
        view = memoryview(self._maps[stretch])[place : place + buffer.length]
        return view.toreadonly() if buffer.readonly else view

    def _known(self, view):
        """Where memory lies on disk, if it is part of a map of this workbench."""
        address = _address(view)
        for stretch, mapped in self._maps.items():
            place = address - _address(mapped)
            if view.nbytes and place >= 0 and place + view.nbytes <= stretch.length:
                return _Buffer(stretch, place, view.nbytes, view.readonly)
        return None


def _address(memory):
    return np.frombuffer(memory, np.uint8).__array_interface__["data"][0] if len(memory) else -1


def _apart(item):
    """An object without its arrays, as bytes, and the memory of these."""
    buffers: list = []
    file = io.BytesIO()
    _Pickler(file, 5, buffer_callback=buffers.append).dump(item)
    return file.getvalue(), [buffer.raw() for buffer in buffers]


class _Pickler(pickle.Pickler):
    def reducer_override(self, item):
        # NumPy hands over the memory of arrays without gaps only.
        if type(item) is not np.ndarray or item.dtype.hasobject or item.flags.forc:
            return NotImplemented
        return np.ascontiguousarray(item).__reduce_ex__(5)
