"""What the Parquet files of one data set must agree on, checked before any row is read."""

from typing import NamedTuple


class ParquetColumns(NamedTuple):
    """Which columns mean what."""

    bag: str
    label: str
    weight: str | None
    features: list[str] | None

    @property
    def special(self):
        """Those that are no features."""
        return [name for name in (self.bag, self.label, self.weight) if name is not None]

    def features_among(self, names):
        """Those asked for, or all that are nothing else."""
        if self.features is not None:
            return list(self.features)
        return [name for name in names if name not in self.special]


class Schema(NamedTuple):
    """What a Parquet file says of its columns before any row is read.

    `kinds` are those of the bag id and of the label: values of one kind compare as they should,
    while 7, 7.0 and "7" are three bags.
    """

    path: str
    names: list[str]
    kinds: dict[str, str]


def read_schema(path, columns):
    """The columns of a Parquet file, given that they can play their parts."""
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
    except Exception as error:  # damaged metadata fails in whatever way its first byte leads to
        raise ValueError(f"{path} is not a readable Parquet file ({error})") from error
    names = schema.names
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ValueError(f"{path} has two columns {repeated[0]!r}")
    features = columns.features_among(names)
    for name in [*columns.special, *features]:
        if name not in names:
            raise ValueError(f"{path} has no column {name!r}; its columns are {names}")
    if not features:
        raise ValueError(f"{path} has no column left to learn from; its columns are {names}")
    for name in features if columns.weight is None else [*features, columns.weight]:
        if not _is_numeric(schema.field(name).type):
            raise ValueError(
                f"column {name!r} of {path} is not numeric ({schema.field(name).type})"
            )
    kinds = {name: _kind(schema.field(name).type) for name in (columns.bag, columns.label)}
    return Schema(path, names, kinds)


def agreed_columns(schemas, columns):
    """The columns with the names of all features, given that all files agree on them.

    Columns are matched by name, so their order may differ from file to file.
    """
    first = schemas[0]
    for other in schemas[1:]:
        if columns.features is None and set(other.names) != set(first.names):
            lacking = [name for name in first.names if name not in other.names]
            further = [name for name in other.names if name not in first.names]
            found = f"lacks column {lacking[0]!r}" if lacking else f"has a column {further[0]!r}"
            raise ValueError(
                f"{other.path} {found}, unlike {first.path}: the columns of all files must have "
                "the same names, or name those to learn from in `features`"
            )
        for name, kind in first.kinds.items():
            if other.kinds[name] != kind:
                raise ValueError(
                    f"column {name!r} holds {other.kinds[name]} in {other.path} but {kind} in "
                    f"{first.path}: a bag in both would be taken for two, so write them alike"
                )
    return columns._replace(features=columns.features_among(first.names))


def _is_numeric(arrow):
    import pyarrow.types as kinds

    return (
        kinds.is_integer(arrow)
        or kinds.is_floating(arrow)
        or kinds.is_boolean(arrow)
        or kinds.is_decimal(arrow)
    )


def _kind(arrow):
    """What a type's values compare with: whole numbers of any width are one kind, so is text."""
    import pyarrow.types as kinds

    if kinds.is_dictionary(arrow):
        arrow = arrow.value_type
    if kinds.is_string(arrow) or kinds.is_large_string(arrow) or kinds.is_string_view(arrow):
        return "text"
    if kinds.is_integer(arrow) and not kinds.is_uint64(arrow):  # beside int64 it becomes a float
        return "whole numbers"
    return str(arrow)
