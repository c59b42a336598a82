"""Blocks of whole bags on the disk of this machine, for tables larger than its memory."""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from itertools import repeat
from operator import add
from os import PathLike
from typing import Any, Self

import numpy as np

from mixedbag._validation import labelled, note_unlabelled, read_weights
from mixedbag.bags import Bags
from mixedbag.engines._spool import Spool, Workbench
from mixedbag.engines.local import BlockedBags, Labelled, in_threads

__all__ = ["SpooledBags", "SpooledBlocks"]

_BLOCK_CELLS = 4_000_000  # of instances in a block: few, since every thread holds one in memory


class SpooledBlocks:
    """Blocks on disk, each mapped into memory while a function looks at it.

    Mapped functions must not change their block.

    Parameters
    ----------
    items : list
        What `Workbench.put` made of blocks.
    n_jobs : int, optional
        Number of threads; each holds one block in memory.
    """

    def __init__(self, items: list[Any], n_jobs: int | None = None) -> None:
        self._items = items
        self.n_jobs = n_jobs

    @classmethod
    def spool(cls, blocks: Iterable[Any], n_jobs: int | None = None) -> Self:
        """Write blocks to disk, one after the other."""
        spool = Spool()
        return cls([Workbench().put(block, spool) for block in blocks], n_jobs)

    def __len__(self):
        return len(self._items)

    def map(self, function: Callable, *args: Any, each: Sequence | None = None) -> "SpooledBlocks":
        """The results of ``function(block, *args)``, kept on disk, as blocks.

        Here and below, an argument that is blocks itself is passed on block by block; `each` is as
        in `collect`.
        """
        spool = Spool()
        results = self._each(function, args, each, lambda bench, found: bench.put(found, spool))
        return SpooledBlocks(list(results), self.n_jobs)

    def sum(self, function: Callable, *args: Any) -> Any:
        """The sum over blocks of ``function(block, *args)``, always added in the same order."""
        return reduce(add, self._each(function, args, None, Workbench.own))

    def collect(self, function: Callable, *args: Any, each: Sequence | None = None) -> list[Any]:
        """The list of ``function(block, *args)``: for small things only.

        `each` has one more first argument for every block: ``function(block, each[i], *args)``.
        """
        return list(self._each(function, args, each, Workbench.own))

    def _each(self, function, args, each, keep):
        args = args if each is None else (SpooledBlocks(each), *args)
        columns = [arg._items if isinstance(arg, SpooledBlocks) else repeat(arg) for arg in args]

        def call(*items):
            bench = Workbench()
            return keep(bench, function(*map(bench.take, items)))

        return in_threads(call, list(zip(self._items, *columns)), self.n_jobs)


class SpooledBags(BlockedBags):
    """Labelled bags on the disk of this machine, for learners that need only sums over bags.

    It carries its labels: ``learner.fit(spooled_bags)``. The model is that of a fit in memory. The
    disk needs room for the table once, as float32 or float64, and for what the learner keeps of
    each instance, in the folder for temporary files (``TMPDIR``); all of it is free again when the
    bags are not used any more, even if the program is killed.

    Parameters
    ----------
    blocks : iterable
        Blocks of whole bags of the same features: `Labelled`, or anything with `bags`, `y` and
        `weight` (or None), such as what `mixedbag.datasets.read` returns. They are taken one by
        one and written to disk.
    n_jobs : int, optional
        Number of threads that look at blocks.

    Attributes
    ----------
    n_bags, n_instances, n_features : int
    n_unlabelled : int
        How many bags were left out since they have no label (None or NaN).
    feature_names : list of str, or None
    labels : array
        The labels that occur.
    blocks : SpooledBlocks of `Labelled`

    See Also
    --------
    SpooledBags.from_table : Read a table of any length.
    DistributedBags : Bags on a cluster.

    Examples
    --------
    >>> from mixedbag.datasets import make_any
    >>> from mixedbag.engines import SpooledBags
    >>> from mixedbag.classics import MILogisticRegression
    >>> spooled = SpooledBags(make_any(n_bags=20, random_state=seed) for seed in range(3))
    >>> spooled
    SpooledBags(60 bags, 616 instances × 10 features in 3 blocks)
    >>> MILogisticRegression().fit(spooled).coef_.shape
    (10,)
    """

    notes: tuple[str, ...] = ()  # what became of the columns of a table

    def __init__(self, blocks: Iterable[Any], n_jobs: int | None = None) -> None:
        self.n_bags = self.n_instances = self.n_unlabelled = 0
        self._labels: list[np.ndarray] = []
        self.blocks = SpooledBlocks.spool(self._read(blocks), n_jobs)
        if not self._labels:
            raise ValueError("there are no bags to learn from in these blocks")
        self.labels = np.unique(np.concatenate(self._labels))

    @classmethod
    def from_table(
        cls,
        source: str | PathLike,
        bag: str | None = None,
        label: str | None = None,
        *,
        weight: str | None = None,
        time: str | None = None,
        features: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        query: str | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Read a table of any length, as `mixedbag.datasets.read` does, without holding it.

        Parameters
        ----------
        source : path, or pattern of paths
            CSV, TSV, JSON, Parquet, Arrow, SQLite or DuckDB files. Rows of a bag need not be
            adjacent.
        bag, label : str, optional
            The columns with the bag ids and with the bags' labels; by default "bag" and "label".
        weight : str, optional
            The column with the bags' weights.
        time : str, optional
            The column that orders the rows of a bag.
        features : list of str, optional
            The columns to learn from; by default all others.
        drop : sequence of str
            Columns to leave out.
        query : str, optional
            A select statement that makes the table of another, called ``data`` in it.
        n_jobs : int, optional
            Number of threads that look at blocks.

        Returns
        -------
        SpooledBags
            Its `notes` say what became of the columns.

        Examples
        --------
        >>> from pathlib import Path
        >>> from mixedbag.engines import SpooledBags
        >>> rows = ["bag,label,x", *(f"b{i // 2},{i // 2 % 2},{i}.5" for i in range(40))]
        >>> _ = Path("measured.csv").write_text(chr(10).join(rows))
        >>> SpooledBags.from_table("measured.csv")
        SpooledBags(20 bags, 40 instances × 1 features in 1 blocks)
        """
        from mixedbag.tables import Roles, streamed

        roles = Roles(bag, label, weight, time=time, features=features, drop=tuple(drop))
        with streamed(source, roles, _BLOCK_CELLS, query) as table:
            bags = cls(table.blocks(), n_jobs)
            kept, bags.notes = table.verdict()
        bags.notes = (*bags.notes, *note_unlabelled(bags.n_unlabelled))
        if len(kept) < bags.n_features:
            bags.blocks = bags.blocks.map(_with_features, kept)
            bags.n_features = len(kept)
            bags.feature_names = [bags.feature_names[j] for j in kept]
        return bags

    def _read(self, blocks):
        """Blocks as `Labelled`, without bags to leave out, and their sizes noted."""
        for block in blocks:
            if not len(block.bags):
                continue
            found = _labelled(block)
            self.n_unlabelled += len(block.bags) - len(found.bags)
            found = found.used()
            bags = found.bags
            if not len(bags):
                continue
            if not self._labels:
                self.n_features, self.feature_names = bags.n_features, bags.feature_names
            elif (bags.n_features, bags.feature_names) != (self.n_features, self.feature_names):
                raise ValueError(
                    f"a block has the features {bags.feature_names or bags.n_features}, the first "
                    f"has {self.feature_names or self.n_features}"
                )
            self.n_bags += len(bags)
            self.n_instances += bags.n_instances
            self._labels.append(np.unique(found.target))
            yield found

    def __repr__(self):
        return (
            f"SpooledBags({self.n_bags} bags, {self.n_instances} instances × "
            f"{self.n_features} features in {len(self.blocks)} blocks)"
        )

    def __len__(self):
        return self.n_bags


def _labelled(block):
    """A block of any kind, without the bags that have no label."""
    bags, y, weight = block if isinstance(block, Labelled) else (block.bags, block.y, block.weight)
    if y is None:
        raise ValueError("these bags have no labels: say which column holds them")
    known, y = labelled(y)
    weight = np.ones(len(bags)) if weight is None else np.asarray(weight, dtype=np.float64)
    if weight.any():
        weight = read_weights(bags, weight)
    if not known.all():
        bags, weight = bags[known], weight[known]
    # Text as one array of characters lies on disk; objects would stay in memory.
    return Labelled(_with_flat_ids(bags), np.array(y.tolist()) if y.dtype == object else y, weight)


def _with_flat_ids(bags):
    """The same with ids of text as one array of characters."""
    ids = bags.ids
    if ids is None or ids.dtype != object or not all(isinstance(name, str) for name in ids):
        return bags
    return Bags(bags.instances, bags.offsets, ids.astype(str), bags.feature_names)


def _with_features(block, kept):
    bags = block.bags
    names = bags.feature_names and [bags.feature_names[j] for j in kept]
    return block._replace(bags=bags.with_instances(bags.instances[:, kept], names))
