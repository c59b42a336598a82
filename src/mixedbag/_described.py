"""Bags described by statistics of their instances, a row each: dense, or sparse without a copy."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from mixedbag._segments import bag_max, bag_sum
from mixedbag._wide import in_double
from mixedbag.bags import Bags

STATISTICS = ("min", "mean", "max", "std", "log_size")


def described(bags: Bags, statistics: Sequence[str]) -> np.ndarray | sparse.csr_array:
    """A row of `statistics` a bag; sparse where the instances are."""
    if bags.is_sparse:
        columns = [sparse.csr_array(_sparse_statistic(name, bags)) for name in statistics]
        return _with_short_indices(sparse.hstack(columns, format="csr"))
    pieces = (piece for _, piece in in_double(bags))
    return np.vstack([np.hstack([_statistic(n, p) for n in statistics]) for p in pieces])


def _statistic(name, bags):
    X, offsets, sizes = bags.instances, bags.offsets, bags.sizes[:, None]
    if name == "log_size":
        return np.log(sizes)
    if name == "min":
        return -bag_max(-X, offsets)
    if name == "max":
        return bag_max(X, offsets)
    mean = bag_sum(X, offsets) / sizes
    if name == "mean":
        return mean
    return np.sqrt(bag_sum((X - bags.spread(mean)) ** 2, offsets) / sizes)


def _with_short_indices(table):
    """The table with indices of 32 bits where these are enough: trees read no others."""
    if max(table.nnz, *table.shape) > np.iinfo(np.int32).max:
        return table
    parts = table.data, table.indices.astype(np.int32), table.indptr.astype(np.int32)
    return sparse.csr_array(parts, shape=table.shape)


def _sparse_statistic(name, bags):
    X, sizes = bags.instances, bags.sizes[:, None]
    if name == "log_size":
        return np.log(sizes)
    member = sparse.csr_array(
        (np.ones(bags.n_instances), np.arange(bags.n_instances), bags.offsets),
        shape=(len(bags), bags.n_instances),
    )
    if name == "mean":
        return (member @ X) / sizes
    if name == "std":
        mean = (member @ X) / sizes
        return ((member @ X.power(2)) / sizes - mean.power(2)).maximum(0).sqrt()
    # Extremes over the stored values of each (bag, feature) cell, and over the zeros it leaves out.
    key = bags.bag_of.repeat(np.diff(X.indptr)) * bags.n_features + X.indices
    order = np.argsort(key, kind="stable")
    cells, first, stored = np.unique(key[order], return_index=True, return_counts=True)
    extreme = np.maximum if name == "max" else np.minimum
    values = extreme.reduceat(X.data[order], first) if len(first) else X.data[:0]
    bag, feature = np.divmod(cells, bags.n_features)
    has_zero = stored < bags.sizes[bag]
    values = np.where(has_zero, extreme(values, 0), values)
    return sparse.csr_array((values, (bag, feature)), shape=bags.shape)
