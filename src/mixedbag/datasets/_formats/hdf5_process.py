"""Reads HDF5 in a process of its own, which a damaged file may end: the library is made like that.

A script without imports from the package, so that it starts fast.

``python hdf5_process.py ALLOWED < file.h5 > arrays`` answers with a line of JSON, either
``{"error": …}`` or the names of the groups, and then the data and the target of each group as NumPy
writes them.

``python hdf5_process.py`` answers one line of JSON after another: ``{"path": …, "allowed": …}``
with ``{"arrays": {name: [shape, type]}}`` of the file; where there is a ``"name"`` as well, with
the ``{"bytes": …}`` of that array, and these.
"""

import io
import json
import sys


def main(allowed):
    import h5py
    import numpy as np

    # What goes wrong in a damaged file has no list of its own: anything is a reason to refuse it.
    try:
        with h5py.File(io.BytesIO(sys.stdin.buffer.read()), "r") as file:
            parts = {}
            for name in sorted(file, key=lambda name: (name != "train", name)):
                group = member(file, name, h5py.Group)
                arrays = [member(group, part, h5py.Dataset) for part in ("data", "target")]
                allowed -= sum(array.size * max(array.dtype.itemsize, 1) for array in arrays)
                if allowed < 0:
                    raise ValueError("it holds more numbers than is plausible for its size")
                parts[name] = [np.asarray(array) for array in arrays]
                if any(array.dtype.kind not in "biuf" for array in parts[name]):
                    raise ValueError(f"group {name!r} holds values that are not numbers")
    except Exception as error:
        answer({"error": f"{type(error).__name__}: {error}"})
        return
    answer({"groups": list(parts)})
    for arrays in parts.values():
        for array in arrays:
            np.save(sys.stdout.buffer, array, allow_pickle=False)


def serve():
    """Answer questions about files, until nobody asks."""
    for line in sys.stdin.buffer:
        try:
            numbers = look_up(**json.loads(line))
        except Exception as error:
            answer({"error": f"{type(error).__name__}: {error}"})
            continue
        if isinstance(numbers, dict):
            answer({"arrays": numbers})
        else:
            answer({"bytes": numbers.nbytes})
            sys.stdout.buffer.write(numbers.data)
        sys.stdout.buffer.flush()


def look_up(path, allowed, name=None):
    """Shapes and types of the arrays of numbers at the top of a file, or one of these arrays."""
    import h5py
    import numpy as np

    with h5py.File(path, "r", locking=False) as file:
        if name is None:
            names = [n for n in file if isinstance(file.get(n, getlink=True), h5py.HardLink)]
            found = {n: file[n] for n in names if isinstance(file[n], h5py.Dataset)}
            return {n: [d.shape, d.dtype.str] for n, d in found.items()
                    if d.shape is not None and d.dtype.kind in "iuf"}  # fmt: skip
        array = member(file, name, h5py.Dataset)
        if array.size * array.dtype.itemsize > allowed:
            raise ValueError("it holds more numbers than is plausible for its size")
        return np.ascontiguousarray(array)


def member(group, name, kind):
    """What lies in the file itself under a name: links may lead to any file of the machine."""
    import h5py

    link = group.get(name, getlink=True)
    if link is None:
        raise ValueError(f"there is no {name!r}")
    if not isinstance(link, h5py.HardLink):
        raise ValueError(f"{name!r} is a link")
    found = group[name]
    if not isinstance(found, kind):
        raise ValueError(f"{name!r} is no {kind.__name__.lower()}")
    if kind is h5py.Dataset and (found.external or found.is_virtual):
        raise ValueError(f"{name!r} lies in another file")
    return found


def answer(facts):
    sys.stdout.buffer.write(json.dumps(facts).encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(int(sys.argv[1])) if len(sys.argv) > 1 else serve()
