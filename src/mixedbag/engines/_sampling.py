"""A bounded sample of the rows of all blocks, for what must be decided in one place."""

import numpy as np
from scipy import sparse

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
    joined = join(rows)
    return joined.tocsr() if sparse.issparse(joined) else joined, np.concatenate(weights), step


def _n_instances(block):
    return block.bags.n_instances


def _rows(block, first, step):
    weight = block.bags.spread(block.weight)
    if step == 1:
        return block.bags.instances, weight
    return block.bags.instances[first::step], weight[first::step]
