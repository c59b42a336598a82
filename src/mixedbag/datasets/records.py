"""What the data functions return: bags, plain tables, and recordings in time."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mixedbag._validation import labelled, note_unlabelled, unlabelled
from mixedbag.bags import Bags
from mixedbag.exceptions import InputError


class DataFormatError(InputError):
    """A file that cannot be read as it claims to be: says which file, which line, and why.

    Parameters
    ----------
    path : str or path
        The file.
    reason : str
        What is wrong with it.
    line : int, optional
        Where.

    Attributes
    ----------
    column : str or None
        The column that was asked for and is not there, where that is what is wrong.

    See Also
    --------
    mixedbag.exceptions.InputError : Any input that cannot be used.

    Examples
    --------
    >>> from mixedbag.datasets import DataFormatError
    >>> print(DataFormatError("shapes.csv", "no column is called 'bag'", line=1))
    shapes.csv, line 1: no column is called 'bag'
    """

    column: str | None = None

    def __init__(self, path: str | Path, reason: str, line: int | None = None) -> None:
        self.path = str(path)
        self.line = line
        self.reason = reason
        place = self.path if line is None else f"{self.path}, line {line}"
        super().__init__(f"{place}: {reason}")

    def __reduce__(self):
        return type(self), (self.path, self.reason, self.line)


@dataclass(frozen=True)
class BagData:
    """Bags with their labels, and whatever else the source tells about them.

    Parameters
    ----------
    bags : Bags
        The bags.
    y : array of shape (n_bags, …) or None
        One label, count, or total a bag; None when the source has no labels. Where some bags have
        none, it is an array of objects with None for those.
    weight : array of shape (n_bags,) or None
        Bag weights, where the file gives them.
    instance_labels : array of shape (n_instances,) or None
        The hidden truth, where it is known. Learners never see it.
    instance_ids : array of shape (n_instances,) or None
        Names of the instances, where the source gives them.
    groups : array of shape (n_bags,) or None
        What must stay together in cross-validation, such as the person a bag comes from.
    image_shape : tuple or None
        The shape to display an instance in, when instances are images.
    notes : tuple of str
        What was understood, what was left out, and why.
    coords : array of shape (n_instances, 2) or None
        Where each instance lies, such as a patch on its slide; NaN where nobody knows.

    See Also
    --------
    read : Makes one of a file.
    Table : Rows with a label each.
    Recordings : Time series with a label for every sample.

    Examples
    --------
    >>> from mixedbag import Bags
    >>> from mixedbag.datasets import BagData
    >>> data = BagData(Bags.from_list([[[0.5], [2.0]], [[0.1]]]), y=["yes", "no"])
    >>> data
    BagData(Bags(2 bags, 3 instances × 1 features), 1 of yes, 1 of no)
    >>> bags, y = data
    """

    bags: Bags
    y: np.ndarray | None = None
    weight: np.ndarray | None = None
    instance_labels: np.ndarray | None = None
    instance_ids: np.ndarray | None = None
    groups: np.ndarray | None = None
    image_shape: tuple | None = None
    notes: tuple = ()
    coords: np.ndarray | None = None

    def __post_init__(self):
        for name, length in (
            ("y", len(self.bags)),
            ("weight", len(self.bags)),
            ("groups", len(self.bags)),
            ("instance_labels", self.bags.n_instances),
            ("instance_ids", self.bags.n_instances),
            ("coords", self.bags.n_instances),
        ):
            value = getattr(self, name)
            if value is not None and len(value) != length:
                raise ValueError(f"{len(value)} values of {name} where {length} are needed")

    def __repr__(self):
        extras = [
            n
            for n in ("weight", "instance_labels", "groups", "coords")
            if getattr(self, n) is not None
        ]
        return f"BagData({', '.join([repr(self.bags), class_sizes(self.y), *extras])})"

    def __iter__(self) -> Iterator[Any]:
        """So that ``bags, y = load("musk1")`` reads as it should."""
        return iter((self.bags, self.y))

    def by_label(self) -> tuple[Self, Self | None]:
        """The bags that have a label, and the others, None where there are none."""
        if self.y is None or (labels := labelled(self.y))[0].all():
            return self, None
        known, y = labels
        if not known.any():
            raise InputError("no bag has a label")
        notes = (*self.notes, *note_unlabelled(int((~known).sum())))
        return replace(self.part(known), y=y, notes=notes), replace(self.part(~known), y=None)

    def part(self, keep: np.ndarray) -> Self:
        """Some of the bags, with all that is known of them: a mask, one value a bag."""
        parts: dict[str, Any] = {"bags": self.bags[keep]}
        for rows, names in (
            (keep, ("y", "weight", "groups")),
            (self.bags.spread(keep), ("instance_labels", "instance_ids", "coords")),
        ):
            found = ((name, getattr(self, name)) for name in names)
            parts |= {name: values[rows] for name, values in found if values is not None}
        return replace(self, **parts)

    @property
    def images(self) -> np.ndarray:
        """The instances in the shape that shows them as images."""
        if self.image_shape is None:
            raise AttributeError("these instances are not images")
        return self.bags.instances.reshape(-1, *self.image_shape)


@dataclass(frozen=True)
class Table:
    """A plain table: one label a row. Missing values are NaN.

    ``split`` says which part a row belongs to ("train", "test") where the source fixes it.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        The rows.
    y : array of shape (n_rows,)
        Their labels.
    feature_names : list of str, optional
        What the columns are.
    split : array of shape (n_rows,), optional
        Which part each row belongs to.
    notes : tuple of str
        What was understood, what was left out, and why.

    See Also
    --------
    BagData : Bags with a label each.
    aggregate : Makes bags of such rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.datasets import Table
    >>> table = Table(np.array([[1.0, np.nan], [2.0, 3.0]]), np.array([0, 1]))
    >>> table.complete()
    Table(1 rows × 2 features, 1 of 1)
    """

    X: np.ndarray
    y: np.ndarray
    feature_names: list | None = None
    split: np.ndarray | None = None
    notes: tuple = ()

    def __repr__(self):
        return f"Table({self.X.shape[0]} rows × {self.X.shape[1]} features, {class_sizes(self.y)})"

    def complete(self) -> Self:
        """The rows without a missing value, in their order."""
        whole = ~np.isnan(self.X).any(axis=1)
        note = f"{np.count_nonzero(~whole)} rows with missing values left out"
        return replace(
            self,
            X=self.X[whole],
            y=self.y[whole],
            split=None if self.split is None else self.split[whole],
            notes=(*self.notes, note),
        )


@dataclass(frozen=True)
class Recordings:
    """Labelled time series: one bag a recording, one instance a sample, in the order of time.

    Parameters
    ----------
    bags : Bags
        One bag a recording; `bags.ids` names it.
    instance_labels : array of shape (n_instances,)
        The activity of each sample; 0 where nobody labelled it.
    activities : dict
        Activity number to name.
    groups : array of shape (n_recordings,)
        The person or trial of each recording.
    time : array of shape (n_instances,) or None
        Seconds since the start, where sampling is irregular.
    other : array of shape (n_instances, n_other) or None
        Further columns of the recording, named by `other_names`, that are not motion.
    other_names : tuple of str
        Names of the columns in `other`.
    notes : tuple of str
        What was understood, what was left out, and why.

    See Also
    --------
    BagData : What `Recordings.bags_of` makes of them.
    make_sequences : Made-up recordings.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.datasets import Recordings
    >>> bags = Bags(np.arange(6.0).reshape(6, 1), [0, 6])
    >>> walk = Recordings(bags, np.array([1, 1, 1, 2, 2, 2]), {1: "sit", 2: "walk"}, np.array([7]))
    >>> walk.bags_of(size=3).y
    array([1, 2])
    """

    bags: Bags
    instance_labels: np.ndarray
    activities: dict
    groups: np.ndarray
    time: np.ndarray | None = None
    other: np.ndarray | None = None
    other_names: tuple = ()
    notes: tuple = field(default=())

    def __repr__(self):
        return (
            f"Recordings({len(self.bags)} recordings, {self.bags.n_instances} samples × "
            f"{self.bags.n_features} features, {len(self.activities)} activities)"
        )

    @property
    def y(self) -> np.ndarray:
        """The activity of most samples of each recording."""
        return _majority(self.instance_labels, self.bags.offsets)

    def bags_of(self, size: int = 200, min_size: int | None = None) -> BagData:
        """Cut every recording into bags of `size` adjacent samples, labelled by their majority.

        Unlabelled samples (activity 0) belong to no bag, and no bag reaches across them: a
        recording is cut at them first. What is left at the end of a stretch becomes a shorter bag
        when it has at least `min_size` samples (default: `size`, so that all bags are equal);
        otherwise it is left out and counted in `notes`. A tie goes to the activity with the
        smaller number.

        Returns
        -------
        BagData
            `y` is the activity of most samples in a bag (``data.y == 4`` is the question of one
            activity against the rest), `instance_labels` the activity of every sample, and
            `groups` the person or trial.
        """
        if size < 1:
            raise ValueError(f"size must be at least 1, got {size}")
        min_size = size if min_size is None else min_size
        if not 1 <= min_size <= size:
            raise ValueError(f"min_size must be between 1 and size={size}, got {min_size}")
        starts, stops, owner = self._cuts(size, min_size)
        if not len(starts):
            raise ValueError(f"no recording has {min_size} labelled samples in a row")
        lengths = stops - starts
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        rows = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
        labels = self.instance_labels[rows]
        number = np.arange(len(owner)) - np.searchsorted(owner, owner)
        names = np.arange(len(self.bags)) if self.bags.ids is None else self.bags.ids
        ids = [f"{names[o]}-{n}" for o, n in zip(owner, number)]
        left_out = self.bags.n_instances - len(rows)
        unlabelled = np.count_nonzero(self.instance_labels == 0)
        return BagData(
            bags=Bags(self.bags.instances[rows], offsets, ids, self.bags.feature_names),
            y=_majority(labels, offsets),
            instance_labels=labels,
            groups=self.groups[owner],
            notes=(
                *self.notes,
                f"{left_out} of {self.bags.n_instances} samples are in no bag: {unlabelled} "
                f"unlabelled, {left_out - unlabelled} in ends shorter than {min_size}",
            ),
        )

    def _cuts(self, size, min_size):
        """First row, end and recording of every bag."""
        starts, stops, owner = [], [], []
        for i, (first, last) in enumerate(zip(self.bags.offsets[:-1], self.bags.offsets[1:])):
            labelled = np.concatenate([[0], self.instance_labels[first:last] != 0, [0]])
            edges = np.flatnonzero(np.diff(labelled)) + first
            for begin, end in zip(edges[::2], edges[1::2]):
                cut = np.append(np.arange(begin, end, size), end)
                keep = np.diff(cut) >= min_size
                starts.extend(cut[:-1][keep])
                stops.extend(cut[1:][keep])
                owner.extend([i] * np.count_nonzero(keep))
        return np.array(starts, int), np.array(stops, int), np.array(owner, int)


def _majority(labels, offsets):
    """The most frequent label of each run of labels; the smaller of two that tie."""
    codes, positions = np.unique(labels, return_inverse=True)
    starts = offsets[:-1]
    votes = [np.add.reduceat(positions == k, starts, dtype=np.int64) for k in range(len(codes))]
    return codes[np.argmax(votes, axis=0)]


def class_sizes(y: ArrayLike | None) -> str:
    """``"47 of 1, 45 of 0"`` for a few classes, a range for numbers, in the words of a report."""
    if y is None:
        return "no labels"
    y = np.asarray(y)
    if y.ndim > 1:
        return f"{y.shape[1]} counts a bag"
    if (without := unlabelled(y)).any():
        known = np.array([value for value, none in zip(y.tolist(), without) if not none])
        return f"{class_sizes(known)}, {np.count_nonzero(without)} without label".lstrip(", ")
    if y.dtype.kind == "f" and np.all((y >= 0) & (y <= 1)) and np.any(y != np.round(y)):
        y = np.round(y, 4)  # shares, as they are read
    values, counts = np.unique(y, return_counts=True)
    if len(values) > 10 and y.dtype.kind in "iuf":
        return f"labels from {values[0]:g} to {values[-1]:g}"
    if len(values) > 10:
        return f"{len(values)} classes"
    return ", ".join(f"{n} of {v}" for v, n in zip(values[::-1], counts[::-1]))
