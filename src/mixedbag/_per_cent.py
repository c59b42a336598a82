"""Labels in per cent, as text ("12.5 %") or as numbers from 0 to 100, are shares."""

import re

import numpy as np

NOTE = "labels are in per cent: read as shares"
_TEXT = re.compile(r"\s*(\d+(?:[.,]\d+)?)\s*%\s*")
_SAYS_SO = re.compile(r"%|(?<![a-z])(pct|per[ _-]?cent(?!il))", re.IGNORECASE)
_ROUNDED = 0.06  # per cent are written with one decimal at least


def as_shares(y, sizes, name=None, by_sizes=True):
    """Labels in per cent as shares, NaN where there is none; None if they are not in per cent.

    They are if they say so, one by one or by the `name` of their column, or (`by_sizes`) if they
    are, within rounding, those of whole numbers of the rows of each bag.
    """
    if y.ndim > 1 or y.dtype.kind not in "OUiuf":
        return None
    if y.dtype.kind in "iuf" or all(v is None or isinstance(v, (int, float)) for v in y.tolist()):
        numbers = np.array([np.nan if v is None else v for v in y.tolist()], dtype=np.float64)
        return numbers / 100 if _are_per_cent(numbers, sizes, name, by_sizes) else None
    words = [None if value is None else str(value) for value in y.tolist()]
    found = [word and _TEXT.fullmatch(word) for word in words]
    if not any(found) or any(word and not match for word, match in zip(words, found)):
        return None
    shares = [float(match[1].replace(",", ".")) / 100 if match else np.nan for match in found]
    return np.array(shares)


def _are_per_cent(y, sizes, name, by_sizes):
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
