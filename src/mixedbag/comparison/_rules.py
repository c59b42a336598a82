"""Which rule ties the bags' labels to their instances: asked for, or guessed from the labels."""

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mixedbag.counts import are_shares
from mixedbag.exceptions import InputError

RULES = {
    "any": "a bag is positive if at least one of its instances is",
    "majority": "a bag has the class of most of its instances",
    "count": "the label says how many of a bag's instances are positive",
    "proportion": "the label says which share of a bag's instances is positive",
    "sum": "the label is the total of a value over a bag's instances",
    "mean": "the label is the average of a value over a bag's instances",
    "sequence": "the instances are a sequence in time, labelled as a whole",
}
_MANY = 10  # more distinct numbers than this are amounts, not classes
_STRAY = 0.1  # share of labels that may be mistakes among those of another kind
_COMMA = re.compile(r"[-+]?\d+,\d+")


class Guess(NamedTuple):
    """A rule, and what in the data speaks for it.

    Parameters
    ----------
    rule : str
        One of `RULES`.
    reason : str
        What speaks for it, in words.

    See Also
    --------
    guess_rule : Makes one of labels.

    Examples
    --------
    >>> from mixedbag.comparison import Guess
    >>> Guess("any", "there are two labels").rule
    'any'
    """

    rule: str
    reason: str


def settle_rule(rule: str | Guess, y: ArrayLike, sizes: ArrayLike, in_time: bool = False) -> Guess:
    """The rule that was asked for, or with "auto" the guess; one that is settled stays.

    Parameters
    ----------
    rule : str or Guess
        One of `RULES`, or "auto"; or one that is settled already.
    y : array of shape (n_bags,) or (n_bags, n_classes)
        Labels of the bags.
    sizes : array of shape (n_bags,)
        Numbers of their instances.
    in_time : bool
        Whether the instances have a time.

    Returns
    -------
    Guess
        The rule, and why.

    See Also
    --------
    guess_rule : What "auto" asks.

    Examples
    --------
    >>> from mixedbag.comparison import settle_rule
    >>> settle_rule("majority", y=[0, 1, 1], sizes=[4, 4, 4])
    Guess(rule='majority', reason='it was asked for')
    """
    if isinstance(rule, Guess):
        return rule
    if rule == "auto":
        return guess_rule(y, sizes, in_time)
    if not isinstance(rule, str) or rule not in RULES:
        known = ", ".join(map(repr, ("auto", *RULES)))
        raise InputError(f"rule must be one of {known}; got {rule!r}")
    y = np.asarray(y)
    if rule == "count" and y.ndim == 1 and y.dtype.kind == "f" and are_shares(y[~np.isnan(y)]):
        return Guess("proportion", "counts were asked for, and the labels are shares of them")
    return Guess(rule, "it was asked for")


def guess_rule(y: ArrayLike, sizes: ArrayLike, in_time: bool = False) -> Guess:
    """The most plausible rule for labels `y` of bags of the given sizes.

    Parameters
    ----------
    y : array of shape (n_bags,) or (n_bags, n_classes)
        Labels of the bags.
    sizes : array of shape (n_bags,)
        Numbers of their instances.
    in_time : bool
        Whether the instances have a time.

    Returns
    -------
    Guess
        The rule, and what in the labels speaks for it.

    See Also
    --------
    settle_rule : Keeps a rule that was asked for.

    Examples
    --------
    >>> from mixedbag.comparison import guess_rule
    >>> guess_rule([0, 3, 2, 1], sizes=[5, 5, 4, 4])
    Guess(rule='count', reason='the labels are whole numbers, none above the size of its bag')
    """
    y, sizes = np.asarray(y), np.asarray(sizes)
    if y.ndim == 2:
        if y.dtype.kind in "iuf" and np.allclose(y.sum(axis=1), 1.0) and (sizes > 1).any():
            return Guess("proportion", "the labels are a table of shares that add up to one")
        return Guess("count", "the labels are a table with a column a class")
    if in_time:
        return Guess("sequence", "the instances have a time")
    values = np.unique(y)
    counted = y.dtype.kind in "iuf" and values[0] > 1 and len(np.unique(sizes)) > 1
    if len(values) == 1 and not counted:
        raise InputError(one_label(len(y), values.tolist()[0]))
    if len(values) == 2:
        return Guess("any", "there are two labels")
    if y.dtype.kind not in "iuf":
        _refuse_words_among_numbers(y)
        return Guess("majority", f"there are {len(values)} classes")
    whole = bool((y == np.round(y)).all())
    if whole and y.min() >= 0 and (y <= sizes).all() and sizes.max() > 1:
        return Guess("count", "the labels are whole numbers, none above the size of its bag")
    if whole and len(values) <= min(_MANY, len(y) / 2):  # of a class, there are several bags
        told = f"the labels are {len(values)} whole numbers, read as classes"
        return Guess("majority", told + _nearly(y, sizes))
    if not whole and y.min() >= 0 and y.max() <= 1:
        return Guess("proportion", "the labels are shares between 0 and 1")
    counts = "; counts of more than the rows are --label yes/voters" if whole else ""
    told = f"the labels are numbers of many values; averages are --rule mean{counts}"
    return Guess("sum", told + _nearly(y, sizes))


def _nearly(y, sizes):
    """What all labels but a few would be, in words: one mistake must not make shares totals."""
    whole = y == np.round(y)
    shares, counts = (y >= 0) & (y <= 1), whole & (y >= 0) & (y <= sizes)
    if (shares | counts).all() and not shares.all() and not counts.all():
        return "; some look like shares, others like counts of the rows: write all alike"
    if (shares & ~whole).any() and (~shares).mean() <= _STRAY:
        fits, what, of = shares, "shares (--rule proportion)", ""
    elif (~counts).mean() <= _STRAY and sizes.max() > 1:
        fits, what = counts, "counts of the rows (--rule count)"
        of = f" of {sizes[np.argmin(fits)]} rows"
    else:
        return ""
    value, n_off = y[np.argmin(fits)], np.count_nonzero(~fits)
    return f"; all but {n_off} of {len(y)} are {what}, not {value:g}{of}: look there"


def _refuse_words_among_numbers(y):
    """Refuse marks for what is not known, such as * or <5, where labels are numbers.

    Words are marks where there are few of them, or where none has a letter.
    """
    strange = [str(label) for label in y.tolist() if not _is_number(label)]
    numbers = {str(label) for label in y.tolist()} - {*strange}
    words = ", ".join(map(repr, sorted(set(strange))[:3]))
    if len(set(strange)) > _MANY and all(map(_COMMA.fullmatch, strange)):
        raise InputError(f"labels such as {strange[0]!r} are text: write numbers with a point")
    marks = len(strange) <= _STRAY * len(y) or not any(map(str.isalpha, "".join(strange)))
    if strange and marks and len(numbers) > 2:
        raise InputError(
            f"all but {len(strange)} of {len(y)} labels are numbers (not {words}): leave cells "
            "empty whose label is not known; the rule 'majority' takes all for classes"
        )


def _is_number(label):
    try:
        return bool(np.isfinite(float(label)))
    except (TypeError, ValueError):
        return False


def one_label(n_bags, label):
    """Why labels that are all the same are refused."""
    return f"all {n_bags} bags have the same label, {label!r}: nothing to learn"
