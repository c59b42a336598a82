"""MIForest: random trees over instances whose labels are annealed."""

import numpy as np
from scipy import sparse
from scipy.special import logit
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.utils import check_random_state

from mixedbag._annealing import soft_labels, temperatures
from mixedbag._forests import grow, grow_again, probabilities
from mixedbag._parameters import above, between, whole
from mixedbag.base import BagClassifier, LogOddsMixin
from mixedbag.pooling import bag_argmax, bag_sum, spread

__all__ = ["MIForestClassifier"]

_SURE = 1e-3  # probabilities nearer to 0 or 1 than this count as this near
_WHOLE = 2**20  # weights are whole numbers of this unit: these add up exactly in any order


class MIForestClassifier(LogOddsMixin, BagClassifier):
    """A forest that finds the labels of the instances in positive bags (Leistner et al., 2010).

    For labels that say "at least one instance is positive". Every instance of a positive bag is
    positive with a probability p, at first 1. A forest learns from both of its labels, weighted by
    p and 1 − p; then p follows what the forest says of the instance, P(x)::

        p = σ((2 P(x) − 1)/T + λ),    with the least λ ≥ 0 such that Σ_j p_j ≥ 1 in the bag

    While the temperature T falls, from forest to forest, the labels become hard (deterministic
    annealing). The score of an instance is the log-odds of the last forest, that of a bag the
    largest of its instances'. Trees take features as they are: scaling changes nothing.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees of a forest.
    min_share : float, default=0.005
        Smallest share of all (weighted) instances in a leaf. Leaves must hold several instances, or
        every forest would only repeat the labels that it was given.
    temperature : float, default=1.0
        The first temperature.
    cooling : float, default=0.3
        Factor from one temperature to the next, until a thousandth of the first is left.
    random_state : int, RandomState or None
        For the cuts of the trees.
    n_jobs : int or None
        Threads that grow trees.

    Attributes
    ----------
    forest_ : ExtraTreesClassifier
    witness_ : array
        Row of the most positive instance of each positive training bag.
    n_iter_ : int
        Number of forests grown.

    See Also
    --------
    mixedbag.margin.AnnealedInstanceMarginSVC : The same annealing of labels, around a support
        vector machine.
    TwoLevelClassifier : A forest too, to describe bags by the regions they occupy; one positive
        instance need not decide.
    mixedbag.boosting.ExpRegBoost : Trees of one split that are added up, each for the loss of bags.

    Notes
    -----
    The original draws a label for every instance and tree; here both labels go into every tree with
    their probabilities as weights, which is the average over such draws. The positive instances of
    a bag together weigh as much as all instances of a negative one.

    Examples
    --------
    >>> from mixedbag.classics import MIForestClassifier
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=60, random_state=0)
    >>> model = MIForestClassifier(random_state=0).fit(data.bags, data.y)
    >>> bool(model.score(data.bags, data.y) > 0.8)
    True
    """

    _rules = ("any",)
    # Coarser trees are better on the development collection, and on Tiger they call hardly a bag
    # positive, where finer ones do: inner folds decide. Quicker cooling loses no more than chance.
    _search_space = {"min_share": [0.02, 0.005], "cooling": [0.1]}
    _accepts_sparse = True
    _parameter_constraints = {
        "n_estimators": [whole(1)],
        "min_share": [between(0, 0.5)],
        "temperature": [above(0)],
        "cooling": [between(0, 1, "neither")],
    }

    def __init__(
        self,
        n_estimators=100,
        *,
        min_share=0.005,
        temperature=1.0,
        cooling=0.3,
        random_state=None,
        n_jobs=None,
    ):
        self.n_estimators = n_estimators
        self.min_share = min_share
        self.temperature = temperature
        self.cooling = cooling
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, bags, sign, weight):
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        inside, outside = bags[sign > 0], bags[sign < 0]
        stack = sparse.vstack if bags.is_sparse else np.vstack
        rows = stack([inside.instances, inside.instances, outside.instances])
        own = [inside.spread(weight[sign > 0])] * 2 + [outside.spread(weight[sign < 0])]
        label = np.repeat([1, 0, 0], [inside.n_instances, inside.n_instances, outside.n_instances])
        share = np.ones(inside.n_instances)
        cooling = temperatures(self.temperature, self.cooling)
        forest = ExtraTreesClassifier(
            self.n_estimators,
            min_weight_fraction_leaf=self.min_share,
            random_state=seed,
            n_jobs=self.n_jobs,
        )
        for k in self._iterations(len(cooling) + 1):
            parts = [*_shares(share, inside.offsets), outside.spread(1.0 / outside.sizes)]
            counted = np.concatenate(own) * np.round(_WHOLE * np.concatenate(parts))
            forest = (grow_again if k else grow)(forest, rows, label, counted)
            self.forest_ = forest
            if k < len(cooling):
                gain = 2.0 * self._probability(inside) - 1.0
                share = soft_labels(gain, inside.offsets, cooling[k])
        self.n_iter_ = k + 1
        self.witness_ = bag_argmax(self._score_instances(bags), bags.offsets)[sign > 0]

    def _probability(self, bags):
        return probabilities(self.forest_, bags.instances)[:, 1]

    def _score_instances(self, bags):
        return logit(np.clip(self._probability(bags), _SURE, 1.0 - _SURE))


def _shares(p, offsets):
    """How much the positive and the negative label of each instance count in its bag."""
    positive = p / spread(bag_sum(p, offsets), offsets)
    return positive, (1.0 - p) / spread(np.diff(offsets), offsets)
