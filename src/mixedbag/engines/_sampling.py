"""A bounded sample of the rows of all blocks, for what must be decided in one place."""

from typing import Any

import numpy as np
from scipy import sparse

from mixedbag.bags import Bags
from mixedbag.engines.local import Labelled

_GOLDEN = (np.sqrt(5) - 1) / 2
LIMIT = 200_000  # rows that travel to the client at most


def sample_rows(blocks):
    """Every ``step``-th row of all labelled blocks, the weights of their bags, and ``step``.

    The rows are the same however the bags are cut into blocks.
    """
    counts = np.array(blocks.collect(_n_instances))
    step = max(1, -(-int(counts.sum()) // LIMIT))
    parts = blocks.collect(_rows, step, each=-(np.cumsum(counts) - counts) % step)
    rows, weights = zip(*parts)
    if len(rows) == 1:
        return rows[0], weights[0], step
    join = sparse.vstack if sparse.issparse(rows[0]) else np.concatenate
    joined: Any = join(rows)
    return joined.tocsr() if sparse.issparse(joined) else joined, np.concatenate(weights), step


def sample_bags(blocks, n_instances):
    """Bags of all labelled blocks, spread over them, with about `n_instances` together.

    The bags are the same however they are cut into blocks. Not every so-manieth: where labels take
    turns, as those of cases and controls do, all might be alike.
    """
    counts = np.array(blocks.collect(_n_bags))
    share = n_instances / sum(blocks.collect(_n_instances))
    parts = blocks.collect(_bags, share, each=np.cumsum(counts) - counts)
    bags, target, weight = zip(*(part for part in parts if len(part.bags)))
    return Labelled(Bags.concat(bags), np.concatenate(target), np.concatenate(weight))


def _n_bags(block):
    return len(block.bags)


def _bags(block, first, share):
    position = first + np.arange(len(block.bags))
    # Multiples of this number lie evenly between whole numbers, those of every period too.
    some = np.flatnonzero(position * _GOLDEN % 1 < share)
    return Labelled(*(part[some] for part in block))


def _n_instances(block):
    return block.bags.n_instances


def _rows(block, first, step):
    weight = block.bags.spread(block.weight)
    if step == 1:
        return block.bags.instances, weight
    return block.bags.instances[first::step], weight[first::step]
