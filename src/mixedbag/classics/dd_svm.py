"""DD-SVM: distances to the peaks of diverse density as features of a support vector machine."""

import numpy as np
from sklearn.svm import SVC

from mixedbag._once import once
from mixedbag._parameters import above, at_least, whole
from mixedbag.base import BagClassifier
from mixedbag.classics._concept import concept_distance
from mixedbag.classics._kernels import MAX_STEPS
from mixedbag.classics.diverse_density import DiverseDensity
from mixedbag.pooling import bag_max

__all__ = ["DDSVM"]

_PRECISE = 1e-10  # the machine is small, and the order of bags must not show
_ALIKE = 0.05  # concepts that differ by less, as a share of their scales, are one


class DDSVM(BagClassifier):
    """Support vector machine on distances to many concepts (Chen and Wang, 2004).

    `DiverseDensity` looks for the one point that is near all positive bags; but a class may have
    several ("a beach is sand, or water and sky"), and negative bags have theirs. The search starts
    from many instances of positive bags, and once more with the labels exchanged. The different
    points it ends in, those better than half way between best and worst, are *prototypes* with
    scales of their own; a bag is described by its distance to each,
    ``min_j √(Σ_k s_k² (x_jk − c_k)²)``, and an ordinary support vector machine with an RBF kernel
    learns from that.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of errors on training bags; large values fit more closely.
    n_init : int or None, default=20
        Number of starts for either class. None starts from all instances.
    alpha : float, default=0.1
        Strength of the penalty on scales; 0 is the original method.
    max_iter : int, default=50
        Most quasi-Newton steps of the search.
    tol : float, default=1e-5
        A start has converged when a step lowers its objective by less than this share.
    random_state : int, RandomState or None
        Draws the candidates for starts when bags hold more than a thousand instances.

    Attributes
    ----------
    prototypes_, scales_ : arrays of shape (n_prototypes, n_features)
    machine_ : SVC
        The machine, on standardised distances.
    mean_, spread_ : arrays of shape (n_prototypes,)
        Of the distances of training bags.

    See Also
    --------
    DiverseDensity : One concept point only: easier to read where one is enough.
    MILES : Takes training instances themselves as concepts, and picks the few that matter.
    mixedbag.embeddings.PrototypeClassifier : Learns its places together with the score.

    Examples
    --------
    >>> from mixedbag.classics import DDSVM
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=60, random_state=0)
    >>> DDSVM().fit(data.bags, data.y).score(data.bags, data.y) > 0.8
    True
    """

    _rules = ("any",)
    _search_space = {"C": [0.1, 1.0, 10.0, 100.0], "max_iter": [25]}
    _needs_scaling = True
    _accepts_sparse = True
    _parameter_constraints = {
        "C": [above(0)],
        "n_init": [whole(1), None],
        "alpha": [at_least(0)],
        "max_iter": [whole(1)],
    }

    def __init__(self, C=1.0, *, n_init=20, alpha=0.1, max_iter=50, tol=1e-5, random_state=None):
        self.C = C
        self.n_init = n_init
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _fit(self, bags, sign, weight):
        settings = self.n_init, self.alpha, self.max_iter, self.tol, self.random_state
        self.prototypes_, self.scales_ = once(
            lambda: self._both_sides(bags, sign, weight), "concepts", bags, sign, weight, *settings
        )
        distances = self._distances(bags)
        self.mean_ = np.average(distances, axis=0, weights=weight)
        spread = np.sqrt(np.average((distances - self.mean_) ** 2, axis=0, weights=weight))
        self.spread_ = np.where(spread > 1e-9 * np.abs(self.mean_), spread, 1.0)
        gamma = 1.0 / len(self.mean_)
        self.machine_ = SVC(C=self.C, gamma=gamma, tol=_PRECISE, cache_size=500, max_iter=MAX_STEPS)
        self.machine_.fit(self._standardised(distances), sign, sample_weight=weight)
        self.n_iter_ = int(self.machine_.n_iter_[0])

    def _both_sides(self, bags, sign, weight):
        return np.hstack([self._concepts(bags, side * sign, weight) for side in (1.0, -1.0)])

    def _concepts(self, bags, sign, weight):
        """Points and scales of the different concepts that explain these labels well."""
        search = DiverseDensity(
            self.n_init,
            alpha=self.alpha,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=self.random_state,
        )
        found, (points, scales) = search._search(bags, sign, weight, trial=self.max_iter + 1)
        good = found.values <= (found.values.min() + found.values.max()) / 2
        kept: list[int] = []
        for k in np.argsort(found.values, kind="stable"):
            if good[k] and not any(_alike(points, scales, k, other) for other in kept):
                kept.append(k)
        return np.array([points[kept], scales[kept]])

    def _distances(self, bags):
        """Of every bag to every prototype."""
        pairs = self.prototypes_, self.scales_

        def nearest():
            near = [
                bag_max(-concept_distance(bags.instances, *p), bags.offsets) for p in zip(*pairs)
            ]
            return np.sqrt(np.maximum(-np.array(near).T, 0.0))

        return once(nearest, "to concepts", bags, *pairs)

    def _standardised(self, distances):
        return (distances - self.mean_) / self.spread_

    def _score_bags(self, bags):
        return self.machine_.decision_function(self._standardised(self._distances(bags)))


def _alike(points, scales, a, b):
    """Whether two concepts are one that was found twice."""
    apart = np.linalg.norm((points[a] - points[b]) * np.sqrt(scales[a] * scales[b]))
    return apart < _ALIKE and np.linalg.norm(scales[a] - scales[b]) < _ALIKE * np.linalg.norm(
        scales[a]
    )
