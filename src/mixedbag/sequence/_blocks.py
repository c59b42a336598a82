"""Sums over bags, computed in blocks of whole bags on threads."""

from functools import reduce
from operator import add

import numpy as np
from joblib import Parallel, delayed

BLOCK_SAMPLES = 8192  # the messages of a block fit in the processor's cache


def cut(bags):
    """Slices of adjacent bags of about equal size; the same whatever the number of threads."""
    n_blocks = max(1, round(bags.n_instances / BLOCK_SAMPLES))
    goals = np.linspace(0, bags.n_instances, n_blocks + 1)[1:-1]
    edges = np.unique([0, *np.searchsorted(bags.offsets, goals), len(bags)])
    return [slice(a, b) for a, b in zip(edges[:-1], edges[1:], strict=True)]


def map_blocks(function, bags, arrays, *args, n_jobs=None):
    """``function(block of bags, blocks of arrays…, *args)`` for every block, in order."""
    return Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(function)(bags[block], *(a[block] for a in arrays), *args) for block in cut(bags)
    )


def sum_blocks(function, bags, arrays, *args, n_jobs=None):
    """The sum of :func:`map_blocks`."""
    return reduce(add, map_blocks(function, bags, arrays, *args, n_jobs=n_jobs))
