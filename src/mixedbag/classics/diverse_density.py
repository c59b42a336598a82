"""Diverse density: a point near every positive bag and far from all negative instances."""

from functools import partial

import numpy as np
from sklearn.utils import check_random_state

from mixedbag._once import once
from mixedbag._pairs import cut
from mixedbag._parameters import at_least, whole
from mixedbag._solvers.batch_lbfgs import BatchLBFGS
from mixedbag._wide import is_single
from mixedbag.base import BagClassifier, LogOddsMixin
from mixedbag.classics._concept import ConceptObjective, ConceptPart, concept_distance, log_odds
from mixedbag.classics._rows import dense_rows, feature_moments, sample_rows
from mixedbag.pooling import NoisyOr, Pooling, bag_argmax

__all__ = ["DiverseDensity"]

# Instances of positive bags looked at as possible starts.
_MAX_CANDIDATES = 1000
# The worse half of the starts is given up after every so many steps: by then it seldom wins.
_TRIAL = 20
_ROWS = 2048  # of a part


class DiverseDensity(LogOddsMixin, BagClassifier):
    """Diverse density (Maron and Lozano-Pérez, 1998).

    Assumes that a bag is positive when some instance is close to one unknown *concept point*: the
    shape that fits the binding site, the patch that shows the waterfall. An instance ``x`` is
    positive with probability ``exp(−Σ_k s_k² (x_k − c_k)²)``; instances of a bag act independently
    (noisy-or). The point ``c`` and the importance ``s`` of each feature maximise the likelihood of
    the bags' labels. The search starts from instances of positive bags, all starts moving together.

    Parameters
    ----------
    n_init : int or None
        Number of starting points: the instances of positive bags that explain the labels best
        before any fitting. None starts from all of them.
    alpha : float
        Strength of the penalty ``½ α Σ_k (s_k/s_0)²`` on scales, where ``s_0`` is the scale of all
        features at the start. It matters where features are many, as in text: without it the
        concept learns the training bags by heart. 0 is the original method.
    max_iter : int
        Most quasi-Newton steps.
    tol : float
        A start has converged when a step lowers its objective by less than this share.
    random_state : int, RandomState or None
        Draws the candidates for starts when positive bags hold more than a thousand instances.

    Attributes
    ----------
    concept_ : array of shape (n_features,)
        The concept point. Meaningful where `scale_` is not zero.
    scale_ : array of shape (n_features,)
        How much each feature matters: the distance of an instance is
        ``Σ_k (scale_k (x_k − concept_k))²``. Features that never vary have scale zero.
    objective_ : array
        Penalised negative log-likelihood of the training labels after each step, of the start that
        won. The winner is chosen by this figure, on training bags only.
    start_objectives_ : array
        Objective that every start had reached when it ended; every 20 steps the worse half ends.
    witness_ : array
        Row of the instance nearest to the concept, one for each positive training bag.

    See Also
    --------
    EMDD : The same concept point, judged by the nearest instance of a bag alone.
    DDSVM : Many concept points, of both classes, and a support vector machine on the distances.
    AxisParallelRectangle : Bounds on a few features in place of a point and its scales.

    Notes
    -----
    Distances mean nothing when one feature is measured in thousands: standardise features first,
    with ``InstanceWise(StandardScaler())``.

    Examples
    --------
    >>> from mixedbag.classics import DiverseDensity
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=60, random_state=0)
    >>> model = DiverseDensity().fit(data.bags, data.y)
    >>> model.predict_proba(data.bags).shape
    (60, 2)
    """

    _rules = ("any",)
    # Longer searches end no better on the development collection (`benchmarks/product/grids`).
    _search_space = {"alpha": [0.01, 0.1, 1.0], "max_iter": [50], "tol": [1e-4]}
    _needs_scaling = True
    _accepts_sparse = True
    _pooling: Pooling = NoisyOr()
    _parameter_constraints = {
        "n_init": [whole(1), None],
        "alpha": [at_least(0)],
        "max_iter": [whole(1)],
    }
    _renamed = {"n_starts": "n_init"}

    def __init__(self, n_init=10, *, alpha=0.1, max_iter=100, tol=1e-5, random_state=None):
        self.n_init = n_init
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _fit(self, bags, sign, weight):
        search, concepts = self._search(bags, sign, weight)
        best = np.argmin(search.values)
        self.start_objectives_ = np.sort(search.values)
        self.objective_ = np.array([values[best] for values in search.history])
        self.n_iter_ = len(self.objective_) - 1
        self.concept_, self.scale_ = concepts[0][best], concepts[1][best]
        self.witness_ = bag_argmax(self._score_instances(bags), bags.offsets)[sign > 0]

    def _search(self, bags, sign, weight, trial=_TRIAL):
        """The finished search, and the points and scales that its starts have reached."""
        _, variance = feature_moments(bags, weight)
        used = np.flatnonzero(variance > 1e-12 * variance.max())
        unit = np.sqrt(variance[used].mean()) if len(used) else 1.0
        objective = ConceptObjective(
            self._parts(bags, sign, weight, used, unit), self.alpha * len(used)
        )

        def at(rows):
            return _concepts_at(dense_rows(bags.instances, rows).take(used, axis=1) / unit)

        ranked = once(  # the same whatever the penalty and the number of starts
            lambda: self._ranked(bags.instances, bags.spread(sign) > 0, at, objective),
            "starts", self._pooling, self.random_state, bags, sign, weight,
        )  # fmt: skip
        search = BatchLBFGS(objective, at(ranked[: self.n_init]), self.tol)
        for i in self._iterations(self.max_iter):
            search.step()
            if search.converged:
                break
            if i % trial == trial - 1:
                search.drop_worse_half()
        concepts = np.zeros((2, len(search.points), bags.n_features))
        centre, scale = np.hsplit(search.points, 2)
        concepts[0][:, used], concepts[1][:, used] = centre * unit, np.abs(scale) / unit
        return search, concepts

    def _parts(self, bags, sign, weight, used, unit):
        """The bags for the objective, a part at a time where they come in single precision."""

        def made(part):
            some = bags[part]
            X = some.instances if len(used) == bags.n_features else some.instances[:, used]
            return ConceptPart(X, unit, some.offsets, sign[part], weight[part], self._pooling)

        if is_single(bags.instances):
            return [partial(made, part) for part in cut(bags, _ROWS)]
        whole = made(slice(0, len(bags)))
        return [lambda: whole]

    def _ranked(self, instances, is_candidate, at, objective):
        """Candidates for starts, those whose concepts explain the labels best ahead."""
        rng = check_random_state(self.random_state)
        rows = sample_rows(instances, _MAX_CANDIDATES, rng, np.flatnonzero(is_candidate))
        values = objective.misfits(at(rows))
        # Equal values come from copies of one instance: one start of a kind is enough.
        distinct = np.unique(np.round(values / values.max(), 12), return_index=True)[1]
        return rows[distinct]

    def _score_instances(self, bags):
        return log_odds(concept_distance(bags.instances, self.concept_, self.scale_))


def _concepts_at(centres):
    """Concepts centred at the given points that treat all features alike."""
    return np.hstack([centres, np.full_like(centres, 1.0 / np.sqrt(max(1, centres.shape[1])))])
