"""MILES: similarities to training instances as features, and a sparse linear machine on them."""

import numpy as np
from sklearn.utils import check_random_state

from mixedbag._kernels import settled_gamma
from mixedbag._pairs import rows_to_nearest
from mixedbag._parameters import above, one_of, whole
from mixedbag._solvers.sparse_machine import sparse_machine
from mixedbag.base import BagClassifier
from mixedbag.classics._rows import sample_rows

__all__ = ["MILES"]

_GAP = 1e-6  # of the objective, times the tolerance


class MILES(BagClassifier):
    """Multiple-instance learning via embedded instance selection (Chen, Bi and Wang, 2006).

    Every training instance ``x`` is a possible concept, good or bad. A bag is described by how
    close it comes to each, ``s(x, B) = max_{b ∈ B} exp(−γ ‖b − x‖²)``, and a linear support vector
    machine with a 1-norm penalty picks the few concepts that matter. Instances may speak for the
    class or against it, so the rule that one positive instance makes a bag positive is not needed.
    Its intercept is free. Errors are squared hinges, where the paper has hinges.

    Parameters
    ----------
    C : float
        Penalty of errors on training bags; large values select more concepts.
    gamma : float, "scale" or "auto"
        How fast similarity falls with squared distance. "scale" is
        ``1 / (n_features · variance)``, "auto" is ``1 / n_features``.
    max_concepts : int
        Above this number of distinct training instances, concepts are drawn at random from them:
        the table of similarities has ``n_bags × max_concepts`` entries.
    tol : float
        Tolerance of the solver.
    max_iter : int
        Most steps of the solver.
    random_state : int, RandomState or None
        For the draw of concepts.
    n_jobs : int or None
        Threads that compute similarities.

    Attributes
    ----------
    concepts_ : array or sparse array of shape (n_selected, n_features)
        The instances that were selected.
    coef_ : array of shape (n_selected,)
        Their weights: positive ones speak for the second class.
    intercept_ : float
    gamma_ : float

    See Also
    --------
    MILIS : One instance of every bag is a candidate, so that the search stays small where instances
        are many.
    mixedbag.embeddings.PrototypeClassifier : Moves a few concepts to where they serve best, rather
        than picking among instances.
    DDSVM : Concepts are points near many positive bags, each with scales of its own.

    Examples
    --------
    >>> from mixedbag.classics import MILES
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=60, random_state=0)
    >>> model = MILES(random_state=0).fit(data.bags, data.y)
    >>> len(model.coef_) < data.bags.n_instances / 4
    True
    """

    _rules = ("any",)
    _search_space = {"C": [0.1, 1.0, 10.0]}
    _needs_scaling = True
    _accepts_sparse = True
    _parameter_constraints = {
        "C": [above(0)],
        "gamma": [above(0), one_of("scale", "auto")],
        "max_concepts": [whole(1)],
        "tol": [above(0)],
        "max_iter": [whole(1)],
    }

    def __init__(
        self,
        C=1.0,
        *,
        gamma="scale",
        max_concepts=10_000,
        tol=1e-4,
        max_iter=2000,
        random_state=None,
        n_jobs=None,
    ):
        self.C = C
        self.gamma = gamma
        self.max_concepts = max_concepts
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, bags, sign, weight):
        rng = check_random_state(self.random_state)
        self.gamma_ = settled_gamma(self.gamma, bags.instances, bags.spread(weight))
        self.concepts_ = bags.instances[sample_rows(bags.instances, self.max_concepts, rng)]
        w, self.intercept_, self.n_iter_ = sparse_machine(
            self._similarities(bags), sign, self.C * weight, _GAP * self.tol, self.max_iter
        )
        selected = np.flatnonzero(w)
        self.concepts_, self.coef_ = self.concepts_[selected], w[selected]

    def _score_bags(self, bags):
        if len(self.coef_) == 0:
            return np.full(len(bags), self.intercept_)
        return self._similarities(bags) @ self.coef_ + self.intercept_

    def _similarities(self, bags):
        return np.exp(-self.gamma_ * rows_to_nearest(self.concepts_, bags, self.n_jobs)).T
