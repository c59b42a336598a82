"""Reads HDF5 in a process of its own: ``python hdf5_process.py ALLOWED < file.h5 > arrays``.

The HDF5 library may end the process on a damaged file. A script without imports from the package,
so that it starts fast. It answers with a line of JSON, either ``{"error": …}`` or the names of the
groups, and then the data and the target of each group as NumPy writes them.
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


if __name__ == "__main__":
    main(int(sys.argv[1]))
