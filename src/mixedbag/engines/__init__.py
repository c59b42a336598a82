"""Where sums over bags are computed: in this process, from its disk, or on a Dask cluster.

An engine holds *blocks of whole bags* and knows two operations: `map` a function over the blocks
and keep the results where the blocks are, and `sum` a function's results over the blocks. A
learner written with these two runs on any engine.
"""

from mixedbag.engines.local import ClusterLostError, Labelled, LocalBlocks
from mixedbag.engines.spooled import SpooledBags

__all__ = ["ClusterLostError", "DistributedBags", "Labelled", "LocalBlocks", "SpooledBags"]


def __getattr__(name):
    # Dask is an extra: imported when asked for.
    if name == "DistributedBags":
        from mixedbag.engines.dask import DistributedBags

        return DistributedBags
    raise AttributeError(f"module 'mixedbag.engines' has no attribute {name!r}")


def __dir__():
    return __all__
