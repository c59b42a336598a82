"""Tables, ids and columns of any origin as arrays: what `Bags` are built from."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse


def as_table(x: Any) -> Any:
    """A 2-D table of floats, dense and C-contiguous or CSR; copied only when it must be."""
    if sparse.issparse(x):
        table = sparse.csr_array(x)
        if not (np.issubdtype(table.dtype, np.number) or table.dtype == bool):
            raise ValueError(f"instances must be numbers, not {table.dtype}")
        if np.iscomplexobj(table):
            raise ValueError("Complex data not supported")
        if table.dtype not in (np.float32, np.float64):
            table = table.astype(np.float64)
        if not table.has_canonical_format:
            table = table.copy()
            table.sum_duplicates()
        return _narrow(table)
    x = as_array(x)
    if x.ndim != 2:
        raise ValueError(
            f"expected a 2-D table of instances, got a {x.ndim}-D array of shape {x.shape}. "
            "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
            "or array.reshape(1, -1) if it contains a single sample."
        )
    if x.dtype not in (np.float32, np.float64):
        try:
            x = x.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise type(error)(f"instances must be numbers; {error}") from error
    if x.shape[1] == 0:
        raise ValueError(
            f"0 feature(s) (shape={x.shape}) while a minimum of 1 is required: no features"
        )
    return np.ascontiguousarray(x)


def _narrow(table):
    """A CSR table with indices of 32 bits where they suffice: compiled code may take no others."""
    kind = sparse.get_index_dtype(maxval=max(table.nnz, *table.shape))
    if table.indices.dtype == kind == table.indptr.dtype:
        return table
    parts = [part.astype(kind, copy=False) for part in (table.indices, table.indptr)]
    return sparse.csr_array((table.data, *parts), shape=table.shape)


def as_array(x: Any) -> np.ndarray:
    """A NumPy array whose masked values are NaN; times and complex numbers are refused."""
    given, x = x, np.asarray(x)
    kinds = {type(value) for value in x.flat} if x.dtype.kind == "O" else {x.dtype.type}
    # NumPy turns all of these into floats: seconds or days of a time, the real part of a number.
    if any(issubclass(kind, (np.datetime64, np.timedelta64)) for kind in kinds):
        raise ValueError(
            "instances must be numbers, not dates or times: turn them into numbers first, such as "
            "days since a date"
        )
    if any(issubclass(kind, (complex, np.complexfloating)) for kind in kinds):
        raise ValueError("Complex data not supported")
    if np.ma.is_masked(given):
        x = given.astype(np.float64 if x.dtype.kind != "f" else x.dtype).filled(np.nan)
    return x


def as_labels(values: Any) -> np.ndarray:
    """A one-dimensional array; what NumPy would make equal stays apart, as objects."""
    if np.ma.is_masked(values):
        raise ValueError(f"value {int(np.argmax(np.ma.getmaskarray(values)))} is masked: missing")
    if hasattr(values, "dtype"):
        values = np.asarray(values)
    else:
        values = list(values)
        array = np.asarray(values)
        # NumPy reads 1 beside "1" as the same text, and 2**53 + 1 beside 0.5 as 2**53.
        inexact = array.dtype.kind in "US" or any(isinstance(value, int) for value in values)
        if array.ndim == 1 and array.dtype.kind in "USf" and inexact and array.tolist() != values:
            array = np.empty(len(values), dtype=object)
            array[:] = values
        values = array
    if values.ndim != 1:
        raise ValueError(f"expected one value a bag, got an array of shape {values.shape}")
    return values


def factorize(groups: Any) -> tuple[np.ndarray, np.ndarray]:
    """Codes 0, 1, … in order of first appearance, and the ids they stand for."""
    groups = as_labels(groups)
    if groups.dtype.kind in "iub":
        ids, first, codes = np.unique(groups, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return rank[codes], ids[order]
    if groups.dtype.kind in "mM" and np.isnat(groups).any():
        raise ValueError(f"row {int(np.argmax(np.isnat(groups)))} has no bag id")
    values = groups.tolist()
    known: dict = {}
    codes = np.fromiter((known.setdefault(v, len(known)) for v in values), np.int64, len(values))
    for value in known:
        if is_missing(value):
            raise ValueError(f"row {int(np.argmax(codes == known[value]))} has no bag id")
    found: np.ndarray = np.empty(len(known), dtype=object)
    found[:] = list(known)
    return codes, found.astype(groups.dtype) if groups.dtype.kind != "O" else found


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or one of which no comparison is true or false (pandas.NA)."""
    same = value == value
    return value is None or not isinstance(same, bool | np.bool_) or not same


def numeric_table(frame, names):
    """The named columns as one float table, filled column by column to spare a second copy."""
    import narwhals.stable.v2 as nw

    float32 = all(frame.get_column(name).dtype == nw.Float32 for name in names)
    table = np.empty((len(frame), len(names)), dtype=np.float32 if float32 else np.float64)
    for j, name in enumerate(names):
        column = frame.get_column(name)
        if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
            try:
                table[:, j] = as_array(column.to_numpy()).astype(np.float64)
            except (TypeError, ValueError) as error:
                raise ValueError(
                    f"column {name!r} is not numeric ({column.dtype}): leave it out of `features` "
                    f"or encode it; {error}"
                ) from error
        elif column.null_count():
            table[:, j] = column.cast(nw.Float64).fill_null(np.nan).to_numpy()
        else:
            table[:, j] = column.to_numpy()
    return table


def is_frame(x: Any) -> bool:
    return hasattr(x, "columns") and not hasattr(x, "offsets")


def is_list_of_tables(x: Any) -> bool:
    if not isinstance(x, (list, tuple)) or not x:
        return False
    first = x[0]
    if sparse.issparse(first) or getattr(first, "ndim", None) == 2:
        return True
    return isinstance(first, (list, tuple)) and bool(first) and np.ndim(first[0]) == 1


def is_full_slice(key: Any) -> bool:
    return isinstance(key, slice) and key == slice(None)


def positions(key: Any, n_bags: int) -> np.ndarray:
    """Which bags a slice, a mask or a list of whole numbers means."""
    if isinstance(key, slice):
        return np.arange(n_bags)[key]
    index = np.asarray(key)
    if index.size == 0 and index.ndim <= 1:
        return np.empty(0, dtype=np.int64)
    if index.ndim != 1:
        raise IndexError(f"bags are indexed by one-dimensional keys, not {index.ndim}-D")
    if index.dtype == bool:
        if len(index) != n_bags:
            raise IndexError(f"a mask of length {len(index)} for {n_bags} bags")
        return np.flatnonzero(index)
    if not np.issubdtype(index.dtype, np.integer):
        raise IndexError(f"bags are indexed by whole numbers or a mask, not {index.dtype}")
    return np.arange(n_bags)[index]


def stacked(tables: Sequence) -> Any:
    """Tables one below the other: sparse if one of them is."""
    if any(sparse.issparse(table) for table in tables):
        return sparse.vstack([sparse.csr_array(table) for table in tables], format="csr")
    return np.concatenate(tables)


def frozen(array: np.ndarray) -> np.ndarray:
    """A read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view


def freeze(table: Any) -> Any:
    """A read-only view of a table, dense or CSR."""
    if not sparse.issparse(table):
        return frozen(table)
    parts = (frozen(table.data), frozen(table.indices), frozen(table.indptr))
    matrix = sparse.csr_array(parts, shape=table.shape, copy=False)
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def short(value: float) -> float | None:
    """Four digits of a value, all of a whole number (a day, a code); None if it is missing."""
    if not np.isfinite(value):
        return None
    return float(value) if float(value).is_integer() else float(f"{value:.4g}")


def plain(value: Any) -> Any:
    """A NumPy scalar as the Python value that people would write."""
    return value.item() if isinstance(value, np.generic) else value
