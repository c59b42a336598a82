"""Labels in several columns: one a class, or a count beside the number that it is a count of.

And labels in per cent, which a table has as text, or as numbers from 0 to 100.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mixedbag.exceptions import InputError

if TYPE_CHECKING:
    from mixedbag.datasets.records import BagData
    from mixedbag.tables import Roles

_PER_CENT = re.compile(r"\s*(\d+(?:[.,]\d+)?)\s*%\s*")
_SAYS_SO = re.compile(r"%|(?<![a-z])(pct|per[ _-]?cent(?!il))", re.IGNORECASE)
_NOTE = "labels are in per cent: read as shares"
_ROUNDED = 0.06  # per cent are written with one decimal at least


def in_shares(data: "BagData", name: str | None = None, by_sizes: bool = True) -> "BagData":
    """The data with labels in per cent as shares; any others stay.

    They are in per cent if they say so, one by one ("12.5 %") or by the `name` of their column, or
    (`by_sizes`) if they are, within rounding, those of whole numbers of the rows of each bag.
    """
    if data.y is None or data.y.ndim > 1 or data.y.dtype.kind not in "OUiuf":
        return data
    if data.y.dtype.kind in "iuf" or _are_numbers(data.y):
        numbers = _numbers(data.y, name)
        if not _in_per_cent(numbers, data.bags.sizes, name, by_sizes):
            return data
        return replace(data, y=numbers / 100, notes=(*data.notes, _NOTE))
    words = [None if value is None else str(value) for value in data.y.tolist()]
    found = [word and _PER_CENT.fullmatch(word) for word in words]
    if not any(found) or any(word and not match for word, match in zip(words, found)):
        return data
    shares = [float(match[1].replace(",", ".")) / 100 if match else np.nan for match in found]
    return replace(data, y=np.array(shares), notes=(*data.notes, _NOTE))


def _are_numbers(y):
    return all(value is None or isinstance(value, (int, float)) for value in y.tolist())


def _in_per_cent(y, sizes, name, by_sizes):
    known = np.isfinite(y)
    y, sizes = y[known], sizes[known]
    if not len(y) or y.min() < 0 or not 1 < y.max() <= 100:
        return False
    if name is not None and _SAYS_SO.search(name):
        return True
    if not by_sizes:
        return False
    counts = np.round(y * sizes / 100)
    whole = np.abs(y - 100 * counts / sizes) < _ROUNDED
    telling = (y != np.round(y)) & (sizes <= 100)  # of larger bags any number is near to a count
    return bool(whole.all() and telling.mean() > 0.5)


def label_columns(
    label: str | tuple[str, ...] | None,
) -> tuple[tuple[str, ...], str | None] | None:
    """The columns of "no,yes", "yes/voters" or ["no", "yes"], and that of sizes; None for one."""
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
        if size is None and not np.allclose(whole, data.bags.sizes[told]) and (whole > 0).all():
            if np.allclose(whole, 100.0, atol=2.0):
                notes.append(_NOTE)
            elif not np.allclose(whole, 1.0, atol=0.02):
                notes.append("counts are of more than the rows of a bag: taken as shares")
            table[told] /= whole[:, None]
        table[~told] = np.nan
    return replace(data, y=table if len(columns) > 1 else table[:, 0], notes=tuple(notes))


def _numbers(y, name):
    try:
        return np.array([np.nan if value is None else value for value in y], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"column {name!r} holds a count that is no number") from error
