"""What sets a group apart, and how much of it bags have shown: the span of their means."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array, diags_array, issparse
from sklearn.preprocessing import StandardScaler

_TINY = 1e-9  # of the mean square of bags: lets their products be solved for


def outside_span(bags, others, codes, n_groups):
    """The share of each group's direction that means of bags do not span.

    A direction is the mean of a group's instances less that of all instances of `bags`, each
    feature over its standard deviation. Along what no mean of a bag varies, bags say nothing of
    weights, and a learner answers by its penalty alone. Of more bags than features, nothing is
    outside.

    Parameters
    ----------
    bags : Bags
        Those that were learned from.
    others : Bags
        Those whose instances are in the groups.
    codes : array of shape (n_instances,)
        The group of each instance of `others`.
    n_groups : int

    Returns
    -------
    array of shape (n_groups,)
        From 0 to 1; of a group without instances 0.
    """
    if len(bags) > bags.n_features:
        return np.zeros(n_groups)
    usual = StandardScaler(with_mean=False).fit(bags.instances)
    means = [
        _means(bags.instances, bags.bag_of, len(bags), usual),
        _means(others.instances, codes, n_groups, usual),
    ]
    n, share_of = len(bags), bags.sizes / bags.n_instances
    product = np.block([[_products(a, b) for b in means] for a in means])
    product -= share_of @ product[:n]
    product -= (product[:, :n] @ share_of)[:, None]
    among, across = product[:n, :n], product[:n, n:]
    square = np.diag(product)[n:]
    among[np.diag_indices(n)] += _TINY * max(np.trace(among) / n, np.finfo(float).tiny)
    inside = np.sum(across * cho_solve(cho_factor(among), across), axis=0)
    some = np.bincount(codes, minlength=n_groups) > 0
    some &= square > _TINY * bags.n_features
    return np.where(some, np.clip(1.0 - inside / np.where(some, square, 1.0), 0.0, 1.0), 0.0)


def _means(X, codes, n, usual):
    """Mean rows, in units of their standard deviations; what is missing counts as usual."""
    size = np.maximum(np.bincount(codes, minlength=n), 1)
    mean = csr_array((1.0 / size[codes], (codes, np.arange(len(codes)))), shape=(n, len(codes)))
    if issparse(X):
        return mean @ X @ diags_array(1.0 / usual.scale_)
    unusual = np.nan_to_num(X - usual.mean_) if np.isnan(X).any() else X - usual.mean_
    return mean @ unusual / usual.scale_


def _products(a, b):
    product = a @ b.T
    return product.toarray() if issparse(product) else product
