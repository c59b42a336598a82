"""`Bags`: one table of instances, cut into bags. Every input becomes one."""

import numbers
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from mixedbag import _frames, _values
from mixedbag._tables import (
    as_array,
    as_labels,
    as_table,
    factorize,
    freeze,
    frozen,
    is_frame,
    is_full_slice,
    is_list_of_tables,
    numeric_table,
    plain,
    positions,
    stacked,
)

__all__ = ["Bags", "as_bags", "bag_labels"]


class Bags:
    """An immutable list of bags, stored as one table of instances.

    Bag ``i`` is the rows ``offsets[i]:offsets[i + 1]`` of `instances`. scikit-learn sees a
    container of ``len(bags)`` samples, so cross-validation, pipelines and searches keep bags whole.

    Parameters
    ----------
    instances : array or sparse matrix of shape (n_instances, n_features)
        The instances of all bags, one after the other. float32 and float64 are kept as they are,
        other numbers become float64; sparse matrices become CSR.
    offsets : array of shape (n_bags + 1,)
        Where each bag begins: starts at 0, ends at ``n_instances``, strictly increasing.
    ids : sequence of length n_bags, optional
        The bags' own names, used in messages and reports.
    feature_names : sequence of str of length n_features, optional
        What the columns of `instances` are, used in messages, reports and checks of later input.

    See Also
    --------
    Bags.from_list : Bags from a list of tables, one a bag.
    Bags.from_groups : Bags from one table and the bag of each of its rows.
    Bags.from_frame : Bags and labels from the columns of a data frame.
    as_bags : What every learner does with its input: `Bags`, lists, arrays or data frames.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> bags = Bags.from_list([np.ones((3, 2)), np.zeros((1, 2))], ids=["a", "b"])
    >>> bags
    Bags(2 bags, 4 instances × 2 features)
    >>> bags.sizes
    array([3, 1])
    >>> bags[1]
    array([[0., 0.]])
    >>> bags[[1, 0]].ids.tolist()
    ['b', 'a']
    """

    def __init__(
        self,
        instances: ArrayLike | sparse.csr_array,
        offsets: ArrayLike,
        ids: ArrayLike | None = None,
        feature_names: Iterable[str] | None = None,
    ) -> None:
        self._instances = freeze(as_table(instances))
        self._ids = None if ids is None else frozen(as_labels(ids))
        self._offsets = frozen(self._checked_offsets(offsets))
        if self._ids is not None and len(self._ids) != len(self):
            raise ValueError(f"{len(self._ids)} ids for {len(self)} bags")
        self._feature_names = None
        if feature_names is not None:
            self._feature_names = [str(name) for name in feature_names]
            if len(self._feature_names) != self.n_features:
                raise ValueError(
                    f"{len(self._feature_names)} feature names for {self.n_features} features"
                )

    def _checked_offsets(self, offsets):
        offsets = np.asarray(offsets)
        if offsets.ndim != 1 or len(offsets) == 0 or not np.issubdtype(offsets.dtype, np.integer):
            raise ValueError("offsets must be a one-dimensional array of whole numbers")
        offsets = offsets.astype(np.int64, copy=False)
        n_instances = self._instances.shape[0]
        if offsets[0] != 0 or offsets[-1] != n_instances:
            raise ValueError(
                f"offsets must start at 0 and end at the number of instances, {n_instances}; "
                f"they run from {offsets[0]} to {offsets[-1]}"
            )
        sizes = np.diff(offsets)
        if (sizes < 0).any():
            i = np.argmax(sizes < 0)
            raise ValueError(f"offsets must not decrease; they do after bag {i}")
        if (sizes == 0).any():
            raise ValueError(f"{self.name(int(np.argmax(sizes == 0)))} is empty")
        return offsets

    @classmethod
    def _unchecked(cls, instances, offsets, ids, feature_names):
        """Assemble parts that come from a valid `Bags`, without checking them again."""
        bags = cls.__new__(cls)
        bags._instances = freeze(instances)
        bags._offsets = frozen(offsets)
        bags._ids = None if ids is None else frozen(ids)
        bags._feature_names = feature_names
        return bags

    # Builders ------------------------------------------------------------------------------------

    @classmethod
    def from_list(
        cls,
        arrays: Iterable[ArrayLike | sparse.csr_array],
        ids: ArrayLike | None = None,
        feature_names: Iterable[str] | None = None,
    ) -> Self:
        """Build from a list of 2-D arrays (or sparse matrices), one a bag."""
        arrays = list(arrays)
        if not arrays:
            raise ValueError("no bags: the list is empty")
        ids = None if ids is None else as_labels(ids)
        tables: list = []
        for i, array in enumerate(arrays):
            name = f"bag {i}" if ids is None else f"bag {i} (id {plain(ids[i])!r})"
            try:
                table = as_table(array)
            except (ValueError, TypeError) as error:
                raise ValueError(f"{name}: {error}") from error
            if table.shape[0] == 0:
                raise ValueError(f"{name} is empty")
            if table.shape[1] != (tables or [table])[0].shape[1]:
                raise ValueError(
                    f"{name} has {table.shape[1]} features, bag 0 has {tables[0].shape[1]}"
                )
            tables.append(table)
        offsets = np.concatenate([[0], np.cumsum([t.shape[0] for t in tables])])
        return cls(stacked(tables), offsets.astype(np.int64), ids, feature_names)

    @classmethod
    def from_groups(
        cls,
        X: ArrayLike | sparse.csr_array,
        groups: ArrayLike,
        feature_names: Iterable[str] | None = None,
    ) -> Self:
        """Build from rows and one group id a row.

        Rows of a group need not be adjacent. Bags come in the order in which their ids first
        appear; rows keep their order inside a bag.
        """
        table = as_table(X)
        codes, ids = factorize(groups)
        if len(codes) != table.shape[0]:
            raise ValueError(f"{len(codes)} group ids for {table.shape[0]} instances")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(ids)))])
        if (np.diff(codes) < 0).any():  # otherwise the rows are grouped already: nothing to move
            table = table[np.argsort(codes, kind="stable")]
        return cls(table, offsets.astype(np.int64), ids, feature_names)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        bag: str,
        features: Sequence[str] | None = None,
        label: str | list[str] | tuple[str, ...] | None = None,
        size: str | None = None,
    ) -> "Bags | tuple[Bags, np.ndarray]":
        """Build from a data frame (pandas, polars, pyarrow, DuckDB) with a column of bag ids.

        The table is read as `mixedbag.datasets.read` reads a file: text of few values becomes
        columns of zeros and ones, dates become days, text of many values is left out; a warning
        says so. Bags come in the order in which their ids first appear.

        Parameters
        ----------
        frame : data frame
        bag : str
            The column that says which bag a row belongs to.
        features : list of str, optional
            The columns to learn from; by default every column but `bag` and the label.
        label : str or list of str, optional
            A column with the label of each row's bag. When given, the result is the pair
            ``(bags, y)``, with one label a bag. Several columns, ``"no,yes"`` or ``["no", "yes"]``,
            hold the counts or shares of a class each: `y` has a column a class. A count of more (or
            others) than the rows of the bag, as of all voters of a precinct of which some were
            asked, is ``"yes/voters"``: `y` is the share then.
        size : str, optional
            The same in two words: ``label="yes", size="voters"``.
        """
        from mixedbag.datasets import read

        data = read(frame, bag, label, size=size, features=features)
        for note in _frames.worth_a_warning(data.notes):
            warnings.warn(note, UserWarning, stacklevel=2)
        if label is None:
            return data.bags
        assert data.y is not None  # there is no table without its label
        return data.bags, data.y

    # What it holds -------------------------------------------------------------------------------

    @property
    def instances(self) -> np.ndarray | sparse.csr_array:
        """The table of all instances, read-only."""
        return self._instances

    @property
    def offsets(self) -> np.ndarray:
        """Where each bag begins in `instances`, and the end of the last."""
        return self._offsets

    @property
    def ids(self) -> np.ndarray | None:
        """The bags' own names, or None."""
        return self._ids

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns, or None."""
        return None if self._feature_names is None else list(self._feature_names)

    @property
    def sizes(self) -> np.ndarray:
        """Number of instances of each bag."""
        return self._offsets[1:] - self._offsets[:-1]

    @property
    def bag_of(self) -> np.ndarray:
        """Index of the bag that each instance belongs to."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @property
    def n_instances(self) -> int:
        return self._instances.shape[0]

    @property
    def n_features(self) -> int:
        return self._instances.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        """``(n_bags, n_features)``: to scikit-learn, a bag is a sample."""
        return len(self), self.n_features

    @property
    def ndim(self) -> int:
        return 2

    @property
    def is_sparse(self) -> bool:
        return sparse.issparse(self._instances)

    def name(self, i: int) -> str:
        """How messages call bag `i`: its position, and its id where it has one."""
        return f"bag {i}" if self._ids is None else f"bag {i} (id {plain(self._ids[i])!r})"

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __iter__(self) -> Iterator:
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        kind = ", sparse" if self.is_sparse else ""
        return (
            f"Bags({len(self)} bags, {self.n_instances} instances × {self.n_features} features"
            f"{kind})"
        )

    def __array__(self, *args, **kwargs):
        raise TypeError(
            "Bags are not an array: a bag has many rows. Use bags.instances for the flat table of "
            "instances, mixedbag.wrappers.BagFeatures for one row a bag, or "
            "mixedbag.wrappers.InstanceWise to apply a scikit-learn transformer to instances."
        )

    # Slicing -------------------------------------------------------------------------------------

    @overload
    def __getitem__(self, key: int | np.integer) -> Any: ...

    @overload
    def __getitem__(self, key: slice | list | tuple | np.ndarray) -> "Bags": ...

    def __getitem__(self, key):
        """A whole number gives that bag's 2-D array; anything else a new `Bags`.

        scikit-learn asks for ``bags[index, ...]``; the ellipsis stands for the columns.
        """
        if isinstance(key, tuple):
            if len(key) != 2 or not (key[1] is Ellipsis or is_full_slice(key[1])):
                raise IndexError("bags are indexed by bag only: bags[i], bags[mask], bags[1:3]")
            key = key[0]
        if isinstance(key, numbers.Integral) and not isinstance(key, (bool, np.bool_)):
            i = range(len(self))[key]  # IndexError past the end, negative from the back
            return self._instances[self._offsets[i] : self._offsets[i + 1]]
        if isinstance(key, slice) and key.step in (None, 1):
            return self._run(*key.indices(len(self))[:2])
        chosen = positions(key, len(self))
        if len(chosen) and (np.diff(chosen) == 1).all():
            return self._run(int(chosen[0]), int(chosen[-1]) + 1)
        return self._take(chosen)

    def _run(self, start, stop):
        """Adjacent bags: views, no copy."""
        stop = max(start, stop)
        first, last = self._offsets[start], self._offsets[stop]
        return Bags._unchecked(
            self._instances[first:last],
            self._offsets[start : stop + 1] - first,
            None if self._ids is None else self._ids[start:stop],
            self._feature_names,
        )

    def _take(self, positions):
        offsets = np.zeros(len(positions) + 1, dtype=np.int64)
        np.cumsum(self.sizes[positions], out=offsets[1:])
        ids = None if self._ids is None else self._ids[positions]
        rows = self.rows_of(positions)
        return Bags._unchecked(self._instances[rows], offsets, ids, self._feature_names)

    def rows_of(self, positions: np.ndarray) -> np.ndarray:
        """The rows of the instances of some bags, bag after bag, in the order asked for."""
        sizes = self.sizes[positions]
        ends = np.cumsum(sizes)
        return np.arange(sizes.sum()) + np.repeat(self._offsets[positions] - ends + sizes, sizes)

    # Derived bags --------------------------------------------------------------------------------

    def spread(self, values: ArrayLike) -> np.ndarray:
        """One value a bag, repeated to one an instance."""
        return np.repeat(values, self.sizes, axis=0)

    def with_instances(
        self, instances: np.ndarray | sparse.csr_array, feature_names: Iterable[str] | None = None
    ) -> "Bags":
        """The same bags with other instance rows (as many as before)."""
        if instances.shape[0] != self.n_instances:
            raise ValueError(f"{instances.shape[0]} rows for {self.n_instances} instances")
        return Bags(instances, self._offsets, self._ids, feature_names)

    def singletons(self) -> "Bags":
        """Every instance as a bag of its own."""
        return Bags._unchecked(
            self._instances, np.arange(self.n_instances + 1), None, self._feature_names
        )

    @classmethod
    def concat(cls, parts: "Iterable[Bags]") -> Self:
        """Several `Bags` one after the other; they must have the same features.

        Ids are kept where all parts have them.
        """
        parts = list(parts)
        if not parts:
            raise ValueError("no bags: the list is empty")
        first = parts[0]
        for i, part in enumerate(parts):
            if part.n_features != first.n_features:
                raise ValueError(
                    f"part {i} has {part.n_features} features, part 0 has {first.n_features}"
                )
            if part.feature_names != first.feature_names:
                raise ValueError(f"part {i} has other feature names than part 0")
        instances = stacked([part.instances for part in parts])
        sizes = np.concatenate([part.sizes for part in parts])
        known = [part.ids.tolist() for part in parts if part.ids is not None]
        ids = list(chain(*known)) if len(known) == len(parts) else None
        return cls(instances, np.concatenate([[0], np.cumsum(sizes)]), ids, first.feature_names)

    def to_frame(
        self,
        y: ArrayLike | None = None,
        *,
        bag: str = "bag",
        label: str = "label",
        backend: Literal["pandas", "polars", "pyarrow"] = "pandas",
    ) -> Any:
        """A data frame with a row an instance, which `from_frame` reads back.

        Parameters
        ----------
        y : array of shape (n_bags,), optional
            Labels of the bags, for the column `label`.
        bag, label : str
            Names of the columns with the bag's id and label.
        backend : {"pandas", "polars", "pyarrow"}
        """
        return _frames.to_frame(self, y, bag, label, backend)

    def _repr_html_(self):
        return _frames.to_html(self)

    def check_finite(self, allow_nan: bool = False, largest: float = np.inf) -> None:
        """Raise a `ValueError` that names the place of the first NaN or infinity.

        So does a value farther from zero than `largest`.
        """
        _values.check_finite(self, allow_nan, largest)

    def largest(self) -> str:
        """A sentence on the place of the value farthest from zero, for messages."""
        return _values.largest(self)


def as_bags(x: Any) -> Bags:
    """Read `x` as bags: what every learner does with its input.

    A `Bags` is returned as it is; a list of 2-D arrays and a 3-D array are bags of several
    instances; **a plain 2-D array or data frame means bags of one instance**, so that predicting on
    ordinary rows is the instance-level prediction.

    Parameters
    ----------
    x : Bags, list of arrays, array, sparse matrix or data frame
        What is to be read.

    Returns
    -------
    Bags
        The same bags, or new ones that share the memory of `x` where they can.

    See Also
    --------
    Bags : Built directly, with names of bags and features.
    Bags.from_frame : Bags from a column that names the bag of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import as_bags
    >>> as_bags([np.zeros((3, 2)), np.ones((1, 2))])
    Bags(2 bags, 4 instances × 2 features)
    >>> as_bags(np.zeros((4, 2)))
    Bags(4 bags, 4 instances × 2 features)
    """
    if isinstance(x, Bags):
        return x
    if is_frame(x):
        import narwhals.stable.v2 as nw

        frame = nw.from_native(x, eager_only=True)
        names = list(frame.columns)
        table = numeric_table(frame, names)
        named = all(isinstance(name, str) for name in names)
        return Bags(table, np.arange(len(table) + 1), feature_names=names if named else None)
    if is_list_of_tables(x):
        return Bags.from_list(x)
    table = x if sparse.issparse(x) else as_array(x)
    if table.ndim == 3:
        n_bags, size, n_features = table.shape
        return Bags(
            table.reshape(n_bags * size, n_features), np.arange(n_bags + 1, dtype=np.int64) * size
        )
    table = as_table(table)
    return Bags._unchecked(table, np.arange(table.shape[0] + 1), None, None)


def bag_labels(labels: ArrayLike, groups: ArrayLike) -> np.ndarray:
    """One label a bag from one label a row, in the order in which the groups first appear.

    A bag whose rows disagree is an error that names it.

    Parameters
    ----------
    labels : array of shape (n_instances,)
        The label of each row's bag.
    groups : array of shape (n_instances,)
        The bag of each row.

    Returns
    -------
    array of shape (n_bags,)
        The label of each bag.

    See Also
    --------
    mixedbag.Bags.from_groups : The bags themselves, in the same order.

    Examples
    --------
    >>> from mixedbag.bags import bag_labels
    >>> bag_labels(["yes", "yes", "no"], groups=["a", "a", "b"]).tolist()
    ['yes', 'no']
    """
    codes, ids = factorize(groups)
    labels = as_labels(labels)
    if len(labels) != len(codes):
        raise ValueError(f"{len(labels)} labels for {len(codes)} rows")
    first = np.full(len(ids), len(codes))
    np.minimum.at(first, codes, np.arange(len(codes)))
    per_bag = labels[first]
    wrong = per_bag[codes] != labels
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"bag {plain(ids[codes[row]])!r} has two labels: {plain(per_bag[codes[row]])!r} and "
            f"{plain(labels[row])!r} (row {row})"
        )
    return per_bag


def __dir__():
    return __all__
