"""Linear models in the leaves of a tree, fitted to totals of bags all at once::

    min Σ_c w_c (Σ_{i∈c} (r_0 + r_l(i) + v_l(i)·z_i) − y_c)² + ridge Σ_l (r_l² + ‖v_l‖²)

with l(i) the leaf of instance i and z its features, standardised: their units do not matter.
"""

import numpy as np

from mixedbag.pooling import bag_sum


def fit_leaf_models(tree, bags, total, weight, ridge):
    """Value and slopes of every node, (n_nodes,) and (n_nodes, n_features); zero in inner ones."""
    X = bags.instances
    mean, spread = X.mean(axis=0), X.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    inputs = np.column_stack([np.ones(len(X)), (X - mean) / spread])
    leaf_of = tree.apply(X)
    leaves = np.flatnonzero(tree.feature < 0)
    summed = [bag_sum(np.where((leaf_of == l)[:, None], inputs, 0.0), bags.offsets) for l in leaves]
    root = np.sqrt(weight)
    baseline, coef = _solve(
        np.hstack(summed) * root[:, None], root * bags.sizes, root * total, ridge
    )
    coef = coef.reshape(len(leaves), -1)
    value, slope = np.zeros(len(tree.feature)), np.zeros((len(tree.feature), X.shape[1]))
    slope[leaves] = coef[:, 1:] / spread
    value[leaves] = baseline + coef[:, 0] - slope[leaves] @ mean
    return value, slope


def _solve(A, sizes, total, ridge):
    """r_0 and the other coefficients; without a price, r_0 says nothing new and is left out."""
    if ridge == 0:
        return 0.0, np.linalg.lstsq(A, total, rcond=None)[0]
    n, p = A.shape
    if p < n:
        penalty = np.sqrt(ridge) * np.eye(p + 1)[1:]
        stacked = np.vstack([np.column_stack([sizes, A]), penalty])
        found = np.linalg.lstsq(stacked, np.concatenate([total, np.zeros(p)]), rcond=None)[0]
        return found[0], found[1:]
    sides = np.column_stack([sizes, total])  # fewer bags than coefficients: a system of the bags
    by_sizes, by_total = np.linalg.solve(A @ A.T + ridge * np.eye(n), sides).T
    baseline = (sizes @ by_total) / (sizes @ by_sizes)
    return baseline, A.T @ (by_total - baseline * by_sizes)
