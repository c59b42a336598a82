"""What a machine found for one choice of witnesses or labels."""

from dataclasses import dataclass

import numpy as np

from mixedbag._solvers.hinge import Problem


@dataclass(frozen=True)
class Solution:
    """A solved problem: `f(x) = Σ_k weights_k φ_k(x) + intercept`.

    The functions `φ_k` are the features for a linear machine, and kernels at `support` (rows) for
    the others.
    """

    problem: Problem
    dual: np.ndarray | None
    objective: float
    gap: float
    scores: np.ndarray  # of all instances
    weights: np.ndarray
    intercept: float
    support: np.ndarray | None = None
