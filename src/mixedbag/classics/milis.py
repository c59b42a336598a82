"""MILIS: one instance a bag as prototype, chosen in turn with a linear machine on similarities."""

from itertools import pairwise

import numpy as np
from sklearn.svm import SVC

from mixedbag._kernels import Kernel, settled_gamma
from mixedbag._once import once
from mixedbag._pairs import rows_to_nearest
from mixedbag._parameters import above, one_of, whole
from mixedbag.base import BagClassifier
from mixedbag.classics._kernels import MAX_STEPS
from mixedbag.classics._rows import distinct_bags
from mixedbag.pooling import bag_argmax

__all__ = ["MILIS"]

_DIGITS = 5


class MILIS(BagClassifier):
    """Multiple-instance learning with instance selection (Fu, Robles-Kelly and Zhou, 2011).

    Like `MILES`, a bag is described by how close it comes to some training instances,
    ``s(x, B) = max_{b ∈ B} exp(−γ ‖b − x‖²)``, and a linear support vector machine learns from
    that. But only one instance of every training bag is a prototype: at first, of a positive bag
    the instance that is least like the instances of negative bags, of a negative bag the one most
    like them (by a kernel density). Then prototypes and machine are revised by turns: each bag
    changes to the instance that lowers the training loss most, and the machine is solved again, as
    long as its objective falls.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of errors on training bags; large values fit more closely.
    gamma : float, "scale" or "auto", default="scale"
        How fast similarity falls with squared distance, in the features and in the density.
        "scale" is ``1 / (n_features · variance)``, "auto" is ``1 / n_features``.
    max_iter : int, default=10
        Most machines solved.
    tol : float, default=1e-4
        Tolerance of the solver, and the least share by which the objective must fall.
    n_jobs : int or None
        Threads that compute similarities.

    Attributes
    ----------
    prototypes_ : array or sparse array of shape (n_prototypes, n_features)
        One instance of every different training bag.
    coef_ : array of shape (n_prototypes,)
        Their weights: positive ones speak for the second class.
    intercept_ : float
    gamma_ : float
    objective_ : array
        The objective after each machine; it falls.
    n_iter_ : int

    See Also
    --------
    MILES : All training instances are candidates, and a 1-norm penalty picks among them.
    mixedbag.embeddings.PrototypeClassifier : Moves its prototypes freely.

    Notes
    -----
    The table of similarities has ``n_bags × n_instances`` entries. Of the paper's two ways to
    drop prototypes none is here: all stay.

    Examples
    --------
    >>> from mixedbag.classics import MILIS
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=60, random_state=0)
    >>> MILIS(C=10.0).fit(data.bags, data.y).score(data.bags, data.y) > 0.9
    True
    """

    _rules = ("any",)
    _search_space = {"C": [0.1, 1.0, 10.0, 100.0]}
    _needs_scaling = True
    _accepts_sparse = True
    _parameter_constraints = {
        "C": [above(0)],
        "gamma": [above(0), one_of("scale", "auto")],
        "max_iter": [whole(1)],
        "tol": [above(0)],
    }

    def __init__(self, C=1.0, *, gamma="scale", max_iter=10, tol=1e-4, n_jobs=None):
        self.C = C
        self.gamma = gamma
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    def _fit(self, bags, sign, weight):
        self.gamma_ = settled_gamma(self.gamma, bags.instances, bags.spread(weight))
        bags, sign, weight = distinct_bags(bags, sign, weight)
        table = self._similarities(bags, bags.instances)
        chosen = self._first(bags, sign, weight)
        objective: list[float] = []
        for _ in self._iterations(self.max_iter):
            coef, intercept, value = self._machine(table[:, chosen], sign, weight)
            if objective and value > objective[-1] * (1.0 - self.tol):
                break
            objective.append(value)
            self.prototypes_ = bags.instances[chosen]
            self.coef_, self.intercept_ = coef, intercept
            before, chosen = chosen, self._revised(table, chosen, bags, sign, weight)
            if np.array_equal(before, chosen):
                break
        self.objective_, self.n_iter_ = np.array(objective), len(objective)

    def _first(self, bags, sign, weight):
        """The instance least like negative ones, or of a negative bag most like them."""
        outside, inside, kernel = bags[sign < 0], bags[sign > 0], Kernel("rbf", self.gamma_)
        about = outside.instances, outside.spread(weight[sign < 0])

        def densities():
            density, is_outside = np.empty(bags.n_instances), bags.spread(sign) < 0
            density[is_outside] = kernel.expand(outside.instances, *about)  # half of the pairs
            density[~is_outside] = kernel.expand(inside.instances, *about)
            return density

        density = once(densities, "density", self.gamma_, bags, sign, weight)
        return bag_argmax(-bags.spread(sign) * density, bags.offsets)

    def _machine(self, features, sign, weight):
        """Weights of the prototypes, intercept and objective."""
        # A bag of weight two brings its prototype twice, which shares the penalty between the two.
        features = features * np.sqrt(weight)
        svc = SVC(C=self.C, kernel="linear", tol=self.tol, cache_size=500, max_iter=MAX_STEPS)
        svc.fit(features, sign, sample_weight=weight)
        w, intercept = svc.coef_[0], float(svc.intercept_[0])
        margin = sign * (features @ w + intercept)
        value = 0.5 * w @ w + self.C * weight @ np.maximum(1.0 - margin, 0.0)
        return w * np.sqrt(weight), intercept, float(value)

    def _revised(self, table, chosen, bags, sign, weight):
        """For each bag in turn the instance that lowers the loss most in place of the one chosen.

        Those that gain most go first, and every bag sees what the ones before it have done: so the
        loss falls, and the objective of the next machine with it.
        """
        scores = table[:, chosen] @ self.coef_ + self.intercept_
        chosen = chosen.copy()

        def losses(k, rows):
            change = self.coef_[k] * (table[:, rows] - table[:, chosen[k], None])
            margin = sign[:, None] * (scores[:, None] + change)
            # Shares of the total that are too small for the solver to know do not decide.
            return np.round(weight @ np.maximum(1.0 - margin, 0.0) / weight.sum(), _DIGITS)

        typical = weight @ table
        inside = [slice(a, b) for a, b in pairwise(bags.offsets)]
        reached = [losses(k, rows).min() for k, rows in enumerate(inside)]
        for k in np.lexsort((-typical[chosen], reached)):
            loss = losses(k, inside[k])
            # Of instances that do as well as each other, the most typical.
            best = inside[k].start + np.lexsort((-typical[inside[k]], loss))[0]
            if loss.min() < loss[chosen[k] - inside[k].start]:
                scores += self.coef_[k] * (table[:, best] - table[:, chosen[k]])
                chosen[k] = best
        return chosen

    def _score_bags(self, bags):
        return self._similarities(bags, self.prototypes_) @ self.coef_ + self.intercept_

    def _similarities(self, bags, rows):
        return np.exp(-self.gamma_ * rows_to_nearest(rows, bags, self.n_jobs)).T
