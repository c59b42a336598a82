"""Dissimilarities between bags as features."""

import numpy as np
from sklearn.ensemble import BaggingClassifier

from mixedbag._pairs import all_pairs, cut, rows_to_nearest, squared_distances
from mixedbag._parameters import one_of, whole
from mixedbag._wide import is_single, times
from mixedbag.bags import Bags
from mixedbag.embeddings._base import EmbeddedClassifier
from mixedbag.embeddings._transport import sinkhorn
from mixedbag.pooling import Mean

__all__ = ["DissimilarityClassifier"]

_SOFTNESS, _SINKHORN_STEPS = 0.1, 50
_ENTRIES = 2**22  # distances of instances to bags held at a time


class DissimilarityClassifier(EmbeddedClassifier):
    """Distances to training bags as features, and any classifier of them (MInD).

    A bag is described by its distance to each of a set of training bags, its prototypes; the
    distance looks for every instance of one bag at the nearest of the other (Cheplygina, Tax and
    Loog, 2015)::

        meanmin   (1/n) Σ_i min_j ‖x_i − z_j‖²        minmin   min_i min_j ‖x_i − z_j‖²

    With "meanmin" the vector of a bag is the mean of those of its instances, so that a linear model
    behind it scores these exactly; otherwise an instance is scored as a bag of one.

    With many prototypes and few bags, several models that each see a random subset of them err in
    ways of their own, and their mean is steadier (random subspaces).

    Parameters
    ----------
    distance : {"meanmin", "minmin", "maxmin", "transport"}, default="meanmin"
        The mean over instances suits bags that differ as a whole, the least those with a common
        instance, the largest (Hausdorff's) those with a strange one; "transport" is the cost of
        moving all of one bag onto the other (earth mover's distance, softened by entropy).
    max_prototypes : int, default=1000
        More training bags than this are drawn from.
    n_subspaces : int, default=1
        Models that each see a random half of the prototypes; their probabilities are averaged.
    C : float, default=1.0
        Inverse strength of the penalty of the logistic regression behind it.
    estimator : scikit-learn classifier, optional
        Takes its place.
    random_state : int, RandomState instance or None, default=None
        Draws prototypes.
    n_jobs : int, optional
        Threads that compute distances.

    Attributes
    ----------
    prototypes_ : array of shape (n_rows, n_features)
        The instances of the prototypes, one bag after the other.
    offsets_ : array of shape (n_prototypes + 1,)
        Where each begins.
    model_ : fitted classifier
    classes_ : array

    See Also
    --------
    mixedbag.classics.CitationKNN : The vote of the nearest bags, with nothing to fit.
    PrototypeClassifier : Distances to learned places in place of training bags.
    mixedbag.classics.MILES : Closeness to single training instances, of which few are kept.

    Examples
    --------
    >>> from mixedbag.datasets import make_any
    >>> from mixedbag.embeddings import DissimilarityClassifier
    >>> data = make_any(n_bags=80, random_state=0)
    >>> model = DissimilarityClassifier("minmin").fit(data.bags, data.y)
    >>> model.predict(data.bags).shape
    (80,)
    """

    _accepts_sparse = True
    _search_space = {"distance": ["meanmin", "minmin"], "C": [0.1, 1.0, 10.0]}
    _parameter_constraints = {
        "distance": [one_of("meanmin", "minmin", "maxmin", "transport")],
        "max_prototypes": [whole(1)],
        "n_subspaces": [whole(1)],
    }

    def __init__(
        self,
        distance="meanmin",
        *,
        max_prototypes=1000,
        n_subspaces=1,
        C=1.0,
        estimator=None,
        random_state=None,
        n_jobs=None,
    ):
        self.distance = distance
        self.max_prototypes = max_prototypes
        self.n_subspaces = n_subspaces
        self.C = C
        self.estimator = estimator
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _model(self, rng):
        model = super()._model(rng)
        if self.n_subspaces == 1:
            return model
        return BaggingClassifier(
            model, self.n_subspaces, bootstrap=False, max_features=0.5, random_state=rng
        )

    def _learn_vectors(self, bags, weight, rng):
        chosen = _prototypes(bags, self.max_prototypes, rng)
        prototypes = bags[chosen]
        self.prototypes_, self.offsets_ = prototypes.instances, prototypes.offsets
        self.scale_ = 1.0
        # Of the size of one, as a penalised model wants its features.
        few = 2 * len(chosen) >= len(bags) and bags.n_instances * len(bags) <= _ENTRIES
        if few and self.distance != "transport" and not is_single(bags.instances):
            # All to all: one half is enough.
            nearest = rows_to_nearest(bags.instances, bags, self.n_jobs)[:, chosen]
            distances = self._of_bags(nearest, bags)
        else:
            distances = self._embedded(bags)
        self.scale_ = float(np.average(distances.mean(axis=1), weights=weight)) or 1.0
        return distances / self.scale_

    def _vectors(self, bags):
        prototypes = Bags(self.prototypes_, self.offsets_)
        if self.distance == "transport":
            return self._moved(bags, prototypes) / self.scale_
        parts = [bags[some] for some in cut(bags, max(1, _ENTRIES // len(prototypes)))]
        return np.vstack([self._to_nearest(part, prototypes) for part in parts]) / self.scale_

    def _to_nearest(self, bags, prototypes):
        return self._of_bags(rows_to_nearest(bags.instances, prototypes, self.n_jobs), bags)

    def _of_bags(self, nearest, bags):
        """From the distances of instances to prototypes those of bags."""
        if self.distance == "meanmin":
            return Mean().value(nearest, bags.offsets)
        extreme = np.minimum if self.distance == "minmin" else np.maximum
        return extreme.reduceat(nearest, bags.offsets[:-1], axis=0)

    def _moved(self, bags, prototypes):
        def compare(a, b):
            rows, columns = bags[a], prototypes[b]
            table = squared_distances(rows.instances, columns.instances)
            table = np.ascontiguousarray(table, dtype=np.float64)
            return sinkhorn(table, rows.offsets, columns.offsets, _SOFTNESS, _SINKHORN_STEPS)

        return all_pairs(bags, prototypes, compare, self.n_jobs)


def _prototypes(bags, most, rng):
    """Bags that differ, at most so many, in an order that only their instances decide."""
    line = np.random.default_rng(0).standard_normal(bags.n_features)
    place = Mean().value(np.asarray(times(bags.instances, line), dtype=np.float64), bags.offsets)
    # Copies may differ in the last digits, which depend on where in memory a row lies.
    digits = np.float32(place / (np.abs(place).max() or 1.0))
    distinct = np.unique(digits, return_index=True)[1]
    if len(distinct) <= most:
        return distinct
    return distinct[np.sort(rng.choice(len(distinct), most, replace=False))]
