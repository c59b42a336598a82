"""Blocks of whole bags in this process, worked on by threads."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from itertools import pairwise, repeat
from operator import add
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs

from mixedbag.bags import Bags

_FEW = 2**20  # numbers: more of a few bags would be a copy that counts


class ClusterLostError(ConnectionError):
    """The cluster went away in the middle of something.

    When a fit was under way, ``model`` is the learner with what it had learned until then.

    See Also
    --------
    DistributedBags : What a cluster holds.

    Examples
    --------
    >>> from mixedbag.engines import ClusterLostError
    >>> issubclass(ClusterLostError, ConnectionError), ClusterLostError("gone").model is None
    (True, True)
    """

    model: Any = None


class Labelled(NamedTuple):
    """A block as learners see it: whole bags, with a target and a weight each.

    Parameters
    ----------
    bags : Bags
        Whole bags.
    target : array of shape (n_bags, …)
        What each bag carries: a sign, counts, a total.
    weight : array of shape (n_bags,)
        How much each bag counts.

    See Also
    --------
    LocalBlocks : Several of them in this process.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.engines import Labelled
    >>> block = Labelled(Bags(np.ones((3, 1)), [0, 2, 3]), np.array([1, -1]), np.array([1.0, 0.0]))
    >>> block.used().bags
    Bags(1 bags, 2 instances × 1 features)
    """

    bags: Bags
    target: np.ndarray
    weight: np.ndarray

    def total_weight(self) -> float:
        """How much all bags of the block count together."""
        return self.weight.sum()

    def used(self) -> "Labelled":
        """Without the bags of weight zero."""
        if self.weight.all():
            return self
        keep = self.weight > 0
        return Labelled(self.bags[keep], self.target[keep], self.weight[keep])


class BlockedBags:
    """Base of labelled bags that live in blocks elsewhere, and carry their labels."""

    blocks: Any
    labels: np.ndarray
    n_features: int
    feature_names: list[str]


def count_usable(block: Labelled, refuse: Callable[..., Any], allow_nan: bool) -> int:
    """Number of bags of a block, after `refuse` had a look at their values."""
    refuse(block.bags, allow_nan)
    return len(block.bags)


def with_signs(block: Labelled, positive: Any) -> Labelled:
    """The block with targets ±1: whether the label is `positive`."""
    return block._replace(target=np.where(block.target == positive, 1.0, -1.0)).used()


def with_truth(block: Labelled, label: Any) -> Labelled:
    """The block with targets that say whether the label is `label`."""
    return block._replace(target=block.target == label)


def few_bags(block: Labelled, n_bags: int) -> Labelled:
    """At most `n_bags` of a block, fewer of large ones, spread evenly over it."""
    each = block.bags.instances.size / len(block.bags)
    step = -(-len(block.bags) // min(n_bags, max(1, int(_FEW / max(each, 1)))))
    return Labelled(block.bags[::step], block.target[::step], block.weight[::step])


def with_totals(block: Labelled, aggregate: str) -> Labelled:
    """The block with totals as targets, from totals or means."""
    target = np.asarray(block.target, dtype=np.float64)
    return block._replace(
        target=(target.T * block.bags.sizes).T if aggregate == "mean" else target
    ).used()


class LocalBlocks:
    """Blocks in memory: the engine of every ordinary fit.

    Parameters
    ----------
    blocks : list
        `Labelled` bags, or whatever a function mapped over them returned.
    n_jobs : int, optional
        Number of threads; kernels release the interpreter lock.

    See Also
    --------
    DistributedBags : Blocks on a cluster.
    Labelled : One block.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.engines import LocalBlocks
    >>> bags = Bags(np.arange(6.0).reshape(6, 1), [0, 2, 4, 6])
    >>> blocks = LocalBlocks.cut(bags, np.zeros(3), np.ones(3), n_blocks=2)
    >>> float(blocks.sum(lambda block: block.bags.instances.sum()))
    15.0
    """

    def __init__(self, blocks: list[Any], n_jobs: int | None = None) -> None:
        self.blocks = blocks
        self.n_jobs = n_jobs

    @classmethod
    def cut(
        cls,
        bags: Bags,
        target: np.ndarray,
        weight: np.ndarray,
        n_jobs: int | None = None,
        n_blocks: int | None = None,
    ) -> Self:
        """Cut bags into `n_blocks` (by default one a thread) of about as many instances each."""
        n_blocks = min(n_blocks or effective_n_jobs(n_jobs), len(bags))
        goals = np.linspace(0, bags.n_instances, n_blocks + 1)[1:-1]
        edges = np.unique([0, *np.searchsorted(bags.offsets, goals), len(bags)])
        runs = [slice(a, b) for a, b in pairwise(edges)]
        return cls([Labelled(bags[run], target[run], weight[run]) for run in runs], n_jobs)

    def map(
        self, function: Callable[..., Any], *args: Any, each: list | None = None
    ) -> "LocalBlocks":
        """The results of ``function(block, *args)``, as blocks; `each` is as in `collect`.

        Here and below, an argument that is blocks itself is passed on block by block.
        """
        return LocalBlocks(self.collect(function, *args, each=each), self.n_jobs)

    def sum(self, function: Callable[..., Any], *args: Any) -> Any:
        """The sum over blocks of ``function(block, *args)``, always added in the same order."""
        return reduce(add, self._each(function, args))

    def collect(self, function: Callable[..., Any], *args: Any, each: list | None = None) -> list:
        """The list of ``function(block, *args)``: for small things only.

        `each` has one more first argument for every block: ``function(block, each[i], *args)``.
        """
        return self._each(function, args if each is None else (LocalBlocks(each), *args))

    def _each(self, function, args):
        columns = [arg.blocks if isinstance(arg, LocalBlocks) else repeat(arg) for arg in args]
        calls = list(zip(self.blocks, *columns))
        if len(calls) == 1:  # the usual case, and many rounds are made of such calls
            return [function(*calls[0])]
        return list(in_threads(function, calls, self.n_jobs))


def in_threads(
    function: Callable, calls: Sequence[tuple], n_jobs: int | None = None
) -> Iterator[Any]:
    """``function(*call)`` of every call, in their order, as soon as each is there."""
    n_threads = 1 if len(calls) == 1 else min(effective_n_jobs(n_jobs), len(calls))
    if n_threads == 1:
        yield from (function(*call) for call in calls)
        return
    # joblib's own threads look for results every 10 ms, longer than many a round takes
    with ThreadPoolExecutor(n_threads) as threads:
        yield from threads.map(lambda call: function(*call), calls)
