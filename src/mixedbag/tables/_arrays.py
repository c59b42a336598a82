"""Columns of the engine as arrays, and back."""

import numpy as np


def as_array(column):
    """An Arrow column as an array: whole and other numbers as they lie there, text as objects.

    So is a column with missing values, which are None.
    """
    if not is_plain(column):
        values = column.to_pylist()
        if str(column.type) == "bool" and not column.null_count:
            return np.array(values, dtype=bool)
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array
    # Not by `to_numpy`, which imports pandas.
    dtype = dtype_of(column.type)
    return np.frombuffer(column.buffers()[1], dtype)[column.offset : column.offset + len(column)]


def as_arrow(array):
    """An array as one of Arrow; numbers and texts not by `pa.array`, which imports pandas."""
    import pyarrow as pa

    if array.dtype.kind in "iuf":
        content = pa.py_buffer(np.ascontiguousarray(array))
        return pa.Array.from_buffers(pa.from_numpy_dtype(array.dtype), len(array), [None, content])
    values = array.tolist()
    if not all(isinstance(value, str) for value in values):
        return pa.array(values)
    texts = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    return pa.StringArray.from_buffers(
        len(texts), pa.py_buffer(ends), pa.py_buffer(b"".join(texts))
    )


def is_plain(column):
    """Whether the values of a column lie in memory like those of an array."""
    return dtype_of(column.type) is not None and not column.null_count


def dtype_of(kind):
    """The type of array that values of a type of Arrow lie in memory as, or None."""
    return _DTYPES.get(str(kind))


_DTYPES = {
    "int64": np.int64,
    "int32": np.int32,
    "uint16": np.uint16,
    "uint64": np.uint64,
    "double": np.float64,
    "float": np.float32,
}
