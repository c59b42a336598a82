"""Columns of the engine as arrays."""

import numpy as np


def as_array(column):
    """An Arrow column as an array: whole and other numbers as they lie there, text as objects.

    So is a column with missing values, which are None.
    """
    dtype = _DTYPES.get(str(column.type))
    if dtype is None or column.null_count:
        values = column.to_pylist()
        if str(column.type) == "bool" and not column.null_count:
            return np.array(values, dtype=bool)
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array
    # Not by `to_numpy`, which imports pandas.
    return np.frombuffer(column.buffers()[1], dtype)[column.offset : column.offset + len(column)]


_DTYPES = {"int64": np.int64, "double": np.float64, "float": np.float32}
