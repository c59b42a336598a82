"""Blocks whose messages fit in the processor's cache, of bags in memory or of larger blocks."""

from functools import wraps

from mixedbag.engines import LocalBlocks

SAMPLES = 4096  # in a part


def cut(bags, target, weight, n_jobs=None):
    """Small blocks of bags, the same whatever the number of threads."""
    n_blocks = max(1, round(bags.n_instances / SAMPLES))
    return LocalBlocks.cut(bags, target, weight, n_jobs, n_blocks)


def in_parts(function):
    """A function of a block that is a sum over its bags, of large blocks part by part.

    Blocks of a disk or a cluster may be large: what is computed of each sample would be many times
    as much as they are.
    """

    @wraps(function)
    def summed(block, *args):
        return cut(*block).sum(function, *args)

    return summed
