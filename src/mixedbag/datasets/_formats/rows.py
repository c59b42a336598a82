"""`Rows`: what every format reduces its file to, and the one place where rows become bags."""

import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from mixedbag._tables import factorize, plain
from mixedbag.bags import Bags
from mixedbag.datasets.records import BagData, class_sizes

if TYPE_CHECKING:
    from mixedbag.datasets._formats.source import Source


@dataclass
class Rows:
    """One entry an instance, in the order of the file.

    `lines` holds the line each row came from, for messages. Labels, weights and groups are the
    bag's own, repeated on each of its rows: `gather` checks that they agree.

    Parameters
    ----------
    instances : array or sparse matrix
        The features of all rows.
    bag : list
        The bag of each row.
    label : list, optional
        The label of each row's bag.
    lines : list of int, optional
        The line each row came from.
    feature_names : list of str, optional
        What the features are.
    instance_ids : list, optional
        Names of the rows.
    weight : list, optional
        The weight of each row's bag.
    group : list, optional
        What each row's bag belongs to.
    notes : list of str
        What was understood, what was left out, and why.
    first_row : int
        Number of the first row, where rows have no lines.

    See Also
    --------
    Format : Makes them of a file.
    BagData : What they become.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.datasets import Rows
    >>> rows = Rows(np.array([[1.0], [2.0], [3.0]]), ["a", "b", "a"], ["yes", "no", "yes"])
    >>> rows.gather(source=None).bags
    Bags(2 bags, 3 instances × 1 features)
    """

    instances: Any
    bag: list
    label: list | None = None
    lines: list | None = None
    feature_names: list | None = None
    instance_ids: list | None = None
    weight: list | None = None
    group: list | None = None
    notes: list = field(default_factory=list)
    first_row: int = 0  # number of the first row, where rows have no lines

    def gather(self, source: "Source") -> BagData:
        """The rows as bags, in the order in which bags first appear."""
        if not len(self.bag):
            raise source.error("no instances")
        codes, ids = factorize(self.bag)
        first = np.unique(codes, return_index=True)[1]
        order = None
        if (np.diff(codes) < 0).any():
            order = np.argsort(codes, kind="stable")
            self.notes.append("rows of a bag are not adjacent; they were brought together")
        instances = self.instances if order is None else self.instances[order]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(ids)))])
        ids = as_ids(ids.tolist())

        y = weight = groups = instance_ids = None
        if self.label is not None:
            y = self._constant(source, labels_of_text(self.label), codes, first, ids, "labels")
        if self.weight is not None:
            weight = np.asarray(self.weight, dtype=np.float64)
            weight = self._constant(source, weight, codes, first, ids, "weights")
        if self.group is not None:
            groups = self._constant(source, as_ids(self.group), codes, first, ids, "groups")
        if self.instance_ids is not None:
            instance_ids = as_ids(self.instance_ids)
            instance_ids = instance_ids if order is None else instance_ids[order]
        bags = Bags(instances, offsets, ids, self.feature_names)
        understood = (
            f"{len(bags)} bags ({class_sizes(y)}), {bags.n_instances} instances of "
            f"{bags.n_features} features"
        )
        notes = (understood, *self.notes)
        return BagData(bags, y, weight, instance_ids=instance_ids, groups=groups, notes=notes)

    def _constant(self, source, values, codes, first, ids, what):
        """One value a bag, given that all its rows agree."""
        per_bag = values[first]
        wrong = per_bag[codes] != values
        if wrong.any():
            row = int(np.argmax(wrong))
            bag = codes[row]
            raise source.error(
                f"bag {plain(ids[bag])!r} has two {what}: {plain(per_bag[bag])!r} and "
                f"{plain(values[row])!r}"
                + ("" if self.lines is not None else f" (row {row + self.first_row})"),
                None if self.lines is None else int(self.lines[row]),
            )
        return per_bag


def as_ids(texts):
    """Ids as whole numbers when all are written as such, else as they are: ``"007"`` stays text."""
    distinct = set(texts)
    if all(isinstance(text, str) and _WHOLE.fullmatch(text) for text in distinct):
        return np.array([int(text) for text in texts], dtype=np.int64)
    return _as_they_are(texts)


def labels_of_text(texts):
    """Labels as numbers when all of them are numbers (``"1."`` is 1), else as they are.

    Numbers that no float tells apart, such as 9007199254740992.5 and 9007199254740993, stay text.
    """
    distinct = set(texts)
    if not all(isinstance(text, str) and _NUMBER.fullmatch(text) for text in distinct):
        return _as_they_are(texts)
    exact = {text: Decimal(text) for text in distinct}
    if all(value == value.to_integral_value() and abs(value) < 2**63 for value in exact.values()):
        numbers = {text: int(value) for text, value in exact.items()}
    else:
        numbers = {text: float(text) for text in distinct}
        apart = len(set(numbers.values())) == len(set(exact.values()))
        if not (apart and np.isfinite(list(numbers.values())).all()):
            return _as_they_are(texts)
    return np.array([numbers[text] for text in texts])


def _as_they_are(values):
    """Numbers of one type as an array of it; text as objects, so that nothing is cut or padded."""
    kinds = {type(value) for value in values}
    if len(kinds) == 1 and kinds <= {bool, int, float}:
        array = np.array(values)
        if array.dtype.kind != "f" or kinds == {float}:  # not whole numbers of too many digits
            return array
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,2})?")
