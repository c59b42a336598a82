"""mi-SVM by deterministic annealing: AL-SVM."""

import numpy as np

from mixedbag._annealing import soft_labels
from mixedbag.margin._annealed import Slots, _Annealed, inside_positive
from mixedbag.margin.instance_margin import InstanceMarginSVC

__all__ = ["AnnealedInstanceMarginSVC"]


class AnnealedInstanceMarginSVC(_Annealed, InstanceMarginSVC):
    """`InstanceMarginSVC` whose first labels are annealed: AL-SVM (Gehler and Chapelle, 2007).

    For labels that say "at least one instance is positive". The search of `InstanceMarginSVC` by
    turns ends in the nearest of many local optima. Here every instance of a positive bag is
    positive with a probability p at first, and the machine is solved for both of its labels::

        minimise over f and p:
        ½|f|² + Σ_instances C (p loss(f(x)) + (1-p) loss(-f(x))) - T Σ C·H(p)

    such that at least one positive instance is expected in every positive bag, Σ_j p_j ≥ 1. The
    entropy H keeps labels open while the temperature T is high; as it falls they become hard, and
    the search by turns goes on from them. Where cooling ends with one score for all instances, it
    begins where `InstanceMarginSVC` does. Scale the features first.

    Parameters
    ----------
    C : float or pair of floats, default=1.0
        Price of a missed margin: larger fits the training bags more closely. A pair prices
        negative and positive bags apart.
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        "linear" is solved in the space of the features and suits any number of bags and sparse
        data. A callable gets two tables of instances and returns the table of their kernels. With
        "precomputed", the instances' features are their kernels with all training instances.
    degree : int, default=2
        Of the polynomial kernel ``(gamma <x, z> + coef0)**degree``.
    gamma : {"scale", "auto"} or float, default="scale"
        Width of the kernel: "scale" is ``1 / (n_features * variance)``, "auto" ``1 / n_features``.
    coef0 : float, default=1.0
        The constant of the polynomial kernel, and of "sigmoid".
    loss : {"hinge", "squared_hinge"}, default="hinge"
        What a missed margin costs; the squared one needs ``kernel="linear"``.
    class_weight : dict or "balanced", optional
        Factors of `C` by class label; "balanced" gives both sides' losses the same total price.
    temperature : float, default=1.0
        The first temperature, in units of the price of a missed margin. With 0 it is
        `InstanceMarginSVC`.
    cooling : float, default=0.5
        Factor from one temperature to the next, until a thousandth of the first is left. Closer to
        one is slower and more careful.
    max_iter : int, default=100
        Most machines solved after the annealing.
    tol : float, default=1e-6
        Precision of a machine: its duality gap relative to its objective.
    cache_size : float, default=1000
        Megabytes that kernels may take; beyond, a linear machine uses `n_components` Nyström
        features.
    n_components : int, default=500
        Nyström features, where they are needed.
    random_state : int, RandomState or None
        For Nyström landmarks, and the order in which wide linear problems visit their rows.

    Attributes
    ----------
    witness_ : array of shape (n_positive_bags,)
        Row of each positive bag's most positive instance in the training table.
    objective_ : array of shape (n_iter_,)
        The objective (of hard choices) after each machine since the annealing; it never rises.
    dual_gap_ : float
        How far the last objective can be above the best for its choices.
    coef_, intercept_ : array of shape (n_features,), float
        The linear machine.
    support_, dual_coef_, support_vectors_
        Rows, coefficients and instances of the kernel machine (landmarks for Nyström).
    n_iter_ : int

    See Also
    --------
    InstanceMarginSVC : The same problem without annealing; it can start several times.
    AnnealedBagMarginSVC : Anneals which one instance stands for each positive bag.
    mixedbag.classics.MIForestClassifier : The same annealing around a forest.

    Examples
    --------
    >>> from mixedbag import Bags
    >>> from mixedbag.margin import AnnealedInstanceMarginSVC
    >>> bags = Bags.from_list([[[0.1], [3.0]], [[2.8]], [[0.2], [-0.5]], [[0.0]]])
    >>> model = AnnealedInstanceMarginSVC(kernel="linear").fit(bags, [1, 1, 0, 0])
    >>> model.predict_instances(bags)
    array([0, 1, 1, 0, 0, 0])
    """

    # On the development collection, one setting is far better than the others, and much quicker.
    _search_space = {"C": [10.0], "cooling": [0.1]}

    def _slots(self, ambiguity, cost):
        """Two slots, of either sign, for every instance of a positive bag; one for the others."""
        rows, _ = inside_positive(ambiguity)
        negative = np.flatnonzero(ambiguity.bag_sign < 0)
        rows = np.concatenate([rows, rows, negative])
        n_open = (len(rows) - len(negative)) // 2
        sign = np.where(np.arange(len(rows)) < n_open, 1.0, -1.0)
        return Slots(rows, sign, cost[rows])

    def _open(self, ambiguity):
        """All instances take their bag's label: with even odds nothing would speak for it."""
        n_open = int((ambiguity.bag_sign > 0).sum())
        n_negative = ambiguity.bags.n_instances - n_open
        return np.repeat([1.0, 0.0, 1.0], [n_open, n_open, n_negative])

    def _shares(self, ambiguity, scores, temperature):
        rows, offsets = inside_positive(ambiguity)
        if_positive, if_negative = self._losses(scores[rows])
        share = soft_labels(if_negative - if_positive, offsets, temperature)
        n_negative = ambiguity.bags.n_instances - len(rows)
        return np.concatenate([share, 1.0 - share, np.ones(n_negative)])
