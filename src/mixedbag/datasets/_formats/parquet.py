"""Parquet tables, through pyarrow (the ``parquet`` extra)."""

import numpy as np

from mixedbag.datasets._formats.columns import assemble
from mixedbag.datasets._formats.features import Indicator
from mixedbag.datasets.records import DataFormatError


def read_parquet(source, columns):
    (frame,) = frames(source)
    return read_frame(source, frame, columns)


def frames(source, rows=None, columns=None):
    """The file as one Arrow table, or as tables of `rows` rows, read as they are needed.

    With `columns` (a `Columns`), only those that have a part in it are read.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install 'mixedbag[parquet]'") from error
    try:
        # Buffered ahead, all of a file would be held before its end is read.
        with parquet.ParquetFile(
            source.path, page_checksum_verification=True, pre_buffer=rows is None
        ) as file:
            if not file.metadata.num_rows:
                raise source.error("a Parquet file without rows")
            wanted = None if columns is None else _wanted(source, file.schema_arrow.names, columns)
            batches = (
                [file.read(wanted)] if rows is None else file.iter_batches(rows, columns=wanted)
            )
            for batch in batches:
                frame = batch if rows is None else pa.Table.from_batches([batch])
                frame.validate(full=True)
                yield frame
    except DataFormatError:
        raise
    except (
        Exception
    ) as error:  # damaged metadata fails in whatever way its first wrong byte leads to
        raise source.error(f"not a readable Parquet file ({error})") from error


def _wanted(source, names, columns):
    """Names of the columns with a part in `columns`."""
    roles, features = columns.resolve(source, names, line=None)
    places = {*roles.values(), *(j for j, _ in features)}
    return [names[j] for j in sorted(places)]


def read_frame(source, frame, columns, first_row=0):
    names = [str(name) for name in frame.column_names]
    roles, features = columns.resolve(source, names, line=None)
    kept = {}
    for role, j in roles.items():
        kept[role] = frame.column(j).to_pylist()
        for row, value in enumerate(kept[role], start=first_row):
            if value is None or value != value:
                raise source.error(f"no {role} in column {names[j]!r}, row {row}")
            if isinstance(value, (list, dict)):
                raise source.error(f"column {names[j]!r} holds nested values, not a {role}")
    for j, feature in features:
        _fill(source, feature, frame.column(j), first_row)
    rows = assemble(source, columns, kept, [feature for _, feature in features], lines=None)
    rows.first_row = first_row
    return rows


def _fill(source, feature, column, first_row):
    """Give a feature the values of an Arrow column."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if is_text or isinstance(feature, Indicator):
        texts = ["" if value is None else str(value) for value in column.to_pylist()]
        feature.add(source, texts, [None] * len(texts))
        return
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        feature.first[f"of type {kind}"] = (None, "")
        feature.parts.append(np.full(len(column), np.nan))
        return
    values = column.cast(pa.float64(), safe=False).to_numpy()
    if np.isinf(values).any():
        row = first_row + int(np.argmax(np.isinf(values)))
        raise source.error(f"column {feature.name!r} has an infinite value in row {row}")
    feature.parts.append(values.astype(np.float64))
    if not np.isnan(values).all():
        feature.first["number"] = (None, "")
