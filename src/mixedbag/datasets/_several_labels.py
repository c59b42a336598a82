"""Labels in several columns: one a class, or a count beside the number that it is a count of.

And labels in per cent, and columns that look as if the label counted among them.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mixedbag._per_cent import NOTE, as_shares
from mixedbag._validation import labelled
from mixedbag.datasets.records import BagData, class_sizes
from mixedbag.exceptions import InputError

if TYPE_CHECKING:
    from mixedbag.tables import Roles


def in_shares(data: "BagData", name: str | None = None, by_sizes: bool = True) -> "BagData":
    """The data with labels in per cent as shares (see `as_shares`); any others stay."""
    shares = None if data.y is None else as_shares(data.y, data.bags.sizes, name, by_sizes)
    if shares is None:
        return data
    return _with_labels(data, shares, (*data.notes, NOTE))


def _with_labels(data, y, notes):
    """The data with labels in the place of others; not noted as those: 46 classes, counts."""
    said, says = (f"({class_sizes(labels)})" for labels in (data.y, y))
    return replace(data, y=y, notes=tuple(note.replace(said, says) for note in notes))


def with_size_noted(data: "BagData", label: str | None) -> "BagData":
    """The data, with a note on features of which the label may be a count.

    Such a feature is a whole number, the same in all rows of a bag, never below the label, and
    grows with it.
    """
    if label is None or data.y is None or not (names := _like_sizes(data)):
        return data
    note = (
        f"column {names[0]!r} is taken as a feature; it is the same in all rows of a bag and never "
        f"below {label!r}: if that is how many there are to count, the label is "
        f"'{label}/{names[0]}'"
    )
    return replace(data, notes=(*data.notes, note))


def _like_sizes(data):
    """Names of the features that may be what the labels count among."""
    known, y = labelled(data.y)
    counts = y.dtype.kind in "iuf" and y.ndim == 1 and len(y) > 1 and y.min() >= 0 and y.max() > 1
    if not counts or (y != np.round(y)).any():
        return []
    return [
        name
        for name, size in _of_bags(data.bags).items()
        if (size[known] >= y).all()
        and (size == np.round(size)).all()
        and (y - y.mean()) @ size[known] > 0
    ]


def _of_bags(bags):
    """The features that are the same in all rows of a bag, by name: one value a bag."""
    if bags.feature_names is None or bags.is_sparse:
        return {}
    first = bags.instances[bags.offsets[:-1]]
    same = (bags.instances == bags.spread(first)).all(axis=0)  # never, where one is missing
    return {bags.feature_names[j]: first[:, j] for j in np.flatnonzero(same)}


def label_columns(
    label: str | tuple[str, ...] | None, size: str | None = None
) -> tuple[tuple[str, ...], str | None] | None:
    """The columns of "no,yes", "yes/voters" or ["no", "yes"], and that of sizes; None for one."""
    if size is not None:
        if label is None:
            raise InputError("size stands beside a label that counts: pass label, too")
        return (label if isinstance(label, tuple) else (label,)), size
    if isinstance(label, tuple):
        return label, None
    if label is None or not ("," in label or "/" in label):
        return None
    names, _, size = label.partition("/")
    columns = tuple(name.strip() for name in names.split(","))
    return (columns, size.strip() or None) if all(columns) else None


def read_several(
    read: "Callable[[Roles], BagData]", roles: "Roles", columns: tuple[str, ...], size: str | None
) -> "BagData":
    """What ``read(roles)`` finds, with a table of labels, or shares of a size.

    The table is read once for its features and again for each further column.
    """
    beside = (*columns[1:], *([size] if size else []))
    data = read(replace(roles, label=columns[0], drop=(*roles.drop, *beside)))
    features = data.bags.feature_names or []

    def also(name):
        return _numbers(read(replace(roles, label=name, features=features[:1], drop=())).y, name)

    table = np.column_stack([_numbers(data.y, columns[0]), *map(also, columns[1:])])
    known = {f"column {name!r} left out: as asked" for name in beside}
    notes = [note for note in data.notes if note not in known]
    if size is not None:
        total = also(size)
        if not (total[~np.isnan(total)] > 0).all():
            raise InputError(f"column {size!r} has sizes that are not above zero")
        table = table / total[:, None]
        notes.append(f"labels are shares of {size!r}")
    if len(columns) > 1:
        classes = ", ".join(f"{k} ({name})" for k, name in enumerate(columns))
        notes.append(f"labels have a column a class: {classes}")
        told = ~np.isnan(table).any(axis=1)
        whole = table[told].sum(axis=1)
        for name, value in _of_bags(data.bags).items():
            if size is None and np.array_equal(value[told], whole):
                notes.append(
                    f"column {name!r} is taken as a feature; it is what the labels add up to"
                )
        if size is None and not np.allclose(whole, data.bags.sizes[told]) and (whole > 0).all():
            if np.allclose(whole, 100.0, atol=2.0):
                notes.append(NOTE)
            elif not np.allclose(whole, 1.0, atol=0.02):
                notes.append("counts are of more than the rows of a bag: taken as shares")
            table[told] /= whole[:, None]
        table[~told] = np.nan
    return _with_labels(data, table if len(columns) > 1 else table[:, 0], notes)


def _numbers(y, name):
    shares = as_shares(y, np.ones(len(y)), by_sizes=False)
    if shares is not None:
        return shares
    try:
        return np.array([np.nan if value is None else value for value in y], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"column {name!r} holds a count that is no number") from error
