"""How `compare` scales features for learners that need it.

Features of a dense table get mean zero and variance one. A sparse table stays sparse: where bags
have classes, rows get length one, as words of long and of short texts want it. Features are brought
to the same size before that only if they are measured in different units: words are not, and a rare
one must not count like a frequent one (``python -m benchmarks product/sparse_scaling``).
"""

import numpy as np
from sklearn.preprocessing import MaxAbsScaler, Normalizer, StandardScaler

from mixedbag.wrappers import InstanceWise

_SAME = 1.0  # standard deviation of the logarithm of a feature's size, in one unit


def scaling(rule, bags, exposure=None):
    """The steps that scale these bags' features, with names; an exposure keeps its unit."""
    if not bags.is_sparse:
        return [("scale", InstanceWise(StandardScaler(), keep=exposure))]
    by_feature = [("scale", InstanceWise(MaxAbsScaler(), keep=exposure))]
    if rule not in ("any", "majority"):
        return by_feature
    by_row = [("length", InstanceWise(Normalizer()))]
    return by_row if in_one_unit(bags.instances) else by_feature + by_row


def in_one_unit(table):
    """Whether features of a sparse table are of about the same size where they are not zero."""
    size = np.abs(table.data)
    some = size > 0  # which leaves out missing values
    feature = table.indices[some]
    n = np.bincount(feature)
    met = np.flatnonzero(n)
    if not len(met):
        return True
    logs = np.log(np.bincount(feature, size[some])[met] / n[met])
    mean = np.average(logs, weights=n[met])
    return bool(np.average((logs - mean) ** 2, weights=n[met]) < _SAME**2)
