"""How much memory a table would need, and how much there is."""

import os
from pathlib import Path
from typing import Any

from mixedbag.tables._engine import cores
from mixedbag.tables._frames import is_frame
from mixedbag.tables._sources import files_of, kind_of

_PACKED = {".gz": 6, ".zst": 6}  # bytes of text in one of a packed file, about
_TIMES = 3  # a fit needs the table, folds of it, and what it makes of them
_LARGE = 30_000_000  # bytes of a group, beyond which a second thread would take too much memory


def fits_in_memory(source: Any) -> bool:
    """Whether a fit on all of a table is likely to fit in the memory of this machine.

    Parameters
    ----------
    source : path, pattern of paths, or data frame
        The table; of files, only their sizes are looked at.

    Returns
    -------
    bool
        Whether it does.

    See Also
    --------
    streamed : A table that does not fit, in blocks.

    Examples
    --------
    >>> from pathlib import Path
    >>> from mixedbag.tables import fits_in_memory
    >>> _ = Path("small.csv").write_text("bag,x")
    >>> fits_in_memory("small.csv")
    True
    """
    memory = _memory()
    return is_frame(source) or memory is None or _TIMES * _bytes_of(source) < memory


def engine_limits(source, least):
    """Limits for the engine: so many megabytes, and one thread where groups of rows are large.

    Its threads work on a group of rows of a Parquet file each, with some of each column in memory.
    The later limits are for when the engine fails all the same, as with thousands of columns.
    """
    largest = max(map(_largest_group, files_of(source)), default=0) if not is_frame(source) else 0
    threads = 1 if largest > _LARGE else cores()
    return [
        {"memory_limit": f"{times * least}MB", "threads": str(n_threads)}
        for times, n_threads in ((1, threads), (4, 1), (16, 1))
    ]


def _largest_group(path):
    """Bytes of the largest group of rows; 0 where there are none, or a file that is damaged."""
    about = None if os.path.isdir(path) else _about(path)
    if about is None:
        return 0
    return max((about.row_group(i).total_byte_size for i in range(about.num_row_groups)), default=0)


def _about(path):
    """What a Parquet file says of itself; None of other files, and of one that is damaged."""
    if kind_of(path) != "parquet":
        return None
    from pyarrow import parquet

    try:
        return parquet.read_metadata(path)
    except (OSError, ValueError):
        return None


def _bytes_of(source):
    """The size of the table in memory: exact for Parquet, about the size of the file for others."""
    total = 0
    for path in files_of(source):
        if os.path.isdir(path):
            continue
        about = _about(path)
        if about is None:
            total += os.path.getsize(path) * _PACKED.get(Path(path).suffix.lower(), 1)
        else:
            total += about.num_rows * about.num_columns * 8
    return total


def _memory():
    """Bytes that this process may use, where the system tells."""
    try:
        known = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, ValueError, OSError):
        return None
    limit = Path("/sys/fs/cgroup/memory.max")  # of a container
    if limit.exists() and (text := limit.read_text().strip()).isdigit():
        known.append(int(text))
    return min(known)
