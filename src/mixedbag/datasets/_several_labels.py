"""Labels in several columns: one a class, or a count beside the number that it is a count of.

And labels in per cent, and columns that look as if the label counted among them.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mixedbag._per_cent import NOTE, as_shares
from mixedbag._validation import labelled
from mixedbag.datasets.records import BagData, class_sizes
from mixedbag.exceptions import InputError

if TYPE_CHECKING:
    from mixedbag.bags import Bags
    from mixedbag.tables import Roles

_STRAY = 0.1  # share of the bags that may lie beside what the labels of all others add up to


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
    """The data, with notes on features of which the label may be a count, or that count the others.

    Such a feature is a whole number, the same in all rows of a bag, never below the label, and
    grows with it; or the size of the bag less the label, which gives the label away.
    """
    if label is None or data.y is None:
        return data
    if others := _all_others(data):
        note = (
            f"column {others[0]!r} is taken as a feature; with {label!r} it adds up to the rows of "
            f"each bag: counts of both answers are the label '{others[0]},{label}'"
        )
        data = replace(data, notes=(*data.notes, note))
    if not (names := _like_sizes(data)):
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


def _all_others(data):
    """Names of the features that count the rows of a bag which the label does not."""
    known, y = labelled(data.y)
    if y.dtype.kind not in "iuf" or y.ndim > 1 or not len(y) or (data.bags.sizes == 1).all():
        return []
    others = data.bags.sizes[known] - y
    return [name for name, n in _of_bags(data.bags).items() if np.array_equal(n[known], others)]


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
        if not label:
            raise InputError("size stands beside a label that counts: pass label, too")
        return (label if isinstance(label, tuple) else (label,)), size
    if isinstance(label, tuple):
        return (label, None) if label else None
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
        return as_numbers(read(replace(roles, label=name, features=features[:1], drop=())).y, name)

    table = np.column_stack([as_numbers(data.y, columns[0]), *map(also, columns[1:])])
    known = {f"column {name!r} left out: as asked" for name in beside}
    notes = [note for note in data.notes if note not in known]
    if size is not None:
        total = also(size)
        table = shares_of(table, total, size, data.bags)
        n_empty = np.count_nonzero(total == 0)
        empty = f", not known where it is 0 ({n_empty} of {len(total)} bags)" if n_empty else ""
        notes.append(f"labels are shares of {size!r}{empty}")
        if (over := np.nan_to_num(table).max(axis=1) > 1.0 + 1e-9).any():
            i = int(over.argmax())
            notes.append(
                f"{data.bags.name(i)} has {table[i].max() * total[i]:g} of {total[i]:g} in {size!r}"
                f" ({np.count_nonzero(over)} of {len(over)} bags have more than all): no shares of "
                "rows; averages are --rule mean"
            )
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
        if size is None and not np.allclose(whole, data.bags.sizes[told]) and (whole >= 0).all():
            table, said = _as_parts(table, data.bags)
            notes += said
        table[np.isnan(table).any(axis=1)] = np.nan
    return _with_labels(data, table if len(columns) > 1 else table[:, 0], notes)


def shares_of(table: np.ndarray, total: np.ndarray, size: str, bags: "Bags") -> np.ndarray:
    """Counts over the numbers that they are counts of; unknown where there is none to count."""
    empty = (total == 0) & ~(np.nan_to_num(table) != 0).any(axis=1)
    wrong = (total <= 0) & ~empty
    if wrong.any():
        i = int(wrong.argmax())
        raise InputError(f"{bags.name(i)} has {total[i]:g} in {size!r}: a size is above zero")
    return table / np.where(empty, np.nan, total)[:, None]


def _as_parts(table, bags):
    """Labels of classes over what they add up to, and notes: shares, per cent, or anything else.

    Where nearly all add up to their rows, to one or to 100, the others are what to look at.
    """
    whole, rows = table.sum(axis=1), bags.sizes  # NaN where a label is not known
    told, notes = whole > 0, []
    if n_empty := np.count_nonzero(whole == 0):
        notes.append(f"labels that are all 0 are not known ({n_empty} of {len(bags)} bags)")
    for due, near in (rows, 1e-6 * rows), (np.ones(len(bags)), 0.02), (np.full(len(bags), 100), 2):
        off = told & (np.abs(whole - due) > near)
        if np.count_nonzero(off) <= _STRAY * np.count_nonzero(told):
            break
    else:
        due, off = rows, told
    if due is rows and not off.any():
        return np.where(told[:, None], table, np.nan), notes
    if np.array_equal(off, told) and (whole[told] >= rows[told]).all():
        notes.append("counts are of more than the rows of a bag: taken as shares")
    elif off.any():
        i, n_others = int(off.argmax()), np.count_nonzero(off) - 1
        others = f", and so have {n_others} more" if n_others else ""
        notes.append(
            f"{bags.name(i)} has labels that add up to {whole[i]:g}, not to {due[i]:g}{others}: "
            "taken as shares of what they add up to; a class that is missing is a column, too"
        )
    if due[0] == 100 and due is not rows:
        notes.append(NOTE)
    return table / np.where(told, whole, np.nan)[:, None], notes


def as_numbers(y: Any, name: str) -> np.ndarray:
    """Labels as numbers, per cent as shares, NaN where there is none."""
    shares = as_shares(y, np.ones(len(y)), by_sizes=False)
    if shares is not None:
        return shares
    try:
        return np.array([np.nan if value is None else value for value in y], dtype=np.float64)
    except (TypeError, ValueError) as error:
        strange = next(value for value in y if value is not None and not _is_number(value))
        raise InputError(
            f"column {name!r} holds {strange!r}, which is no number: write counts without marks, "
            "and leave cells empty of which none is known"
        ) from error


def _is_number(value):
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
