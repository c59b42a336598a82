"""Data frames of any library as Arrow tables: whatever is no path is taken for one."""

import os

from mixedbag.exceptions import InputError


def is_frame(source):
    """Whether a source is a table in memory."""
    return not isinstance(source, (str, bytes, os.PathLike))


def arrow_table(frame, levels=()):
    """A data frame of any library as an Arrow table, with those levels of its index."""
    import pyarrow as pa

    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if isinstance(frame, pa.RecordBatchReader):
        return frame.read_all()
    library = type(frame).__module__.split(".")[0]
    if library == "pyarrow" and hasattr(frame, "to_table"):  # a data set, or a scan of one
        return frame.to_table()
    if library in ("duckdb", "_duckdb"):
        return frame.to_arrow_table()
    if library == "pandas":
        return _from_pandas(frame.reset_index(level=list(levels)) if levels else frame)
    import narwhals.stable.v2 as nw

    try:
        frame = nw.from_native(frame)
    except TypeError as error:
        raise InputError(f"{type(frame).__name__} is no table with named columns") from error
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    large = [n for n, kind in frame.schema.items() if kind in (nw.Int128, nw.UInt128)]
    return frame.with_columns(nw.col(name).cast(nw.String) for name in large).to_arrow()


def asked_levels(frame, roles):
    """Levels of an index of pandas that are asked for by their names; without roles, all."""
    names = getattr(getattr(frame, "index", None), "names", ())
    names = [name for name in names if name is not None]
    if not names or not hasattr(frame, "columns"):
        return []
    known = [str(name) for name in frame.columns]
    asked = set(map(str, names)) if roles is None else roles.names(known)
    return [name for name in names if str(name) in asked.difference(known)]


def _from_pandas(frame):
    """Column by column, since one of objects of several types must not stop the others."""
    import pandas as pd
    import pyarrow as pa

    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"{type(frame).__name__} is no table with named columns")
    columns = [_series_column(frame.iloc[:, j]) for j in range(frame.shape[1])]
    names = [str(name) for name in frame.columns]
    return pa.table(
        [pa.chunked_array([c]) if isinstance(c, pa.Array) else c for c in columns], names=names
    )


def _series_column(series):
    """A column of pandas; as text where Arrow has no type for all of it, as in a file."""
    import pyarrow as pa

    try:
        column = pa.array(series, from_pandas=True)
        if not (_is_period(column) or _is_half_zoned(series, column)):
            return column
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        pass
    absent = series.isna().tolist()
    texts = [None if gone else str(v) for v, gone in zip(series.tolist(), absent)]
    return pa.array(texts, pa.string())


def _is_period(column):
    """Whether a column is of months or the like, which Arrow has as bare numbers."""
    return str(column.type).startswith("extension<pandas.period")


def _is_half_zoned(series, column):
    """Whether some of a column's times have no zone: Arrow takes them for those of Greenwich."""
    if series.dtype != object or getattr(column.type, "tz", None) is None:
        return False
    return any(getattr(value, "tzinfo", True) is None for value in series.tolist())
