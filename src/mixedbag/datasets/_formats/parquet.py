"""Parquet tables, through pyarrow (the ``parquet`` extra)."""

import numpy as np

from mixedbag.datasets._formats.columns import Feature, assemble
from mixedbag.datasets.records import DataFormatError


def read_parquet(source, columns):
    (frame,) = frames(source)
    return read_frame(source, frame, columns)


def frames(source, rows=None):
    """The file as one Arrow table, or as tables of `rows` rows, read as they are needed."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install 'mixedbag[parquet]'") from error
    try:
        with parquet.ParquetFile(source.path, page_checksum_verification=True) as file:
            if not file.metadata.num_rows:
                raise source.error("a Parquet file without rows")
            batches = [file.read()] if rows is None else file.iter_batches(batch_size=rows)
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
    table = [_feature(source, frame.column(j), names[j], first_row) for j in features]
    rows = assemble(source, columns, kept, table, lines=None)
    rows.first_row = first_row
    return rows


def _feature(source, column, name, first_row):
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    feature = Feature(name)
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        texts = [value or "" for value in column.to_pylist()]
        feature.add(source, texts, [None] * len(texts))
        return feature
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        feature.first["text"] = (None, str(kind))
        feature.parts.append(np.full(len(column), np.nan))
        return feature
    values = column.cast(pa.float64(), safe=False).to_numpy()
    if np.isinf(values).any():
        row = first_row + int(np.argmax(np.isinf(values)))
        raise source.error(f"column {name!r} has an infinite value in row {row}")
    feature.parts.append(values.astype(np.float64))
    if not np.isnan(values).all():
        feature.first["number"] = (None, "")
    return feature
