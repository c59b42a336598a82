"""Tables that do not fit into memory lie in a file of their own, mapped as if they were there.

The file is removed when nobody uses the table any more, and at the end of the program.
"""

import errno
import io
import os
import pickle
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

_SHARE = 0.25  # of free memory that a table may take: those who learn from it need some, too


def empty_table(shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
    """An array to be filled, in memory where it fits there, else mapped from a file."""
    n_bytes = int(np.prod(shape, dtype=object)) * np.dtype(dtype).itemsize
    if n_bytes <= _SHARE * free_memory():
        return np.empty(shape, dtype)
    folder = tempfile.gettempdir()
    if n_bytes > shutil.disk_usage(folder).free:
        reason = f"{n_bytes / 1e9:.1f} GB fit neither into memory nor there; TMPDIR names a folder"
        raise OSError(errno.ENOSPC, reason, folder)
    file, path = tempfile.mkstemp(prefix="mixedbag-", suffix=".table")
    os.close(file)
    table = np.memmap(path, dtype, "w+", shape=shape)
    weakref.finalize(table, Path(path).unlink, missing_ok=True)
    return table


def mapping_of(array: Any) -> np.memmap | None:
    """The `numpy.memmap` that an array is a view of, or None."""
    while array is not None and not isinstance(array, np.memmap):
        array = array.base if isinstance(array, np.ndarray) else None
    # Views of a mapping call themselves one, too: the first of them has the file.
    while array is not None and isinstance(array.base, np.memmap):
        array = array.base
    return array


def dumps(value):
    """`pickle.dumps` for a process of the same machine: mapped tables as where they are."""
    content = io.BytesIO()
    _Pickler(content, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return content.getbuffer()


class _Pickler(pickle.Pickler):
    def reducer_override(self, value):
        mapping = mapping_of(value) if isinstance(value, np.ndarray) else None
        if mapping is None or mapping.mode == "c" or not value.flags.c_contiguous:
            return NotImplemented
        start = value.__array_interface__["data"][0] - mapping.__array_interface__["data"][0]
        place = str(mapping.filename), value.dtype, "r", mapping.offset + start, value.shape
        return np.memmap, place


def free_memory():
    """Bytes that this process may still take, as far as the system tells."""
    found = [_available(), _group_limit()]
    return min((n for n in found if n is not None), default=2**62)


def _available():
    try:
        with open("/proc/meminfo") as file:
            facts = dict(line.split(":", 1) for line in file)
        return int(facts["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _group_limit():
    """What the limit of a container leaves, where there is one."""
    try:
        folder = Path("/sys/fs/cgroup")
        limit, taken = ((folder / f"memory.{name}").read_text() for name in ("max", "current"))
        return max(0, int(limit) - int(taken))
    except (OSError, ValueError):
        return None
