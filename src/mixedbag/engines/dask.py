"""Blocks of whole bags on a Dask cluster."""

import glob
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import repeat
from operator import add
from pathlib import Path
from typing import Any, Self

import numpy as np
from distributed import CancelledError, KilledWorker, default_client, progress, wait

from mixedbag.engines import _partitions as partitions
from mixedbag.engines import _schemas as schemas
from mixedbag.engines.local import BlockedBags, ClusterLostError

PATIENCE = 30.0  # seconds without any worker before the cluster counts as lost


class DaskBlocks:
    """Futures of blocks, each living on some worker.

    Mapped functions must not change their block: a block that is lost with its worker is computed
    again from its history, which is how a fit survives.
    """

    def __init__(self, client: Any, futures: list) -> None:
        self.client = client
        self.futures = futures

    def __len__(self):
        return len(self.futures)

    def map(
        self, function: Callable[..., Any], *args: Any, each: list | None = None
    ) -> "DaskBlocks":
        """The results of ``function(block, *args)``, kept on the workers, as blocks.

        Here and below, an argument that is blocks itself is passed on block by block; `each` is as
        in `collect`.
        """
        return DaskBlocks(self.client, self._submit(function, args, each))

    def sum(self, function: Callable[..., Any], *args: Any) -> Any:
        """The sum over blocks of ``function(block, *args)``, added on the workers."""
        parts = self._submit(function, args)
        while len(parts) > 1:  # a tree: no worker and no client sees more than two at a time
            pairs = [self._call(add, *parts[i : i + 2]) for i in range(0, len(parts) - 1, 2)]
            parts = pairs + parts[len(parts) - len(parts) % 2 :]
        return self._answer(parts[0])

    def collect(self, function: Callable[..., Any], *args: Any, each: list | None = None) -> list:
        """The list of ``function(block, *args)``: for small things only.

        `each` has one more first argument for every block: ``function(block, each[i], *args)``.
        """
        return [self._answer(part) for part in self._submit(function, args, each)]

    def _submit(self, function, args, each=None):
        args = args if each is None else (DaskBlocks(self.client, each), *args)
        columns = [arg.futures if isinstance(arg, DaskBlocks) else repeat(arg) for arg in args]
        return [self._call(function, *call) for call in zip(self.futures, *columns)]

    def _call(self, function, *args):
        try:
            return self.client.submit(function, *args, pure=False)
        except Exception as error:
            if self.client.status == "running":
                raise
            raise _lost(error) from error

    def _answer(self, future):
        lonely_since: float | None = None
        while True:
            try:
                wait(future, timeout=1.0)  # first: an impatient `result` would abort its transfer
                return future.result(timeout=PATIENCE)
            except TimeoutError as error:
                if self.client.status not in ("running", "connecting", "newly-created"):
                    raise _lost(error) from error
                alone = self.client.status == "connecting" or not self._has_workers()
                lonely_since = (lonely_since or time.monotonic()) if alone else None
                if lonely_since is not None and time.monotonic() - lonely_since > PATIENCE:
                    raise _lost(error) from error
            except (CancelledError, KilledWorker) as error:
                raise _lost(error) from error

    def _has_workers(self):
        try:
            return bool(self.client.nthreads())
        except (OSError, RuntimeError, TimeoutError):
            return False


def _lost(error):
    return ClusterLostError(f"the cluster is gone or lost its workers: {error}")


class DistributedBags(BlockedBags):
    """Labelled bags that live on a Dask cluster, for learners that need only sums over bags.

    It carries its labels: ``learner.fit(distributed_bags)``.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    futures : list of distributed.Future
        Blocks on it, `Labelled` each; `from_parquet` makes them.

    Attributes
    ----------
    n_bags, n_instances, n_features : int
        How many there are.
    feature_names : list of str
        What the features are.
    blocks : DaskBlocks of `Labelled`
        Where the bags live.

    See Also
    --------
    DistributedBags.from_parquet : Makes them of files.
    LocalBlocks : Blocks in this process.
    mixedbag.datasets.read_blocks : A large file on one machine, block by block.

    Examples
    --------
    On a cluster of one worker, with threads (``pip install "mixedbag[dask]"``):

    >>> import numpy as np
    >>> import pyarrow as pa
    >>> import pyarrow.parquet as pq
    >>> from distributed import Client
    >>> from mixedbag.classics import MILogisticRegression
    >>> from mixedbag.engines import DistributedBags
    >>> table = pa.table({"bag": [0, 0, 1, 2, 2, 3], "y": [1, 1, 0, 1, 1, 0], "x": np.arange(6.0)})
    >>> pq.write_table(table, "shapes.parquet")
    >>> with Client(processes=False, n_workers=1, dashboard_address=None) as client:
    ...     bags = DistributedBags.from_parquet("shapes.parquet", "bag", "y", client=client)
    ...     model = MILogisticRegression().fit(bags)
    >>> bags.n_bags, model.coef_.shape
    (4, (1,))
    """

    def __init__(self, client: Any, futures: list) -> None:
        parts = DaskBlocks(client, futures).collect(partitions.summarise)
        # A file whose bags all went home to other files, or have no weight, leaves an empty block.
        futures = [future for future, part in zip(futures, parts, strict=True) if part is not None]
        parts = [part for part in parts if part is not None]
        if not parts:
            raise ValueError("there are no bags in these files, or none of any weight")
        self.blocks = DaskBlocks(client, futures)
        self.n_bags = sum(part.n_bags for part in parts)
        self.n_instances = sum(part.n_instances for part in parts)
        self.feature_names = parts[0].feature_names
        self.n_features = len(self.feature_names)
        self.labels = np.unique(np.concatenate([part.labels for part in parts]))

    @classmethod
    def from_parquet(
        cls,
        path: str | Path,
        bag: str,
        label: str,
        features: list[str] | None = None,
        weight: str | None = None,
        client: Any = None,
        show_progress: bool = False,
    ) -> Self:
        """Read Parquet files, each by the worker that will hold it; the client sees no instance.

        Parameters
        ----------
        path : str or path
            A file, a folder of ``*.parquet`` files, or a glob pattern, at a place that every worker
            can read.
        bag, label : str
            The columns with the bag ids and with the bags' labels.
        features : list of str, optional
            The columns to learn from; by default all others.
        weight : str, optional
            A column with the bags' weights.
        client : distributed.Client, optional
            The cluster; by default the current one.
        show_progress : bool
            Whether to show a bar while the files are read.

        Notes
        -----
        Columns are matched by name. A file whose columns have other names than those of the first,
        or whose bag ids or labels are of another type (7, 7.0 and "7" would be three bags), is
        refused by name before any row is read.

        Every bag is kept whole. A bag whose rows lie in several files goes to the first of them;
        only such rows travel, between workers.
        """
        client = client or default_client()
        files = _files(path)
        columns = schemas.ParquetColumns(bag, label, weight, features)
        whole = DaskBlocks(client, [])
        found = [whole._call(schemas.read_schema, name, columns) for name in files]
        columns = schemas.agreed_columns([whole._answer(schema) for schema in found], columns)
        parts = [whole._call(partitions.read, name, columns) for name in files]
        if show_progress:
            progress(parts, notebook=False)
        homes = _homes_of_split_bags(whole, parts)
        moves = defaultdict(list)
        for (source, home), ids in sorted(homes.items()):
            moves[home].append(whole._call(partitions.extract, parts[source], ids))
        leaving: dict[int, list] = defaultdict(list)
        for (source, _), ids in homes.items():
            leaving[source] += ids
        futures = [
            whole._call(partitions.assemble, part, leaving[i], *moves[i])
            for i, part in enumerate(parts)
        ]
        wait(futures)
        return cls(client, futures)

    def __repr__(self):
        return (
            f"DistributedBags({self.n_bags} bags, {self.n_instances} instances × "
            f"{self.n_features} features in {len(self.blocks.futures)} blocks)"
        )

    def __len__(self):
        return self.n_bags


def _files(path):
    path = str(path)
    if Path(path).is_dir():
        files = sorted(map(str, Path(path).glob("*.parquet")))
    else:
        files = sorted(glob.glob(path))
    if not files:
        raise FileNotFoundError(f"no Parquet file matches {path}")
    return files


def _homes_of_split_bags(cluster, parts):
    """``{(part, home): ids}`` of the bags that lie in several parts; their home is the first."""
    if len(parts) == 1:
        return {}
    ids = [cluster._call(partitions.ids_by_bucket, part) for part in parts]
    homes = defaultdict(list)
    for bucket in range(partitions.N_BUCKETS):
        found = cluster._answer(cluster._call(partitions.split_ids, bucket, *ids))
        for name, places in found:
            for place in places[1:]:
                homes[place, places[0]].append(name)
    return homes
