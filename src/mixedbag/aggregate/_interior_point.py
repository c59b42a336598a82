"""Duals of linear support vector machines in one place, by the interior point method."""

import numpy as np
from scipy import linalg, sparse

from mixedbag.engines import LocalBlocks
from mixedbag.engines.interior_point import Box, solve_boxes


def solve_box(Z, linear, low, high, fixed_sum=0.0, tol=1e-10, max_iter=100):
    """Minimise ½‖Zᵀβ‖² − linearᵀβ over Σβ + fixed_sum = 0 and low ≤ β ≤ high.

    `Z` is dense or CSR.

    Returns
    -------
    beta : array (n,)
    w : array (n_features,)
        Zᵀβ.
    intercept : float
        The multiplier of the sum: at the solution Zw + intercept equals `linear` where β is free.
    n_iter : int
    """
    if Z.shape[1] > Z.shape[0]:  # fewer rows than features: any other factor of ZZᵀ will do
        gram = Z @ Z.T
        values, vectors = linalg.eigh(gram.toarray() if sparse.issparse(gram) else gram)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        beta, _, intercept, n_iter = solve_box(root, linear, low, high, fixed_sum, tol, max_iter)
        return beta, Z.T @ beta, intercept, n_iter
    boxes = LocalBlocks([Box.of(Z, linear, low, high)])
    boxes, w, intercept, _, n_iter = solve_boxes(boxes, 0.0, fixed_sum, tol, max_iter)
    return boxes.blocks[0].beta, w, intercept, n_iter
