"""Parquet tables, through pyarrow (the ``parquet`` extra)."""

import io

import numpy as np

from mixedbag.datasets._formats.columns import Feature, assemble


def read_parquet(source, columns):
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install 'mixedbag[parquet]'") from error
    try:
        frame = parquet.read_table(io.BytesIO(source.content))
        frame.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise source.error(f"not a readable Parquet file ({error})") from error
    names = [str(name) for name in frame.column_names]
    if not names:
        raise source.error("a Parquet file without columns")
    roles, features = columns.resolve(source, names, line=None)
    if not frame.num_rows:
        raise source.error("a Parquet file without rows")
    kept = {}
    for role, j in roles.items():
        kept[role] = frame.column(j).to_pylist()
        for row, value in enumerate(kept[role]):
            if value is None or value != value:
                raise source.error(f"no {role} in column {names[j]!r}, row {row}")
            if isinstance(value, (list, dict)):
                raise source.error(f"column {names[j]!r} holds nested values, not a {role}")
    table = [_feature(source, frame.column(j), names[j]) for j in features]
    return assemble(source, columns, kept, table, lines=None)


def _feature(source, column, name):
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
        row = int(np.argmax(np.isinf(values)))
        raise source.error(f"column {name!r} has an infinite value in row {row}")
    feature.parts.append(values.astype(np.float64))
    if not np.isnan(values).all():
        feature.first["number"] = (None, "")
    return feature
